//! Quality of service: who does not fit is told why, what is promised is watched, what expired is not delivered.
//!
//! How long anything takes is nobody's promise here: a test waits for what must come, or reasons about what cannot have been.

use crate::support::*;
use gantry::{
    CallbackGroupType, Events, Executor, Liveliness, Node, PlainMessage, Publisher, PublisherEvent, PublisherEvents,
    Qos, QosPolicy, SingleThreadedExecutor, Subscription, SubscriptionEvent, Waitable,
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::*},
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    task::{Wake, Waker},
    thread::Thread,
    time::{Duration, Instant},
};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

tests![
    both_sides_are_told_on_which_policy_they_do_not_agree,
    each_that_does_not_fit_is_counted_once,
    another_type_is_an_event,
    both_sides_are_told_who_comes_and_goes,
    whoever_dies_is_not_matched_any_more,
    a_process_that_asks_for_too_much_is_told_and_tells,
    a_silent_publisher_misses_its_deadline_and_the_subscriptions,
    a_promise_that_is_kept_is_not_missed,
    a_deadline_begins_with_the_first_publisher,
    a_publisher_that_does_not_say_so_is_not_alive,
    a_publisher_is_told_that_it_was_silent,
    a_living_process_says_so_for_its_publishers,
    what_another_process_promises_is_watched,
    an_expired_sample_is_not_delivered,
    an_expired_history_is_not_delivered,
    a_publisher_stays_readable_while_all_expires,
    events_outlive_what_they_are_about,
    every_handle_tells_all,
    a_waker_is_told_of_all_that_comes_after_the_last_was_taken,
    executors_run_callbacks_for_events,
    a_waker_may_own_the_last_of_everything,
];

/// Short enough to be waited for.
const SHORT: Duration = Duration::from_millis(20);
/// So long that no test gets there.
const LONG: Duration = Duration::from_secs(100_000);
const ORIGIN: Point = Point { x: 0.0, y: 0.0 };

/// What the children promise, or ask for.
pub fn promised() -> Qos {
    Qos::default().deadline(SHORT).liveliness(Liveliness::ManualByTopic).liveliness_lease_duration(SHORT)
}

fn manual(lease_duration: Duration) -> Qos {
    Qos::default().liveliness(Liveliness::ManualByTopic).liveliness_lease_duration(lease_duration)
}

fn publisher(node: &Node, topic: &str, qos: Qos) -> Publisher<Point> {
    node.create_publisher(topic, qos).unwrap()
}

fn subscription(node: &Node, topic: &str, qos: Qos) -> Subscription<Point> {
    node.create_subscription(topic, qos).unwrap()
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The next event. If there is none, nobody but the waker says when to look again.
#[track_caller]
fn next<E>(events: &mut Events<E>) -> E {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(event) = events.take().unwrap() {
            return event;
        }
        events.set_waker(Some(Waker::from(Arc::new(Unpark(std::thread::current())))));
        std::thread::park_timeout(PATIENCE);
        assert!(Instant::now() < deadline, "no event came, or nobody was waked");
    }
}

/// The next event of those that are looked for.
#[track_caller]
fn next_of<E, T>(events: &mut Events<E>, found: impl Fn(E) -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = found(next(events)) {
            return found;
        }
        assert!(Instant::now() < end, "only other events came");
    }
}

/// Waits until that is who is alive, and who is not.
#[track_caller]
fn until_alive(events: &mut Events<SubscriptionEvent>, counts: (u64, u64)) {
    next_of(events, |event| (liveliness(event) == Some(counts)).then_some(()));
}

/// Waits until the time is past, whatever the machine does meanwhile.
fn pass(duration: Duration) {
    let since = Instant::now();
    while since.elapsed() <= duration {
        std::thread::yield_now();
    }
}

