//! Tests of the ends of spins (by a cancel, a timeout or a panic), and of drops in any order.

use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

behaviours! {
    with_a_far_end: [all_can_be_shut_down_in_any_order],
    alone: [
        a_cancel_ends_the_spin_or_the_next_one,
        a_callback_cancels,
        a_spin_until_ends_with_its_condition_or_in_time,
        spinning_once_runs_one,
        spinning_some_ends_though_there_is_always_more,
        a_panic_in_a_callback_ends_the_spin_with_that_panic,
    ],
}

fn a_cancel_ends_the_spin_or_the_next_one(case: &Case) {
    let mut executor = case.executor();
    assert!(executor.spin().unwrap_err().to_string().contains("no node"));
    let node = node();
    executor.add_node(&node).unwrap();
    let (canceler, (sender, ticks)) = (executor.handle(), value_channel());
    canceler.cancel();
    executor.spin().unwrap();
    canceler.cancel();
    assert!(!executor.spin_once(PATIENCE).unwrap());
    canceler.cancel();
    assert!(!executor.spin_until(PATIENCE, &mut || false).unwrap());
    node.create_timer_with_callback(ms(1), move |_| {
        let _ = sender.send(());
    })
    .unwrap();
    for _ in 0..20 {
        // Several threads cancel while the executor sleeps or runs.
        std::thread::scope(|scope| {
            let spinner = scope.spawn(|| executor.spin());
            ticks.next();
            let cancels = [canceler.clone(), canceler.clone()].map(|canceler| scope.spawn(move || canceler.cancel()));
            spinner.join().unwrap().unwrap();
            cancels.into_iter().for_each(|cancel| cancel.join().unwrap());
        });
        // A cancel that came after the end of the spin would end the next spin. This further cancel and the spin
        // after it consume such a cancel.
        canceler.cancel();
        executor.spin().unwrap();
    }
    drop(executor);
    canceler.cancel(); // without effect: the executor is gone
}

fn a_callback_cancels(case: &Case) {
    let (mut executor, node) = (case.executor(), node());
    executor.add_node(&node).unwrap();
    let (canceler, count) = (executor.handle(), Arc::new(Mutex::new(0)));
    let counted = count.clone();
    feed_itself(&node, &case.topic("own"), move || {
        *counted.lock().unwrap() += 1;
        canceler.cancel();
    })();
    for round in 1..=50 {
        executor.spin().unwrap();
        assert_eq!(*count.lock().unwrap(), round);
    }
    for round in 51..=53 {
        assert!(executor.spin_once(PATIENCE).unwrap(), "the cancel was for the spin before");
        assert_eq!(*count.lock().unwrap(), round);
    }
}

fn a_spin_until_ends_with_its_condition_or_in_time(case: &Case) {
    let (mut executor, node, (sender, ticks)) = (case.executor(), node(), value_channel());
    executor.add_node(&node).unwrap();
    let begin = Instant::now();
    assert!(!executor.spin_until(ms(20), &mut || false).unwrap());
    assert!(begin.elapsed() >= ms(20));
    node.create_timer_with_callback(ms(1), move |_| sender.send(()).unwrap()).unwrap();
    assert!(executor.spin_until(PATIENCE, &mut || true).unwrap());
    assert!(ticks.rest().is_empty(), "the condition held before a wait");
    let mut count = 0;
    let five = &mut || {
        count += ticks.rest().len();
        count >= 5
    };
    assert!(executor.spin_until(PATIENCE, five).unwrap());
    // Further callbacks may run before the condition is checked if the executor has threads.
    let checks_each = !case.kind.has_threads() && case.kind != Kind::CallbackIsolated;
    assert!(count == 5 || !checks_each, "the condition is checked after each callback, but there were {count}");
}

