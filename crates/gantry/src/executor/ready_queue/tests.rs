//! Tests of a ready queue without an executor: due times and notifications.

use super::{
    super::{members::Member, wake_signal::CallbackWaker},
    *,
};
use crate::{Clock, Node, Timer};
use std::task::Wake;

/// A cancel comes after the check for a cancel and before the gathering, which clears the cancel's notification.
#[test]
fn a_cancel_whose_notification_is_taken_ends_the_sleep() {
    let mut queue = ReadyQueue::default();
    let node = Node::builder("queue_tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap();
    queue.add(Member::Node(node.clone()), None).unwrap();
    queue.signal.cancel();
    queue.gather();
    let begin = Instant::now();
    queue.sleep(Some(begin + Duration::from_millis(900))).unwrap(); // shorter than one slice of a sleep
    assert!(begin.elapsed() < Duration::from_millis(900), "it slept until the limit");
}

/// News is gathered after the callback's thread has checked the source and before it reports the outcome.
#[test]
fn news_that_is_gathered_during_a_run_that_finds_nothing_is_run() {
    let mut queue = ReadyQueue::default();
    let node = Node::builder("queue_tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap();
    node.add_callback(node.graph_events().unwrap(), |_, _| ());
    queue.add(Member::Node(node.clone()), None).unwrap();
    let mut indices = Vec::new();
    queue.gather();
    queue.take_ready(&mut indices);
    let running = queue.start(indices[0], Work::Take);
    while running.callback.run() != RunOutcome::Nothing {}
    let waker = CallbackWaker::new(&queue.signal, &running.callback);
    Arc::new(waker).wake();
    queue.gather();
    queue.finish(running, RunOutcome::Nothing);
    assert_eq!(queue.sleep_deadline(None), None);
    let running = queue.start(indices[0], Work::Take);
    let outcome = running.callback.run();
    queue.finish(running, outcome);
    queue.take_ready(&mut indices);
    assert_eq!(indices, [0, 0], "as often as there was news");
}

/// The executor finds the time of the next tick without a query of each timer, also after a timer was canceled, reset
/// or removed.
#[test]
fn the_next_due_time_is_that_of_the_first_timer() {
    let (mut queue, hour) = (ReadyQueue::default(), Duration::from_secs(3600));
    let node = Node::builder("queue_tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap();
    let [first, second] = [1, 2].map(|hours| Timer::new(&Clock::steady(), hour * hours).unwrap());
    let handle = node.add_callback(first.clone(), |_, _| ());
    node.add_callback(second.clone(), |_, _| ());
    queue.add(Member::Node(node.clone()), None).unwrap();
    let mut due_in = || {
        let mut indices = Vec::new();
        queue.gather();
        queue.take_ready(&mut indices);
        indices.into_iter().for_each(|index| {
            queue.run(index, |callback| callback.run());
        });
        Duration::from_nanos(queue.next_due_ns().saturating_sub(monotonic_ns()))
    };
    let hours = |due: Duration| due.as_secs_f64() / 3600.0;
    assert_eq!(hours(due_in()).ceil(), 1.0);
    first.cancel();
    assert_eq!(hours(due_in()).ceil(), 2.0);
    first.reset();
    assert_eq!(hours(due_in()).ceil(), 1.0);
    handle.remove();
    assert_eq!(hours(due_in()).ceil(), 2.0);
    second.cancel();
    assert!(hours(due_in()) > 1e3);
}
