//! Tests with sources that users cannot write, because `Waitable` is sealed: a source that fails, and a source that
//! gets a value while the executor checks it.

use super::*;
use crate::{CallbackGroupType, Error, PlainMessage, Publisher, Qos, Sample, TakeSource, Waitable, wait::WaitSource};
use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::*},
        mpsc::{Receiver, channel},
    },
    task::Waker,
    time::Instant,
};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A time limit that only a hanging test reaches.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct Point {
    x: f64,
    y: f64,
}

impl PlainMessage for Point {
    const TYPE_NAME: &'static str = "test_msgs/msg/Point";
    const DEFINITION: &'static str = "float64 x\nfloat64 y";
}

/// Runs a test with each executor. The closure gets the executor, a topic of its own, and whether other threads than
/// the spinning thread run callbacks.
fn with_each(name: &str, test: impl Fn(&mut (dyn Executor + Send), &str, bool)) {
    let events = |overflow| Box::new(EventsExecutor::with_queue(5000, overflow));
    let executors: [Box<dyn Executor + Send>; 5] = [
        Box::new(SingleThreadedExecutor::new()),
        Box::new(MultiThreadedExecutor::with_threads(3)),
        events(Overflow::Wait),
        events(Overflow::DropOldest),
        events(Overflow::DropNewest),
    ];
    for (index, mut executor) in executors.into_iter().enumerate() {
        test(
            &mut *executor,
            &format!("/executor_tests/{name}/process_{}/number_{index}", std::process::id()),
            index == 1,
        );
    }
}

