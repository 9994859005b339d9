//! Tests of the number of threads that a message wakes, which the kernel counts in a child process.

use super::*;
use crate::child::{say, told};

behaviours! {
    with_a_far_end: [],
    alone: [a_message_wakes_one_thread],
}

fn a_message_wakes_one_thread(case: &Case) {
    const MESSAGES: u64 = 300;
    let (_, name) = Kind::ALL.into_iter().find(|(kind, _)| *kind == case.kind).unwrap();
    let (node, asks, answers) = (node(), case.topic("asks"), case.topic("answers"));
    let mut publisher = node.create_publisher::<Point>(&asks, all()).unwrap();
    let mut subscription = node.create_subscription::<Point>(&answers, all()).unwrap();
    let mut child = start_child(&format!("answers-{name}"), &asks.replace("asks", ""));
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    let mut ask = || {
        publisher.publish_copy(&Point { x: 1.0, y: 0.0 }).unwrap();
        assert!(subscription.wait(PATIENCE).unwrap());
        drop(subscription.take().unwrap());
        assert!(!subscription.wait(ms(1)).unwrap(), "meanwhile the executor goes to sleep");
    };
    (0..20).for_each(|_| ask());
    let mut count = || {
        child.say("");
        child.line().parse::<u64>().unwrap()
    };
    let before = count();
    (0..MESSAGES).for_each(|_| ask());
    let sleeps = count() - before;
    assert!(sleeps < MESSAGES * 3 / 2, "{sleeps} sleeps for {MESSAGES} messages");
    child.finish();
}

/// Role of a child process: answers each message, and prints how often its executor's threads slept.
pub fn answer(kind: &str, topic: &str) {
    let (kind, _) = Kind::ALL.into_iter().find(|(_, name)| *name == kind).unwrap();
    let (node, mut executor) = (node(), kind.executor());
    let mut publisher = node.create_publisher::<Point>(&format!("{topic}answers"), all()).unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    let answer = move |point: Sample<Point>| {
        publisher.publish_copy(&Point { x: point.x, y: 0.0 }).unwrap();
    };
    node.create_subscription_with_callback(&format!("{topic}asks"), all(), answer).unwrap();
    executor.add_node(&node).unwrap();
    spinning(&mut *executor, || {
        say("ready");
        while told() {
            say(&sleeps().to_string());
        }
    });
}

/// The number of voluntary context switches of all threads except this thread and the control thread.
fn sleeps() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let main = std::process::id().to_string();
    let others = tasks.filter(|task| !task.ends_with(&main));
    let statuses = others.map(|task| std::fs::read_to_string(task.join("status")).unwrap());
    let executors = statuses.filter(|status| !status.contains("gantry-control"));
    let switches = executors.map(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.unwrap().trim().parse::<u64>().unwrap()
    });
    switches.sum()
}
