//! Slow callbacks: a warning says which callback held up the others of its executor.

use super::{
    failures::{collect_log, logged},
    *,
};

behaviours! {
    with_a_far_end: [],
    alone: [a_callback_that_holds_up_others_is_said_once],
}

fn a_callback_that_holds_up_others_is_said_once(case: &Case) {
    collect_log();
    let (mut executor, node, (sender, told)) = (case.executor(), node(), telling());
    let topic = case.topic("slow");
    node.create_subscription_with_callback::<Point>(&topic, all(), move |_| {
        std::thread::sleep(ms(300)); // the work of a slow callback
        sender.send(()).unwrap();
    })
    .unwrap();
    let mut publisher = node.create_publisher::<Point>(&topic, all()).unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    let mut slow_run = |executor: &mut dyn Tested| {
        publisher.publish_copy(&Point { x: 0.0, y: 0.0 }).unwrap();
        spinning(executor, || told.next());
        executor.spin_some(Duration::ZERO).unwrap();
    };
    executor.add_node(&node).unwrap();
    slow_run(&mut *executor);
    assert!(logged(&topic).is_empty(), "it held up no other");
    let (others, ticks) = telling();
    let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    group.create_timer_with_callback(ms(10), move |_| others.send(()).unwrap_or_default()).unwrap();
    spinning(&mut *executor, || ticks.next());
    slow_run(&mut *executor);
    slow_run(&mut *executor);
    let lines = logged(&topic);
    let is_alone_on_its_thread = case.kind.has_threads() || case.kind == Kind::CallbackIsolated;
    assert_eq!(lines.len(), usize::from(!is_alone_on_its_thread), "{lines:?}");
    for line in lines {
        assert!(line.contains("the callback of topic") && line.contains("/tester"), "{line}");
    }
}
