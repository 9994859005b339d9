//! Tests of the control thread: it matches endpoints, notices deaths and cleans up for programs that make no calls, and
//! it leaves nothing behind when it ends.

use crate::{
    child::{STREAM_BYTES, say, stream_qos},
    descriptor::is_readable,
    support::*,
    waiting::{publisher_on, subscription_to},
};
use gantry_shm::{Participant, Qos};
use rustix::{
    process::{Pid, Signal, kill_process, setpriority_process},
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};
use std::{path::Path, sync::Arc};

tests![
    a_subscription_that_only_takes_is_matched,
    a_death_is_noticed_by_processes_that_call_nothing,
    many_deaths_at_once_are_noticed_while_others_are_stopped,
    control_threads_block_all_signals,
    control_threads_do_not_inherit_real_time,
    participants_leave_no_thread_descriptor_or_file,
    endpoints_that_come_and_go_on_one_topic_leave_nothing,
    a_publisher_keeps_nothing_mapped_of_readers_that_are_gone,
];

const NAME: &str = "gantry-control";

fn count_of(root: &Root, ending: &str) -> usize {
    root.files().iter().filter(|path| path.extension().is_some_and(|found| found == ending)).count()
}

fn a_subscription_that_only_takes_is_matched() {
    let root = Root::new();
    let participant = root.join();
    let mut subscription = subscription_to(&participant, "/events", Qos::default());
    // The child publishes only after it is matched. This process makes no call that matches endpoints, so its control
    // thread must do it.
    let mut talker = root.child("last-words", &[]);
    talker.line();
    talker.say("speak");
    eventually("the sample is taken", || subscription.take().unwrap().is_some());
}

fn a_death_is_noticed_by_processes_that_call_nothing() {
    let root = Root::new();
    let mut survivor = root.child("idle", &[]);
    survivor.line();
    let mut victim = root.child("idle", &[]);
    victim.line();
    assert_eq!((count_of(&root, "process"), count_of(&root, "pub")), (2, 2));
    victim.kill();
    eventually("the survivor removes the files of the dead", || {
        (count_of(&root, "process"), count_of(&root, "pub")) == (1, 1)
    });
    survivor.finish();
    root.assert_empty();
}

fn many_deaths_at_once_are_noticed_while_others_are_stopped() {
    let root = Root::new();
    let mut children: Vec<_> = (0..24).map(|_| root.child("idle", &[])).collect();
    children.iter_mut().for_each(|child| drop(child.line()));
    let (stopped, rest) = children.split_at_mut(10);
    let (victims, _) = rest.split_at_mut(10);
    stopped.iter().for_each(|child| kill_process(child.pid(), Signal::STOP).unwrap());
    victims.iter_mut().for_each(Peer::kill);
    eventually("the dead are removed, and no others", || count_of(&root, "process") == 14);
    stopped.iter().for_each(|child| kill_process(child.pid(), Signal::CONT).unwrap());
    children
        .into_iter()
        .filter_map(|mut child| child.child.try_wait().unwrap().is_none().then_some(child))
        .for_each(Peer::finish);
    root.assert_empty();
}

/// The contents of `/proc/self/task/*/status` of each control thread of this process.
fn control_threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().map_while(Result::ok);
    let is_control = |task: &Path| std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim_end() == NAME);
    // A thread that ends during the loop is skipped.
    tasks
        .filter(|task| is_control(&task.path()))
        .filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok())
        .collect()
}

fn control_threads_block_all_signals() {
    let root = Root::new();
    let _participant = root.join();
    eventually("the thread has set its name", || !control_threads().is_empty());
    // Some signals cannot be blocked (by the kernel, the C library or an emulator), so another thread's mask serves for
    // comparison.
    let all = std::thread::spawn(|| {
        block_all_signals();
        blocked_signals(&std::fs::read_to_string("/proc/thread-self/status").unwrap())
    });
    let all = all.join().unwrap();
    for status in control_threads() {
        assert_eq!(blocked_signals(&status), all);
    }
}

