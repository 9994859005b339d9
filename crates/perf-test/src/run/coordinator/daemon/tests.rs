//! Tests of a daemon's readiness, last lines and end. Shells are used as daemons.

use super::*;

fn start_shell(script: &str, ready: Readiness, timeout: Duration) -> Result<StartedDaemon, Failure> {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    let daemon = DaemonCommand { name: "d".to_owned(), command: Vec::new(), ready };
    start(command, &daemon, timeout, &Interrupt::of_program())
}

#[test]
fn a_file_that_was_left_behind_is_no_sign_and_a_new_one_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    std::fs::write(&path, "left").unwrap();
    let ready = Readiness::File(path.clone());
    let sentence = start_shell("sleep 1000", ready.clone(), Duration::from_millis(50)).unwrap_err().to_string();
    assert!(sentence.contains("not ready") && sentence.contains("no new file or socket"), "{sentence}");
    let script = format!("rm {0}; echo new > {0}; sleep 1000", path.display());
    let mut started = start_shell(&script, ready, DAEMON_READY).unwrap();
    assert_eq!(started.end(), None);
}

#[test]
fn one_that_never_says_so_is_ended_with_its_last_lines() {
    let ready = Readiness::Line("ready".to_owned());
    // The daemon is a shell with a child process, which must end, too.
    let failure = start_shell("echo hello; sleep 1000", ready, Duration::from_millis(200)).unwrap_err();
    let Failure::Hung(sentence) = failure else { panic!("{failure:?}") };
    assert!(sentence.starts_with("the daemon d was not ready within 0 s: it has not printed \"ready\""), "{sentence}");
}

#[test]
fn one_that_exits_is_described_by_its_status_and_its_last_lines() {
    let ready = Readiness::Line("ready".to_owned());
    let failure = start_shell("(seq 9; echo no memory) >&2; exit 3", ready.clone(), DAEMON_READY).unwrap_err();
    let Failure::Measurement(sentence) = failure else { panic!("{failure:?}") };
    assert!(sentence.contains("exited with code 3 before it was ready; its last lines: "), "{sentence}");
    assert!(sentence.contains("no memory") && sentence.contains('9') && !sentence.contains(": 1 |"), "{sentence}");
    let mut started = start_shell("echo ready; exec sleep 1000", ready, DAEMON_READY).unwrap();
    assert_eq!(started.exit("too early"), None);
    started.child.kill().unwrap();
    let sentence = loop {
        if let Some(sentence) = started.exit("after 1 s") {
            break sentence;
        }
    };
    assert!(sentence.contains("was killed by signal 9 after 1 s; its last lines: ready"), "{sentence}");
}

#[test]
fn a_deaf_one_is_killed_with_its_children() {
    let script = "trap '' TERM; sleep 1000 & echo ready $!; while :; do sleep 0.01; done";
    let mut started = start_shell(script, Readiness::Line("ready".to_owned()), DAEMON_READY).unwrap();
    let last = started.output.last_lines.lock().unwrap().back().cloned();
    let sentence = started.end().unwrap();
    assert!(sentence.contains("did not end within 3 s after SIGTERM and was killed"), "{sentence}");
    let child: u32 = last.unwrap().1.strip_prefix("ready ").unwrap().parse().unwrap();
    let is_alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    // The child was killed, but the kernel may need a moment. The time-out of the test runner limits this loop.
    while is_alive() {
        std::thread::yield_now();
    }
}
