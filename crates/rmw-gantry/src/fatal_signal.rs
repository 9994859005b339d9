//! The sentence about a signal that ends the process because a callback changed a loaned message.
//!
//! A write to a loaned message, whose memory is mapped read-only, raises SIGSEGV. If C++ frees elements in shared
//! memory, the C library raises SIGABRT, or SIGSEGV. The first loan sets a handler for both signals. The handler
//! writes a sentence to standard error, and leaves the signal to the action that was there before. It loads
//! atomics and calls functions that POSIX allows in handlers; it takes no lock and allocates nothing.

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

/// The names in the sentence about a loan.
pub struct LoanName {
    type_name: String,
    topic: String,
}

impl LoanName {
    /// The name of this type and topic, which stays until the process ends, because a handler reads it without a lock.
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

/// A line of the list of loans, which the handler reads. Lines are never freed; later loans use them again.
struct Line {
    next: AtomicPtr<Line>,
    is_used: AtomicBool,
    /// The bytes on loan. The end is 0 if there are none.
    start: AtomicUsize,
    end: AtomicUsize,
    has_sequences: AtomicBool,
    /// The thread that took the loan; callbacks run on the thread that takes.
    thread: AtomicUsize,
    name: AtomicPtr<LoanName>,
}

/// The first line; null before the first loan.
static LINES: AtomicPtr<Line> = AtomicPtr::new(null_mut());

fn lines() -> impl Iterator<Item = &'static Line> {
    let line = |at: *const Line| {
        // SAFETY: null, or a line, which was written before its address was stored and is never freed.
        unsafe { at.as_ref() }
    };
    std::iter::successors(line(LINES.load(Acquire)), move |found| line(found.next.load(Relaxed)))
}

impl Line {
    /// A line that no loan uses.
    fn claim() -> &'static Line {
        if let Some(line) = lines().find(|line| !line.is_used.swap(true, Acquire)) {
            return line; // partner: the store of `drop`
        }
        let line: &Line = Box::leak(Box::new(Line {
            next: AtomicPtr::new(null_mut()),
            is_used: AtomicBool::new(true),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            has_sequences: AtomicBool::new(false),
            thread: AtomicUsize::new(0),
            name: AtomicPtr::new(null_mut()),
        }));
        let add = |first: *mut Line| {
            line.next.store(first, Relaxed);
            Some(std::ptr::from_ref(line).cast_mut())
        };
        // The update does not fail, because `add` returns a line. Partner: the load of `lines`.
        let _ = LINES.fetch_update(AcqRel, Acquire, add);
        line
    }

    fn holds(&self, address: usize) -> bool {
        let end = self.end.load(Acquire); // partner: the last store of `LoanedBytes::new`
        (self.start.load(Relaxed)..end).contains(&address)
    }

    /// Whether this thread has taken a message with sequences in shared memory, and has not returned it.
    fn is_of_thread(&self, thread: usize) -> bool {
        self.end.load(Acquire) != 0 && self.has_sequences.load(Relaxed) && self.thread.load(Relaxed) == thread
    }
}

/// A loan in the list that the handler reads.
pub struct LoanedBytes(&'static Line);

impl LoanedBytes {
    /// Adds a loan. `has_sequences` states whether sequences of the message point to the bytes.
    pub fn new(bytes: Range<*const u8>, has_sequences: bool, name: &'static LoanName) -> LoanedBytes {
        static HANDLERS: Once = Once::new();
        HANDLERS.call_once(|| SIGNALS.iter().for_each(Signal::set_handler));
        let line = Line::claim();
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
    // SAFETY: it has no arguments; it reads a register, also in a handler.
    unsafe { libc::pthread_self() as usize }
}

/// A signal with a handler.
struct Signal {
    number: c_int,
    name: &'static str,
    /// The action before the handler was set.
    previous: OnceLock<libc::sigaction>,
}

static SIGNALS: [Signal; 2] = [
    Signal { number: libc::SIGSEGV, name: "SIGSEGV", previous: OnceLock::new() },
    Signal { number: libc::SIGABRT, name: "SIGABRT", previous: OnceLock::new() },
];

impl Signal {
    fn set_handler(&self) {
        // SAFETY: zeros are an action: the default one.
        let (mut action, mut previous): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
        // SAFETY: a signal, and an output.
        if unsafe { libc::sigaction(self.number, null(), &raw mut previous) } != 0 {
            return;
        }
        let _ = self.previous.set(previous); // before the handler may run
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: an action whose handler has the type that SA_SIGINFO requires, and calls nothing that is forbidden.
        unsafe { libc::sigaction(self.number, &raw const action, null_mut()) };
    }

    /// Sets the previous action again; returns whether it is the default action.
    fn restore(&self) -> bool {
        // SAFETY: zeros are the default action.
        let default: libc::sigaction = unsafe { std::mem::zeroed() };
        let previous = self.previous.get().unwrap_or(&default);
        // SAFETY: a signal and an action.
        unsafe { libc::sigaction(self.number, previous, null_mut()) };
        previous.sa_sigaction == libc::SIG_DFL
    }

    /// Writes a sentence if a loan explains the signal, or may explain it.
    fn explain(&self, address: usize, is_fatal: bool) {
        if let Some(line) = lines().find(|line| line.holds(address)) {
            return self.write(line, "the process wrote to a loaned ", READ_ONLY);
        }
        let thread = this_thread();
        // The handler of a program may repair a fault, so a guess is written only about the default action.
        if is_fatal && let Some(line) = lines().find(|line| line.is_of_thread(thread)) {
            self.write(line, "the thread holds a loaned ", SEQUENCES);
        }
    }

    fn write(&self, line: &Line, start: &str, end: &str) {
        // SAFETY: null, or a name, which stays until the process ends.
        let Some(name) = (unsafe { line.name.load(Relaxed).as_ref() }) else { return };
        let mut text = [0; 1024];
        let mut rest = &mut text[..];
        for part in ["rmw_gantry: ", self.name, ": ", start, &name.type_name, " of ", &name.topic, end, "\n"] {
            let _ = std::io::Write::write_all(&mut rest, part.as_bytes()); // cuts a long name off
        }
        let length = 1024 - rest.len();
        // SAFETY: bytes of that length. There is no other place for the sentence.
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
    // SAFETY: it has no arguments; it returns the address of this thread's variable.
    let errno = unsafe { libc::__errno_location() };
    // If a program's own handler repairs the fault, the code continues, and needs its errno.
    // SAFETY: the variable of this thread.
    let errno_before = unsafe { *errno };
    // SAFETY: the information about the signal, because of SA_SIGINFO.
    let info = unsafe { &*info };
    let is_fault = number == libc::SIGSEGV && info.si_code > 0;
    // SAFETY: a fault has an address.
    let address = if is_fault { unsafe { info.si_addr() }.addr() } else { 0 };
    signal.explain(address, signal.restore());
    if !is_fault {
        // SAFETY: a signal, which comes when this handler returns. A fault comes again by itself.
        unsafe { libc::raise(number) };
    }
    // SAFETY: the variable of this thread.
    unsafe { *errno = errno_before };
}