fn both_sides_are_told_on_which_policy_they_do_not_agree() {
    let node = node();
    let (any, reliable) = (Qos::default(), Qos::default().transient_local());
    let pairs = [
        ("reliability", any.best_effort(), any, "reliability (offered BEST_EFFORT, requested RELIABLE)"),
        ("durability", any, reliable, "durability (offered VOLATILE, requested TRANSIENT_LOCAL)"),
        ("deadline", any.deadline(LONG), any.deadline(SHORT), "deadline (offered 100000s, requested 20ms)"),
        ("liveliness", any, manual(LONG), "liveliness (offered AUTOMATIC, requested MANUAL_BY_TOPIC)"),
        ("lease", manual(LONG), manual(SHORT), "liveliness lease duration (offered 100000s, requested 20ms)"),
    ];
    for (place, (topic, offered, requested, sentence)) in pairs.into_iter().enumerate() {
        let topic = format!("policy_{topic}");
        // Whoever comes second, the first is told.
        let (publisher, subscription, mut offers, mut requests);
        if place % 2 == 0 {
            publisher = self::publisher(&node, &topic, offered);
            offers = publisher.events().unwrap();
            assert_eq!(offers.take().unwrap(), None);
            subscription = self::subscription(&node, &topic, requested);
            requests = subscription.events().unwrap();
        } else {
            subscription = self::subscription(&node, &topic, requested);
            requests = subscription.events().unwrap();
            assert_eq!(requests.take().unwrap(), None);
            publisher = self::publisher(&node, &topic, offered);
            offers = publisher.events().unwrap();
        }
        let PublisherEvent::OfferedIncompatibleQos { total_count: 1, total_count_change: 1, last_policy } =
            next(&mut offers)
        else {
            panic!("{topic}: not that event")
        };
        assert_eq!(last_policy.to_string(), sentence);
        assert_eq!(
            next(&mut requests),
            SubscriptionEvent::RequestedIncompatibleQos { total_count: 1, total_count_change: 1, last_policy }
        );
        assert!(publisher.mismatches().unwrap()[0].ends_with(&format!("do not agree on {sentence}")));
        assert!(subscription.mismatches()[0].ends_with(&format!("do not agree on {sentence}")));
        let (mut publisher, mut subscription) = (publisher, subscription);
        assert_eq!((publisher.subscription_count().unwrap(), subscription.publisher_count().unwrap()), (0, 0));
    }
}

fn each_that_does_not_fit_is_counted_once() {
    let (node, topic) = (node(), "counted_once");
    let publisher = publisher(&node, topic, Qos::default().best_effort());
    let mut events = publisher.events().unwrap();
    let first = subscription(&node, topic, Qos::default());
    let is_first =
        |event: &PublisherEvent| matches!(event, PublisherEvent::OfferedIncompatibleQos { total_count: 1, .. });
    assert!(is_first(&next(&mut events)));
    // Others that fit come and go: no news of the first.
    for _ in 0..3 {
        let mut fitting = subscription(&node, topic, Qos::default().best_effort());
        assert_eq!(fitting.publisher_count().unwrap(), 1);
        assert!(matches!(next(&mut events), PublisherEvent::Matched { current_count: 1, .. }));
        drop(fitting);
        assert!(matches!(next(&mut events), PublisherEvent::Matched { current_count: 0, .. }));
    }
    let second = subscription(&node, topic, Qos::default().transient_local().best_effort());
    let last_policy =
        QosPolicy::Durability { offered: gantry::Durability::Volatile, requested: gantry::Durability::TransientLocal };
    let total_count = 2;
    let expected = PublisherEvent::OfferedIncompatibleQos { total_count, total_count_change: 1, last_policy };
    assert_eq!(next(&mut events), expected);
    drop((first, second));
    assert_eq!(events.take().unwrap(), None, "that they go is no event");
}

/// As [`Point`] is called, but not the same.
#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct OtherPoint {
    x: f32,
}

impl PlainMessage for OtherPoint {
    const TYPE_NAME: &'static str = "test_msgs/msg/Point";
    const DEFINITION: &'static str = "float32 x";
}

fn another_type_is_an_event() {
    let (node, topic) = (node(), "other_type");
    let publisher = publisher(&node, topic, Qos::default());
    let mut offers = publisher.events().unwrap();
    let subscription = node.create_subscription::<OtherPoint>(topic, Qos::default().transient_local()).unwrap();
    let mut requests = subscription.events().unwrap();
    // Their QoS does not fit either, which is no matter as long as they speak of different things.
    assert_eq!(next(&mut offers), PublisherEvent::IncompatibleType { total_count: 1, total_count_change: 1 });
    assert_eq!(next(&mut requests), SubscriptionEvent::IncompatibleType { total_count: 1, total_count_change: 1 });
    assert_eq!((offers.take().unwrap(), requests.take().unwrap()), (None, None));
}

