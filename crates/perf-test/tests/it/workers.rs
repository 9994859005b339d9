//! Tests of a worker program in another language, which relies only on the documented protocol.
//!
//! The program `perf_test_echo` is written in Python from `docs/internals/worker-protocol.md` alone. Without python3,
//! the tests are ignored.

use std::io::{BufRead, BufReader, Read, Write, pipe};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use command_fds::{CommandFdExt, FdMapping};
use perf_test::log::{Log, Summary};
use perf_worker::worker::protocol::{PROTOCOL, REPORTS_FD};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::said;

test_support::tests!(
    one_of_each_is_measured_as_any_other,
    several_of_each_in_one_process_and_apart,
    late_messages_count_by_both_latencies,
    it_keeps_the_promises_that_no_figure_shows,
    two_programs_match,
    its_own_sentence_names_an_unsupported_option,
    a_program_names_the_daemons_of_its_run,
    an_answer_that_is_no_check_is_refused,
    a_name_may_stand_for_a_program_with_a_setting,
    a_killed_worker_leaves_nothing,
    a_worker_that_sends_no_reports_is_ended
);

/// The reason why these tests are ignored; `None` if they can run.
pub fn why_not() -> Option<String> {
    let works = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    (!works).then(|| "there is no python3 here to run a worker program in another language".to_owned())
}

