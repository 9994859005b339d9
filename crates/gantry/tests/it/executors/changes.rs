//! Tests in which callbacks and nodes are added and removed, during a spin of an executor and between its spins.

use super::*;
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicUsize, Ordering::*},
};

behaviours! {
    with_a_far_end: [callbacks_come_and_go_while_it_spins, nothing_is_lost_while_others_come_and_go, a_node_moves_between_executors_and_loses_nothing],
    alone: [
        callbacks_add_and_remove_callbacks,
        a_node_that_leaves_takes_its_callbacks,
        a_node_that_left_before_its_run_is_run_by_another_executor,
        a_dropped_node_stays_until_its_executor_is_dropped,
        a_node_is_in_one_executor,
        callbacks_that_are_added_do_not_multiply_queued_events,
    ],
}

fn callbacks_come_and_go_while_it_spins(case: &Case) {
    let (mut far, mut executor, listener) = (case.far(), case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    let topic = case.topic("come");
    far.tell(&format!("advertise {topic} keep_all"));
    listener.hear(case, "stays", all());
    far.advertise(&case.topic("stays"), "keep_all");
    spinning(&mut *executor, || {
        for number in 1..=15 {
            let handle = listener.hear(case, "come", all());
            far.tell(&format!("meet {topic} 1"));
            far.publish(&topic, number, number);
            assert_eq!(listener.next(), ("come", number));
            handle.remove();
            far.publish(&topic, 1000, 1000); // to a topic without a subscription
            far.publish(&case.topic("stays"), number, number);
            assert_eq!(listener.next(), ("stays", number));
        }
    });
    assert_eq!(listener.rest(), []);
}

/// The executor's indices of callbacks change at any moment, while other callbacks run, wait for their group, or are in
/// the queue.
fn nothing_is_lost_while_others_come_and_go(case: &Case) {
    const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    let (mut fars, mut executor, listener) = ([case.far(), case.far()], case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    let kinds = [CallbackGroupType::MutuallyExclusive, CallbackGroupType::Reentrant];
    let groups = kinds.map(|kind| listener.node.create_callback_group(kind));
    for (place, name) in NAMES.iter().enumerate() {
        listener.hear_in(case, &groups[place % 2], name, all());
        fars[place % 2].advertise(&case.topic(name), "keep_all");
    }
    let heard = spinning(&mut *executor, || {
        let mut heard = Vec::new();
        for round in 0..10 {
            for (place, name) in NAMES.iter().enumerate() {
                fars[place % 2].begin(&format!("publish {} {} {}", case.topic(name), 20 * round + 1, 20 * round + 20));
            }
            for _ in 0..10 {
                let comes = listener.hear_in(case, &groups[round % 2], "silent", all());
                let ticks = listener.node.add_callback(listener.node.create_timer(ms(1)).unwrap(), |_, _| ());
                heard.extend(listener.take(NAMES.len() * 2));
                comes.remove();
                ticks.remove();
            }
            NAMES.iter().enumerate().for_each(|(place, _)| drop(fars[place % 2].end()));
        }
        heard
    });
    for name in NAMES {
        let numbers: Vec<_> = heard.iter().filter(|heard| heard.0 == name).map(|heard| heard.1).collect();
        assert_eq!(numbers, (1..=200).collect::<Vec<_>>(), "{name}");
    }
}

fn a_node_moves_between_executors_and_loses_nothing(case: &Case) {
    let (mut far, listener) = (case.far(), Listener::new());
    let topic = case.topic("moves");
    listener.hear(case, "moves", all());
    far.advertise(&topic, "keep_all");
    far.publish(&topic, 1, 40);
    let mut executors = [case.executor(), Kind::Events(Overflow::Wait).executor(), Kind::MultiThreaded.executor()];
    for round in 0..10 {
        let executor = &mut executors[round % 3];
        executor.add_node(&listener.node).unwrap();
        assert!(executor.spin_once(Duration::ZERO).unwrap());
        executor.remove_node(&listener.node);
        assert!(executor.spin_once(Duration::ZERO).unwrap_err().to_string().contains("no node"));
    }
    executors[0].add_node(&listener.node).unwrap();
    spinning(&mut *executors[0], || listener.node.create_timer(ms(1)).map(drop).unwrap());
    drain(&mut *executors[0]);
    assert_eq!(listener.rest(), (1..=40).map(|number| ("moves", number)).collect::<Vec<_>>());
}

fn callbacks_add_and_remove_callbacks(case: &Case) {
    let (mut executor, node, (sender, told)) = (case.executor(), Arc::new(node()), value_channel());
    executor.add_node(&node).unwrap();
    let (weak, added) = (Arc::downgrade(&node), Arc::new(AtomicUsize::new(0)));
    let own: Arc<Mutex<Option<CallbackHandle>>> = Arc::default();
    let (count, handle) = (added.clone(), own.clone());
    // Each tick adds a one-shot timer that sends its number to the test; the tenth tick removes this callback.
    let adder = node.add_callback(node.create_timer(ms(1)).unwrap(), move |_, _| {
        let (number, sender) = (count.fetch_add(1, SeqCst) + 1, sender.clone());
        let once = Timer::one_shot(&Clock::steady(), Duration::from_micros(100)).unwrap();
        weak.upgrade().unwrap().add_callback(once, move |_, _| sender.send(number).unwrap());
        if number == 10 {
            handle.lock().unwrap().take().unwrap().remove();
        }
    });
    *own.lock().unwrap() = Some(adder);
    let mut numbers = spinning(&mut *executor, || told.take(10));
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
    assert!(!executor.spin_once(ms(5)).unwrap());
    assert_eq!(added.load(SeqCst), 10);
}

/// The node leaves the executor between two steps, when callbacks of other nodes are already in the executor's round
/// or queue.
fn a_node_that_leaves_takes_its_callbacks(case: &Case) {
    let (mut executor, leaves, stays) = (case.executor(), Listener::new(), Listener::new());
    let mut publishers = Vec::new();
    for (listener, names) in [(&leaves, ["a", "b", "c"]), (&stays, ["d", "e", "f"])] {
        executor.add_node(&listener.node).unwrap();
        for name in names {
            listener.hear(case, name, all());
            let mut publisher = listener.node.create_publisher::<Point>(&case.topic(name), all()).unwrap();
            assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
            publishers.push(publisher);
        }
    }
    for number in 1..=2 {
        for publisher in &mut publishers {
            publisher.publish_copy(&Point { x: f64::from(number), y: 0.0 }).unwrap();
        }
    }
    assert!(executor.spin_once(Duration::ZERO).unwrap());
    executor.remove_node(&leaves.node);
    executor.remove_node(&leaves.node); // again: the node is not in the executor, and nothing happens
    drain(&mut *executor);
    let before = leaves.rest();
    assert_eq!(before, [("a", 1)]);
    let expected = [("d", 1), ("e", 1), ("f", 1), ("d", 2), ("e", 2), ("f", 2)];
    assert_eq!(stays.rest(), expected);
    executor.add_node(&leaves.node).unwrap();
    drain(&mut *executor);
    let mut after = leaves.rest();
    after.sort_unstable();
    assert_eq!(after, [("a", 2), ("b", 1), ("b", 2), ("c", 1), ("c", 2)]);
}

/// The executor found the callback ready, but did not complete its run, because of a cancel, or because the callback
/// panicked.
fn a_node_that_left_before_its_run_is_run_by_another_executor(case: &Case) {
    let (mut executor, mut other, others) = (case.executor(), case.executor(), [0, 1, 2].map(|_| Listener::new()));
    for listener in &others {
        listener.hear(case, "other", all());
        other.add_node(&listener.node).unwrap();
    }
    let moves = Listener::new();
    let mut publisher = moves.node.create_publisher::<Point>(&case.topic("moves"), all()).unwrap();
    let (subscription, sender) =
        (moves.node.create_subscription(&case.topic("moves"), all()).unwrap(), moves.sender.clone());
    moves.node.add_callback(subscription, move |_, point: Sample<Point>| {
        if point.x == 1.0 {
            resume_unwind(Box::new("a panic that is not printed"));
        }
        sender.send(("moves", point.x as usize)).unwrap();
    });
    executor.add_node(&moves.node).unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    for number in 1..=3 {
        publisher.publish_copy(&Point { x: f64::from(number), y: 0.0 }).unwrap();
        if number == 1 {
            catch_unwind(AssertUnwindSafe(|| executor.spin_once(PATIENCE))).unwrap_err();
        } else {
            executor.handle().cancel();
            assert!(!executor.spin_once(Duration::ZERO).unwrap());
        }
        executor.remove_node(&moves.node);
        other.add_node(&moves.node).unwrap();
        executor.add_node(&node()).unwrap();
        drain(&mut *other); // registers the node in `other`
        drain(&mut *executor);
        assert_eq!(moves.rest(), if number == 1 { vec![] } else { vec![("moves", number as usize)] });
        other.remove_node(&moves.node);
        executor.add_node(&moves.node).unwrap();
    }
}

fn a_dropped_node_stays_until_its_executor_is_dropped(case: &Case) {
    let (mut executor, other, (sender, told)) = (case.executor(), node(), value_channel());
    let name = format!("let_go_{}", case.name.replace("::", "_"));
    let node = Node::new(&name).unwrap();
    node.create_timer_with_callback(ms(1), move |_| {
        let _ = sender.send(());
    })
    .unwrap();
    executor.add_node(&node).unwrap();
    drop(node);
    spinning(&mut *executor, || told.take(5));
    let is_there = || other.node_names().unwrap().contains(&format!("/{name}"));
    assert!(is_there());
    drop(executor);
    assert!(!is_there());
    // The node's callbacks are also dropped: the channel has lost its sender, which a callback owned.
    told.rest();
    assert!(told.0.recv().is_err());
}

fn a_node_is_in_one_executor(case: &Case) {
    let (mut executor, mut other, node) = (case.executor(), case.executor(), node());
    executor.add_node(&node).unwrap();
    for executor in [&mut executor, &mut other] {
        let why = executor.add_node(&node.clone()).unwrap_err().to_string();
        assert!(why.contains("/tester is already in an executor"), "{why}");
    }
    let stranger = Node::builder("stranger").domain_id(77).build().unwrap();
    let why = executor.add_node(&stranger).unwrap_err().to_string();
    assert!(why.contains("/stranger is in domain 77 and the executor is in domain 0"), "{why}");
    executor.remove_node(&node);
    executor.add_node(&stranger).unwrap(); // allowed, because the executor was empty
    other.add_node(&node).unwrap();
    drop(other);
    executor.remove_node(&stranger);
    executor.add_node(&node).unwrap();
}

/// In a queue that keeps one event for each callback, a callback has at most one event, even while other callbacks
/// are added.
fn callbacks_that_are_added_do_not_multiply_queued_events(case: &Case) {
    let (mut executor, listener) = (case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    let mut publishers = ["a", "b"].map(|name| {
        listener.hear(case, name, Qos::default().keep_last(1));
        listener.node.create_publisher::<Point>(&case.topic(name), Qos::default().keep_last(1)).unwrap()
    });
    for publisher in &mut publishers {
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    }
    for number in 1..=10 {
        for publisher in &mut publishers {
            publisher.publish_copy(&Point { x: f64::from(number), y: 0.0 }).unwrap();
        }
        assert!(executor.spin_once(Duration::ZERO).unwrap());
        listener.hear(case, "silent", all());
    }
    drain(&mut *executor);
    let heard = listener.rest();
    let keeps_each = matches!(case.kind.overflow(), Some(Overflow::DropOldest | Overflow::DropNewest));
    // For each topic, two further messages are allowed: one that was queued, and the newest message.
    assert!(keeps_each || heard.len() <= 10 + 4, "{heard:?}");
    for name in ["a", "b"] {
        let numbers: Vec<_> = heard.iter().filter(|heard| heard.0 == name).map(|heard| heard.1).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b) && numbers.last() == Some(&10), "{name} of {heard:?}");
    }
}