fn control_threads_do_not_inherit_real_time() {
    let root = Root::new();
    let mut child = root.child("join-pinned", &[]);
    let line = child.line();
    child.finish();
    if let Some(reason) = line.strip_prefix("only ") {
        ignore(format!("in part: {reason}"));
    }
    assert_eq!(line, "done");
}

/// Role of a child process: joins on a thread that has SCHED_FIFO (if permitted) and is pinned to one CPU. The control
/// thread must not inherit either.
pub fn join_pinned(root: &Path, first: Arc<Participant>) {
    drop(first);
    let all = sched_getaffinity(None).unwrap();
    let root = root.to_owned();
    let joiner = std::thread::spawn(move || {
        let mut last = CpuSet::new();
        last.set((0..CpuSet::MAX_CPU).rev().find(|&cpu| all.is_set(cpu)).unwrap());
        sched_setaffinity(None, &last).unwrap();
        // SAFETY: an all-zero `sched_param` is valid.
        let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
        parameters.sched_priority = 10;
        // SAFETY: the call has no preconditions.
        let thread = unsafe { libc::pthread_self() };
        // SAFETY: `thread` is the calling thread, and `parameters` is a local variable.
        let code = unsafe { libc::pthread_setschedparam(thread, libc::SCHED_FIFO, &raw const parameters) };
        let _ = setpriority_process(None, -5);
        (Participant::join_under(&root, 0).unwrap(), code == 0)
    });
    let (participant, is_fifo) = joiner.join().unwrap();
    let task = || {
        let mut tasks = std::fs::read_dir("/proc/self/task").unwrap().map_while(Result::ok).map(|task| task.path());
        tasks.find(|task| std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim_end() == NAME))
    };
    eventually("the control thread has the CPUs of the main thread", || {
        let id = task().and_then(|task| task.file_name()?.to_str()?.parse().ok()).and_then(Pid::from_raw);
        id.is_some_and(|id| sched_getaffinity(Some(id)) == Ok(all))
    });
    let stat = std::fs::read_to_string(task().unwrap().join("stat")).unwrap();
    // The fields of proc_pid_stat(5), of which the third one follows the name: 19 is the nice value, 40 the real-time
    // priority, 41 the policy.
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    assert_eq!([fields[19 - 3], fields[40 - 3], fields[41 - 3]], ["0", "0", "0"], "{stat}");
    drop(participant);
    match (all.count() > 1, is_fifo) {
        (true, true) => say("done"),
        (cpus, fifo) => say(&format!("only CPUs: {cpus}, SCHED_FIFO: {fifo}")),
    }
}

/// The signals that a thread blocks, from its status: bit n - 1 is signal n.
fn blocked_signals(status: &str) -> String {
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
    blocked.trim().to_owned()
}

fn block_all_signals() {
    // SAFETY: an all-zero `sigset_t` is valid, and `sigfillset` then writes all of it.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `all` is a local variable.
    assert_eq!(unsafe { libc::sigfillset(&raw mut all) }, 0);
    // SAFETY: `all` is a local variable, and the call changes only this thread's mask.
    assert_eq!(unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut()) }, 0);
}

fn participants_leave_no_thread_descriptor_or_file() {
    let root = Root::new();
    let mut child = root.child("many-participants", &[]);
    assert_eq!(child.line(), "done");
    child.finish();
    root.assert_empty();
}

