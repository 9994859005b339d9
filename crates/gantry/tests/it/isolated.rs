//! Tests of the threads of callback groups: their CPUs and scheduling policies.

use crate::support::*;
use gantry::*;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::{sync::mpsc::channel, time::Duration};

tests![the_thread_of_a_group_runs_on_its_cpus, a_property_that_is_refused_ends_the_spin];

fn cpus() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap();
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

fn the_thread_of_a_group_runs_on_its_cpus() {
    let (all, node, (sender, told)) = (cpus(), node(), channel());
    let last = *all.last().unwrap();
    for on in [None, Some(last)] {
        let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
        let group = if let Some(cpu) = on { group.with_cpus(&[cpu]) } else { group };
        let sender = sender.clone();
        group
            .create_timer_with_callback(Duration::from_millis(1), move |_| {
                let _ = sender.send((on, cpus(), std::thread::current().id()));
            })
            .unwrap();
    }
    let mut executor = CallbackIsolatedExecutor::new();
    executor.add_node(&node).unwrap();
    let mut heard = Vec::new();
    let both = executor.spin_until(PATIENCE, &mut || {
        heard.extend(told.try_iter());
        [None, Some(last)].iter().all(|on| heard.iter().any(|(other, ..)| other == on))
    });
    assert!(both.unwrap());
    let of = |on: Option<usize>| heard.iter().find(|(other, ..)| *other == on).unwrap();
    assert_eq!(of(None).1, all, "it inherits the CPUs of the thread that spins");
    assert_eq!(of(Some(last)).1, [last]);
    assert_ne!(of(None).2, of(Some(last)).2);
    assert_eq!(cpus(), all, "the thread that spins keeps its own");
}

fn a_property_that_is_refused_ends_the_spin() {
    let why = |change: fn(CallbackGroup) -> CallbackGroup| {
        let node = node();
        let group = change(node.create_callback_group(CallbackGroupType::MutuallyExclusive));
        group.create_timer_with_callback(Duration::from_millis(1), |_| ()).unwrap();
        let mut executor = CallbackIsolatedExecutor::new();
        executor.add_node(&node).unwrap();
        let why = executor.spin().unwrap_err().to_string();
        assert!(why.contains("a callback group of node /tester cannot have"), "{why}");
        // The executor still has the callbacks.
        assert!(executor.spin_once(PATIENCE).unwrap());
        why
    };
    let policy = why(|group| group.with_scheduling_policy(SchedulingPolicy::Fifo(100)));
    assert!(policy.contains("Fifo(100)") && policy.contains("from 1 to 99"), "{policy}");
    let none = why(|group| group.with_cpus(&[CpuSet::MAX_CPU]));
    assert!(none.contains(&format!("there is no CPU {}", CpuSet::MAX_CPU)), "{none}");
}
