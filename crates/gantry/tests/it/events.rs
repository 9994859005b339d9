//! Tests of the events of publishers and subscriptions: handles, their wakers, and callbacks for events.

use crate::{child::say, qos::*, support::*};
use gantry::{
    CallbackGroupType, Executor, Node, Publisher, PublisherEvent, PublisherEvents, Qos, SingleThreadedExecutor,
    SubscriptionEvent, Waitable,
};
use std::{
    sync::Arc, sync::Mutex, sync::atomic::AtomicUsize, sync::atomic::Ordering::*, sync::mpsc::RecvTimeoutError,
    sync::mpsc::Sender, sync::mpsc::channel, task::Wake, task::Waker, thread::Thread, time::Duration, time::Instant,
};

tests![
    events_outlive_their_endpoint,
    every_handle_has_all_events,
    a_waker_is_called_for_each_event_after_the_last_was_taken,
    executors_run_callbacks_for_events,
    a_waker_may_own_the_last_of_everything,
];

fn events_outlive_their_endpoint() {
    let (node, topic) = (node(), "outlived");
    let (publisher, subscription) = (publisher(&node, topic, promised()), subscription(&node, topic, promised()));
    let (mut offers, mut requests) = (publisher.events().unwrap(), subscription.events().unwrap());
    assert!(matches!(next(&mut offers), PublisherEvent::Matched { current_count: 1, .. }));
    assert!(matches!(next(&mut requests), SubscriptionEvent::Matched { current_count: 1, .. }));
    drop((publisher, subscription, node));
    let look = move || {
        while !matches!(next(&mut offers), PublisherEvent::Matched { current_count: 0, .. }) {}
        while !matches!(next(&mut requests), SubscriptionEvent::Matched { current_count: 0, .. }) {}
        while offers.take().unwrap().is_some() || requests.take().unwrap().is_some() {}
        pass(3 * SHORT);
        assert_eq!(
            (offers.take().unwrap(), requests.take().unwrap()),
            (None, None),
            "a dropped endpoint has no events"
        );
    };
    std::thread::spawn(look).join().unwrap();
}

fn every_handle_has_all_events() {
    let (node, topic) = (node(), "two_handles");
    let publisher = publisher(&node, topic, Qos::default());
    let mut handles = [(); 2].map(|()| publisher.events().unwrap());
    let _subscription = subscription(&node, topic, Qos::default());
    for events in &mut handles {
        assert!(matches!(next(events), PublisherEvent::Matched { current_count: 1, .. }));
    }
}

struct Count(AtomicUsize, Thread);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, AcqRel);
        self.1.unpark();
    }
}

fn a_waker_is_called_for_each_event_after_the_last_was_taken() {
    let (node, topic) = (node(), "wakers");
    let publisher = publisher(&node, topic, Qos::default());
    let mut events = publisher.events().unwrap();
    let count = Arc::new(Count(AtomicUsize::new(0), std::thread::current()));
    let until = |what: &str, is_so: &dyn Fn() -> bool| {
        let end = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < end, "{what}");
            std::thread::park_timeout(Duration::from_millis(1));
        }
    };
    events.set_waker(Some(Waker::from(count.clone())));
    assert_eq!(count.0.load(Acquire), 0);
    for round in 1..=3 {
        let subscription = subscription(&node, topic, Qos::default());
        until("the waker is called each time", &|| count.0.load(Acquire) == round);
        drop(subscription);
        assert!(events.is_ready().unwrap());
        assert_eq!(count.0.load(Acquire), round, "the event was seen already");
        while events.take().unwrap().is_some() {}
    }
    let _stays = subscription(&node, topic, Qos::default());
    until("the waker is called", &|| count.0.load(Acquire) == 4);
    events.set_waker(Some(Waker::from(count.clone())));
    assert_eq!(count.0.load(Acquire), 5, "a new waker is called for an event that is there");
    events.set_waker(None);
    until("the waker is dropped", &|| Arc::strong_count(&count) == 1); // also by the thread that called it
    events.set_waker(Some(Waker::from(count.clone())));
    drop(events);
    until("the waker is dropped with the events", &|| Arc::strong_count(&count) == 1);
}

fn executors_run_callbacks_for_events() {
    let (node, topic) = (node(), "callbacks");
    let publisher = publisher(&node, topic, Qos::default());
    let (sender, receiver) = channel();
    let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    group.add_callback(publisher.events().unwrap(), move |_, event| sender.send(event).unwrap());
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node).unwrap();
    let canceler = executor.handle();
    std::thread::scope(|scope| {
        scope.spawn(|| executor.spin().unwrap());
        for round in 1..=3 {
            let current = || match receiver.recv_timeout(PATIENCE).unwrap() {
                PublisherEvent::Matched { total_count, current_count, .. } => (total_count, current_count),
                other => panic!("{other:?}"),
            };
            let subscription = subscription(&node, topic, Qos::default());
            assert_eq!(current(), (round, 1));
            drop(subscription);
            assert_eq!(current(), (round, 0));
        }
        canceler.cancel();
    });
}

/// A task that owns all objects that it works with, and ends with the first event.
struct Task(Mutex<Option<Owned>>);

/// The objects of a task. The sender is dropped last, as the last field.
struct Owned {
    events: PublisherEvents,
    _publisher: Publisher<Point>,
    _sender: Sender<()>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        drop(self.0.lock().unwrap().take());
    }
}

fn a_waker_may_own_the_last_of_everything() {
    let child = start_child("task", "/task");
    let _subscription = subscription(&node(), "/task", Qos::default()); // its match is the event
    child.finish();
}

/// Role of a child process: a task drops everything that this process has in its domain, on the thread that wakes it.
///
/// No event may exist when the waker is set: the waker would then be called at once on this thread, which holds the
/// task's lock.
pub fn play_task(node: Node, topic: &str) {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("{panic}");
        std::process::exit(1)
    }));
    let publisher = publisher(&node, topic, Qos::default());
    drop(node);
    let (sender, receiver) = channel();
    let task = Arc::new(Task(Mutex::default()));
    let owned = Owned { events: publisher.events().unwrap(), _publisher: publisher, _sender: sender };
    let mut place = task.0.lock().unwrap();
    place.insert(owned).events.set_waker(Some(Waker::from(task.clone())));
    drop(place);
    say("ready");
    assert_eq!(receiver.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected));
}
