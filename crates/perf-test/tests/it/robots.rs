//! Tests of topologies (whole systems of nodes in executors), over Gantry and over the mock, whose faults are known.

use std::collections::BTreeMap;
use std::fs;

use perf_test::log::{Log, NodeAndTopic, SubscriptionEntry, Summary};

use rustix::process::Signal;

use crate::program::{Finished, Memory, send, sleeps_of, wait_for_thread, wait_until_it_has_slept};

test_support::tests![
    every_message_of_a_stalled_executor_is_accounted_for,
    every_executor_of_gantry_delivers_every_message,
    the_processes_are_those_of_files_or_nodes_or_one,
    a_topology_that_cannot_run_says_why_and_starts_nothing,
    thresholds_are_those_of_the_options,
    messages_are_late_by_the_period_of_their_own_publisher,
    irobots_files_have_the_figures_of_the_log,
    processes_of_one_name_have_files_of_their_own,
    resources_are_sampled_in_the_period_of_the_options,
    options_of_irobot_without_meaning_are_accepted_and_named,
    a_target_that_is_not_met_is_exit_code_3,
    an_interrupted_robot_has_its_figures,
    a_killed_process_costs_no_figure_of_the_others,
];

/// Two nodes in one executor and a third node in another one; `/fast` has two subscriptions. The histories are deep
/// enough for every delay of a busy machine.
const ROBOT: &str = r#"{ "nodes": [
  { "node_name": "driver",
    "publishers": [
      { "topic_name": "fast", "qos_depth": 1000, "msg_type": "stamped10b", "freq_hz": 200 },
      { "topic_name": "slow", "qos_depth": 1000, "msg_type": "stamped1kb", "freq_hz": 20, "msg_pass_by": "loaned_msg" } ] },
  { "node_name": "filter",
    "subscribers": [
      { "topic_name": "fast", "qos_depth": 1000, "msg_type": "stamped10b" },
      { "topic_name": "slow", "qos_depth": 1000, "msg_type": "stamped1kb", "msg_pass_by": "unique_ptr" } ] },
  { "node_name": "logger", "executor_id": 1,
    "subscribers": [ { "topic_name": "fast", "qos_depth": 1000, "msg_type": "stamped10b" } ] }
] }"#;
pub const RUN_S: u64 = 2;
/// The number of due messages of each publisher; the first one is due a period after the start.
const DUE: [u64; 2] = [200 * RUN_S - 1, 20 * RUN_S - 1];

/// Runs the topology of these files or names, and asserts that it succeeds. Returns the output and the log.
#[track_caller]
pub fn run(files: &[&str], options: &str) -> (Finished, Log) {
    let (run, log) = attempt(files, RUN_S, options);
    run.assert_good();
    (run, log)
}

/// Runs like [`run`], but for `run_s` seconds and with any exit code.
#[track_caller]
pub fn attempt(files: &[&str], run_s: u64, options: &str) -> (Finished, Log) {
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let mut paths = Vec::new();
    for (index, text) in files.iter().enumerate() {
        if !text.starts_with('{') {
            paths.push((*text).to_owned());
            continue;
        }
        let path = folder.path().join(format!("robot{index}.json"));
        fs::write(&path, text).unwrap();
        paths.push(path.display().to_string());
    }
    let log = folder.path().join("full.json");
    let line = format!("topology {} -t {run_s} --full-logfile {} {options}", paths.join(" "), log.display());
    let run = memory.run(&line);
    memory.assert_empty();
    let log = Log::read(&log).unwrap_or_else(|why| panic!("{why}\n{}", run.everything()));
    (run, log)
}

/// Asserts that every due message is counted as sent, skipped, refused or unsent. Asserts that each subscription counts
/// every sent message as received, overwritten or lost.
#[track_caller]
fn assert_accounted(summary: &Summary, due: &[u64], senders: &[usize]) {
    for (publisher, due) in summary.publishers.iter().zip(due) {
        let sent = &publisher.sent;
        assert_eq!(sent.samples + sent.skipped + sent.refused + sent.unsent, *due, "{publisher:?}");
    }
    for (subscription, sender) in summary.subscriptions.iter().zip(senders) {
        let received = &subscription.received;
        assert_eq!(subscription.sent, summary.publishers[*sender].sent.samples, "{subscription:?}");
        assert_eq!(subscription.sent, received.samples + subscription.lost, "{subscription:?}");
        assert!(received.overwritten <= subscription.lost, "{subscription:?}");
    }
    assert_eq!((summary.publishers.len(), summary.subscriptions.len()), (due.len(), senders.len()));
    let lost: u64 = summary.subscriptions.iter().map(|of| of.lost).sum();
    assert_eq!(summary.lost, lost);
}

