//! A parser of performance_test's logs. It is written only from the description of the formats, and reads the logs as
//! existing scripts do.
//!
//! Names, order, types and units come from the documentation and the logs of performance_test 2.3 and 1.x, never from
//! the code that writes Gantry's logs. Both formats give the same [`Row`]s in the same units.

use std::collections::BTreeMap;

use serde_json::Value;

/// The version of performance_test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Version 1.x, which also logs the loop reserves.
    One,
    /// Version 2.x.
    Two,
}

const START: &str = "---EXPERIMENT-START---";
const COLUMNS: [&str; 11] = [
    "T_experiment",
    "T_loop",
    "received",
    "sent",
    "lost",
    "relative_loss",
    "data_received",
    "latency_min (ms)",
    "latency_max (ms)",
    "latency_mean (ms)",
    "latency_variance (ms)",
];
const LOOP_COLUMNS: [&str; 8] = [
    "pub_loop_res_min (ms)",
    "pub_loop_res_max (ms)",
    "pub_loop_res_mean (ms)",
    "pub_loop_res_variance (ms)",
    "sub_loop_res_min (ms)",
    "sub_loop_res_max (ms)",
    "sub_loop_res_mean (ms)",
    "sub_loop_res_variance (ms)",
];
const RUSAGE: [&str; 16] = [
    "utime", "stime", "maxrss", "ixrss", "idrss", "isrss", "minflt", "majflt", "nswap", "inblock", "oublock", "msgsnd",
    "msgrcv", "nsignals", "nvcsw", "nivcsw",
];
const HEADER: [&str; 16] = [
    "Experiment id",
    "Performance Test Version",
    "Logfile name",
    "DDS domain id",
    "QOS",
    "Publishing rate",
    "Topic name",
    "Msg name",
    "Maximum runtime (sec)",
    "Number of publishers",
    "Number of subscribers",
    "Memory check enabled",
    "With security",
    "Zero copy transfer",
    "Unbounded message size",
    "Ignore seconds from beginning",
];

/// Statistics of a series of times: in s, the variance in s².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Series {
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    pub variance: f64,
}

/// A row of the CSV log or of the JSON log.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub t_s: f64,
    pub loop_s: f64,
    /// The number of samples received per second.
    pub received: u64,
    /// The number of samples sent per second.
    pub sent: u64,
    /// The number of samples lost per second.
    pub lost: u64,
    /// The number of bytes received per second.
    pub bytes: u64,
    pub latency: Series,
    /// The time that is left in each period of the publisher's loop; only in version 1.x.
    pub publisher_loop: Option<Series>,
    /// The values of getrusage by name; CPU times are in ns.
    pub rusage: BTreeMap<&'static str, f64>,
    pub cpu_percent: f64,
    /// The number of latencies, and the sum of their squared deviations in s²; only in the JSON log.
    pub n_and_m2: Option<(u64, f64)>,
}

/// A log: the header with the conditions of the run, and the rows.
#[derive(Debug)]
pub struct Log {
    pub header: BTreeMap<String, String>,
    pub rows: Vec<Row>,
}

/// Reads a CSV log as perfplot and buildfarm_perf_tests do. Lines `key: value` precede the marker, and columns follow
/// it. Both are split at `[ \t]*,[ \t]*`.
#[track_caller]
pub fn csv(text: &str, generation: Generation) -> Log {
    let mut lines = text.lines();
    let mut header = BTreeMap::new();
    for line in lines.by_ref().take_while(|line| !line.starts_with("---")).filter(|line| !line.trim().is_empty()) {
        let (key, value) = line.split_once(':').unwrap_or_else(|| panic!("no `key: value`: {line}"));
        header.insert(key.trim().to_owned(), value.trim().to_owned());
    }
    assert!(text.contains(&format!("\n{START}\n")), "{text}");
    for key in HEADER.iter().chain(match generation {
        Generation::One => ["Communication mean", "RMW Implementation", "Roundtrip Mode"].iter(),
        Generation::Two => ["Communicator", "Roundtrip Mode"].iter(),
    }) {
        assert!(header.contains_key(*key), "the header has no {key}: {header:?}");
    }
    let names = lines.next().unwrap();
    let cells = |line: &str| line.split(',').map(|cell| cell.trim_matches([' ', '\t']).to_owned()).collect::<Vec<_>>();
    assert_eq!(cells(names), columns(generation));
    // The separators equal performance_test's exactly, for scripts that split in another way.
    assert_eq!((names.matches(",\t").count(), names.matches(",\t\t").count()), (columns(generation).len() - 1, 0));
    let rows = lines.map(|line| {
        let values = cells(line);
        assert_eq!(values.len(), columns(generation).len(), "{line}");
        assert_eq!(line.matches(",\t\t").count(), values.len() - 1, "{line}");
        csv_row(&columns(generation).into_iter().zip(values).collect(), generation)
    });
    Log { header, rows: rows.collect() }
}

fn columns(generation: Generation) -> Vec<String> {
    let loops: &[&str] = if generation == Generation::One { &LOOP_COLUMNS } else { &[] };
    let mut columns: Vec<String> = COLUMNS.iter().chain(loops).map(|name| (*name).to_owned()).collect();
    columns.extend(RUSAGE.map(|name| format!("ru_{name}")));
    columns.push("cpu_usage (%)".to_owned());
    columns
}

