//! Tests of forked processes: a forked child gets errors, harms nothing, and does not make its dead parent look alive.
//!
//! By advice of madvise(2), the engine keeps pages from a forked child. An emulator of another machine may accept this
//! advice but ignore it: [`why_not`] tests for this.

use crate::{
    child::*,
    death::count_of,
    support::*,
    waiting::{publisher_on, subscription_to},
};
use gantry_shm::{
    Collector, Error, Generation, Loan, Participant, PublisherMatches, Qos, Role, SeenPublishers, SourceTime,
    Subscription, WaitSet, Watcher, interrupt_waits,
};
use rustix::{
    io::Errno,
    mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap},
};
use std::{
    io::Read,
    os::fd::AsRawFd,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

const PAGE_BYTES: usize = 4096;

tests![
    a_forked_child_gets_errors_and_harms_nothing,
    a_thread_that_ends_forks,
    forked_children_end_at_any_step_of_the_control_thread,
];

/// A watcher that reads the matches of a subscription, as Gantry's watcher for QoS events does.
struct Looker(Generation, PublisherMatches);

impl Looker {
    fn new(subscription: &Subscription, participant: &Participant) -> Result<Arc<Looker>, Error> {
        let make = |generation| Looker(generation, subscription.matches());
        participant.watch(&subscription.description().topic, Role::Publisher, make)
    }
}

impl Watcher for Looker {
    fn update(&self) {
        self.0.get().unwrap();
        self.1.look(SeenPublishers::default()).unwrap();
    }

    fn due_ns(&self) -> Option<u64> {
        None
    }
}

/// The reason why these tests cannot work on this machine; `None` if they can. The process must have only one thread.
pub fn why_not() -> Option<String> {
    let (kept_back, wiped) = (advised_page(Advice::LinuxDontFork), advised_page(Advice::LinuxWipeOnFork));
    let (_reader, writer) = std::io::pipe().unwrap();
    // SAFETY: this process has only one thread.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: if the page is not mapped in the child, the system call returns an error; it causes no fault.
        let is_kept_back = unsafe { libc::write(writer.as_raw_fd(), kept_back.cast(), 1) } == -1
            && std::io::Error::last_os_error().raw_os_error() == Some(Errno::FAULT.raw_os_error());
        // SAFETY: the page is private memory of this process; wiped or not, it can be read.
        let is_wiped = unsafe { wiped.read_volatile() } == 0;
        // SAFETY: a system call without memory arguments.
        unsafe { libc::_exit(i32::from(!is_kept_back) + 2 * i32::from(!is_wiped)) };
    }
    let mut status = 0;
    // SAFETY: a system call; `status` is a local variable.
    let ended = unsafe { libc::waitpid(pid, &mut status, 0) };
    assert!(ended == pid && libc::WIFEXITED(status), "{ended} {status}");
    for page in [kept_back, wiped] {
        // SAFETY: `advised_page` mapped the page, and it is not used any more.
        unsafe { munmap(page.cast(), PAGE_BYTES) }.unwrap();
    }
    match libc::WEXITSTATUS(status) {
        0 => None,
        1 => Some("a forked child gets pages that MADV_DONTFORK keeps from it".into()),
        2 => Some("a forked child's pages are not wiped by MADV_WIPEONFORK".into()),
        _ => Some("a forked child gets all pages, even with MADV_DONTFORK and MADV_WIPEONFORK".into()),
    }
}

/// Maps a page, gives the kernel this advice about it, and writes a 1 into it.
fn advised_page(advice: Advice) -> *mut u8 {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice aliases nothing.
    let page = unsafe { mmap_anonymous(std::ptr::null_mut(), PAGE_BYTES, protection, MapFlags::PRIVATE) }.unwrap();
    // SAFETY: the page was just mapped here.
    unsafe { madvise(page, PAGE_BYTES, advice) }.unwrap();
    // SAFETY: the page was just mapped here.
    unsafe { page.cast::<u8>().write_volatile(1) };
    page.cast()
}

fn a_forked_child_gets_errors_and_harms_nothing() {
    let root = Root::new();
    let mut parent = root.child("fork", &[]);
    assert_eq!(parent.line(), "forked");
    // The grandchild still lives, with copies of all descriptors of its parent and grandparent. Nevertheless, their
    // deaths must be noticed.
    parent.kill();
    let participant = root.join();
    assert_eq!(count_of(&root, "process"), 1, "the forked child keeps its dead parent alive");
    drop(participant);
    root.assert_empty();
}