fn every_message_of_a_stalled_executor_is_accounted_for() {
    // Message 10 of each publisher stalls, so the timers of its executor skip some periods.
    let script = "latency=100us,stall=10:60ms,lose=10,overwrite=7,duplicate=11";
    let (finished, log) = run(&[ROBOT], &format!("-c Mock --mock {script}"));
    let summary = log.summary.as_ref().unwrap();
    assert_accounted(summary, &DUE, &[0, 1, 0]);
    let [fast, slow] = summary.publishers.as_slice() else { panic!("{}", finished.everything()) };
    // A stall of 60 ms lasts twelve periods of the fast publisher and one period of the slow publisher.
    assert!(fast.sent.skipped >= 11, "{fast:?}");
    assert_eq!(fast.sent.refused + slow.sent.refused, 0);
    for subscription in &summary.subscriptions {
        let received = &subscription.received;
        let unexplained = subscription.lost - received.overwritten;
        assert!(received.overwritten > 0 && unexplained > 0 && received.duplicates > 0, "{subscription:?}");
    }
    assert!(finished.stdout.contains("timers passed over"), "{}", finished.stdout);
    // The totals of the summary agree with the sums over the subscriptions.
    let each = |of: &SubscriptionEntry| of.received.overwritten.min(of.lost);
    let overwritten: u64 = summary.subscriptions.iter().map(each).sum();
    assert_eq!(summary.unexplained, summary.lost - overwritten);
    let place = |node: &str, topic: &str| Some(NodeAndTopic { node: node.to_owned(), topic: topic.to_owned() });
    assert_eq!((&fast.place, &slow.place), (&place("/driver", "/fast"), &place("/driver", "/slow")));
    assert_eq!(summary.subscriptions[2].place, place("/logger", "/fast"));
    // The rows contain the same number of losses as the summary.
    let rows: u64 = log.rows.iter().map(|row| row.total.received.missed - row.total.received.reordered).sum();
    assert_eq!(rows, summary.lost, "{}", finished.everything());
}

fn every_executor_of_gantry_delivers_every_message() {
    for executor in ["single", "multi", "events", "isolated"] {
        let (finished, log) = run(&[ROBOT], &format!("-x {executor}"));
        let summary = log.summary.as_ref().unwrap();
        assert_accounted(summary, &DUE, &[0, 1, 0]);
        assert_eq!(summary.lost, 0, "{executor}: {}", finished.everything());
        assert_eq!(log.run.spec.executor.as_deref(), Some(executor));
        // No copy is counted: the small messages are not loaned, and the loaned message of 1 kB travels in a slot.
        let copied: Vec<u64> = summary.publishers.iter().map(|of| of.sent.copied).collect();
        assert_eq!(copied, [0, 0], "{executor}");
        let nodes = log.run.topology.as_ref().unwrap()["processes"][0]["nodes"].as_array().unwrap();
        assert_eq!(nodes[0]["publishers"][1]["pass_by"], "loaned_msg");
        for words in [
            "/fast",
            "/driver",
            "/logger",
            "late: latency from send above 20 % of the publisher's period or 5.00 ms",
            ": 1 process, 2 executors, 3 nodes",
            "the instrument's, in no other figure",
        ] {
            assert!(finished.stdout.contains(words), "{words}: {}", finished.stdout);
        }
    }
}

fn the_processes_are_those_of_files_or_nodes_or_one() {
    let labels = [
        ("file", vec!["robot0", "robot1"]),
        ("node", vec!["/driver", "/filter", "/logger", "/debug"]),
        ("one", vec!["all nodes"]),
    ];
    for (by, expected) in BTreeMap::from(labels) {
        let (finished, log) = run(&[ROBOT, DEBUG], &format!("--processes {by}"));
        let processes =
            if expected.len() == 1 { "1 process, ".to_owned() } else { format!("{} processes, ", expected.len()) };
        assert_eq!(
            finished.stdout.matches(&processes).count(),
            2,
            "in the heading and the summary: {}",
            finished.stdout
        );
        let summary = log.summary.as_ref().unwrap();
        let found: Vec<&str> = summary.workers.iter().map(|worker| worker.label.as_str()).collect();
        assert_eq!(found, expected, "{by}");
        // The endpoints have the same indices, however the nodes are divided into processes.
        assert_accounted(summary, &DUE, &[0, 1, 0, 0, 1]);
    }
}

