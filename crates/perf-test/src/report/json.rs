//! The JSON log in performance_test's format. The file is a complete JSON document at every moment.
//!
//! Names, types and units are performance_test's: times in s (variance and M2 in s²), `experiment_start`, `loop_start`,
//! `utime` and `stime` in ns, `maxrss` in KiB, CPU usage in percent of all cores. With `--message-layout 1.x`, header
//! and loop reserves are as in performance_test 1.x. As in performance_test, `experiment_start` is the time since the
//! start, and `loop_start` is the length of the row.

use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::log::RowEntry;
use crate::log::{document::Document, external_info::ExternalInfo};
use perf_worker::choice::Choice;
use perf_worker::measure::moments::Moments;
use perf_worker::measure::usage::FIELDS;
use perf_worker::run_spec::{Layout, RunSpec};

/// Creates a JSON log without rows, or replaces an existing file.
///
/// # Errors
/// The file cannot be created or written, or `path` exists and is no file.
pub fn create(path: &Path, spec: &RunSpec, run_id: &str, external: &ExternalInfo) -> io::Result<Document> {
    Document::create(path, run_id, &header(path, spec, run_id, external), "analysis_results")
}

fn header(path: &Path, spec: &RunSpec, run_id: &str, external: &ExternalInfo) -> Map<String, Value> {
    let roundtrip = spec.roundtrip.name();
    let mut header = Map::new();
    let mut put = |name: &str, value: Value| header.insert(name.to_owned(), value);
    put("id", json!(run_id));
    put("perf_test_version", json!(format!("Gantry perf_test {}", env!("CARGO_PKG_VERSION"))));
    put("com_mean_str", json!(spec.communicator));
    put("dds_domain_id", json!(spec.domain_id));
    put("qos_reliability", json!(spec.qos.reliability.name()));
    put("qos_durability", json!(spec.qos.durability.name()));
    put("qos_history_kind", json!(spec.qos.history.name()));
    put("qos_history_depth", json!(spec.qos.depth));
    put("execution_strategy", json!(spec.strategy.name()));
    put("rate", json!(spec.rate_hz));
    put("topic_name", json!(spec.topic));
    put("msg_name", json!(spec.message.name));
    put("message_layout", json!(spec.message.layout.name()));
    put("message_bytes", json!(spec.message.bytes));
    put("max_runtime", json!(spec.max_runtime_s));
    put("number_of_publishers", json!(spec.publishers));
    put("number_of_subscribers", json!(spec.subscriptions));
    put("check_memory", json!(spec.check_memory));
    put("with_security", json!(false));
    put("use_shared_memory", json!(spec.shared_memory));
    put("use_loaned_samples", json!(spec.zero_copy));
    put("is_zero_copy_transfer", json!(spec.zero_copy));
    put("roundtrip_mode", json!(roundtrip));
    put("is_rt_init_required", json!(spec.rt_priority != 0 || !spec.rt_cpus.is_empty()));
    if spec.message.layout == Layout::V1 {
        put("final_logfile_name", json!(path.display().to_string()));
        put("rmw_implementation", json!("N/A"));
        put("qos_sync_pubsub", json!(true));
        put("use_single_participant", json!(false));
        put("roundtrip_mode", json!(roundtrip.to_uppercase()));
        // performance_test 1.x always writes these five fields, under these names. A text that is not given is empty.
        for name in ["Githash", "Platform", "Branch", "Architecture", "CI"] {
            let text = external.get(name).map_or("", String::as_str);
            put(&format!("external_info_{}", name.to_lowercase()), json!(text));
        }
    }
    for (name, text) in external {
        put(&format!("external_info_{name}"), json!(text));
    }
    header
}