fn both_sides_are_told_who_comes_and_goes() {
    let (node, topic) = (node(), "come_and_go");
    let publisher = publisher(&node, topic, Qos::default());
    let mut offers = publisher.events().unwrap();
    let matched = |total_count, total_count_change, current_count, current_count_change| PublisherEvent::Matched {
        total_count,
        total_count_change,
        current_count,
        current_count_change,
    };
    let first = subscription(&node, topic, Qos::default());
    assert_eq!(next(&mut offers), matched(1, 1, 1, 1));
    let second = subscription(&node, topic, Qos::default());
    assert_eq!(next(&mut offers), matched(2, 1, 2, 1));
    drop(first);
    assert_eq!(next(&mut offers), matched(2, 0, 1, -1));
    // What is there when the handle is made is its first news.
    assert_eq!(publisher.events().unwrap().take().unwrap(), Some(matched(1, 1, 1, 1)));
    let mut requests = second.events().unwrap();
    let its_matched = |total_count, total_count_change, current_count, current_count_change| {
        SubscriptionEvent::Matched { total_count, total_count_change, current_count, current_count_change }
    };
    let liveliness = |alive_count, alive_count_change| SubscriptionEvent::LivelinessChanged {
        alive_count,
        not_alive_count: 0,
        alive_count_change,
        not_alive_count_change: 0,
    };
    assert_eq!(next(&mut requests), its_matched(1, 1, 1, 1));
    assert_eq!(next(&mut requests), liveliness(1, 1));
    drop(publisher);
    assert_eq!(next(&mut requests), its_matched(1, 0, 0, -1));
    assert_eq!(next(&mut requests), liveliness(0, -1));
    let _another = self::publisher(&node, topic, Qos::default());
    assert_eq!(next(&mut requests), its_matched(2, 1, 1, 1));
    assert_eq!(next(&mut requests), liveliness(1, 1));
    assert_eq!(requests.take().unwrap(), None);
}

fn whoever_dies_is_not_matched_any_more() {
    let node = node();
    let publisher = publisher(&node, "/dies", Qos::default());
    let mut offers = publisher.events().unwrap();
    let listener = Peer::start("typed-listener", "/dies");
    assert!(matches!(next(&mut offers), PublisherEvent::Matched { total_count: 1, current_count: 1, .. }));
    drop(listener); // kill -9
    let event = next(&mut offers);
    assert!(matches!(event, PublisherEvent::Matched { total_count: 1, current_count: 0, .. }), "{event:?}");

    let subscription = subscription(&node, "/dies_too", Qos::default());
    let mut requests = subscription.events().unwrap();
    let talker = Peer::start("typed-talker", "/dies_too");
    assert!(matches!(next(&mut requests), SubscriptionEvent::Matched { current_count: 1, .. }));
    assert!(matches!(next(&mut requests), SubscriptionEvent::LivelinessChanged { alive_count: 1, .. }));
    drop(talker);
    assert!(matches!(next(&mut requests), SubscriptionEvent::Matched { current_count: 0, .. }));
    let event = next(&mut requests);
    let (alive_count, not_alive_count) = (0, 0);
    let expected = SubscriptionEvent::LivelinessChanged {
        alive_count,
        not_alive_count,
        alive_count_change: -1,
        not_alive_count_change: 0,
    };
    assert_eq!(event, expected);
}

fn a_process_that_asks_for_too_much_is_told_and_tells() {
    let node = node();
    let publisher = publisher(&node, "/demands", Qos::default());
    let mut events = publisher.events().unwrap();
    let listener = Peer::start("demanding-listener", "/demands");
    let PublisherEvent::OfferedIncompatibleQos { last_policy, .. } = next(&mut events) else {
        panic!("not that event")
    };
    assert_eq!(last_policy, QosPolicy::Deadline { offered: None, requested: Some(SHORT) });
    listener.finish();
}