/// Role of a child process: joins and leaves 500 times, in two domains. It needs its own process, because it counts the
/// threads, descriptors and mapped files of the process.
pub fn join_and_leave_often(root: &Path, first: Arc<Participant>) {
    let counts = || {
        ["/proc/self/task", "/proc/self/fd", "/proc/self/map_files"].map(|of| std::fs::read_dir(of).unwrap().count())
    };
    let round = || {
        let participants = [0, 1].map(|domain| Participant::join_under(root, domain).unwrap());
        let [mut publisher, mut other] = participants.each_ref().map(|p| publisher_on(p, "/events", Qos::default()));
        let [mut subscription, mut elsewhere] =
            participants.each_ref().map(|p| subscription_to(p, "/events", Qos::default()));
        subscription.descriptor().unwrap();
        match_up(&mut publisher, &mut subscription);
        match_up(&mut other, &mut elsewhere);
        send(&mut publisher, 64, 1);
        send(&mut other, 64, 2);
        eventually("two control threads run", || control_threads().len() == 2); // a thread sets its name itself
        let (sample, other_sample) = (subscription.take().unwrap().unwrap(), elsewhere.take().unwrap().unwrap());
        drop((participants, publisher, other, subscription, elsewhere));
        eventually("the control threads end with their participants", || control_threads().is_empty());
        // Samples may outlive their participant, even if this process joins the domain again.
        let again = Participant::join_under(root, 0).unwrap();
        assert_eq!((check(sample.bytes()), check(other_sample.bytes())), (1, 2));
        drop((again, sample, other_sample));
    };
    drop(first);
    round(); // creates resources that a process creates only once
    let before = counts();
    (0..250).for_each(|_| round());
    // The kernel still lists a joined thread for a moment, so the check is repeated.
    eventually("threads, descriptors and mapped files are what they were", || counts() == before);
    say("done");
}

fn endpoints_that_come_and_go_on_one_topic_leave_nothing() {
    let root = Root::new();
    let participant = root.join();
    let mut others = [root.child("come-and-go", &[]), root.child("come-and-go", &[])];
    others.iter_mut().for_each(|child| drop(child.line()));
    let threads: Vec<_> = (0..4)
        .map(|kind| {
            let (participant, mut random) = (participant.clone(), Random::new());
            std::thread::spawn(move || {
                for number in 0..150 {
                    // The children's publishers have the same topic and payload size.
                    let mut kept: Vec<_> =
                        (0..random.below(3)).map(|_| subscription(&participant, 64, Qos::default())).collect();
                    if kind % 2 == 0 {
                        let mut publisher = publisher(&participant, 64, Qos::default());
                        send(&mut publisher, 64, number);
                    }
                    for subscription in &mut kept {
                        is_readable(subscription, rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 });
                        drain(subscription);
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    others.into_iter().for_each(Peer::finish);
    let mut publisher = publisher(&participant, 64, Qos::default());
    let mut subscription = subscription(&participant, 64, Qos::default());
    assert_eq!((subscription.publisher_count().unwrap(), publisher.subscription_count().unwrap()), (1, 1));
    assert_eq!(subscription.mismatches(), Vec::<String>::new());
    assert_eq!((count_of(&root, "process"), count_of(&root, "pub")), (1, 1), "{:?}", root.files());
    send(&mut publisher, 64, 9);
    assert_eq!(check(receive(&mut subscription).bytes()), 9);
    drop((publisher, subscription, participant));
    root.assert_empty();
}

fn a_publisher_keeps_nothing_mapped_of_readers_that_are_gone() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let others_mapped = || {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let root = root.path().to_str().unwrap();
        let processes = maps.lines().filter(|line| line.contains(root) && line.contains(".process"));
        // This process maps its own file twice (once as a peer), so one mapping is subtracted.
        processes.count() - 1
    };
    for role in ["hold", "hold-after-all"] {
        let mut reader = root.child(role, &[]);
        reader.line();
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        send(&mut publisher, STREAM_BYTES, 1);
        reader.say("take");
        reader.line();
        eventually("it is mapped", || others_mapped() == 1);
        reader.kill();
        eventually("it is not mapped any more", || {
            send(&mut publisher, STREAM_BYTES, 2); // here the publisher applies what its control thread has found
            others_mapped() == 0
        });
    }
}

/// Role of a child process: takes a sample for each line of input, and holds it longer than its subscription exists.
pub fn hold_after_all(participant: &Arc<Participant>) {
    let mut subscription = subscription(participant, STREAM_BYTES, stream_qos());
    say("ready");
    let mut held = Vec::new();
    for _ in std::io::stdin().lines() {
        held.push(receive(&mut subscription));
        drop(std::mem::replace(&mut subscription, subscription_to(participant, "/elsewhere", Qos::default())));
        say("holds");
    }
}