/// Role of a child process: forks, and checks in the forked child that every handle returns an error.
pub fn forked_child_gets_errors(root: &Path, participant: Arc<Participant>) {
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let mut subscription = subscription(&participant, STREAM_BYTES, stream_qos());
    match_up(&mut publisher, &mut subscription);
    send(&mut publisher, STREAM_BYTES, 1);
    let sample = subscription.take().unwrap().unwrap();
    let loan = publisher.loan(STREAM_BYTES).unwrap();
    let mut spare = publisher.loan(STREAM_BYTES).unwrap();
    let (watcher, mut matches) = (Looker::new(&subscription, &participant).unwrap(), publisher.matches());
    let mut collector = Collector::new(&participant).unwrap();
    let attachment = collector.attach(&subscription).unwrap();
    let bell = collector.bell();
    collector.collect(|_| ());
    send(&mut publisher, STREAM_BYTES, 1);
    // SAFETY: this process has one thread.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let is_forked = |error: Option<Error>| assert!(matches!(error, Some(Error::Forked)), "{error:?}");
        is_forked(publisher.loan(STREAM_BYTES).err());
        is_forked(publisher.publish(loan, SourceTime::now()).err().map(Error::from));
        is_forked(publisher.subscription_count().err());
        is_forked(publisher.assert_liveliness().err());
        is_forked(Looker::new(&subscription, &participant).err());
        is_forked(watcher.0.get().err());
        is_forked(watcher.1.look(SeenPublishers::default()).err());
        is_forked(matches.activity().err());
        is_forked(matches.look().err());
        is_forked(subscription.take().err());
        is_forked(subscription.wait(Duration::ZERO).err());
        is_forked(collector.attach(&subscription).err());
        is_forked(collector.wait(None, || false).err());
        collector.collect(|_| panic!("the parent's news"));
        collector.detach(attachment);
        publisher.count_copy();
        subscription.count_copy();
        bell.ring();
        [true, false].into_iter().for_each(interrupt_waits); // must ring no bell of the parent
        drop(collector);
        assert_loan_is_inaccessible(&mut spare);
        // The sample is dropped last, because it refers to memory of its subscription.
        drop((spare, watcher, matches, publisher, subscription, participant));
        assert_eq!(sample.info().sequence, 1);
        drop(sample);
        join_and_fork(root);
    }
    // The handles of the parent still work.
    publisher.publish(loan, SourceTime::now()).unwrap();
    assert_eq!(check(sample.bytes()), 1);
    let deadline = Instant::now() + Duration::from_millis(200);
    while Instant::now() < deadline {
        send(&mut publisher, STREAM_BYTES, 2);
        drain_unchecked(&mut subscription);
    }
    let mut status = 0;
    // SAFETY: a system call; `status` is a local variable.
    let ended = unsafe { libc::waitpid(pid, &mut status, 0) };
    assert_eq!((ended, status), (pid, 0), "the forked child failed");
    say("forked");
    let _ = std::io::stdin().read(&mut [0]);
}

/// Checks in a forked child that it does not map memory that the parent writes, and that no other mapping may take the
/// memory's address.
fn assert_loan_is_inaccessible(loan: &mut Loan) {
    // SAFETY: this process has one thread.
    let stray = unsafe { libc::fork() };
    if stray == 0 {
        let page = loan.bytes_mut().as_mut_ptr().map_addr(|address| address & !(PAGE_BYTES - 1)).cast();
        let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
        // SAFETY: with MAP_FIXED_NOREPLACE, the system call replaces no mapping.
        let mapped = unsafe { mmap_anonymous(page, PAGE_BYTES, ProtFlags::READ | ProtFlags::WRITE, flags) };
        assert_eq!(mapped, Err(Errno::EXIST));
        loan.bytes_mut()[0] = 1;
        // SAFETY: a system call without memory arguments.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: a system call; `status` is a local variable.
    unsafe { libc::waitpid(stray, &mut status, 0) };
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV, "{status}");
}

/// Joins the domain in a forked child whose handles of the parent are dropped, forks again, and ends. The grandchild
/// has copies of all descriptors of the child. Nevertheless, the child's death must be noticed.
fn join_and_fork(root: &Path) -> ! {
    let own = Participant::join_under(root, 0).unwrap();
    // SAFETY: this process has one thread.
    if unsafe { libc::fork() } != 0 {
        // The child ends without destructors, but its files must be removed. SAFETY: a system call without memory
        // arguments.
        unsafe { libc::_exit(i32::from(own.domain_id() != 0)) };
    }
    // This process (the grandchild) lives until the test closes the pipe.
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(0);
}

