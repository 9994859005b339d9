//! Tests of guard conditions: a trigger by the program itself wakes a wait set, an executor and a future.

use crate::{awaiting::block_on, support::*};
use gantry::{EventsExecutor, Executor, GuardCondition, MultiThreadedExecutor, SingleThreadedExecutor, WaitSet};
use std::{sync::mpsc, thread, time::Duration};

tests! {
    a_trigger_from_another_thread_ends_a_wait,
    a_trigger_before_the_wait_is_not_lost,
    every_executor_runs_the_callback_of_a_trigger,
    a_task_awaits_a_trigger,
}

/// A timeout that no test reaches.
const EVER: Duration = Duration::from_secs(100_000);

fn a_trigger_from_another_thread_ends_a_wait() {
    let (mut guard, node) = (GuardCondition::new(), node());
    let mut wait_set = WaitSet::new(&node).unwrap();
    for _ in 0..100 {
        let trigger = guard.clone();
        let thread = thread::spawn(move || trigger.trigger());
        assert!(wait_set.wait(&mut [&mut guard], EVER).unwrap());
        assert!(guard.take() && !guard.take());
        thread.join().unwrap();
    }
    assert!(!wait_set.wait(&mut [&mut guard], Duration::ZERO).unwrap());
}

fn a_trigger_before_the_wait_is_not_lost() {
    let (mut guard, node) = (GuardCondition::new(), node());
    guard.trigger();
    guard.clone().trigger(); // two triggers count as one
    assert!(WaitSet::new(&node).unwrap().wait(&mut [&mut guard], EVER).unwrap());
    assert!(guard.take() && !guard.take());
}

fn every_executor_runs_the_callback_of_a_trigger() {
    run_callbacks(SingleThreadedExecutor::new());
    run_callbacks(MultiThreadedExecutor::new());
    run_callbacks(EventsExecutor::new());
}

fn run_callbacks(mut executor: impl Executor + Send) {
    let (guard, node) = (GuardCondition::new(), node());
    let (sender, ran) = mpsc::channel();
    guard.trigger(); // a trigger before the callback is added also counts
    node.add_callback(guard.clone(), move |_, ()| sender.send(()).unwrap());
    executor.add_node(&node).unwrap();
    let canceler = executor.handle();
    thread::scope(|scope| {
        scope.spawn(|| executor.spin().unwrap());
        for _ in 0..100 {
            ran.recv_timeout(PATIENCE).unwrap();
            guard.trigger();
        }
        ran.recv_timeout(PATIENCE).unwrap();
        canceler.cancel();
    });
    assert!(ran.try_recv().is_err(), "as often as it was triggered");
}

fn a_task_awaits_a_trigger() {
    let mut guard = GuardCondition::new();
    let trigger = guard.clone();
    let thread = thread::spawn(move || trigger.trigger());
    block_on(guard.take_async()).unwrap();
    thread.join().unwrap();
}
