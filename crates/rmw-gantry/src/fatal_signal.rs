//! Explains on standard error why a signal ends the process: a callback changed a loaned message.
//!
//! A loaned message is mapped read-only, so a write to it raises SIGSEGV. If C++ frees elements that lie in shared
//! memory, the C library raises SIGABRT or SIGSEGV. The first loan sets a handler for both signals. The handler writes
//! the explanation, and then the signal has its previous action. The handler takes no lock, does not allocate, and
//! calls only functions that POSIX allows in signal handlers.

use crate::lock::lock;
use std::{
    ffi::{c_int, c_void},
    ops::Range,
    ptr::{null, null_mut},
    sync::{
        Mutex, Once, OnceLock,
        atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*},
    },
};

/// The names that the explanation contains for a loan.
pub struct LoanName {
    type_name: String,
    topic: String,
}

impl LoanName {
    /// Returns the name for this type and topic. It stays in memory until the process ends, because the signal handler
    /// reads it without a lock.
    pub fn new(type_name: &str, topic: &str) -> &'static LoanName {
        static NAMES: Mutex<Vec<&'static LoanName>> = Mutex::new(Vec::new());
        let mut names = lock(&NAMES);
        if let Some(name) = names.iter().find(|name| name.type_name == type_name && name.topic == topic) {
            return name;
        }
        let name: &LoanName = Box::leak(Box::new(LoanName { type_name: type_name.into(), topic: topic.into() }));
        names.push(name);
        name
    }
}

/// One loan in the list that the signal handler reads. A line is never freed: when its loan ends, a later loan uses the
/// line.
struct LoanEntry {
    next: AtomicPtr<LoanEntry>,
    is_used: AtomicBool,
    /// The addresses of the loaned bytes. `end` is 0 if the line has no loan.
    start: AtomicUsize,
    end: AtomicUsize,
    has_sequences: AtomicBool,
    /// The thread that took the loan. A callback with the message runs on this thread.
    thread: AtomicUsize,
    name: AtomicPtr<LoanName>,
}

/// The first line of the list; null before the first loan.
static LINES: AtomicPtr<LoanEntry> = AtomicPtr::new(null_mut());

fn lines() -> impl Iterator<Item = &'static LoanEntry> {
    let line = |at: *const LoanEntry| {
        // SAFETY: the pointer is null, or points to a line that was initialized before its address was stored, and is
        // never freed.
        unsafe { at.as_ref() }
    };
    std::iter::successors(line(LINES.load(Acquire)), move |found| line(found.next.load(Relaxed)))
}

impl LoanEntry {
    /// Returns a line that no loan uses, from the list or new.
    fn claim() -> &'static LoanEntry {
        if let Some(line) = lines().find(|line| !line.is_used.swap(true, Acquire)) {
            return line; // the swap's partner: the store in `drop`
        }
        let line: &LoanEntry = Box::leak(Box::new(LoanEntry {
            next: AtomicPtr::new(null_mut()),
            is_used: AtomicBool::new(true),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            has_sequences: AtomicBool::new(false),
            thread: AtomicUsize::new(0),
            name: AtomicPtr::new(null_mut()),
        }));
        let add = |first: *mut LoanEntry| {
            line.next.store(first, Relaxed);
            Some(std::ptr::from_ref(line).cast_mut())
        };
        // The update cannot fail, because `add` always returns a line. Partner: the load in `lines`.
        let _ = LINES.fetch_update(AcqRel, Acquire, add);
        line
    }

    fn holds(&self, address: usize) -> bool {
        let end = self.end.load(Acquire); // partner: the last store of `LoanedBytes::new`
        (self.start.load(Relaxed)..end).contains(&address)
    }

    /// True if `thread` holds the loan of this line, and the message has sequences in shared memory.
    fn is_of_thread(&self, thread: usize) -> bool {
        self.end.load(Acquire) != 0 && self.has_sequences.load(Relaxed) && self.thread.load(Relaxed) == thread
    }
}