fn missed(event: PublisherEvent) -> Option<(u64, u64)> {
    match event {
        PublisherEvent::OfferedDeadlineMissed { total_count, total_count_change } => {
            Some((total_count, total_count_change))
        }
        _ => None,
    }
}

fn its_missed(event: SubscriptionEvent) -> Option<(u64, u64)> {
    match event {
        SubscriptionEvent::RequestedDeadlineMissed { total_count, total_count_change } => {
            Some((total_count, total_count_change))
        }
        _ => None,
    }
}

fn lost(event: PublisherEvent) -> Option<(u64, u64)> {
    match event {
        PublisherEvent::LivelinessLost { total_count, total_count_change } => Some((total_count, total_count_change)),
        _ => None,
    }
}

fn a_silent_publisher_misses_its_deadline_and_the_subscriptions() {
    // In a domain of its own, where nobody else makes the control thread look.
    let (node, topic) = (Node::builder("tester").domain_id(2).build().unwrap(), "silent");
    let publisher = publisher(&node, topic, Qos::default().deadline(SHORT));
    let subscription = subscription(&node, topic, Qos::default().deadline(2 * SHORT));
    let (mut offers, mut requests) = (publisher.events().unwrap(), subscription.events().unwrap());
    let (mut total, mut its_total) = (0, 0);
    // It is told in time, sooner or later: not only when the processes are looked at, each second, a dozen periods at once.
    let (mut in_time, mut its_in_time) = (false, false);
    let end = Instant::now() + PATIENCE;
    while !(in_time && its_in_time) {
        assert!(Instant::now() < end, "what is due is not looked at");
        let (now, change) = next_of(&mut offers, missed);
        assert_eq!(now, total + change, "each is counted once");
        (total, in_time) = (now, in_time || change < 12);
        let (now, change) = next_of(&mut requests, its_missed);
        assert_eq!(now, its_total + change, "each is counted once");
        (its_total, its_in_time) = (now, its_in_time || change < 12);
    }
}

fn a_promise_that_is_kept_is_not_missed() {
    let (node, topic) = (node(), "kept");
    let mut publisher = publisher(&node, topic, promised());
    let subscription = subscription(&node, topic, promised());
    let mut last = Instant::now();
    let (mut offers, mut requests) = (publisher.events().unwrap(), subscription.events().unwrap());
    let begin = Instant::now();
    // Between two samples no more time can have passed than between the looks at the clock around both; on a machine that
    // is not loaded, not one period.
    let mut most = 0;
    let periods = |since: Instant| (since.elapsed().as_nanos() / SHORT.as_nanos()) as u64;
    while begin.elapsed() < 20 * SHORT {
        let before = Instant::now();
        publisher.publish_copy(&ORIGIN).unwrap();
        most += periods(std::mem::replace(&mut last, before));
    }
    let mut totals = [0; 3];
    while let Some(event) = offers.take().unwrap() {
        totals[0] = missed(event).map_or(totals[0], |(total, _)| total);
        totals[1] = lost(event).map_or(totals[1], |(total, _)| total);
    }
    while let Some(event) = requests.take().unwrap() {
        totals[2] = its_missed(event).map_or(totals[2], |(total, _)| total);
    }
    most += periods(last);
    assert!(totals.iter().all(|&total| total <= most), "{totals:?} were missed, of {most} that can have been");
}

fn a_deadline_begins_with_the_first_publisher() {
    let (node, topic) = (node(), "nobody_promised");
    let subscription = subscription(&node, topic, Qos::default().deadline(SHORT));
    let mut events = subscription.events().unwrap();
    pass(3 * SHORT);
    assert_eq!(events.take().unwrap(), None, "nobody promised anything");
    let since = Instant::now();
    let _publisher = publisher(&node, topic, Qos::default().deadline(SHORT));
    let (total, _) = next_of(&mut events, its_missed);
    let most = (since.elapsed().as_nanos() / SHORT.as_nanos()) as u64;
    assert!((1..=most).contains(&total), "{total} were missed, of {most} that can have been");
}

/// Who is alive, and who is not.
fn liveliness(event: SubscriptionEvent) -> Option<(u64, u64)> {
    match event {
        SubscriptionEvent::LivelinessChanged { alive_count, not_alive_count, .. } => {
            Some((alive_count, not_alive_count))
        }
        _ => None,
    }
}

