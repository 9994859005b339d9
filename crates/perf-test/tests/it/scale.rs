//! Tests of `perf_test scale`: generated topologies, the estimate and its checks, and processes with too many endpoints
//! to report the rows of each one.

use std::fs;

use perf_test::log::Log;
use serde_json::Value;

use crate::program::Memory;

test_support::tests![
    sizes_are_measured_and_the_estimate_is_checked_on_others,
    every_message_of_a_process_with_hundreds_of_endpoints_is_accounted_for,
    wrong_options_start_nothing,
];

fn sizes_are_measured_and_the_estimate_is_checked_on_others() {
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let results = folder.path().join("out");
    let line = format!(
        "scale -c Mock --nodes 2,4 -r 20 -t 2 --processes 1 --check pub_sub_100kb --cores 3 --results {}",
        results.display()
    );
    let done = memory.run(&line);
    done.assert_good();
    for words in
        ["| 2 nodes", "| 4 nodes, 5 x the rate", "3 cores hold", "| pub_sub_100kb", "the estimate is off by up to"]
    {
        assert!(done.stdout.contains(words), "{words:?} is not in {}", done.everything());
    }
    let found: Value = serde_json::from_slice(&fs::read(results.join("scale.json")).unwrap()).unwrap();
    assert_eq!((&found["schema"], &found["command"]), (&"gantry.perf_test.results/1".into(), &"scale".into()));
    assert!(found["runs"][0]["medians"]["received"].as_f64().is_some_and(|n| n > 0.0), "{found}");
    let found = &found["details"];
    let sizes = found["sizes"].as_array().unwrap();
    let endpoints =
        |of: &Value| of["load"]["publishers"].as_f64().unwrap() + of["load"]["subscriptions"].as_f64().unwrap();
    assert_eq!(sizes.iter().map(endpoints).collect::<Vec<f64>>(), [20.0, 40.0]);
    for of in sizes.iter().chain(found["variations"].as_array().unwrap()) {
        let figures = &of["figures"];
        assert!(figures["received"].as_u64().is_some_and(|n| n > 0) && figures["lost"] == 0, "{of}");
        assert!(figures["start_up_ns"].as_f64().is_some_and(|ns| ns > 0.0), "{of}");
        assert!(figures["pss_kib"].as_f64() > figures["instrument_kib"].as_f64(), "{of}");
    }
    assert!(found["checks"].as_array().unwrap().iter().all(|check| check["memory_error"].is_number()), "{found}");
    assert!(fs::read_to_string(results.join("scale.svg")).unwrap().contains("start-up"));
    // A generated file can be used like any other topology file.
    let file = results.join("topologies/4_nodes-process0.json");
    memory.run(&format!("list --topology {}", file.display())).assert_good();
    let again = memory.run(&line);
    assert!(again.stderr.matches("its log is there").count() >= 6, "{}", again.everything());
    memory.assert_empty();
}

fn every_message_of_a_process_with_hundreds_of_endpoints_is_accounted_for() {
    const NODES: usize = 60;
    /// The length of a run in seconds. While other tests use the CPUs, hundreds of endpoints start late.
    const RUN_S: u64 = 6;
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let topic = |index: usize| format!(r#"{{ "topic_name": "t{}", "msg_type": "stamped10b""#, index % (4 * NODES));
    let node = |index: usize| {
        let publishers: Vec<String> =
            (0..4).map(|own| format!(r#"{}, "freq_hz": 10, "qos_depth": 100 }}"#, topic(4 * index + own))).collect();
        let subscriptions: Vec<String> =
            (0..6).map(|own| format!(r#"{}, "qos_depth": 100 }}"#, topic(4 * index + 4 + own))).collect();
        let (publishers, subscriptions) = (publishers.join(","), subscriptions.join(","));
        format!(r#"{{ "node_name": "n{index}", "publishers": [{publishers}], "subscribers": [{subscriptions}] }}"#)
    };
    let nodes: Vec<String> = (0..NODES).map(node).collect();
    let (file, log) = (folder.path().join("many.json"), folder.path().join("full.json"));
    fs::write(&file, format!(r#"{{ "nodes": [{}] }}"#, nodes.join(","))).unwrap();
    let stall = "--mock latency=1ms";
    let done =
        memory.run(&format!("topology {} -c Mock {stall} -t {RUN_S} --full-logfile {}", file.display(), log.display()));
    done.assert_good();
    let log = Log::read(&log).unwrap();
    let summary = log.summary.as_ref().unwrap();
    assert_eq!((summary.publishers.len(), summary.subscriptions.len()), (4 * NODES, 6 * NODES));
    let mut sent = 0;
    for publisher in &summary.publishers {
        let of = &publisher.sent;
        assert_eq!(of.samples + of.skipped + of.refused + of.unsent, 10 * RUN_S - 1, "{publisher:?}");
        assert_eq!(publisher.lateness.n, of.samples);
        sent += of.samples;
    }
    assert_eq!(summary.total.sent.samples, sent);
    let mut received = 0;
    for subscription in &summary.subscriptions {
        assert_eq!(subscription.sent, subscription.received.samples + subscription.lost, "{subscription:?}");
        assert_eq!(subscription.latency.n, subscription.received.samples);
        received += subscription.received.samples;
    }
    assert_eq!(summary.total.received.samples, received);
    // The sums over the rows equal the values of the summary.
    let of_rows =
        |value: fn(&perf_test::log::TotalEntry) -> u64| log.rows.iter().map(|row| value(&row.total)).sum::<u64>();
    assert_eq!((of_rows(|total| total.sent.samples), of_rows(|total| total.received.samples)), (sent, received));
    assert_eq!(of_rows(|total| total.received.missed), summary.lost);
    let instrument_kib = summary.workers[0].instrument_bytes.unwrap() / 1024;
    assert!((1..16 * 10 * NODES as u64).contains(&instrument_kib), "{instrument_kib} KiB for {} endpoints", 10 * NODES);
    memory.assert_empty();
}

fn wrong_options_start_nothing() {
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let results = folder.path().join("out");
    for (options, words) in [
        ("--nodes 0", "--nodes"),
        ("--check mont_blnc", "there is neither a file nor a topology `mont_blnc`"),
        ("-x fast", "fast"),
        ("-c nothing", "nothing"),
    ] {
        let done = memory.run(&format!("scale {options} --results {}", results.display()));
        assert!(done.status.code() == Some(2) && done.stderr.contains(words), "{options}: {}", done.everything());
        assert!(!results.join("scale.json").exists());
    }
}
