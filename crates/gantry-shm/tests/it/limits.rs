//! Little memory: a full file system is a sentence, and what is there is enough.

use crate::{child::say, support::*};
use gantry_shm::{Error, Participant, Qos};
use std::{
    path::Path,
    process::{Command, Output},
    sync::Arc,
};

tests![a_full_file_system_is_a_sentence, four_megabyte_messages_run_in_64_megabytes];

const MEBIBYTE: usize = 1 << 20;

/// Runs a shell script in a mount name space of its own, where a small tmpfs lies at `directory`.
fn in_small_tmpfs(directory: &Path, script: &str) -> std::io::Result<Output> {
    let mount = format!("mount -t tmpfs -o size=64m,mode=1777 tmpfs '{}'", directory.display());
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--mount", "sh", "-c", &format!("{mount} && {script}")]).output()
}

/// Why these tests cannot run here (no mount name spaces, say); `None` if they can.
pub fn why_no_small_tmpfs() -> Option<String> {
    let root = Root::new();
    match in_small_tmpfs(root.path(), "true") {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Some(format!("unshare: {error}")),
    }
}

/// Plays the role `fill` there, and returns what it said.
fn fill() -> String {
    let root = Root::new();
    let program = std::env::current_exe().unwrap();
    let directory = root.path().display();
    let output = in_small_tmpfs(root.path(), &format!("exec '{}' --child fill '{directory}'", program.display()));
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn a_full_file_system_is_a_sentence() {
    let said = fill();
    for part in ["no room", "/chatter", "--shm-size", "GANTRY_SHM_DIR", "bytes were needed"] {
        assert!(said.contains(part), "{part} is not in: {said}");
    }
}

fn four_megabyte_messages_run_in_64_megabytes() {
    assert!(fill().contains("ran 200"));
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