fn a_publisher_that_does_not_say_so_is_not_alive() {
    let (node, topic) = (node(), "not_alive");
    let publisher = publisher(&node, topic, manual(SHORT));
    let _steady = self::publisher(&node, topic, manual(LONG));
    let subscription = subscription(&node, topic, Qos::default());
    let mut events = subscription.events().unwrap();
    for _ in 0..3 {
        until_alive(&mut events, (1, 1));
        let is_seen = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_seen.load(Acquire) {
                    publisher.assert_liveliness().unwrap();
                }
            });
            until_alive(&mut events, (2, 0));
            is_seen.store(true, Release);
        });
    }
}

fn a_publisher_is_told_that_it_was_silent() {
    let (node, topic) = (node(), "not_said");
    let mut publisher = publisher(&node, topic, manual(SHORT));
    let mut events = publisher.events().unwrap();
    let (mut total, mut said) = (0, 1); // when it was made
    assert_eq!(next_of(&mut events, lost), (1, 1));
    let end = Instant::now() + PATIENCE;
    while total < 4 {
        assert!(Instant::now() < end, "it said {said} times that it is alive, and was lost {total} times");
        match said % 2 {
            0 => publisher.assert_liveliness().unwrap(),
            _ => drop(publisher.publish_copy(&ORIGIN).unwrap()),
        }
        said += 1;
        // A look at it while it is alive; if that comes too late, it is made up for by the next.
        events.is_ready().unwrap();
        pass(SHORT);
        while let Some(event) = events.take().unwrap() {
            total = lost(event).map_or(total, |(total, _)| total);
        }
    }
    assert!(total <= said, "it was lost {total} times, and alive {said}");
}

fn a_living_process_says_so_for_its_publishers() {
    let (node, topic) = (node(), "automatic");
    // With a lease, and silent.
    let publisher = publisher(&node, topic, Qos::default().liveliness_lease_duration(SHORT));
    let subscription = subscription(&node, topic, Qos::default().liveliness_lease_duration(SHORT));
    let (mut offers, mut requests) = (publisher.events().unwrap(), subscription.events().unwrap());
    assert_eq!(next_of(&mut requests, liveliness), (1, 0));
    assert!(matches!(next(&mut offers), PublisherEvent::Matched { .. }));
    pass(3 * SHORT);
    assert_eq!((offers.take().unwrap(), requests.take().unwrap()), (None, None));
}

fn what_another_process_promises_is_watched() {
    let subscription = subscription(&node(), "/promises", promised());
    let mut events = subscription.events().unwrap();
    let mut talker = Peer::start("qos-talker", "/promises");
    assert!(matches!(next(&mut events), SubscriptionEvent::Matched { current_count: 1, .. }));
    let (mut dead, mut missed) = (false, false);
    while !(dead && missed) {
        let event = next(&mut events);
        dead |= liveliness(event) == Some((0, 1));
        missed |= its_missed(event).is_some();
    }
    for order in ["assert", "publish"] {
        // What is looked at too late is done again.
        let (mut alive, end) = (false, Instant::now() + PATIENCE);
        while !alive {
            assert!(Instant::now() < end, "it was told to {order}, and is not alive");
            talker.tell(order);
            talker.line();
            while let Some(event) = events.take().unwrap() {
                alive |= liveliness(event) == Some((1, 0));
            }
        }
        until_alive(&mut events, (0, 1));
    }
    talker.finish();
    until_alive(&mut events, (0, 0));
}

fn an_expired_sample_is_not_delivered() {
    let (node, topic) = (node(), "expired");
    let mut short = publisher(&node, topic, Qos::default().lifespan(SHORT));
    let mut long = publisher(&node, topic, Qos::default().lifespan(LONG));
    let mut subscription = subscription(&node, topic, Qos::default());
    assert_eq!(subscription.publisher_count().unwrap(), 2);
    for number in 0..3 {
        short.publish_copy(&Point { x: 1.0, y: 0.0 }).unwrap();
        long.publish_copy(&Point { x: 2.0, y: f64::from(number) }).unwrap();
    }
    pass(SHORT);
    for number in 0..3 {
        assert_eq!(*subscription.take().unwrap().unwrap(), Point { x: 2.0, y: f64::from(number) });
    }
    assert!(subscription.take().unwrap().is_none());
    assert_eq!((subscription.expired(), subscription.overwritten()), (3, 0));
    // They are gone for good.
    assert!(!subscription.wait(Duration::ZERO).unwrap());
    assert_eq!(subscription.expired(), 3);
}