/// The fields of a row.
pub fn fields(row: &RowEntry, layout: Layout) -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, value) in [
        ("experiment_start", json!(row.end_ns())),
        ("loop_start", json!(row.length_ns())),
        ("num_samples_received", json!(row.per_second(row.total.received.samples))),
        ("num_samples_sent", json!(row.per_second(row.total.sent.samples))),
        ("num_samples_lost", json!(row.per_second(row.total.received.lost()))),
        ("total_data_received", json!(row.data_received())),
    ] {
        fields.insert(name.to_owned(), value);
    }
    put_moments(&mut fields, "latency", &row.total.latency.moments_s());
    if layout == Layout::V1 {
        put_moments(&mut fields, "pub_loop_time_reserve", &row.total.loop_reserve.moments_s());
        put_moments(&mut fields, "sub_loop_time_reserve", &Moments::default());
    }
    for (name, value) in FIELDS.iter().zip(row.accounts.usage.fields()) {
        fields.insert(format!("sys_tracker_ru_{name}"), json!(value));
    }
    fields.insert("cpu_info_cpu_cores".to_owned(), json!(row.accounts.cores));
    fields.insert("cpu_info_cpu_usage".to_owned(), json!(row.all_cores_percent()));
    fields
}

fn put_moments(fields: &mut Map<String, Value>, group: &str, moments_s: &Moments) {
    for (name, value) in [
        ("min", json!(moments_s.min)),
        ("max", json!(moments_s.max)),
        ("n", json!(moments_s.n)),
        ("mean", json!(moments_s.mean)),
        ("M2", json!(moments_s.m2)),
        ("variance", json!(moments_s.variance())),
    ] {
        fields.insert(format!("{group}_{name}"), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;
    use crate::log::documented_row;

    fn log_of(options: &str, change: impl FnOnce(&mut RunSpec), external: &ExternalInfo) -> Value {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.json");
        let line = format!("perf_test {options}");
        let cli = cli::parse(line.split_whitespace().map(Into::into)).unwrap();
        let mut spec = cli::resolve(&cli.options).unwrap().spec;
        change(&mut spec);
        let mut log = create(&path, &spec, "id", external).unwrap();
        log.push(&fields(&documented_row(), spec.message.layout)).unwrap();
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap()
    }

    #[test]
    fn a_row_reads_back_in_the_units_of_its_fields() {
        let options = "-m Array4m -r 100 --zero-copy -t camera/image";
        let document = log_of(options, |_| {}, &ExternalInfo::new());
        assert_eq!(document["topic_name"], "camera/image");
        assert_eq!((&document["rate"], &document["use_loaned_samples"]), (&json!(100), &json!(true)));
        let row = &document["analysis_results"][0];
        assert_eq!((&row["experiment_start"], &row["latency_n"]), (&json!(31_000_000_000_i64), &json!(99)));
        assert_eq!(row["sys_tracker_ru_utime"], json!(23_120_954_000_i64));
        assert!((row["latency_mean"].as_f64().unwrap() - 0.004546).abs() < 1e-12);
        assert!((row["latency_variance"].as_f64().unwrap() - 4e-8).abs() < 1e-15);
        assert!((row["latency_M2"].as_f64().unwrap() - 98.0 * 4e-8).abs() < 1e-13);
        assert_eq!(row["cpu_info_cpu_usage"], json!(38.125));
        assert_eq!(row.get("pub_loop_time_reserve_mean"), None);
    }

    #[test]
    fn the_header_says_what_was_asked_for() {
        use perf_worker::run_spec::Roundtrip;
        let asked = |spec: &mut RunSpec| {
            spec.communicator = "Mock".to_owned();
            spec.roundtrip = Roundtrip::Main;
            spec.check_memory = true;
            spec.rt_cpus = vec![1];
        };
        let external = ExternalInfo::from([("Branch".to_owned(), "a\nb".to_owned())]);
        let document = log_of("", asked, &external);
        assert_eq!(document["com_mean_str"], "Mock");
        assert_eq!(document["roundtrip_mode"], "Main");
        assert_eq!((&document["check_memory"], &document["is_rt_init_required"]), (&json!(true), &json!(true)));
        assert_eq!(document["external_info_Branch"], "a\nb");
        let document = log_of("--message-layout 1.x", asked, &external);
        assert_eq!((&document["roundtrip_mode"], &document["external_info_branch"]), (&json!("MAIN"), &json!("a\nb")));
        let row = &document["analysis_results"][0];
        assert!((row["pub_loop_time_reserve_mean"].as_f64().unwrap() - 0.008057).abs() < 1e-12);
        assert_eq!((&row["pub_loop_time_reserve_n"], &row["sub_loop_time_reserve_n"]), (&json!(100), &json!(0)));
    }
}