/// The command `perf_test -c echo`, with the worker program on the PATH. The program's middleware keeps its files in
/// `folder`.
fn echo(folder: &TempDir, options: &str) -> Command {
    let workers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let path = format!("{}:{}", workers.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_perf_test"));
    command.args(["-c", "echo"]).args(options.split_whitespace()).env("PATH", path).env_remove("ROS_DOMAIN_ID");
    command.env("XDG_RUNTIME_DIR", folder.path());
    command
}

/// Runs `perf_test`, asserts that it succeeds, and reads the results.
#[track_caller]
fn measure(options: &str) -> Summary {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.json");
    let output = echo(&folder, &format!("{options} --full-logfile {}", log.display())).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(left_in(&folder), Vec::<String>::new());
    let log = Log::read(&log).unwrap();
    let summary = log.summary.unwrap();
    let received: u64 = log.rows.iter().map(|row| row.total.received.samples).sum();
    let latencies: u64 = log.rows.iter().map(|row| row.total.latency.cells.iter().map(|(_, n)| n).sum::<u64>()).sum();
    assert_eq!((received, latencies), (summary.total.received.samples, summary.total.latency.n));
    summary
}

/// The files that the worker program's middleware has left.
fn left_in(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let folders = entries.filter(|path| path.is_dir()).flat_map(|path| std::fs::read_dir(path).unwrap());
    folders.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

fn one_of_each_is_measured_as_any_other() {
    let summary = measure("-m Array1k -r 100 --max-runtime 2 --touch full");
    let (sent, received) = (&summary.total.sent, &summary.total.received);
    assert_eq!((sent.samples, received.samples, summary.lost), (200, 200, 0));
    assert_eq!((received.bytes, received.corrupt, received.negative), (200 * 1024, 0, 0));
    let total = &summary.total;
    assert_eq!([total.latency.n, total.response.n, total.send_lateness.n, total.read.n], [200; 4]);
    assert!(total.response.mean_ns > total.latency.mean_ns && total.latency.min_ns > Some(0.0), "{total:?}");
    let labels: Vec<&str> = summary.workers.iter().map(|worker| worker.label.as_str()).collect();
    assert_eq!(labels, ["publisher 0", "subscription 0"]);
    for worker in &summary.workers {
        assert!(worker.used.user_ns > 0 && worker.memory.peak_rss_kib > 1000, "{worker:?}");
        assert!(worker.footprint.is_some_and(|kinds| kinds.heap.rss_kib > 0), "{worker:?}");
    }
}

fn several_of_each_in_one_process_and_apart() {
    for strategy in ["INTER_PROCESS", "INTER_THREAD"] {
        let summary = measure(&format!("-e {strategy} -p 2 -s 2 -r 50 --warmup 1 --max-runtime 1"));
        // The send time decides in which second a message counts, so on a busy machine the number varies.
        let (sent, received) = (summary.total.sent.samples, summary.total.received.samples);
        assert_eq!((received, summary.lost), (2 * sent, 0), "{strategy}: {summary:?}");
        assert!((60..=140).contains(&sent), "{strategy}: {sent}");
    }
}

fn late_messages_count_by_both_latencies() {
    let late = measure("-p 2 -r 100 --max-runtime 1 --late 1ns --too-late 10s").total.received;
    assert!(late.samples > 0 && [late.late, late.late_response] == [late.samples; 2], "{late:?}");
    let too_late = measure("-r 100 --max-runtime 1 --late 1ns --too-late 1ns").total.received;
    assert_eq!([too_late.too_late, too_late.too_late_response], [too_late.samples; 2], "{too_late:?}");
    assert_eq!([too_late.late, too_late.late_response], [0; 2], "{too_late:?}");
}

/// The test runs a publisher and a subscription in one worker, without a coordinator. The plan and the orders come from
/// the protocol's document.
fn it_keeps_the_promises_that_no_figure_shows() {
    let page = include_str!("../../../../docs/internals/worker-protocol.md");
    let plan = page.lines().find_map(|line| line.strip_prefix("-> ").filter(|line| line.contains("\"spec\""))).unwrap();
    let plan: Value = serde_json::from_str(plan).unwrap();
    keeps_its_promises(plan.clone());
    // In the second case, probes show whether the endpoints are matched.
    let mut probed = plan;
    probed["spec"]["capabilities"]["matching"] = json!("Unknown");
    keeps_its_promises(probed);
}

fn keeps_its_promises(mut plan: Value) {
    plan["spec"]["max_runtime_s"] = json!(2);
    let mut subscription = plan["endpoints"][0].clone();
    subscription["endpoint"] = json!({"Subscription": 0});
    // A plan contains the phase only for a single publisher. So with two publishers, no phase is known.
    subscription["publishers"] = json!(2);
    plan["endpoints"].as_array_mut().unwrap().push(subscription);

    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/perf_test_echo");
    let mut command = Command::new(program);
    command.args(["worker", "all"]).env("XDG_RUNTIME_DIR", folder.path()).stdin(Stdio::piped());
    let (reports, its_end) = pipe().unwrap();
    command.fd_mappings(vec![FdMapping { parent_fd: its_end.into(), child_fd: REPORTS_FD }]).unwrap();
    let mut worker = command.spawn().unwrap();
    drop(command);
    let mut orders = worker.stdin.take().unwrap();
    let mut reports =
        BufReader::new(reports).lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let mut until = |kind: &str, count: usize| {
        let mut found: Vec<Value> = Vec::new();
        while found.iter().filter(|report| report.get(kind).is_some()).count() < count {
            found.push(reports.next().unwrap());
        }
        found
    };
    writeln!(orders, "{plan}").unwrap();
    until("Matched", 2);
    let start_ns = perf_worker::clock::now_ns() + 100_000_000;
    writeln!(orders, "{}", json!({"Go": {"start_ns": start_ns, "sources": []}})).unwrap();
    let mut found = until("Finished", 1);
    writeln!(orders, "{}", json!({"Drain": {"expected": [[{"Subscription": 0}, 8]]}})).unwrap();
    found.extend(until("Ended", 1));
    drop(orders);
    assert!(worker.wait().unwrap().success());

    let rows: Vec<&Value> = found.iter().filter_map(|report| report.get("Row")).collect();
    let received: Vec<&Value> =
        rows.iter().map(|row| &row["counts"]).filter(|counts| counts["received"]["samples"] != Value::Null).collect();
    assert_eq!(received.iter().filter_map(|counts| counts["received"]["samples"].as_u64()).sum::<u64>(), 8, "{rows:?}");
    // The subscription knows no phases, so it reports no latencies from the due time.
    assert!(received.iter().all(|counts| counts["responses"] == json!([])), "{received:?}");
    // The plan's delay of rows applies, because it is shorter than half the time between two messages.
    let is_first = |row: &&&Value| row["second"] == 0 && row["whole"] == true;
    for row in rows.iter().filter(is_first) {
        let after_ns = row["resources"]["usage"]["taken_ns"].as_i64().unwrap() - start_ns;
        assert!(after_ns >= 1_050_000_000, "a row was ready {after_ns} ns after the start");
    }
    assert_eq!(rows.iter().filter(is_first).count(), 2, "{rows:?}");
    // The thread that reads orders does nothing else, so its CPU time counts as the instrument's time.
    let instrument = &rows.last().unwrap()["resources"]["instrument"];
    let cpu_ns = ["utime_ns", "stime_ns"].map(|field| instrument[field].as_u64().unwrap());
    assert!(cpu_ns.iter().sum::<u64>() > 0, "{instrument}");
}

fn two_programs_match() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.json");
    // The subscriber runs longer than the publisher, which starts at nearly the same time.
    let options = format!("-t meet -p 0 --expected-num-pubs 1 --max-runtime 4 --full-logfile {}", log.display());
    let mut subscriber = echo(&folder, &options).stdout(Stdio::null()).spawn().unwrap();
    let publisher = echo(&folder, "-t meet -s 0 --expected-num-subs 1 -r 100 --max-runtime 1").output().unwrap();
    assert!(publisher.status.success() && said(&publisher).contains("sent 100;"), "{}", said(&publisher));
    assert!(subscriber.wait().unwrap().success());
    let summary = Log::read(&log).unwrap().summary.unwrap();
    let received = &summary.total.received;
    assert_eq!(
        (received.samples + received.history, summary.lost, summary.before_matched),
        (100, 0, 0),
        "{received:?}"
    );
    assert_eq!(left_in(&folder), Vec::<String>::new());
}

fn its_own_sentence_names_an_unsupported_option() {
    for (options, code, words) in [
        ("-m Array4m", 1, "publisher 0 cannot begin: echo moves messages of at most 60000 bytes and not 4194304"),
        ("-e INTRA_THREAD", 2, "perf_test_echo check: echo does not support -e INTRA_THREAD"),
        ("--zero-copy", 2, "echo has no --zero-copy"),
        ("--transient", 2, "echo has no --durability TRANSIENT_LOCAL: give --durability VOLATILE"),
        ("--roundtrip-mode Both", 1, "relay 0 cannot begin: echo does not support round trips"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = echo(&folder, &format!("{options} -r 100 --max-runtime 1")).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains(words), "{}", said(&output));
        assert_eq!(left_in(&folder), Vec::<String>::new(), "{options}");
    }
}

/// Runs `perf_test -c other`. The worker program runs the script `check` as its answer to `check`, and is echo in all
/// other respects.
fn other(folder: &TempDir, check: &str) -> Output {
    let echo_program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/perf_test_echo");
    let program = folder.path().join("perf_test_other");
    let script = format!("#!/bin/sh\n[ $1 != check ] && exec {} \"$@\"\n{check}\n", echo_program.display());
    test_support::write_script(&program, &script);
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let log = folder.path().join("log.json");
    let options = format!("-c other -r 50 --max-runtime 1 --full-logfile {}", log.display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_perf_test"));
    command.args(options.split_whitespace()).env("PATH", path).env("XDG_RUNTIME_DIR", folder.path());
    command.output().unwrap()
}

fn a_program_names_the_daemons_of_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let script = format!("trap 'echo over; exit 0' TERM; echo > {}; while :; do sleep 0.05; done", socket.display());
    let daemon = json!({"name": "router", "command": ["sh", "-c", script], "ready": {"File": socket}});
    std::fs::write(folder.path().join("answer"), json!({"daemons": [daemon]}).to_string()).unwrap();
    let output = other(&folder, &format!("exec cat {}/answer", folder.path().display()));
    assert!(output.status.success(), "{}", said(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("router: over\n"), "{}", said(&output));
    let summary = Log::read(&folder.path().join("log.json")).unwrap().summary.unwrap();
    let [router] = summary.daemons.as_slice() else { panic!("{:?}", summary.daemons) };
    assert!(router.name == "router" && router.memory.rss_kib > 0, "{router:?}");
    assert!(!Path::new(&format!("/proc/{}", router.pid)).exists(), "{}", said(&output));
}

fn an_answer_that_is_no_check_is_refused() {
    let no_check =
        format!("perf_test_other does not check options as version {PROTOCOL} of the worker protocol demands");
    for (check, words) in [
        ("echo no such verb >&2; exit 1", "perf_test_other check: no such verb"),
        ("echo ok", no_check.as_str()),
        (
            r#"echo '{"daemons": [{"name": "d", "command": [], "ready": {"Line": "x"}}]}'"#,
            "perf_test_other check: the daemon d has no command",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = other(&folder, check);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains(words), "{}", said(&output));
    }
}

/// A script takes the place of the worker program for rclcpp. Its description is echo's with an added setting, and its
/// `check` prints the run.
fn a_name_may_stand_for_a_program_with_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    let echo_program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/perf_test_echo");
    let described = Command::new(echo_program).arg("describe").output().unwrap();
    let mut description: Value = serde_json::from_slice(&described.stdout).unwrap();
    description["settings"] =
        json!([{"name": "executor", "values": ["single", "events"], "best": null, "meaning": "the executor"}]);
    std::fs::write(folder.path().join("description"), description.to_string()).unwrap();
    let program = folder.path().join("perf_test_rclcpp");
    let script = format!(
        "#!/bin/sh\n[ $1 = describe ] && exec cat {}/description\necho \"$2\" >&2; exit 1\n",
        folder.path().display()
    );
    test_support::write_script(&program, &script);
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    for (options, words) in [
        ("-c rclcpp-events-executor", r#""executor":"events""#),
        ("-c Rclcpp_Single_Threaded_Executor", r#""executor":"single""#),
        (
            "-c rclcpp-events-executor --set executor=single",
            "-c asks for executor=events and --set for executor=single",
        ),
        ("sweep types -c rclcpp-events-executor,rclcpp:executor=events -m Array1k", "rclcpp:executor=events twice"),
        ("sweep types -c rclcpp-events-executor:executor=single", "asks for executor=events and executor=single"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_perf_test"));
        let output = command.args(options.split_whitespace()).env("PATH", &path).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options}: {}", said(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains(words), "{options}: {}", said(&output));
    }
}

fn a_killed_worker_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = echo(&folder, "-s 2 -r 100 --max-runtime 3");
    let mut coordinator = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(coordinator.stdout.take().unwrap());
    let mut said = String::new();
    while !said.contains("| T_experiment |") {
        assert_ne!(stdout.read_line(&mut said).unwrap(), 0, "{said}");
    }
    kill_process(worker_of(coordinator.id(), "subscription 1"), Signal::KILL).unwrap();
    stdout.read_to_string(&mut said).unwrap();
    assert!(coordinator.wait().unwrap().success(), "{said}");
    assert!(said.contains("the process of subscription 1") && said.contains("was killed by signal 9"), "{said}");
    assert_eq!(left_in(&folder), Vec::<String>::new());
}

fn a_worker_that_sends_no_reports_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("perf_test_flooder");
    let echo_program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/perf_test_echo");
    // After the order `Go`, the subscription's process sends invalid lines for ever.
    let flood = "while echo nonsense; do :; done >&3 &";
    let pass_on =
        format!("while read -r line; do printf '%s\\n' \"$line\"; case $line in '{{\"Go\"'*) {flood} ;; esac; done");
    let program_of_echo = echo_program.display();
    let script = format!(
        "#!/bin/sh\n[ \"$2\" = 'subscription 0' ] || exec {program_of_echo} \"$@\"\n{pass_on} | {program_of_echo} \"$@\"\n"
    );
    test_support::write_script(&program, &script);
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_perf_test"));
    command.args("-c flooder -r 100 --max-runtime 600".split(' ')).env("PATH", path).env_remove("ROS_DOMAIN_ID");
    let output = command.env("XDG_RUNTIME_DIR", folder.path()).output().unwrap();
    let said = said(&output);
    for words in [
        "sent \"nonsense\", which is not a report, after",
        "sent 100 lines that are not reports, so the process was ended, after",
    ] {
        assert!(said.contains("the process of subscription 0") && said.matches(words).count() == 1, "{words}: {said}");
    }
    assert!(said.contains("the run ended early: no subscriptions were left"), "{said}");
}

/// The child process of the coordinator with this label, which is its last argument.
fn worker_of(coordinator: u32, label: &str) -> Pid {
    let is_it = |pid: i32| {
        let read = |file| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        read("status").contains(&format!("PPid:\t{coordinator}\n")) && read("cmdline").ends_with(&format!("{label}\0"))
    };
    let names = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name());
    let pid = names.filter_map(|name| name.to_str()?.parse().ok()).find(|pid| is_it(*pid));
    Pid::from_raw(pid.unwrap_or_else(|| panic!("no {label}"))).unwrap()
}