fn an_expired_history_is_not_delivered() {
    let (node, topic, qos) = (node(), "expired_history", Qos::default().transient_local());
    let [mut short, mut long] = [SHORT, LONG].map(|lifespan| publisher(&node, topic, qos.lifespan(lifespan)));
    short.publish_copy(&ORIGIN).unwrap();
    long.publish_copy(&Point { x: 2.0, y: 2.0 }).unwrap();
    pass(SHORT);
    let mut late = subscription(&node, topic, qos);
    assert_eq!(*late.take().unwrap().unwrap(), Point { x: 2.0, y: 2.0 });
    assert!(late.take().unwrap().is_none());
    assert_eq!(late.expired(), 1);
}

fn a_publisher_stays_readable_while_all_expires() {
    let (node, topic) = (node(), "all_expire");
    let mut publisher = publisher(&node, topic, Qos::default().lifespan(Duration::from_nanos(1)));
    let mut subscription = subscription(&node, topic, Qos::default());
    for _ in 0..1000 {
        publisher.publish_copy(&ORIGIN).unwrap();
        publisher.publish_copy(&ORIGIN).unwrap();
        pass(Duration::from_nanos(1));
        assert!(subscription.take().unwrap().is_none());
    }
    assert_eq!(subscription.expired(), 2000);
    assert!(!subscription.is_ready().unwrap());
}

fn events_outlive_what_they_are_about() {
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
        assert_eq!((offers.take().unwrap(), requests.take().unwrap()), (None, None), "nothing happens to who is gone");
    };
    std::thread::spawn(look).join().unwrap();
}

fn every_handle_tells_all() {
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

fn a_waker_is_told_of_all_that_comes_after_the_last_was_taken() {
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
        until("it is waked each time", &|| count.0.load(Acquire) == round);
        drop(subscription);
        assert!(events.is_ready().unwrap());
        assert_eq!(count.0.load(Acquire), round, "it knows that there is something");
        while events.take().unwrap().is_some() {}
    }
    let _stays = subscription(&node, topic, Qos::default());
    until("it is waked", &|| count.0.load(Acquire) == 4);
    events.set_waker(Some(Waker::from(count.clone())));
    assert_eq!(count.0.load(Acquire), 5, "a new one is told of what there is");
    events.set_waker(None);
    until("it is let go of", &|| Arc::strong_count(&count) == 1); // by who waked it, too
    events.set_waker(Some(Waker::from(count.clone())));
    drop(events);
    until("it goes with the events", &|| Arc::strong_count(&count) == 1);
}

fn executors_run_callbacks_for_events() {
    let (node, topic) = (node(), "callbacks");
    let publisher = publisher(&node, topic, Qos::default());
    let (sender, receiver) = channel();
    let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    group.add_callback(publisher.events().unwrap(), move |_, event| sender.send(event).unwrap());
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node).unwrap();
    let canceler = executor.canceler();
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

/// As a task that owns all that it works with, and ends with the first event.
struct Task(Mutex<Option<Owned>>);

/// The last of it to go is the sender.
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
    Peer::start("task", "task").finish();
}

/// Role of a child process: a task goes, on the thread that wakes it, with all that this process has in its domain.
pub fn play_task(node: Node, topic: &str) {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("{panic}");
        std::process::exit(1)
    }));
    let publisher = publisher(&node, topic, Qos::default().deadline(SHORT));
    drop(node);
    let (sender, receiver) = channel();
    let task = Arc::new(Task(Mutex::default()));
    let owned = Owned { events: publisher.events().unwrap(), _publisher: publisher, _sender: sender };
    let mut place = task.0.lock().unwrap();
    place.insert(owned).events.set_waker(Some(Waker::from(task.clone())));
    drop(place);
    assert_eq!(receiver.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected));
}