/// A loan in the list that the signal handler reads. The drop removes it.
pub struct LoanedBytes(&'static LoanEntry);

impl LoanedBytes {
    /// Adds a loan to the list. `has_sequences` is true if sequences of the message point to the bytes.
    pub fn new(bytes: Range<*const u8>, has_sequences: bool, name: &'static LoanName) -> LoanedBytes {
        static HANDLERS: Once = Once::new();
        HANDLERS.call_once(|| SIGNALS.iter().for_each(Signal::set_handler));
        let line = LoanEntry::claim();
        line.start.store(bytes.start.addr(), Relaxed);
        line.has_sequences.store(has_sequences, Relaxed);
        line.thread.store(this_thread(), Relaxed);
        line.name.store(std::ptr::from_ref(name).cast_mut(), Relaxed);
        line.end.store(bytes.end.addr(), Release); // partners: the loads of the end
        LoanedBytes(line)
    }
}

impl Drop for LoanedBytes {
    fn drop(&mut self) {
        self.0.end.store(0, Relaxed);
        self.0.is_used.store(false, Release); // partner: the swap of `claim`
    }
}

fn this_thread() -> usize {
    // SAFETY: `pthread_self` has no preconditions. It reads a register, so a signal handler may call it.
    unsafe { libc::pthread_self() as usize }
}

/// A signal whose handler this library sets.
struct Signal {
    number: c_int,
    name: &'static str,
    /// The action that the signal had before.
    previous: OnceLock<libc::sigaction>,
}

static SIGNALS: [Signal; 2] = [
    Signal { number: libc::SIGSEGV, name: "SIGSEGV", previous: OnceLock::new() },
    Signal { number: libc::SIGABRT, name: "SIGABRT", previous: OnceLock::new() },
];

impl Signal {
    fn set_handler(&self) {
        // SAFETY: zero bytes are a valid `sigaction`: the default action.
        let (mut action, mut previous): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
        // SAFETY: the arguments are a signal number, null, and a valid output pointer.
        if unsafe { libc::sigaction(self.number, null(), &raw mut previous) } != 0 {
            return;
        }
        let _ = self.previous.set(previous); // stored before the handler can run
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the handler has the type that SA_SIGINFO requires, and calls only functions that are allowed in
        // handlers.
        unsafe { libc::sigaction(self.number, &raw const action, null_mut()) };
    }

    /// Sets the previous action of the signal again. Returns true if this is the default action.
    fn restore(&self) -> bool {
        // SAFETY: zero bytes are a valid `sigaction`: the default action.
        let default: libc::sigaction = unsafe { std::mem::zeroed() };
        let previous = self.previous.get().unwrap_or(&default);
        // SAFETY: the arguments are a signal number and a valid action.
        unsafe { libc::sigaction(self.number, previous, null_mut()) };
        previous.sa_sigaction == libc::SIG_DFL
    }

    /// Writes an explanation if a loan certainly or probably caused the signal.
    fn explain(&self, address: usize, is_fatal: bool) {
        if let Some(line) = lines().find(|line| line.holds(address)) {
            return self.write(line, "the process wrote to a loaned ", READ_ONLY);
        }
        let thread = this_thread();
        // A loan of this thread is only a probable cause. It is not reported if the program has its own handler, which
        // may repair the fault.
        if is_fatal && let Some(line) = lines().find(|line| line.is_of_thread(thread)) {
            self.write(line, "the thread holds a loaned ", SEQUENCES);
        }
    }

    fn write(&self, line: &LoanEntry, start: &str, end: &str) {
        // SAFETY: the pointer is null, or points to a name that stays until the process ends.
        let Some(name) = (unsafe { line.name.load(Relaxed).as_ref() }) else { return };
        let mut text = [0; 1024];
        let mut rest = &mut text[..];
        for part in ["rmw_gantry: ", self.name, ": ", start, &name.type_name, " of ", &name.topic, end, "\n"] {
            let _ = std::io::Write::write_all(&mut rest, part.as_bytes()); // a text that is too long is cut
        }
        let length = 1024 - rest.len();
        // SAFETY: `text` has at least `length` bytes. An error of this write cannot be reported.
        let _ = unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), length) };
    }
}

const READ_ONLY: &str = ", whose memory is mapped read-only; copy the message to change it, take it as `const &`, or run \
                         with ROS_DISABLE_LOANED_MESSAGES=1";
const SEQUENCES: &str = ", whose long sequences lie in shared memory; if its callback moves, swaps, assigns, shrinks or \
                         enlarges such a sequence, let it copy the message first, or run with \
                         ROS_DISABLE_LOANED_MESSAGES=1";

extern "C" fn handle(number: c_int, info: *const libc::siginfo_t, _: *mut c_void) {
    let Some(signal) = SIGNALS.iter().find(|signal| signal.number == number) else { return };
    // SAFETY: the function has no preconditions; it returns the address of this thread's errno.
    let errno = unsafe { libc::__errno_location() };
    // The handler keeps errno unchanged, for code that continues after the program's own handler repaired the fault.
    // SAFETY: the pointer is the address of this thread's errno.
    let errno_before = unsafe { *errno };
    // SAFETY: because of SA_SIGINFO, `info` points to information about the signal.
    let info = unsafe { &*info };
    let is_fault = number == libc::SIGSEGV && info.si_code > 0;
    // SAFETY: the signal is a fault, so `info` has an address.
    let address = if is_fault { unsafe { info.si_addr() }.addr() } else { 0 };
    signal.explain(address, signal.restore());
    if !is_fault {
        // SAFETY: `raise` has no preconditions. The signal arrives when this handler returns. A fault needs no `raise`:
        // it repeats when the instruction runs again.
        unsafe { libc::raise(number) };
    }
    // SAFETY: the pointer is the address of this thread's errno.
    unsafe { *errno = errno_before };
}