fn a_thread_that_ends_forks() {
    let root = Root::new();
    let mut parent = root.child("fork-at-end", &[]);
    assert_eq!(parent.line(), "forked");
    parent.kill();
    let participant = root.join();
    // The check is repeated, because the forked child may not have run its fork handler yet.
    eventually("the death of the parent is noticed beside its child", || count_of(&root, "process") == 1);
    drop(participant);
    root.assert_empty();
}

/// A thread-local whose destructor forks at the end of its thread. By then, thread-locals that were first used later
/// are destroyed.
struct ForksAtEnd;

impl Drop for ForksAtEnd {
    fn drop(&mut self) {
        // SAFETY: the child only makes system calls.
        if unsafe { libc::fork() } == 0 {
            // The child waits until the test closes the pipe. SAFETY: a read of 1 byte to a null pointer writes
            // nothing.
            unsafe { libc::read(0, std::ptr::null_mut(), 1) };
            // SAFETY: a system call without memory arguments.
            unsafe { libc::_exit(0) };
        }
    }
}

/// Role of a child process: forks on a thread, and again when this thread ends.
pub fn fork_at_end(_participant: &Arc<Participant>) {
    thread_local!(static AT_END: ForksAtEnd = const { ForksAtEnd });
    let thread = std::thread::spawn(|| {
        AT_END.with(|_| ());
        // SAFETY: the child only makes system calls.
        match unsafe { libc::fork() } {
            // SAFETY: a system call without memory arguments.
            0 => unsafe { libc::_exit(0) },
            // SAFETY: with a null pointer, the system call writes no status.
            pid => unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) },
        };
    });
    thread.join().unwrap();
    say("forked");
    let _ = std::io::stdin().read(&mut [0]);
}

fn drain_unchecked(subscription: &mut Subscription) {
    while subscription.take().unwrap().is_some() {}
}

fn forked_children_end_at_any_step_of_the_control_thread() {
    let root = Root::new();
    let mut child = root.child("forks", &[]);
    assert_eq!(child.line(), "done");
    child.finish();
    root.assert_empty();
}

/// Role of a child process: forks often, while its control thread has much work.
pub fn fork_while_control_is_busy(root: &Path, participant: &Arc<Participant>) {
    let ended = Arc::new(AtomicBool::new(false));
    let (busy, stop) = (participant.clone(), ended.clone());
    let thread = std::thread::spawn(move || {
        while !stop.load(Relaxed) {
            drop(publisher_on(&busy, "/events", Qos::default()));
        }
    });
    let (mut subscription, mut wait_set) =
        (subscription_to(participant, "/events", Qos::default()), WaitSet::new(participant));
    subscription.descriptor().unwrap();
    let watcher = Looker::new(&subscription, participant).unwrap();
    assert!(!wait_set.wait(&mut [], Duration::from_micros(100)).unwrap());
    for round in 0..40 {
        // SAFETY: the child only uses operations that must work after a fork of a process with threads; this test
        // checks them.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            let is_forked = |error: Option<Error>| assert!(matches!(error, Some(Error::Forked)), "{error:?}");
            is_forked(subscription.take().err());
            is_forked(subscription.descriptor().err());
            is_forked(watcher.0.get().err());
            is_forked(watcher.1.look(SeenPublishers::default()).err());
            is_forked(wait_set.wait(&mut [], Duration::ZERO).err());
            is_forked(wait_set.wait(&mut [&mut subscription], PATIENCE).err());
            assert!(subscription.mismatches().is_empty());
            if round % 2 == 0 {
                drop((subscription, wait_set, watcher));
                let own = Participant::join_under(root, 0).unwrap();
                let mut publisher = publisher_on(&own, "/own", Qos::default());
                let loan = publisher.loan(1).unwrap();
                publisher.publish(loan, SourceTime::now()).unwrap();
                drop((publisher, own));
            }
            std::process::exit(0);
        }
        let (mut status, mut ended) = (0, 0);
        eventually("the forked child ends", || {
            // SAFETY: a system call; `status` is a local variable.
            ended = unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) };
            ended != 0
        });
        assert_eq!((ended, status), (pid, 0), "the forked child failed");
    }
    ended.store(true, Relaxed);
    thread.join().unwrap();
    drop((subscription, wait_set, watcher));
    say("done");
}
