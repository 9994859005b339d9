//! Tests of iRobot's files: their contents have the columns that scripts read.

use std::collections::BTreeMap;

use super::*;
use crate::log::{PublisherEntry, Spread, SubscriptionEntry};
use crate::log::{RowAccounts, WorkerRow, documented_row};
use crate::report::summary::tests::{publisher_entry, spec, subscription_entry, summary};
use perf_worker::measure::{
    events::{Event, Trouble},
    memory::Memory,
    tally::{Received, Sent},
};
use perf_worker::pacing::Pace;

/// A process with a publisher and a subscription, and the summary of a run with 1000 messages.
fn process(folder: &Path) -> (Process, Summary) {
    let mut summary = summary("", 1_000_000);
    let plan = |endpoint| EndpointPlan {
        node: "/driver".to_owned(),
        ..EndpointPlan::of_run(&spec(""), endpoint, "/perf_test_1f00/fast")
    };
    // The subscription has no pace, as if a second publisher of the topic had another rate.
    let subscription = EndpointPlan { pace: Pace::hz(0), rate_hz: 120.0, ..plan(Endpoint::Subscription(0)) };
    let endpoints = [plan(Endpoint::Publisher(0)), subscription].map(|plan| (plan, 10));
    let times = |us: f64, n| {
        let [min_ns, mean_ns, max_ns] = [1e3, 2e3, 3e3].map(|ns| Some(us * ns));
        Spread { n, min_ns, mean_ns, max_ns, variance_ns2: Some(0.0) }
    };
    let received = Received { samples: 900, late: 45, too_late: 9, ..Received::default() };
    let (lost, latency) = (100, times(100.0, 900));
    let subscription = SubscriptionEntry { sent: 1000, received, lost, latency, ..subscription_entry(0, 0, 0) };
    summary.subscriptions = vec![subscription];
    let sent = Sent { samples: 1000, ..Sent::default() };
    summary.publishers = vec![PublisherEntry { sent, publish: times(1.0, 1000), ..publisher_entry(0) }];
    (Process { folder: folder.to_owned(), endpoints: endpoints.to_vec() }, summary)
}

/// Writes the files of a run of one second. Returns their contents by file name.
fn files(style: Style) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b_log");
    let (process, summary) = process(&path);
    let mut files = Files::create(vec![process], style, true, &["duration: 1".to_owned()]).unwrap();
    files.started(5_000_000_000, 12_000_000).unwrap();
    let event = |id, trouble| Event { at_ns: 5_020_000_000, id, trouble };
    let late = Trouble::Late { latency_ns: 3_000_000, limit_ns: 2_000_000 };
    let too_late = Trouble::TooLate { latency_ns: 184_382_000, limit_ns: 50_000_000 };
    let missing = |messages| Trouble::Missing { messages };
    let subscription_events = [event(4, late), event(5, too_late), event(6, missing(10)), event(20, missing(1))];
    files.events(Endpoint::Subscription(0), &Events { kept: subscription_events.to_vec(), more: 3 });
    // The publisher's timer skipped messages 8 to 12.
    let skipped = event(8, Trouble::Unsent { messages: 5 });
    files.events(Endpoint::Publisher(0), &Events { kept: vec![skipped], more: 0 });
    let memory = Memory { rss_kib: 8000, peak_rss_kib: 9000, virtual_kib: 300_000, ..Memory::default() };
    let workers = vec![WorkerRow { core_percent: 25.0, memory }];
    files
        .row(&RowEntry { accounts: RowAccounts { workers, cores: 2, ..RowAccounts::default() }, ..documented_row() })
        .unwrap();
    files.finish(&summary).unwrap();
    let read = |entry: io::Result<std::fs::DirEntry>| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap())
    };
    std::fs::read_dir(path).unwrap().map(read).collect()
}

#[test]
fn a_process_has_all_files_in_the_newer_columns() {
    let files = files(Style::default());
    let words = |name: &str| -> Vec<Vec<String>> {
        let lines = files[name].lines().filter(|line| !line.is_empty());
        lines.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    };
    let line = |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
    let head = "node topic size_b received_msgs late_msgs too_late_msgs lost_msgs mean_us sd_us min_us max_us freq_hz \
                throughput_Kb_per_sec";
    let all = [
        "Subscriptions stats:",
        head,
        "driver fast 10 900 45 9 100 200 0 100 300 120 0.293",
        "Publishers stats:",
        head,
        "driver fast 10 1000 0 0 0 2 0 1 3 100 0.326",
    ];
    assert_eq!(words("latency_all.txt"), all.map(line));
    let total = [
        "received_msgs mean_us late_msgs late_perc too_late_msgs too_late_perc lost_msgs lost_perc",
        "900 200 45 5 9 1 100 10",
    ];
    assert_eq!(words("latency_total.txt"), total.map(line));
    let resources = [
        "time_ms cpu_perc arena_KB in_use_KB mmap_KB rss_KB vsz_KB",
        "0 0 0 0 0 0 0",
        "31000 12.50 nan nan nan 9000 300000",
    ];
    assert_eq!(words("resources.txt"), resources.map(line));
    let events = [
        "Time_ms Caller Code Description",
        "0 SYSTEM 0 all endpoints matched after 12 ms",
        "20 fast->driver 1 msg 4 late. 3000us > 2000us",
        "20 fast->driver 2 msg 5 too late. 184382us > 50000us",
        "20 fast->driver 3 msgs 6 to 7 lost.",
        "20 fast->driver 3 msgs 13 to 15 lost.",
        "20 fast->driver 3 msg 20 lost.",
        "20 fast->driver 1 and 3 more in this second",
    ];
    assert_eq!(words("events.txt"), events.map(line));
    assert_eq!(files["metadata.txt"], "duration: 1\n");
}

#[test]
fn older_scripts_find_the_older_headers_and_others_commas() {
    let files = files(Style { headers: Headers::Old, csv: true });
    let head = |name: &str| files[name].lines().find(|line| line.contains(',')).unwrap().to_owned();
    assert_eq!(head("resources.txt"), "time[ms],cpu[%],arena[KB],in_use[KB],mmap[KB],rss[KB],vsz[KB]");
    assert_eq!(
        head("latency_total.txt"),
        "received[#],mean[us],late[#],late[%],too_late[#],too_late[%],lost[#],lost[%]"
    );
    assert!(files["latency_all.txt"].contains(",max[us],freq[hz],duration[s]\ndriver,fast,10,900,"));
    assert!(files["latency_all.txt"].contains(",120,30\n"), "the seconds of the run");
    assert!(files["events.txt"].starts_with("Time[ms],Caller,Code,Description\n"));
}

#[test]
fn wide_values_do_not_merge() {
    let line =
        Style::default().line(&[style::column("a", "a", 4), style::column("b", "b", 4)], ["12345".into(), "6".into()]);
    assert_eq!(line, "12345 6");
}
