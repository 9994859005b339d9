//! Tests of removed callbacks: their closures and sources are dropped at once, or at the end of the current run.

use super::*;

behaviours! {
    with_a_far_end: [],
    alone: [a_removed_callback_is_dropped_at_once, a_callback_that_is_removed_while_it_runs_is_dropped_at_its_end],
}

fn a_removed_callback_is_dropped_at_once(case: &Case) {
    let (mut executor, node, mark) = (case.executor(), node(), Arc::new(()));
    executor.add_node(&node).unwrap();
    let add = || {
        let mark = mark.clone();
        node.create_subscription_with_callback::<Point>(&case.topic("gone"), all(), move |_| {
            let _ = &mark;
        })
        .unwrap()
    };
    let mut publisher = node.create_publisher::<Point>(&case.topic("gone"), all()).unwrap();
    let removed = |handle: CallbackHandle, when: &str| {
        handle.remove();
        assert_eq!(Arc::strong_count(&mark), 1, "{when}");
    };
    removed(add(), "before a spin");
    let known = add();
    assert!(!executor.spin_once(Duration::ZERO).unwrap());
    removed(known, "between two spins");
    assert_eq!(publisher.subscription_count().unwrap(), 0);
    let (sender, ticks) = value_channel();
    node.create_timer_with_callback(ms(1), move |_| sender.send(()).unwrap_or_default()).unwrap();
    spinning(&mut *executor, || {
        for _ in 0..50 {
            let known = add();
            ticks.next();
            removed(known, "while it spins");
        }
    });
}

fn a_callback_that_is_removed_while_it_runs_is_dropped_at_its_end(case: &Case) {
    let (mut executor, node) = (case.executor(), node());
    executor.add_node(&node).unwrap();
    for round in 0..20 {
        let ((begun, begins), (go, goes), mark) = (value_channel(), value_channel::<()>(), Arc::new(()));
        let owned = mark.clone();
        let handle = node.add_callback(Timer::one_shot(&Clock::steady(), ms(1)).unwrap(), move |_, _| {
            let _ = &owned;
            begun.send(()).unwrap();
            goes.next();
        });
        let work = || {
            begins.next();
            handle.remove();
            assert_eq!(Arc::strong_count(&mark), 2, "it runs");
            go.send(()).unwrap();
        };
        if round % 2 == 0 {
            spinning(&mut *executor, || {
                work();
                eventually("it is dropped", || Arc::strong_count(&mark) == 1);
            });
        } else {
            std::thread::scope(|scope| {
                let spinner = scope.spawn(|| executor.spin_once(PATIENCE).unwrap());
                work();
                assert!(spinner.join().unwrap());
            });
            assert_eq!(Arc::strong_count(&mark), 1, "the spin is over");
        }
    }
}
