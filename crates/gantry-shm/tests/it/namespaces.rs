//! Tests with processes in other pid namespaces, such as containers that share `/dev/shm` and the user.

use crate::{child::*, support::*};
use gantry_shm::inspect_under;
use std::process::Command;

tests![
    processes_meet_across_pid_namespaces,
    a_death_in_another_pid_namespace_is_seen,
    the_living_of_another_pid_namespace_are_not_removed,
    without_proc_the_error_says_so,
];

/// The command `unshare`, which runs a program in a new pid namespace as the same user.
fn in_pid_namespace() -> Command {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-current-user"]);
    }
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc"]);
    command
}

/// The reason why these tests cannot run on this machine; `None` if they can.
pub fn why_not() -> Option<String> {
    let why = match in_pid_namespace().arg("true").output() {
        Ok(output) if output.status.success() => return None,
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("unshare: {error}"),
    };
    Some(format!("this machine allows no pid namespace: {why}"))
}

fn elsewhere(root: &Root, role: &str) -> Peer {
    let mut command = in_pid_namespace();
    command.args(this_program());
    root.child_by(command, role, &[])
}

fn processes_meet_across_pid_namespaces() {
    let root = Root::new();
    let participant = root.join();
    let mut reader = elsewhere(&root, "check");
    assert_eq!(reader.line(), "ready");
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    for number in 1..=2000 {
        send(&mut publisher, STREAM_BYTES, number);
    }
    assert_eq!(reader.line(), "took ten");
    reader.finish(); // the child has checked each sample, including held samples
    drop(publisher);
    let mut subscription = subscription(&participant, STREAM_BYTES, stream_qos());
    let mut talker = elsewhere(&root, "stream");
    assert_eq!(talker.line(), "ready");
    for _ in 0..100 {
        check(receive(&mut subscription).bytes());
    }
    drop(subscription);
    talker.finish();
    drop(participant);
    root.assert_empty();
}

fn a_death_in_another_pid_namespace_is_seen() {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let mut holder = elsewhere(&root, "hold");
    assert_eq!(holder.line(), "ready");
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    send(&mut publisher, STREAM_BYTES, 1);
    holder.say("take");
    assert_eq!(holder.line(), "holds 1");
    let holders = || participant.inspect().unwrap().processes.into_iter().flat_map(|process| process.publishers);
    let named: Vec<String> = holders().flat_map(|publisher| publisher.holders).map(|holder| holder.process).collect();
    // The name says so, because in this namespace the pid may belong to another process.
    assert!(matches!(&named[..], [name] if name.ends_with("in another pid namespace)")), "{named:?}");
    holder.kill();
    eventually("its death is seen", || publisher.subscription_count().unwrap() == 0);
    drop((publisher, participant));
    root.assert_empty();
}

fn the_living_of_another_pid_namespace_are_not_removed() {
    let root = Root::new();
    let mut idle = root.child("idle", &[]);
    idle.line();
    let files = root.files().len();
    for _ in 0..5 {
        let mut visitor = elsewhere(&root, "idle");
        visitor.line();
        visitor.finish(); // the visitor looks for dead processes when it joins and when it leaves
    }
    assert_eq!(root.files().len(), files);
    assert_eq!(inspect_under(root.path(), 0).unwrap().unwrap().problems, Vec::<String>::new());
    idle.finish();
    root.assert_empty();
}

fn without_proc_the_error_says_so() {
    let root = Root::new();
    let mut program = this_program();
    program.extend(["--child", "idle", root.path().to_str().unwrap()].map(str::to_owned));
    let script = "mount -t tmpfs none /proc && exec \"$@\"";
    let output = in_pid_namespace().args(["sh", "-c", script, "sh"]).args(program).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.contains("/proc is not mounted"), "{errors}");
    root.assert_empty();
}