fn spinning_once_runs_one(case: &Case) {
    let (mut executor, listener) = (case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    let mut publishers = ["a", "b"].map(|name| {
        listener.hear(case, name, all());
        listener.node.create_publisher::<Point>(&case.topic(name), all()).unwrap()
    });
    let begin = Instant::now();
    assert!(!executor.spin_once(ms(5)).unwrap());
    assert!(begin.elapsed() >= ms(5));
    for publisher in &mut publishers {
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        publisher.publish_copy(&Point { x: 1.0, y: 0.0 }).unwrap();
    }
    for expected in [vec![("a", 1)], vec![("b", 1)], vec![]] {
        assert_eq!(executor.spin_once(Duration::ZERO).unwrap(), !expected.is_empty());
        assert_eq!(listener.rest(), expected);
    }
}

fn spinning_some_ends_though_there_is_always_more(case: &Case) {
    let (mut executor, node, (sender, told)) = (case.executor(), node(), value_channel());
    executor.add_node(&node).unwrap();
    assert_eq!(executor.spin_some(PATIENCE).unwrap(), 0);
    feed_itself(&node, &case.topic("own"), move || sender.send(()).unwrap())();
    for _ in 0..20 {
        assert_eq!((executor.spin_some(PATIENCE).unwrap(), told.rest().len()), (1, 1));
    }
    // The time limit passes during the first of several callbacks.
    let listener = Listener::new();
    executor.add_node(&listener.node).unwrap();
    let mut publishers = ["a", "b", "c"].map(|name| {
        listener.hear(case, name, all());
        listener.node.create_publisher::<Point>(&case.topic(name), all()).unwrap()
    });
    for publisher in &mut publishers {
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        publisher.publish_copy(&Point { x: 1.0, y: 0.0 }).unwrap();
    }
    assert_eq!(executor.spin_some(Duration::from_nanos(1)).unwrap(), 1);
    let ran: usize = (0..3).map(|_| executor.spin_some(PATIENCE).unwrap()).sum();
    assert!((5..=6).contains(&ran), "{ran}: three callbacks once, and the other one each time, or it was the first");
    assert_eq!(listener.rest().len(), 3);
}

fn a_panic_in_a_callback_ends_the_spin_with_that_panic(case: &Case) {
    let (mut executor, listener) = (case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    let mut publisher = listener.node.create_publisher::<Point>(&case.topic("odd"), all()).unwrap();
    let sender = listener.sender.clone();
    let subscription = listener.node.create_subscription::<Point>(&case.topic("odd"), all()).unwrap();
    listener.node.add_callback(subscription, move |_, point| {
        let number = point.x as usize;
        if !number.is_multiple_of(2) {
            resume_unwind(Box::new(format!("{number} is odd"))); // a panic that is not printed
        }
        sender.send(("even", number)).unwrap();
    });
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    // The timer adds a callback to the group, so that the panic happens while callbacks of the same group wait or, on
    // another thread, run.
    listener.node.create_timer_with_callback(ms(1), |_| ()).unwrap();
    for number in 1..=10 {
        publisher.publish_copy(&Point { x: f64::from(number), y: 0.0 }).unwrap();
    }
    for odd in [1, 3, 5, 7, 9] {
        let panic = catch_unwind(AssertUnwindSafe(|| executor.spin())).unwrap_err();
        assert_eq!(*panic.downcast::<String>().unwrap(), format!("{odd} is odd"));
    }
    // The executor, the group and the callback still work.
    spinning(&mut *executor, || listener.take(5));
    executor.remove_node(&listener.node);
    let mut another = MultiThreadedExecutor::with_threads(2);
    another.add_node(&listener.node).unwrap();
    publisher.publish_copy(&Point { x: 12.0, y: 0.0 }).unwrap();
    spinning(&mut another, || assert_eq!(listener.next(), ("even", 12)));
}

/// The parts of a program, which the tests drop in any order.
enum Part {
    Executor(Box<dyn Tested>),
    Node(Node),
    Handle(CallbackHandle, Timer),
    Far(Far),
}

fn all_can_be_shut_down_in_any_order(case: &Case) {
    let (topic, told_by) = (case.topic("end"), value_channel::<()>());
    for order in permutations(4) {
        let (mut far, mut executor, node, (sender, told)) = (case.far(), case.executor(), node(), value_channel());
        executor.add_node(&node).unwrap();
        let subscription = node.create_subscription::<Point>(&topic, Qos::default()).unwrap();
        let handle = node.add_callback(subscription, move |_, sample| drop(sender.send(sample)));
        let timer = node.create_timer_with_callback(ms(1), |_| ()).unwrap();
        far.advertise(&topic, "keep_last=10");
        let held = spinning(&mut *executor, || {
            far.tell(&format!("flood {topic} 50"));
            told.take(5)
        });
        let mut parts =
            [Part::Executor(executor), Part::Node(node), Part::Handle(handle, timer), Part::Far(far)].map(Some);
        for place in order {
            match parts[place].take().unwrap() {
                Part::Executor(executor) => drop(executor),
                Part::Node(node) => drop(node),
                Part::Handle(handle, timer) => {
                    handle.remove();
                    drop(timer);
                }
                Part::Far(far) => drop(far),
            }
        }
        // The samples that the test holds are still valid, and no callback exists any more.
        assert!(held.windows(2).all(|pair| pair[0].x < pair[1].x));
        told.rest();
        assert!(told.0.recv().is_err());
    }
    drop(told_by);
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for place in 0..count {
        let longer =
            |order: Vec<usize>| (0..=order.len()).map(move |at| [&order[..at], &[place], &order[at..]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}