fn csv_row(cells: &BTreeMap<String, String>, generation: Generation) -> Row {
    let number = |name: &str| -> f64 { cells[name].parse().unwrap_or_else(|_| panic!("{name}: {}", cells[name])) };
    let count = |name: &str| -> u64 { cells[name].parse().unwrap_or_else(|_| panic!("{name}: {}", cells[name])) };
    let series = |name: &str| Series {
        min: number(&format!("{name}_min (ms)")) / 1e3,
        max: number(&format!("{name}_max (ms)")) / 1e3,
        mean: number(&format!("{name}_mean (ms)")) / 1e3,
        variance: number(&format!("{name}_variance (ms)")) / 1e6,
    };
    let (received, lost) = (count("received"), count("lost"));
    let part = if lost == 0 { 0.0 } else { lost as f64 / (lost + received) as f64 };
    assert!((number("relative_loss") - part).abs() < 0.01, "{cells:?}");
    let rusage = RUSAGE.map(|name| {
        let column = format!("ru_{name}");
        (name, if name.ends_with("time") { number(&column) * 1e9 } else { count(&column) as f64 })
    });
    Row {
        t_s: number("T_experiment"),
        loop_s: number("T_loop"),
        received,
        sent: count("sent"),
        lost,
        bytes: count("data_received"),
        latency: series("latency"),
        publisher_loop: (generation == Generation::One).then(|| series("pub_loop_res")),
        rusage: rusage.into(),
        cpu_percent: number("cpu_usage (%)"),
        n_and_m2: None,
    }
}

const JSON_TEXTS: [&str; 11] = [
    "id",
    "perf_test_version",
    "com_mean_str",
    "qos_reliability",
    "qos_durability",
    "qos_history_kind",
    "execution_strategy",
    "topic_name",
    "msg_name",
    "roundtrip_mode",
    "message_layout",
];
const JSON_COUNTS: [&str; 6] =
    ["dds_domain_id", "qos_history_depth", "rate", "max_runtime", "number_of_publishers", "number_of_subscribers"];
const JSON_SWITCHES: [&str; 6] = [
    "check_memory",
    "with_security",
    "use_shared_memory",
    "use_loaned_samples",
    "is_zero_copy_transfer",
    "is_rt_init_required",
];

/// Reads a JSON log as performance_report and perfplot do.
#[track_caller]
pub fn json(text: &str, generation: Generation) -> Log {
    let document: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let texts: &[&str] = match generation {
        Generation::One => &["final_logfile_name", "rmw_implementation", "external_info_githash", "external_info_ci"],
        Generation::Two => &[],
    };
    assert!(JSON_TEXTS.iter().chain(texts).all(|name| document[*name].is_string()), "{document}");
    assert!(JSON_COUNTS.iter().all(|name| document[*name].is_u64()), "{document}");
    assert!(JSON_SWITCHES.iter().all(|name| document[*name].is_boolean()), "{document}");
    let header = document.as_object().unwrap().iter().filter(|(_, value)| !value.is_array());
    let header = header.map(|(name, value)| (name.clone(), value.as_str().map_or(value.to_string(), str::to_owned)));
    let rows = document["analysis_results"].as_array().unwrap();
    Log { header: header.collect(), rows: rows.iter().map(|row| json_row(row, generation)).collect() }
}

fn json_row(row: &Value, generation: Generation) -> Row {
    let count = |name: &str| row[name].as_u64().unwrap_or_else(|| panic!("{name}: {row}"));
    let number = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
    let series = |name: &str| {
        let of = |figure: &str| number(&format!("{name}_{figure}"));
        let (n, m2) = (count(&format!("{name}_n")), of("M2"));
        let variance = of("variance");
        let expected = if n < 2 { 0.0 } else { m2 / (n - 1) as f64 };
        assert!((variance - expected).abs() <= 1e-9 * expected, "{row}");
        Series { min: of("min"), max: of("max"), mean: of("mean"), variance }
    };
    if generation == Generation::One {
        assert_eq!(count("sub_loop_time_reserve_n"), 0);
    }
    assert!(count("cpu_info_cpu_cores") > 0);
    Row {
        t_s: count("experiment_start") as f64 / 1e9,
        loop_s: count("loop_start") as f64 / 1e9,
        received: count("num_samples_received"),
        sent: count("num_samples_sent"),
        lost: count("num_samples_lost"),
        bytes: count("total_data_received"),
        latency: series("latency"),
        publisher_loop: (generation == Generation::One).then(|| series("pub_loop_time_reserve")),
        rusage: RUSAGE.map(|name| (name, count(&format!("sys_tracker_ru_{name}")) as f64)).into(),
        cpu_percent: number("cpu_info_cpu_usage"),
        n_and_m2: Some((count("latency_n"), number("latency_M2"))),
    }
}

/// Parses the header field `QOS` of a CSV log as perfplot does.
pub fn qos(text: &str) -> BTreeMap<String, String> {
    let mut pairs = BTreeMap::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once(": ") {
        let (value, next) = after.split_once(' ').unwrap_or((after, ""));
        pairs.insert(name.to_owned(), value.to_owned());
        rest = next;
    }
    pairs
}
