//! Tests of the placement of threads, and of the error sentences for a refused placement.

use std::sync::mpsc;

use thread_priority::thread_schedule_policy_param;

use super::*;

fn cpus_of_this_thread() -> Vec<u32> {
    let set = sched_getaffinity(None).unwrap();
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect()
}

fn policy_of_this_thread() -> (ThreadSchedulePolicy, i32) {
    let (policy, parameters) = thread_schedule_policy_param(thread_native_id()).unwrap();
    (policy, parameters.sched_priority)
}

fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap())
}

#[test]
fn an_empty_placement_changes_nothing() {
    let placement = Placement::default();
    on_a_thread(|| {
        let before = (cpus_of_this_thread(), policy_of_this_thread());
        placement.check().unwrap();
        placement.apply_to_process().unwrap();
        placement.apply_to_thread(3).unwrap();
        assert_eq!((cpus_of_this_thread(), policy_of_this_thread()), before);
    });
}

#[test]
fn endpoints_are_pinned_in_turn_and_their_elder_children_are_not() {
    let all = cpus_of_this_thread();
    let placement = Placement { pins: all.clone(), rt_scope: RtScope::Endpoints, ..Placement::default() };
    placement.check().unwrap();
    for index in 0..2 * all.len() {
        let (placed, is_placed) = mpsc::channel::<()>();
        let (pinned, of_child) = on_a_thread(|| {
            let child = std::thread::spawn(move || {
                is_placed.recv().unwrap();
                cpus_of_this_thread()
            });
            placement.apply_to_thread(index).unwrap();
            placed.send(()).unwrap();
            (cpus_of_this_thread(), child.join().unwrap())
        });
        assert_eq!(pinned, [all[index % all.len()]]);
        assert_eq!(of_child, all, "a background thread was pinned, too");
    }
}

#[test]
fn the_middlewares_threads_run_on_all_pinned_cpus_and_the_main_thread_elsewhere_again() {
    let all = cpus_of_this_thread();
    let last = *all.last().unwrap();
    let placement = Placement { pins: vec![last], ..Placement::default() };
    let (of_middleware, of_main, of_later) = on_a_thread(|| {
        let own = placement.apply_to_process().unwrap().unwrap();
        let of_middleware = on_a_thread(cpus_of_this_thread);
        own.restore().unwrap();
        (of_middleware, cpus_of_this_thread(), on_a_thread(cpus_of_this_thread))
    });
    assert_eq!((of_middleware, of_main, of_later), (vec![last], all.clone(), all));
    let of_endpoints = Placement { rt_scope: RtScope::Endpoints, ..placement };
    assert!(on_a_thread(|| of_endpoints.apply_to_process().unwrap().is_none()));
}

#[test]
fn a_thread_gets_back_its_policy_and_its_nice_value() {
    let nice_of_this_thread = || rustix::process::getpriority_process(None).unwrap();
    on_a_thread(|| {
        rustix::process::setpriority_process(None, nice_of_this_thread() + 1).unwrap();
        let before = (policy_of_this_thread(), nice_of_this_thread());
        let own = Scheduling::of_this_thread().unwrap();
        let _ = become_realtime(7); // fails without permission, which is not an error here
        own.restore().unwrap();
        assert_eq!((policy_of_this_thread(), nice_of_this_thread()), before);
    });
}

#[test]
fn all_threads_of_a_worker_stay_on_its_cpus() {
    let last = *cpus_of_this_thread().last().unwrap();
    let placement = Placement { rt_cpus: vec![last], ..Placement::default() };
    placement.check().unwrap();
    let (ours, of_child) = on_a_thread(|| {
        placement.apply_to_process().unwrap();
        (cpus_of_this_thread(), on_a_thread(cpus_of_this_thread))
    });
    assert_eq!((ours, of_child), (vec![last], vec![last]));
}

#[test]
fn cpus_that_cannot_be_used_are_named_before_anything_starts() {
    let first = cpus_of_this_thread()[0];
    for unusable in [CpuSet::MAX_CPU as u32 - 1, CpuSet::MAX_CPU as u32, u32::MAX] {
        for (option, placement) in [
            ("--use-rt-cpus", Placement { rt_cpus: vec![first, unusable], ..Placement::default() }),
            ("--pin", Placement { pins: vec![first, unusable], ..Placement::default() }),
        ] {
            let before = cpus_of_this_thread();
            let sentence = placement.check().unwrap_err();
            assert!(sentence.contains(option) && sentence.contains(&unusable.to_string()), "{sentence}");
            assert_eq!(cpus_of_this_thread(), before, "the check changed the calling thread");
        }
    }
    let sentence = Placement { pins: vec![CpuSet::MAX_CPU as u32 - 1], ..Placement::default() }.check().unwrap_err();
    assert!(sentence.contains(&format!("[{first}")), "the usable CPUs are missing: {sentence}");
}

#[test]
fn priorities_that_linux_does_not_have_are_refused() {
    for priority in [100, 256, u32::MAX] {
        let sentence = become_realtime(priority).unwrap_err();
        assert!(sentence.contains(&priority.to_string()) && sentence.contains("1 to 99"), "{sentence}");
    }
}

#[test]
fn a_refused_realtime_priority_is_refused_beforehand_with_a_reason() {
    let placement = Placement { rt_priority: 7, rt_scope: RtScope::Endpoints, ..Placement::default() };
    let refusals = on_a_thread(|| (placement.apply_to_thread(0).err(), placement.check().err()));
    if let (Some(sentence), check) = refusals {
        assert!(sentence.contains("--use-rt-prio 7") && check.is_some(), "{sentence}");
    }
}

#[test]
fn a_missing_permission_is_named_with_the_ways_to_get_it() {
    let sentence = no_realtime(42);
    let parts: &[&str] = match has(CapabilitySet::SYS_NICE) {
        true => &["--use-rt-prio 42", "cpu.rt_runtime_us"],
        false => &[
            "--use-rt-prio 42",
            "RLIMIT_RTPRIO",
            "ulimit -r",
            "setcap cap_sys_nice",
            "rtprio 99",
            "--cap-add SYS_NICE",
        ],
    };
    parts.iter().for_each(|part| assert!(sentence.contains(part), "{part} is not in: {sentence}"));
}

#[test]
fn bounded_locks_are_refused_beforehand() {
    assert_eq!(locking_refused(None, false), None);
    assert_eq!(locking_refused(Some(8192 << 10), true), None);
    let sentence = locking_refused(Some(8192 << 10), false).unwrap();
    for part in ["8192 KiB", "RLIMIT_MEMLOCK", "ulimit -l", "cap_ipc_lock", "memlock unlimited", "--cap-add IPC_LOCK"] {
        assert!(sentence.contains(part), "{part} is not in: {sentence}");
    }
}
