//! Tests that the data path waits for no other thread. A signal stops one thread at any point, two hundred times, while
//! another thread continues in a process whose system calls are trapped. If the running thread needed a lock that the
//! stopped thread holds, it would make a futex call, or never end.
//!
//! The functions are roles of child processes of the tests in `realtime`.

use crate::{
    realtime::{OK, options, pair, publish, take},
    support::{PATIENCE, Point},
};
use gantry::{Loan, Node, PublishMode, Qos};
use std::{
    ffi::c_int,
    os::unix::thread::JoinHandleExt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::*},
    },
    thread,
    time::Instant,
};
use test_support::trap;

/// The largest number of stops of the thread. On a loaded machine, fewer stops fit in [`PATIENCE`].
const STOPS: u64 = 200;
/// The number of cycles of the other thread during each stop.
const CYCLES: u64 = 50;
const ASYNC: PublishMode = PublishMode::Async { period: std::time::Duration::from_micros(100) };

/// The work that a thread repeats.
type Work = Box<dyn FnMut() + Send>;
/// A function that makes the work of the stopped thread and the work of the other thread.
type MakeWork = fn(&Node, &str) -> (Work, Work);

/// The threads that the tests stop.
pub const STOPPED: [(&str, MakeWork); 5] = [
    ("reader", |node, topic| {
        let (mut publisher, mut subscription) = pair::<Point>(node, topic, PublishMode::Sync);
        (Box::new(move || drop(take(&mut subscription))), Box::new(move || publish(&mut publisher, 1)))
    }),
    ("publisher", |node, topic| {
        let (mut publisher, mut subscription) = pair::<Point>(node, topic, PublishMode::Sync);
        (Box::new(move || publish(&mut publisher, 1)), Box::new(move || drop(take(&mut subscription))))
    }),
    ("clone", |node, topic| {
        let (mut publisher, mut subscription) = pair::<Point>(node, topic, ASYNC);
        let mut clone = publisher.try_clone().unwrap();
        assert_eq!(subscription.publisher_count().unwrap(), 2);
        assert!(clone.wait_for_subscriptions(1, PATIENCE).unwrap());
        let other = move || {
            publish(&mut publisher, 1);
            while take(&mut subscription).is_some() {}
        };
        (Box::new(move || publish(&mut clone, 2)), Box::new(other))
    }),
    ("subscription", |node, topic| {
        let (mut publisher, mut subscription) = pair::<Point>(node, topic, PublishMode::Sync);
        let mut second = node.create_subscription(topic, Qos::default().keep_last(8)).unwrap();
        assert_eq!((publisher.subscription_count().unwrap(), second.publisher_count().unwrap()), (2, 1));
        let other = move || {
            publish(&mut publisher, 1);
            while take(&mut subscription).is_some() {}
        };
        (Box::new(move || drop(take(&mut second))), Box::new(other))
    }),
    ("dropper", |node, topic| {
        let qos = Qos::default().keep_last(8);
        let mut publisher = node.create_publisher_with_options(topic, qos, options(PublishMode::Sync)).unwrap();
        // Slots are allocated in advance, so that enough slots remain while the stopped thread holds some of them.
        drop((0..2 * CYCLES).map(|_| publisher.loan().unwrap()).collect::<Vec<Loan<Point>>>());
        let handed_over = Arc::new(Mutex::new(None::<Loan<Point>>));
        let its = handed_over.clone();
        let drops = move || drop(its.try_lock().ok().and_then(|mut loan| loan.take()));
        let other = move || {
            publish(&mut publisher, 1);
            let loan = publisher.loan().unwrap();
            if let Ok(mut place) = handed_over.try_lock()
                && place.is_none()
            {
                *place = Some(loan);
            } else {
                publisher.publish(loan).unwrap();
            }
        };
        (Box::new(drops), Box::new(other))
    }),
];

static STANDS: AtomicBool = AtomicBool::new(false);
static SHALL_STAND: AtomicBool = AtomicBool::new(false);
static DONE: AtomicU64 = AtomicU64::new(0);

/// The signal handler that stops a thread: it loops until the thread may continue.
extern "C" fn stand(_signal: c_int) {
    STANDS.store(true, SeqCst);
    while SHALL_STAND.load(SeqCst) {
        thread::yield_now(); // a system call, which a signal handler may make: other threads may need the CPU
    }
    STANDS.store(false, SeqCst);
}

/// Role of a child process.
pub fn play(node: &Node, topic: &str, who: &str) {
    let (mut stopped, mut other) = STOPPED.iter().find(|(name, _)| *name == who).unwrap().1(node, topic);
    for _ in 0..5_000 {
        // The cycles of both threads run until the history is full and all slots exist.
        other();
        stopped();
    }
    // SAFETY: the structure consists of plain numbers; all zeros mean no flags and an empty set of signals.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = stand as *const () as usize;
    // SAFETY: without flags, a handler has this signature; it only touches atomics.
    assert_eq!(unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) }, 0);
    let victim = thread::spawn(move || {
        loop {
            stopped();
        }
    });
    thread::spawn(move || {
        trap::set(&[]).unwrap();
        loop {
            other();
            DONE.fetch_add(1, SeqCst);
        }
    });
    let begin = Instant::now();
    for stop in (0..STOPS).take_while(|_| begin.elapsed() < PATIENCE / 2) {
        let deadline = Instant::now() + PATIENCE / 2;
        let wait_until = |what: &str, is_so: &dyn Fn() -> bool| {
            while !is_so() {
                assert!(Instant::now() < deadline, "{what} at stop {stop}: nothing goes on");
                thread::yield_now();
            }
        };
        SHALL_STAND.store(true, SeqCst);
        // SAFETY: the thread never ends, so its handle is valid.
        assert_eq!(unsafe { libc::pthread_kill(victim.as_pthread_t(), libc::SIGUSR1) }, 0);
        wait_until("stopping a thread", &|| STANDS.load(SeqCst));
        let before = DONE.load(SeqCst);
        wait_until("going on while a thread stands", &|| DONE.load(SeqCst) >= before + CYCLES);
        SHALL_STAND.store(false, SeqCst);
        wait_until("letting a thread go on", &|| !STANDS.load(SeqCst));
    }
    trap::end(format_args!("{OK}"));
}