fn a_topology_that_cannot_run_says_why_and_starts_nothing() {
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let path = folder.path().join("robot.json");
    let node = |ends: &str| format!(r#"{{ "nodes": [ {{ "node_name": "a", {ends} }} ] }}"#);
    let publisher = r#""publishers": [ { "topic_name": "t", "msg_type": "stamped10b", "freq_hz": 10 } ]"#;
    for (text, options, words) in [
        (node(publisher), "", "has no subscription and no client: give the files of all its processes"),
        (ROBOT.to_owned(), "-x static", "no executor `static`: give -x single or -x multi or -x events or -x isolated"),
        (ROBOT.to_owned(), "-c Mock -x 3", "Mock has no executor `events`: give -x single"),
        (ROBOT.to_owned(), "-c Mock --mock matching=any", "its matching is `any`"),
    ] {
        fs::write(&path, text).unwrap();
        let run = memory.run(&format!("topology {} {options}", path.display()));
        assert_eq!((run.status.code(), run.stdout.as_str()), (Some(2), ""), "{options}: {}", run.everything());
        assert!(run.stderr.contains(words), "{options}: {}", run.stderr);
    }
    memory.assert_empty();
}

/// A second topology file, for a process that subscribes to both topics.
const DEBUG: &str = r#"{ "nodes": [ { "node_name": "debug", "subscribers": [
    { "topic_name": "fast", "qos_depth": 1000, "msg_type": "stamped10b" }, { "topic_name": "slow", "qos_depth": 1000, "msg_type": "stamped1kb" } ] } ] }"#;

/// Runs the robot in two processes. After the second process has received messages, sends the signal to the program or
/// to the second process.
#[track_caller]
fn signal(signal: Signal, to_program: bool) -> (Finished, Log) {
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let path = |name: &str| folder.path().join(name).display().to_string();
    for (name, text) in [("robot.json", ROBOT), ("debug.json", DEBUG)] {
        fs::write(path(name), text).unwrap();
    }
    let length_s = if to_program { 60 } else { 3 };
    let [robot, debug, log] = ["robot.json", "debug.json", "full.json"].map(path);
    let run = memory.start(&format!("topology {robot} {debug} -t {length_s} --full-logfile {log}"));
    let worker = run.wait_for_worker("debug");
    wait_for_thread(worker, "executor");
    // The second process sleeps after each message, of which there are 200 per second.
    wait_until_it_has_slept(worker, sleeps_of(worker) + 250);
    send(if to_program { run.pid() } else { worker }, signal);
    let run = run.finish();
    run.assert_good();
    let log = Log::read(log.as_ref()).unwrap_or_else(|why| panic!("{why}\n{}", run.everything()));
    (run, log)
}

fn an_interrupted_robot_has_its_figures() {
    let (finished, log) = signal(Signal::INT, true);
    let summary = log.summary.as_ref().unwrap();
    assert!(summary.stopped_early, "{}", finished.everything());
    assert!(finished.stdout.contains(" s of 60 s (ended early): "), "{}", finished.everything());
    for (subscription, sender) in summary.subscriptions.iter().zip([0, 1, 0, 0, 1]) {
        assert_eq!(subscription.sent, summary.publishers[sender].sent.samples);
        assert_eq!((subscription.sent, subscription.lost), (subscription.received.samples, 0), "{subscription:?}");
    }
    // The period is 50 ms, so no message was due when the order to stop came.
    assert_eq!(summary.publishers[1].sent.unsent, 0, "{}", finished.everything());
}

fn a_killed_process_costs_no_figure_of_the_others() {
    let (finished, log) = signal(Signal::KILL, false);
    let summary = log.summary.as_ref().unwrap();
    for (subscription, sender) in summary.subscriptions.iter().zip([0, 1, 0]) {
        assert_eq!(subscription.sent, summary.publishers[sender].sent.samples);
        assert_eq!(subscription.sent, subscription.received.samples + subscription.lost, "{subscription:?}");
    }
    let killed = &summary.subscriptions[3..];
    assert!(killed.iter().all(|of| of.sent > of.received.samples + of.lost), "{}", finished.everything());
    for words in ["unreported: sent, and the process", "the process of debug (pid"] {
        assert!(finished.stdout.contains(words), "{words}: {}", finished.everything());
    }
}

/// The columns of the first line that begins with these words, in a text in iRobot's format.
fn columns(text: &str, words: &[&str]) -> Vec<String> {
    let lines = text.lines().map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<String>>());
    let mut found = lines
        .filter(|line| !line.is_empty() && line.iter().map(String::as_str).take(words.len()).eq(words.iter().copied()));
    found.next().unwrap_or_else(|| panic!("{words:?} is not in\n{text}"))
}