fn node() -> Node {
    Node::builder("tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap()
}

/// Spins the executor on another thread until the receiver gets a message.
fn spin_until_received(executor: &mut (dyn Executor + Send), received: &Receiver<()>) {
    let canceler = executor.handle();
    std::thread::scope(|scope| {
        let spinner = scope.spawn(|| executor.spin());
        let result = received.recv_timeout(PATIENCE);
        canceler.cancel();
        spinner.join().unwrap().unwrap();
        result.unwrap();
    });
}

/// Adds a callback that publishes on its own topic and so triggers its next run.
fn feed_itself(node: &Node, topic: &str) {
    let publisher = Arc::new(Mutex::new(node.create_publisher::<Point>(topic, Qos::default()).unwrap()));
    let feed = |publisher: &Mutex<Publisher<Point>>| {
        publisher.lock().unwrap().publish_copy(&Point { x: 0.0, y: 0.0 }).unwrap();
    };
    let food = publisher.clone();
    node.create_subscription_with_callback(topic, Qos::default(), move |_: Sample<Point>| feed(&food)).unwrap();
    assert!(publisher.lock().unwrap().wait_for_subscriptions(1, PATIENCE).unwrap());
    feed(&publisher);
}

/// A source that fails a number of times, and then has one value.
struct Failing {
    failures: usize,
    is_done: bool,
    tries: Arc<AtomicUsize>,
}

impl WaitSource for Failing {}

impl Waitable for Failing {
    fn is_ready(&mut self) -> Result<bool> {
        Ok(!self.is_done)
    }
}

impl TakeSource for Failing {
    type Taken = ();

    fn take_next(&mut self) -> Result<Option<()>> {
        if self.is_done {
            return Ok(None);
        }
        if self.tries.fetch_add(1, SeqCst) < self.failures {
            return Err(Error::NoNode);
        }
        self.is_done = true;
        Ok(Some(()))
    }
}

fn add_failing(node: &Node, failures: usize) -> (Arc<AtomicUsize>, Receiver<()>) {
    let (tries, (sender, received)) = (Arc::new(AtomicUsize::new(0)), channel());
    let failing = Failing { failures, is_done: false, tries: tries.clone() };
    let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    group.add_callback(failing, move |_, ()| sender.send(()).unwrap());
    (tries, received)
}

#[test]
fn a_source_that_fails_is_tried_again_and_not_all_the_time() {
    with_each("tried_again", |executor, _, _| {
        let (node, begin) = (node(), Instant::now());
        let (tries, received) = add_failing(&node, 3);
        // The timer ends the executor's sleeps, which must not cause more tries of the source.
        node.create_timer_with_callback(Duration::from_millis(1), |_| ()).unwrap();
        executor.add_node(&node).unwrap();
        spin_until_received(executor, &received);
        assert_eq!(tries.load(SeqCst), 4);
        assert!(begin.elapsed() >= Duration::from_millis(300), "tried again after {:?} in all", begin.elapsed());
    });
}

/// A `tracing` subscriber that counts the errors that this thread logs.
struct CountErrors(Arc<AtomicUsize>);

impl tracing::Subscriber for CountErrors {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::ERROR
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, SeqCst);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn an_error_that_lasts_is_logged_once_for_each_callback() {
    with_each("logged_once", |executor, _, _| {
        let (node, errors) = (node(), Arc::new(AtomicUsize::new(0)));
        let failing = [3, 4].map(|failures| add_failing(&node, failures));
        executor.add_node(&node).unwrap();
        let count = errors.clone();
        tracing::subscriber::with_default(CountErrors(count), || {
            let until = Instant::now() + PATIENCE;
            while failing.iter().any(|(tries, _)| tries.load(SeqCst) < 4) {
                assert!(Instant::now() < until);
                executor.spin_once(Duration::from_secs(1)).unwrap(); // on this thread, where errors are counted
            }
        });
        assert_eq!(errors.load(SeqCst), 2);
    });
}

#[test]
fn a_source_that_fails_is_tried_again_while_there_is_always_more_to_do() {
    with_each("always_more", |executor, topic, _| {
        let node = node();
        feed_itself(&node, topic);
        let (_, received) = add_failing(&node, 1);
        executor.add_node(&node).unwrap();
        spin_until_received(executor, &received);
    });
}

/// A source whose check finds nothing, and which gets a value before the executor has the result of the check.
struct Hesitating {
    news: Arc<AtomicBool>,
    waker: Option<Waker>,
    looks: usize,
    /// Gives the source a value. If there is another thread, returns after that thread has seen the value.
    meanwhile: Box<dyn FnMut(&Waker) + Send>,
}

impl WaitSource for Hesitating {}

impl Waitable for Hesitating {
    fn is_ready(&mut self) -> Result<bool> {
        let is_ready = self.news.load(SeqCst);
        self.looks += 1;
        if self.looks == 1 {
            (self.meanwhile)(self.waker.as_ref().unwrap());
        }
        Ok(is_ready)
    }

    fn set_waker(&mut self, waker: Option<Waker>) {
        self.waker = waker;
    }
}

impl TakeSource for Hesitating {
    type Taken = ();

    fn take_next(&mut self) -> Result<Option<()>> {
        Ok(self.news.swap(false, SeqCst).then_some(()))
    }
}

#[test]
fn news_that_comes_while_a_callback_finds_nothing_is_not_lost() {
    with_each("after", |executor, topic, has_other_threads| {
        let (node, news) = (node(), Arc::new(AtomicBool::new(false)));
        let ((sender, received), (saw, seen)) = (channel(), channel());
        let mut publisher = node.create_publisher::<Point>(topic, Qos::default().keep_all()).unwrap();
        // A thread that runs this callback has also gathered the news of all other callbacks.
        let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
        let after = node.create_subscription::<Point>(topic, Qos::default().keep_all()).unwrap();
        group.add_callback(after, move |_, _| {
            let _ = saw.send(());
        });
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        let gives = news.clone();
        let meanwhile = Box::new(move |waker: &Waker| {
            gives.store(true, SeqCst);
            waker.wake_by_ref();
            publisher.publish_copy(&Point { x: 1.0, y: 0.0 }).unwrap();
            if has_other_threads {
                seen.recv_timeout(PATIENCE).unwrap();
            }
        });
        let hesitating = Hesitating { news, waker: None, looks: 0, meanwhile };
        node.add_callback(hesitating, move |_, ()| sender.send(()).unwrap());
        executor.add_node(&node).unwrap();
        spin_until_received(executor, &received);
    });
}

/// A timed source that is never due and counts the queries of its due time.
struct Idle {
    asked: Arc<AtomicUsize>,
}

impl WaitSource for Idle {
    fn due_ns(&mut self) -> Option<u64> {
        self.asked.fetch_add(1, SeqCst);
        Some(u64::MAX / 2)
    }

    fn is_timed(&self) -> bool {
        true
    }
}

impl Waitable for Idle {
    fn is_ready(&mut self) -> Result<bool> {
        Ok(false)
    }
}

impl TakeSource for Idle {
    type Taken = ();

    fn take_next(&mut self) -> Result<Option<()>> {
        Ok(None)
    }
}

#[test]
fn idle_timers_are_not_asked_for_each_message() {
    const TIMERS: usize = 100;
    with_each("idle_timers", |executor, topic, _| {
        let (node, asked) = (node(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..TIMERS {
            node.add_callback(Idle { asked: asked.clone() }, |_, ()| ());
        }
        feed_itself(&node, topic);
        executor.add_node(&node).unwrap();
        for _ in 0..200 {
            assert!(executor.spin_once(PATIENCE).unwrap());
        }
        assert!((TIMERS..3 * TIMERS).contains(&asked.load(SeqCst)), "asked {} times", asked.load(SeqCst));
    });
}
