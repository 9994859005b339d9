//! Little memory: a full file system is a sentence, and what is there is enough.

use crate::{child::say, support::*};
use gantry_shm::{Error, Participant, Qos};
use std::{process::Command, sync::Arc};

tests![a_full_file_system_is_a_sentence, four_megabyte_messages_run_in_64_megabytes];

const MEBIBYTE: usize = 1 << 20;

/// Runs a role in a mount name space of its own, with a small tmpfs at `root`. `None`: not allowed here.
fn in_small_tmpfs(root: &Root, role: &str) -> Option<std::process::Output> {
    let script = format!(
        "mount -t tmpfs -o size=64m,mode=1777 tmpfs '{0}' || exit 77; exec '{1}' --child {role} '{0}'",
        root.path().display(),
        std::env::current_exe().unwrap().display()
    );
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    match command.args(["--mount", "sh", "-c", &script]).output() {
        Ok(output) if output.status.success() => Some(output),
        Ok(output) if output.status.code() == Some(101) => {
            panic!("{}", String::from_utf8_lossy(&output.stderr));
        }
        other => {
            eprintln!("SKIPPED: no mount name space with a tmpfs of its own can be had here: {other:?}");
            None
        }
    }
}

fn a_full_file_system_is_a_sentence() {
    let root = Root::new();
    if let Some(output) = in_small_tmpfs(&root, "fill") {
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        for part in ["no room", "/chatter", "--shm-size", "GANTRY_SHM_DIR", "bytes were needed"] {
            assert!(said.contains(part), "{part} is not in: {said}");
        }
    }
}

fn four_megabyte_messages_run_in_64_megabytes() {
    let root = Root::new();
    if let Some(output) = in_small_tmpfs(&root, "fill") {
        assert!(String::from_utf8_lossy(&output.stdout).contains("ran 200"), "{output:?}");
    }
}

/// Role of a child process: 4 MB messages in a file system of 64 MB; first within it, then beyond.
pub fn fill_a_small_file_system(participant: &Arc<Participant>) {
    let bytes = 4 * MEBIBYTE;
    let qos = Qos::default().keep_last(10);
    let mut publisher = publisher(participant, bytes, qos);
    let mut subscription = subscription(participant, bytes, qos);
    match_up(&mut publisher, &mut subscription);
    for number in 1..=200 {
        send(&mut publisher, bytes, number);
        if number % 10 == 0 {
            assert_eq!(drain(&mut subscription).len(), 10, "the history holds what it promises");
        }
    }
    say("ran 200");
    let mut loans = Vec::new();
    let error = loop {
        match publisher.loan(bytes) {
            Ok(loan) => loans.push(loan),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::NoRoom { .. }), "{error}");
    say(&error.to_string());
    // Not the end: with a slot back, it goes on.
    loans.pop();
    send(&mut publisher, bytes, 201);
    assert_eq!(drain(&mut subscription), [201]);
}