fn irobots_files_have_the_figures_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let script = "latency=100us,lose=10,stall=10:60ms,slow=7:8ms";
    let options = format!("--results-dir {}/new/log --tracking on", folder.path().display());
    let (finished, log) = run(&[ROBOT, DEBUG], &format!("-c Mock --mock {script} {options}"));
    let read = |name: &str| fs::read_to_string(folder.path().join("new/log").join(name)).unwrap();
    let summary = log.summary.as_ref().unwrap();
    let all = read("robot0/latency_all.txt");
    for of in &summary.subscriptions[..3] {
        let place = of.place.as_ref().unwrap();
        let line = columns(&all, &[&place.node[1..], &place.topic[1..]]);
        let counts = [of.received.samples, of.received.late, of.received.too_late, of.lost];
        assert_eq!(line[3..7], counts.map(|count| count.to_string()), "{all}");
    }
    let published = columns(&all, &["driver", "fast"]);
    assert_eq!(published[2..4], ["10".to_owned(), summary.publishers[0].sent.samples.to_string()], "{all}");
    assert!(summary.publishers[0].publish.n == summary.publishers[0].sent.samples, "{}", finished.everything());
    let lost: u64 = summary.subscriptions[3..].iter().map(|of| of.lost).sum();
    assert_eq!(columns(&read("robot1/latency_total.txt"), &[])[6], "lost_msgs");
    assert_eq!(
        read("robot1/latency_total.txt").lines().nth(1).unwrap().split_whitespace().nth(6),
        Some(&*lost.to_string())
    );
    // `resources.txt` has a line for the start, and a line for each second.
    assert!(
        read("robot0/resources.txt").lines().count() >= 2 + log.rows.len().min(2),
        "{}",
        read("robot0/resources.txt")
    );
    // Messages that a timer skipped are not lost; every tenth message is lost.
    let events = read("robot0/events.txt");
    let too_late = |line: &&str| line.contains("fast->logger") && line.contains(" too late. ");
    assert!(events.lines().filter(too_late).count() > 20, "{events}");
    let lost = |line: &&str| line.contains("fast->logger") && line.contains("lost.");
    let ids = events.lines().filter(lost).filter_map(|line| line.split_whitespace().nth(4)?.parse::<u64>().ok());
    let ids: Vec<u64> = ids.collect();
    assert!(ids.len() > 20 && ids.iter().all(|id| id % 10 == 0), "{events}");
    assert!(
        read("robot1/metadata.txt").contains("\nlate: latency from send above 20 %"),
        "{}",
        read("robot1/metadata.txt")
    );
}

fn processes_of_one_name_have_files_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    let (finished, log) = run(&["pub_10b", "sub_10b", "sub_10b"], &format!("-c Mock --results-dir {}", logs.display()));
    let summary = log.summary.as_ref().unwrap();
    for (process, of) in ["sub_10b", "sub_10b_2"].into_iter().zip(&summary.subscriptions) {
        let total = fs::read_to_string(logs.join(process).join("latency_total.txt")).unwrap();
        let received = total.lines().nth(1).and_then(|line| line.split_whitespace().next().map(str::to_owned));
        assert_eq!(received, Some(of.received.samples.to_string()), "{process}: {total}");
    }
    assert!(finished.stdout.contains("1 name belongs to several nodes"), "{}", finished.stdout);
}

fn resources_are_sampled_in_the_period_of_the_options() {
    let folder = tempfile::tempdir().unwrap();
    let options = format!("-c Mock -s 100 --csv-out on --results-dir {}", folder.path().display());
    let (finished, log) = run(&[ROBOT], &options);
    let text = fs::read_to_string(folder.path().join("resources.txt")).unwrap();
    let column = |index: usize| -> Vec<f64> {
        let lines = text.lines().skip(1).map(|line| line.split(',').nth(index).unwrap());
        lines.map(|value| value.parse().unwrap()).collect()
    };
    let times_ms = column(0);
    // `resources.txt` has a line for the start, and several lines for each second.
    assert!(times_ms.len() > 1 + 2 * log.rows.len(), "{text}{}", finished.everything());
    assert!(times_ms.is_sorted_by(|one, other| one < other), "{text}");
    let (percents, peaks_kib) = (column(1), column(5));
    assert!(percents.iter().any(|percent| *percent > 0.0) && percents.iter().all(|percent| *percent >= 0.0), "{text}");
    assert!(peaks_kib[1..].iter().all(|kib| *kib > 0.0), "{text}");
}

