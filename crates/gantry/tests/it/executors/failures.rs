//! What goes wrong is logged, tried again where that may help, and keeps nobody else waiting; and news that comes at a bad time.

use super::*;
use std::{
    sync::{
        Once,
        atomic::{AtomicBool, AtomicUsize, Ordering::*},
    },
    task::Waker,
};

behaviours! {
    with_a_far_end: [a_sample_that_is_no_message_is_logged_and_the_rest_comes],
    alone: [
        what_fails_is_tried_again_and_not_all_the_time,
        what_fails_is_tried_again_while_there_is_always_more_to_do,
        news_that_comes_while_a_callback_finds_nothing_is_not_lost,
    ],
}

fn a_sample_that_is_no_message_is_logged_and_the_rest_comes(case: &Case) {
    log_errors();
    let (mut far, mut executor, listener) = (case.far(), case.executor(), Listener::new());
    // No second passes in which nothing else is to do.
    feed_itself(&listener.node, &case.topic("own"), || ())();
    executor.add_node(&listener.node).unwrap();
    let topic = case.topic("bad");
    listener.hear(case, "bad", Qos::default());
    spinning(&mut *executor, || {
        for _ in 0..3 {
            far.tell(&format!("garbage {topic}"));
            assert_eq!(listener.next(), ("bad", 0));
        }
    });
    let errors = ERRORS.lock().unwrap();
    let own: Vec<_> = errors.iter().filter(|line| line.contains(&topic)).collect();
    assert_eq!(own.len(), 3, "{own:?}");
    assert!(own.iter().all(|line| line.contains("a callback got nothing")
        && line.contains("is no test_msgs/msg/Point")
        && line.contains("it was passed over")));
}

/// A source that fails so many times, and then has one thing.
struct Failing {
    failures: usize,
    is_done: bool,
    tries: Arc<AtomicUsize>,
}

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

fn fails(node: &Node, failures: usize) -> (Arc<AtomicUsize>, Told<()>) {
    let (tries, (sender, told)) = (Arc::new(AtomicUsize::new(0)), telling());
    let failing = Failing { failures, is_done: false, tries: tries.clone() };
    let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    group.add_callback(failing, move |_, ()| sender.send(()).unwrap());
    (tries, told)
}

fn what_fails_is_tried_again_and_not_all_the_time(case: &Case) {
    let (mut executor, node, begin) = (case.executor(), node(), Instant::now());
    let (tries, told) = fails(&node, 3);
    // Something that ends rests.
    node.create_timer_with_callback(ms(1), |_| ()).unwrap();
    executor.add_node(&node).unwrap();
    spinning(&mut *executor, || told.next());
    assert_eq!(tries.load(SeqCst), 4);
    assert!(begin.elapsed() >= ms(100) * 3, "tried again after {:?} in all", begin.elapsed());
}

fn what_fails_is_tried_again_while_there_is_always_more_to_do(case: &Case) {
    let (mut executor, node) = (case.executor(), node());
    feed_itself(&node, &case.topic("own"), || ())();
    let (_, told) = fails(&node, 1);
    executor.add_node(&node).unwrap();
    spinning(&mut *executor, || told.next());
}

/// A source that looks, finds nothing, and gets something before anybody knows that it found nothing.
struct Hesitating {
    news: Arc<AtomicBool>,
    waker: Option<Waker>,
    looks: usize,
    /// Gives it something and returns when another thread saw that, if there is one.
    meanwhile: Box<dyn FnMut(&Waker) + Send>,
}

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

fn news_that_comes_while_a_callback_finds_nothing_is_not_lost(case: &Case) {
    let (mut executor, node, news) = (case.executor(), node(), Arc::new(AtomicBool::new(false)));
    let ((sender, told), (saw, seen)) = (telling(), telling());
    let mut publisher = node.create_publisher::<Point>(&case.topic("after"), all()).unwrap();
    // Whoever runs this has looked for news of all others, too.
    let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    let after = node.create_subscription::<Point>(&case.topic("after"), all()).unwrap();
    group.add_callback(after, move |_, _| {
        let _ = saw.send(());
    });
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    let (gives, other_thread) = (news.clone(), case.kind == Kind::MultiThreaded);
    let meanwhile = Box::new(move |waker: &Waker| {
        gives.store(true, SeqCst);
        waker.wake_by_ref();
        publisher.publish_copy(&Point { x: 1.0, y: 0.0 }).unwrap();
        if other_thread {
            seen.next();
        }
    });
    let hesitating = Hesitating { news, waker: None, looks: 0, meanwhile };
    node.add_callback(hesitating, move |_, ()| sender.send(()).unwrap());
    executor.add_node(&node).unwrap();
    spinning(&mut *executor, || told.next());
}

/// What was logged as an error, by anybody.
static ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Collects errors from now on.
fn log_errors() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Errors).unwrap());
}

struct Errors;

impl tracing::Subscriber for Errors {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::ERROR
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = String::new();
        event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
            line += &format!("{field}={value:?} ");
        });
        ERRORS.lock().unwrap().push(line);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
