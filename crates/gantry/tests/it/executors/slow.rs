//! Tests of slow callbacks: a warning names the callback that held up other callbacks of its executor.

use super::{
    failures::{collect_log, logged},
    listening::Blocker,
    *,
};
use test_support::ignore;

behaviours! {
    with_a_far_end: [],
    alone: [
        a_callback_that_holds_up_others_is_said_once,
        a_callback_that_held_up_its_group_is_said_after_its_run,
        a_callback_that_held_up_all_threads_is_said_after_its_run,
        a_callback_that_runs_still_is_said_if_it_holds_up_its_group,
        callbacks_that_run_still_are_said_if_they_hold_up_all_threads,
    ],
}

/// Adds a callback that takes 300 ms to this group. The returned function starts a run and waits for the end of the
/// run.
fn slow(case: &Case, group: &CallbackGroup) -> impl FnMut() + Send + use<> {
    let (topic, (sender, told)) = (case.topic("slow"), value_channel());
    let work = move |_: Sample<Point>| {
        std::thread::sleep(ms(300)); // the work of a slow callback
        sender.send(()).unwrap();
    };
    group.create_subscription_with_callback(&topic, all(), work).unwrap();
    let mut publisher = group.node().create_publisher::<Point>(&topic, all()).unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    move || {
        publisher.publish_copy(&Point { x: 0.0, y: 0.0 }).unwrap();
        told.next();
    }
}

fn a_callback_that_holds_up_others_is_said_once(case: &Case) {
    collect_log();
    let (mut executor, node, topic) = (case.executor(), node(), case.topic("slow"));
    let mut run = slow(case, &node.create_callback_group(CallbackGroupType::MutuallyExclusive));
    let mut slow_run = |executor: &mut dyn Tested| {
        spinning(executor, &mut run);
        executor.spin_some(Duration::ZERO).unwrap();
    };
    executor.add_node(&node).unwrap();
    slow_run(&mut *executor);
    assert!(logged(&topic).is_empty(), "it held up no other");
    let (others, ticks) = value_channel();
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

fn a_callback_that_held_up_its_group_is_said_after_its_run(case: &Case) {
    collect_log();
    let (mut executor, node) = (case.executor(), node());
    let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    let mut run = slow(case, &group);
    group.create_timer_with_callback(ms(10), |_| ()).unwrap();
    executor.add_node(&node).unwrap();
    spinning(&mut *executor, || {
        run();
        eventually("it is said", || !logged(&case.topic("slow")).is_empty());
    });
}

/// No thread of the executor is free during the slow run, because the other threads run even longer callbacks.
fn a_callback_that_held_up_all_threads_is_said_after_its_run(case: &Case) {
    if !case.kind.has_threads() {
        ignore("this executor has one thread");
    }
    collect_log();
    let (mut executor, node) = (case.executor(), node());
    let group = || node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    let mut blockers = ["first", "second"].map(|name| Blocker::new(case, &group(), name));
    let mut run = slow(case, &group());
    group().create_timer_with_callback(ms(10), |_| ()).unwrap();
    executor.add_node(&node).unwrap();
    spinning(&mut *executor, || {
        blockers.iter_mut().for_each(Blocker::start);
        run();
        eventually("it is said", || !logged(&case.topic("slow")).is_empty());
        drop(blockers);
    });
}

fn a_callback_that_runs_still_is_said_if_it_holds_up_its_group(case: &Case) {
    collect_log();
    let (mut executor, node) = (case.executor(), node());
    let [group, other] = [0, 1].map(|_| node.create_callback_group(CallbackGroupType::MutuallyExclusive));
    let alone = case.runs_several().then(|| Blocker::new(case, &other, "alone"));
    let mut blockers: Vec<_> = alone.into_iter().chain([Blocker::new(case, &group, "holds_up")]).collect();
    group.create_timer_with_callback(ms(10), |_| ()).unwrap();
    executor.add_node(&node).unwrap();
    spinning(&mut *executor, move || {
        blockers.iter_mut().for_each(Blocker::start);
        eventually("it is said", || !logged(&case.topic("holds_up")).is_empty());
        assert_eq!(logged(&case.topic("alone")), [""; 0]);
    });
    let [line] = &logged(&case.topic("holds_up"))[..] else { panic!("{:#?}", logged(&case.topic("holds_up"))) };
    assert!(line.contains("/tester") && line.contains("has been running for"), "{line}");
}

fn callbacks_that_run_still_are_said_if_they_hold_up_all_threads(case: &Case) {
    if case.kind == Kind::CallbackIsolated {
        ignore("each group has its own thread");
    }
    collect_log();
    let (mut executor, node) = (case.executor(), node());
    let group = || node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    let names = &["first", "second", "third"][..if case.kind.has_threads() { 3 } else { 1 }];
    let mut blockers: Vec<_> = names.iter().map(|name| Blocker::new(case, &group(), name)).collect();
    group().create_timer_with_callback(ms(10), |_| ()).unwrap();
    executor.add_node(&node).unwrap();
    spinning(&mut *executor, move || {
        blockers.iter_mut().for_each(Blocker::start);
        for name in names {
            eventually("it is said", || !logged(&case.topic(name)).is_empty());
        }
    });
}