fn options_of_irobot_without_meaning_are_accepted_and_named() {
    let (finished, log) =
        run(&[ROBOT], "-c Mock --ipc on --ros_params off --name_threads on -n 2 -x 2 --tracking off -s 500");
    for words in [
        "--ipc on has no effect: Mock has no setting intra-process",
        "--ros_params off has no effect",
        "--name_threads on has no effect",
        "--node 2 has no effect",
        "-s 500 has no effect: it is the period of resources.txt",
    ] {
        assert!(finished.stdout.contains(words), "{words}: {}", finished.stdout);
    }
    assert_eq!(log.run.spec.executor.as_deref(), Some("single"));
}

fn a_target_that_is_not_met_is_exit_code_3() {
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("robot.json"), ROBOT).unwrap();
    for (limits, code, words) in [
        (r#"{ "latency_total": { "lost[%]": 20, "mean_us": 1000000 } }"#, 0, "lost and overwritten messages <= 20 %"),
        (r#"{ "latency_total": { "lost[%]": 1 } }"#, 3, "NOT met"),
        (r#"{ "latency_total": { "lots": 1 } }"#, 2, "there is no key `lots` here"),
    ] {
        fs::write(path("target.json"), limits).unwrap();
        let line = format!(
            "topology {} -t 1 -c Mock --mock lose=10 --target {} --full-logfile {}",
            path("robot.json"),
            path("target.json"),
            path("full.json")
        );
        let run = memory.run(&line);
        assert_eq!(run.status.code(), Some(code), "{}", run.everything());
        assert!(run.everything().contains(words), "{words}: {}", run.everything());
        if code != 2 {
            let log = Log::read(path("full.json").as_ref()).unwrap();
            let met = log.summary.unwrap().requirements.iter().all(|verdict| verdict.met);
            assert_eq!(met, code == 0);
        }
    }
    memory.assert_empty();
}

fn messages_are_late_by_the_period_of_their_own_publisher() {
    // The periods are 5 ms and 50 ms. So the limits are 1 ms and 10 ms (20 %) for late, 5 ms and 50 ms for too late.
    let publisher = |node: &str, hz: u32| {
        format!(
            r#"{{ "node_name": "{node}", "publishers": [ {{ "topic_name": "shared", "qos_depth": 1000, "msg_type": "stamped10b", "freq_hz": {hz} }} ] }}"#
        )
    };
    let text = format!(
        r#"{{ "nodes": [ {}, {}, {{ "node_name": "reader",
          "subscribers": [ {{ "topic_name": "shared", "qos_depth": 1000, "msg_type": "stamped10b" }} ] }} ] }}"#,
        publisher("quick", 200),
        publisher("slow", 20)
    );
    let limits = "--late-absolute 1000000 --too-late-absolute 1000000";
    let (_, log) = run(&[&text], &format!("-c Mock --mock latency=3ms {limits}"));
    let summary = log.summary.as_ref().unwrap();
    let [subscription] = summary.subscriptions.as_slice() else { panic!("{summary:?}") };
    assert_eq!(subscription.received.samples, summary.sent_at_least);
    assert_eq!((subscription.received.late, subscription.received.too_late), (summary.publishers[0].sent.samples, 0));
}

fn thresholds_are_those_of_the_options() {
    // The periods are 5 ms and 50 ms. For the slow topic, the absolute limits are the smaller ones and apply.
    let limits = "--late-percentage 50 --late-absolute 3000 --too-late-percentage 80 --too-late-absolute 20000";
    for (latency, late, too_late) in [("2ms", [false, false], [false, false]), ("3500us", [true, true], [false, false])]
    {
        let (_, log) = run(&[ROBOT], &format!("-c Mock --mock latency={latency} {limits}"));
        let summary = log.summary.as_ref().unwrap();
        for (of, index) in summary.subscriptions.iter().zip([0, 1, 0]) {
            let all = of.received.samples;
            let expected = |is: bool| if is { all } else { 0 };
            assert_eq!((of.received.late, of.received.too_late), (expected(late[index]), expected(too_late[index])));
        }
    }
    let (_, log) = run(&[ROBOT], &format!("-c Mock --mock latency=4500us {limits}"));
    let too_late: Vec<bool> = log
        .summary
        .as_ref()
        .unwrap()
        .subscriptions
        .iter()
        .map(|of| of.received.too_late == of.received.samples)
        .collect();
    assert_eq!(too_late, [true, false, true]);
}
