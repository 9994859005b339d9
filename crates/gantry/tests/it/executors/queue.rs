//! Tests of the order in which ready callbacks run, and of full queues.

use super::*;
use test_support::ignore;

behaviours! {
    with_a_far_end: [
        callbacks_run_by_time_or_in_rounds,
        urgent_callbacks_run_first,
        events_without_room_wait_or_are_dropped_and_counted,
        room_goes_to_the_callback_that_waited_longest,
    ],
    alone: [
        the_least_urgent_goes_first,
        the_oldest_goes_first,
        the_sample_of_a_dropped_event_is_dropped,
        publishers_of_a_topic_run_in_the_order_of_time,
        events_of_a_group_run_in_the_order_of_time_on_any_threads,
        a_queue_is_bounded_in_bytes,
        queued_values_survive_the_executor,
    ],
}

/// Runs all ready callbacks on this thread: the executor alone decides their order.
fn run(executor: &mut dyn Tested, listener: &Listener) -> Vec<Heard> {
    while executor.spin_once(Duration::ZERO).unwrap() {}
    listener.rest()
}

fn callbacks_run_by_time_or_in_rounds(case: &Case) {
    let (mut far, mut executor, listener) = (case.far(), case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    for name in ["a", "b"] {
        listener.hear(case, name, all());
        far.advertise(&case.topic(name), "keep_all");
    }
    for (name, number) in [("b", 1), ("a", 1), ("a", 2), ("b", 2)] {
        far.publish(&case.topic(name), number, number);
    }
    let expected = if case.kind.is_events() {
        [("b", 1), ("a", 1), ("a", 2), ("b", 2)]
    } else {
        [("a", 1), ("b", 1), ("a", 2), ("b", 2)] // in rounds, in the order of registration
    };
    assert_eq!(run(&mut *executor, &listener), expected);
}

fn urgent_callbacks_run_first(case: &Case) {
    let (mut far, mut executor, listener) = (case.far(), case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    for (name, priority) in [("low", -1), ("usual", 0), ("high", 1)] {
        let group = listener.node.create_callback_group(CallbackGroupType::MutuallyExclusive).with_priority(priority);
        listener.hear_in(case, &group, name, all());
        far.advertise(&case.topic(name), "keep_all");
    }
    for name in ["low", "usual", "high"] {
        far.publish(&case.topic(name), 1, 2);
    }
    let expected = [("high", 1), ("high", 2), ("usual", 1), ("usual", 2), ("low", 1), ("low", 2)];
    assert_eq!(run(&mut *executor, &listener), expected);
}

fn events_without_room_wait_or_are_dropped_and_counted(case: &Case) {
    let (mut far, mut executor, listener) = (case.far(), case.kind.executor_with_queue(4), Listener::new());
    executor.add_node(&listener.node).unwrap();
    listener.hear(case, "many", all());
    far.advertise(&case.topic("many"), "keep_all");
    for round in 0..2 {
        let first = 10 * round;
        far.publish(&case.topic("many"), first + 1, first + 10);
        let (kept, dropped) = match case.kind.overflow() {
            Some(Overflow::DropOldest) => (7..=10, 6),
            Some(Overflow::DropNewest) => (1..=4, 6),
            _ => (1..=10, 0),
        };
        let expected: Vec<_> = kept.map(|number| ("many", first + number)).collect();
        assert_eq!(run(&mut *executor, &listener), expected);
        assert_eq!(executor.dropped(), dropped * (round as u64 + 1));
    }
}

/// Several callbacks have more events than fit in the queue. Each of them gets room in turn.
fn room_goes_to_the_callback_that_waited_longest(case: &Case) {
    let (mut far, mut executor, listener) = (case.far(), case.kind.executor_with_queue(1), Listener::new());
    executor.add_node(&listener.node).unwrap();
    for name in ["a", "b", "c"] {
        listener.hear(case, name, all());
        far.advertise(&case.topic(name), "keep_all");
        far.publish(&case.topic(name), 1, 30);
    }
    let heard = run(&mut *executor, &listener);
    match case.kind.overflow() {
        Some(Overflow::DropOldest) => assert_eq!(heard, [("c", 30)]),
        Some(Overflow::DropNewest) => assert_eq!(heard, [("a", 1)]),
        _ => {
            for (place, turn) in heard.chunks(3).enumerate() {
                let mut names: Vec<_> = turn.iter().map(|heard| heard.0).collect();
                names.sort_unstable();
                assert_eq!(names, ["a", "b", "c"], "turn {place} of {heard:?}");
            }
            assert_eq!(heard.len(), 90);
        }
    }
    assert_eq!(executor.dropped(), 90 - heard.len() as u64);
}

fn the_least_urgent_goes_first(case: &Case) {
    let (mut executor, listener) = (case.kind.executor_with_queue(3), Listener::new());
    executor.add_node(&listener.node).unwrap();
    let mut publishers = [("low", 1), ("high", 2)].map(|(name, priority)| {
        let group = listener.node.create_callback_group(CallbackGroupType::MutuallyExclusive).with_priority(priority);
        listener.hear_in(case, &group, name, all());
        listener.node.create_publisher::<Point>(&case.topic(name), all()).unwrap()
    });
    for publisher in &mut publishers {
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        for number in 1..=2 {
            publisher.publish_copy(&Point { x: f64::from(number), y: 0.0 }).unwrap();
        }
    }
    let expected = match case.kind.overflow() {
        Some(Overflow::DropOldest) => vec![("high", 1), ("high", 2), ("low", 2)],
        Some(Overflow::DropNewest) => vec![("high", 1), ("high", 2), ("low", 1)],
        _ => vec![("high", 1), ("high", 2), ("low", 1), ("low", 2)],
    };
    assert_eq!(run(&mut *executor, &listener), expected);
    assert_eq!(executor.dropped(), 4 - expected.len() as u64);
}

/// The queue drops the oldest event, even if the executor finds this event last because it takes from the event's topic
/// last.
fn the_oldest_goes_first(case: &Case) {
    let (mut executor, listener) = (case.kind.executor_with_queue(3), Listener::new());
    executor.add_node(&listener.node).unwrap();
    let mut publishers = ["a", "b"].map(|name| {
        listener.hear(case, name, all());
        listener.node.create_publisher::<Point>(&case.topic(name), all()).unwrap()
    });
    for publisher in publishers.iter_mut().rev() {
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        for number in 1..=3 {
            publisher.publish_copy(&Point { x: f64::from(number), y: 0.0 }).unwrap();
        }
    }
    let heard = run(&mut *executor, &listener);
    match case.kind.overflow() {
        Some(Overflow::DropOldest) => assert_eq!(heard, [("a", 1), ("a", 2), ("a", 3)]),
        _ => assert_eq!(heard.len() as u64, 6 - executor.dropped()),
    }
}

/// Makes two publishers of one topic, and a subscription to the topic.
fn two_publishers(case: &Case, listener: &Listener) -> [Publisher<Point>; 2] {
    listener.hear(case, "both", all());
    let mut publishers = [0, 1].map(|_| listener.node.create_publisher::<Point>(&case.topic("both"), all()).unwrap());
    for publisher in &mut publishers {
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    }
    publishers
}

/// The first publisher publishes 1 to 6, then the second publisher publishes 7 and 8.
fn publish_in_runs(publishers: &mut [Publisher<Point>; 2]) {
    for number in 1..=8 {
        publishers[usize::from(number > 6)].publish_copy(&Point { x: f64::from(number), y: 0.0 }).unwrap();
    }
}

fn the_sample_of_a_dropped_event_is_dropped(case: &Case) {
    let (mut executor, listener) = (case.kind.executor_with_queue(4), Listener::new());
    executor.add_node(&listener.node).unwrap();
    let mut publishers = two_publishers(case, &listener);
    publish_in_runs(&mut publishers);
    let heard: Vec<_> = run(&mut *executor, &listener).into_iter().map(|heard| heard.1).collect();
    match case.kind.overflow() {
        Some(Overflow::DropOldest) => assert_eq!(heard, [5, 6, 7, 8]),
        Some(Overflow::DropNewest) => assert_eq!(heard, [1, 2, 3, 4]),
        _ => assert_eq!(heard.len(), 8),
    }
}

fn publishers_of_a_topic_run_in_the_order_of_time(case: &Case) {
    let (mut executor, listener) = (case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    let mut publishers = two_publishers(case, &listener);
    for round in 0..3 {
        publish_in_runs(&mut publishers);
        let heard: Vec<_> = run(&mut *executor, &listener).into_iter().map(|heard| heard.1).collect();
        let is_in_order = heard == [1, 2, 3, 4, 5, 6, 7, 8];
        assert!(is_in_order || !case.kind.is_events() && heard.len() == 8, "{heard:?} in round {round}");
    }
}

fn events_of_a_group_run_in_the_order_of_time_on_any_threads(case: &Case) {
    const EACH: usize = 60;
    let (mut executor, listener) = (case.executor(), Listener::new());
    let names = ["a", "b", "c"];
    let mut publishers = names.map(|name| {
        listener.hear(case, name, all());
        listener.node.create_publisher::<Point>(&case.topic(name), all()).unwrap()
    });
    executor.add_node(&listener.node).unwrap();
    let mut expected = Vec::new();
    for number in 0..EACH {
        let place = number * number % 3; // 0, 1, 1: some topics wait longer than others
        publishers[place].publish_copy(&Point { x: number as f64, y: 0.0 }).unwrap();
        expected.push((names[place], number));
    }
    let heard = spinning(&mut *executor, || listener.take(EACH));
    if case.kind.is_events() {
        assert_eq!(heard, expected);
    }
}

/// The queue has room for four messages.
fn a_queue_is_bounded_in_bytes(case: &Case) {
    let Some(overflow) = case.kind.overflow() else { ignore("this executor has no queue") };
    let listener = Listener::new();
    let max_bytes = 4 * size_of::<Point>();
    let mut executor = EventsExecutor::with_queue(AMPLE, overflow).with_max_queue_bytes(max_bytes);
    executor.add_node(&listener.node).unwrap();
    let mut publishers = two_publishers(case, &listener);
    for _ in 0..3 {
        publish_in_runs(&mut publishers);
        let heard: Vec<_> = run(&mut executor, &listener).into_iter().map(|heard| heard.1).collect();
        match overflow {
            Overflow::Wait => assert_eq!(heard, [1, 2, 3, 4, 5, 6, 7, 8]),
            Overflow::DropOldest => assert_eq!(heard, [5, 6, 7, 8]),
            Overflow::DropNewest => assert_eq!(heard, [1, 2, 3, 4]),
        }
    }
    // One message always has room, even with a limit of 0 bytes.
    executor.remove_node(&listener.node);
    let mut executor = EventsExecutor::with_queue(AMPLE, overflow).with_max_queue_bytes(0);
    executor.add_node(&listener.node).unwrap();
    publish_in_runs(&mut publishers);
    let expected = match overflow {
        Overflow::Wait => (1..=8).collect(),
        Overflow::DropOldest => vec![8],
        Overflow::DropNewest => vec![1],
    };
    let heard: Vec<_> = run(&mut executor, &listener).into_iter().map(|heard| heard.1).collect();
    assert_eq!(heard, expected);
}

/// Values that an executor took for a callback are not lost when the executor is dropped: the next executor continues
/// with them.
fn queued_values_survive_the_executor(case: &Case) {
    let listener = Listener::new();
    let mut publishers = ["a", "b"].map(|name| {
        listener.hear(case, name, all());
        listener.node.create_publisher::<Point>(&case.topic(name), all()).unwrap()
    });
    for publisher in &mut publishers {
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        for number in 1..=20 {
            publisher.publish_copy(&Point { x: f64::from(number), y: 0.0 }).unwrap();
        }
    }
    let mut heard = Vec::new();
    for round in 0..9 {
        // The first executors are of the case's kind. Then each kind follows.
        let kind = if round < 3 { case.kind } else { Kind::ALL[round % Kind::ALL.len()].0 };
        let mut executor = kind.executor();
        executor.add_node(&listener.node).unwrap();
        for _ in 0..4 {
            assert!(executor.spin_once(Duration::ZERO).unwrap());
        }
        heard.extend(listener.rest());
    }
    let mut last = case.executor();
    last.add_node(&listener.node).unwrap();
    heard.extend(run(&mut *last, &listener));
    for name in ["a", "b"] {
        let numbers: Vec<_> = heard.iter().filter(|heard| heard.0 == name).map(|heard| heard.1).collect();
        assert_eq!(numbers, (1..=20).collect::<Vec<_>>(), "{name} of {heard:?}");
    }
}
