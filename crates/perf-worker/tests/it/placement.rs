//! Tests of real-time priorities and locked memory, which need a permission.

use perf_worker::{
    run_spec::RtScope,
    worker::placement::{Placement, Scheduling},
};
use procfs::process::Process;
use std::{process::Command, sync::mpsc, thread};
use test_support::{ignore, tests};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, thread_native_id, thread_schedule_policy_param,
};

tests![
    a_realtime_priority_is_given_to_the_endpoint_alone,
    a_realtime_thread_gets_back_its_policy,
    locked_memory_is_resident_only_where_it_was_touched,
];

/// The argument with which this program becomes the child process that locks its memory. The lock is permanent and
/// would affect other tests in the same process.
pub const LOCK_MEMORY: &str = "--lock-memory";
const FIFO: ThreadSchedulePolicy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
const RESERVE_KIB: u64 = 1 << 20;

fn placement(rt_priority: u32) -> Placement {
    Placement { rt_priority, rt_scope: RtScope::Endpoints, ..Placement::default() }
}

fn policy_of_this_thread() -> (ThreadSchedulePolicy, i32) {
    let (policy, parameters) = thread_schedule_policy_param(thread_native_id()).unwrap();
    (policy, parameters.sched_priority)
}

/// Reports the test as ignored if the machine grants no real-time priority.
fn require_priority() {
    if let Err(sentence) = placement(7).check() {
        ignore(format!("no real-time priority here: {sentence}"));
    }
}

fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().unwrap())
}

fn a_realtime_priority_is_given_to_the_endpoint_alone() {
    require_priority();
    let normal = policy_of_this_thread();
    let (placed, is_placed) = mpsc::channel::<()>();
    let (of_endpoint, of_elder) = on_a_thread(|| {
        let elder = thread::spawn(move || {
            is_placed.recv().unwrap();
            policy_of_this_thread()
        });
        placement(7).apply_to_thread(0).unwrap();
        placed.send(()).unwrap();
        (policy_of_this_thread(), elder.join().unwrap())
    });
    assert_eq!(of_endpoint, (FIFO, 7));
    assert_eq!(of_elder, normal, "a background thread became real-time, too");
    assert_eq!(policy_of_this_thread(), normal);
}

fn a_realtime_thread_gets_back_its_policy() {
    require_priority();
    on_a_thread(|| {
        let normal = (policy_of_this_thread(), Scheduling::of_this_thread().unwrap());
        placement(3).apply_to_thread(0).unwrap();
        let realtime = (policy_of_this_thread(), Scheduling::of_this_thread().unwrap());
        assert_eq!(realtime.0, (FIFO, 3));
        placement(7).apply_to_thread(0).unwrap();
        realtime.1.restore().unwrap();
        assert_eq!(policy_of_this_thread(), realtime.0);
        normal.1.restore().unwrap();
        assert_eq!(policy_of_this_thread(), normal.0);
    });
}

fn locked_memory_is_resident_only_where_it_was_touched() {
    let output = Command::new(std::env::current_exe().unwrap()).arg(LOCK_MEMORY).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if let Some(why) = text(&output.stdout).strip_prefix("refused: ") {
        ignore(why.trim_end());
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// The main function of the child. It fails if memory that it does not touch becomes resident.
pub fn lock_memory() {
    let before = vec![0_u8; RESERVE_KIB as usize * 1024];
    if let Err(sentence) = (Placement { rt_priority: 1, ..Placement::default() }).apply_to_process() {
        return println!("refused: {sentence}");
    }
    let after = vec![0_u8; RESERVE_KIB as usize * 1024];
    let status = Process::myself().unwrap().status().unwrap();
    assert!(status.vmlck.unwrap() >= 2 * RESERVE_KIB, "not all is locked: {:?} KiB", status.vmlck);
    assert!(status.vmrss.unwrap() < RESERVE_KIB / 2, "untouched memory is resident: {:?} KiB", status.vmrss);
    drop((before, after));
}
