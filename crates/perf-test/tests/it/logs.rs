//! Tests of the logs of real runs. performance_test's formats are read by a parser that follows their description, and
//! Gantry's own format is checked by its schema.

use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use rustix::process::Signal;
use serde_json::Value;

use crate::parser::{self, Generation, Log, Row};
use crate::program::{Finished, Memory};

test_support::tests![
    both_generations_have_all_fields_in_their_order_types_and_units,
    a_row_of_another_length_is_divided_by_that_length,
    data_received_is_the_true_size_also_of_unbounded_messages,
    sums_of_squares_that_no_integer_holds_have_the_right_variance,
    the_texts_of_the_environment_are_in_every_log_and_malformed_ones_are_refused,
    the_full_log_has_everything_and_its_parts_agree,
    requirements_and_verdicts_are_in_the_full_log,
    the_full_log_fits_its_schema_after_every_row_and_after_the_coordinators_death,
    logs_that_are_removed_during_the_run_are_a_failure,
    a_picture_is_drawn_beside_each_log,
];

/// A folder for the logs of one run, with a file for each kind of log.
struct Logs(tempfile::TempDir);

impl Logs {
    fn new() -> Logs {
        Logs(tempfile::tempdir().unwrap())
    }

    fn path(&self, kind: &str) -> PathBuf {
        self.0.path().join(format!("run.{kind}"))
    }

    fn options(&self) -> String {
        let [csv, json, full] = ["csv", "json", "full.json"].map(|kind| self.path(kind).display().to_string());
        format!("-o stdout --csv-logfile {csv} --json-logfile {json} --full-logfile {full}")
    }

    fn read(&self, kind: &str) -> String {
        fs::read_to_string(self.path(kind)).unwrap()
    }

    /// Reads the CSV log and the JSON log of performance_test, and asserts that they have the same content.
    #[track_caller]
    fn both(&self, generation: Generation) -> [Log; 2] {
        let (csv, json) = (parser::csv(&self.read("csv"), generation), parser::json(&self.read("json"), generation));
        assert_eq!(csv.rows.len(), json.rows.len());
        for (one, other) in csv.rows.iter().zip(&json.rows) {
            same(one, other);
        }
        [csv, json]
    }

    /// Reads Gantry's own log, and asserts that it matches the schema.
    #[track_caller]
    fn full(&self, schema: &Validator) -> Value {
        let document: Value = serde_json::from_str(&self.read("full.json")).unwrap();
        let wrong: Vec<String> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
        assert_eq!(wrong, Vec::<String>::new());
        document
    }
}

fn schema() -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/internals/perf_test-log-2.schema.json");
    jsonschema::validator_for(&serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()).unwrap()
}

/// Asserts that a CSV row equals a JSON row, except for rounding to µs, ns or six decimals.
#[track_caller]
fn same(csv: &Row, json: &Row) {
    let near =
        |one: f64, other: f64, digit: f64| assert!((one - other).abs() <= digit, "{one} {other}: {csv:?} {json:?}");
    near(csv.t_s, json.t_s, 1e-6);
    near(csv.loop_s, json.loop_s, 1e-6);
    assert_eq!((csv.received, csv.sent, csv.lost, csv.bytes), (json.received, json.sent, json.lost, json.bytes));
    near(csv.cpu_percent, json.cpu_percent, 1e-6);
    let series = [(csv.latency, json.latency)];
    for (one, other) in series.into_iter().chain(csv.publisher_loop.zip(json.publisher_loop)) {
        near(one.min, other.min, 1e-9);
        near(one.max, other.max, 1e-9);
        near(one.mean, other.mean, 1e-9);
        near(one.variance, other.variance, 1e-18 + 1e-12 * other.variance);
    }
    for (name, value) in &csv.rusage {
        near(*value, json.rusage[name], if name.ends_with("time") { 1e3 } else { 0.0 });
    }
}

/// Asserts properties that every row has.
#[track_caller]
fn sane(row: &Row) {
    assert!(row.loop_s > 0.0 && row.t_s >= row.loop_s - 1e-9, "{row:?}");
    // 100 % means all cores. The kernel counts in ticks, so the value may be slightly higher.
    assert!((0.0..=101.0).contains(&row.cpu_percent), "{row:?}");
    assert!(row.rusage.values().all(|value| *value >= 0.0) && row.rusage["utime"] > 0.0, "{row:?}");
    // The value is in KiB: between 1 MiB and 100 GiB.
    assert!((1e3..1e8).contains(&row.rusage["maxrss"]), "{row:?}");
    let Some((n, m2)) = row.n_and_m2.filter(|(n, _)| *n > 0) else { return };
    let latency = row.latency;
    assert!(latency.min > 0.0 && latency.min <= latency.mean && latency.mean <= latency.max && m2 >= 0.0, "{row:?}");
    // The variance is at least the variance with one sample at each extreme and all others at the mean. It is at most
    // the variance with all samples at the extremes. For fewer than 2000 samples, an error by a factor of 1000, as in
    // performance_test's own CSV, is outside these bounds.
    if (2..2000).contains(&n) {
        let square = |time: f64| time * time;
        let least = (square(latency.max - latency.mean) + square(latency.min - latency.mean)) / (n - 1) as f64;
        let most = square(latency.max - latency.min) / 4.0 * n as f64 / (n - 1) as f64;
        let variance = latency.variance;
        assert!(least * 0.999 <= variance && variance <= most * 1.001, "{least} {variance} {most}: {row:?}");
    }
}

/// The sum of a count over all rows: the count per second times the length of each row.
fn sum(log: &Log, which: fn(&Row) -> u64) -> u64 {
    log.rows.iter().map(|row| (which(row) as f64 * row.loop_s).round()).sum::<f64>() as u64
}

fn agrees_with_summary(run: &Finished, log: &Log) {
    for (which, words) in [(Row::sent as fn(&Row) -> u64, "sent"), (Row::received, "received"), (Row::lost, "lost")] {
        assert_eq!(sum(log, which), run.number(words), "{words}: {}", run.stdout);
    }
}

impl Row {
    fn sent(&self) -> u64 {
        self.sent
    }

    fn received(&self) -> u64 {
        self.received
    }

    fn lost(&self) -> u64 {
        self.lost
    }
}

fn both_generations_have_all_fields_in_their_order_types_and_units() {
    for (layout, generation, bytes) in [("1.x", Generation::One, 1040), ("2.x", Generation::Two, 1024)] {
        let (memory, logs) = (Memory::new(), Logs::new());
        let run = memory.run(&format!(
            "--reliable --history-depth 1000 -s 2 -m Array1k -r 100 --max-runtime 2 --message-layout {layout} {}",
            logs.options()
        ));
        run.assert_good();
        let [csv, json] = logs.both(generation);
        for log in [&csv, &json] {
            log.rows.iter().for_each(sane);
            agrees_with_summary(&run, log);
            for row in &log.rows {
                // Bytes and messages are rates. In a row shorter than a second, they are rounded.
                let most_apart = if row.loop_s == 1.0 { 0 } else { bytes / 2 + 1 };
                assert!(row.bytes.abs_diff(row.received * bytes) <= most_apart, "{:?}", log.rows);
            }
        }
        // Each row is one second long, even the first one, for which performance_test divides by the host's uptime. The
        // last message may arrive in a third row, which is not checked here.
        let seconds = &csv.rows[..2];
        assert!(seconds.iter().all(|row| row.loop_s == 1.0 && row.sent > 0), "{:?}", csv.rows);
        assert_eq!((seconds[0].t_s, seconds[1].t_s), (1.0, 2.0));
        for (key, value) in [("Publishing rate", "100"), ("Msg name", "Array1k"), ("Number of subscribers", "2")] {
            assert_eq!(csv.header[key], value);
        }
        let qos = parser::qos(&csv.header["QOS"]);
        assert_eq!((qos["Reliability"].as_str(), qos["History depth"].as_str()), ("RELIABLE", "1000"));
        assert_eq!((json.header["rate"].as_str(), json.header["com_mean_str"].as_str()), ("100", "Gantry"));
        // The time left until the next message is at most the period, and at least once it is nearly the period.
        for reserve in seconds.iter().filter_map(|row| row.publisher_loop) {
            assert!(reserve.min <= reserve.mean && reserve.mean <= reserve.max, "{reserve:?}");
            assert!((0.005..0.010).contains(&reserve.max), "{reserve:?}");
        }
        memory.assert_empty();
    }
}

fn a_row_of_another_length_is_divided_by_that_length() {
    let (memory, logs) = (Memory::new(), Logs::new());
    let mut run = memory.start(&format!("--reliable --history-depth 1000 -m Array1k -r 1000 {}", logs.options()));
    run.wait_for("T_experiment |");
    run.wait_for("T_experiment |");
    run.signal(Signal::INT);
    let run = run.finish();
    run.assert_good();
    for log in logs.both(Generation::Two) {
        let (last, whole) = log.rows.split_last().unwrap();
        assert!(whole.len() >= 2 && whole.iter().all(|row| row.loop_s == 1.0) && last.loop_s != 1.0, "{:?}", log.rows);
        agrees_with_summary(&run, &log);
    }
}

fn data_received_is_the_true_size_also_of_unbounded_messages() {
    // The size of a message is the payload, at most 4 bytes of length, at most 4 bytes of padding, the time and the id.
    for (message, payload) in [("UnboundedSequence", 6001_u64), ("UnboundedString", 6001), ("BoundedSequence4k", 4096)]
    {
        let (memory, logs) = (Memory::new(), Logs::new());
        let size = if message.starts_with("Un") { format!("--unbounded-msg-size {payload}") } else { String::new() };
        let run = memory.run(&format!("-m {message} {size} -r 100 --max-runtime 1 {}", logs.options()));
        run.assert_good();
        // Only the first row is used: the last message may arrive in a shorter row, whose rates are rounded.
        for row in logs.both(Generation::Two).iter().map(|log| &log.rows[0]) {
            let each = row.bytes / row.received;
            assert!(
                row.bytes % row.received == 0 && (payload + 20..payload + 32).contains(&each),
                "{message}: {row:?}"
            );
        }
    }
}

fn sums_of_squares_that_no_integer_holds_have_the_right_variance() {
    // The 1000 latencies of a second, of 100 ms and 300 ms, add up to 200 s. The square of this sum in ns² overflows 64
    // bits.
    let (memory, logs) = (Memory::new(), Logs::new());
    let options = "-c Mock --mock latency=100ms,slow=2:300ms --reliable -r 1000 -m Array1k --max-runtime 3";
    let run = memory.run(&format!("{options} {}", logs.options()));
    assert_eq!(run.status.code(), Some(0), "{}", run.everything());
    for log in logs.both(Generation::Two) {
        let crowded: Vec<&Row> = log.rows.iter().filter(|row| row.received > 500 && row.loop_s == 1.0).collect();
        assert!(!crowded.is_empty(), "{}", run.stdout);
        for row in crowded {
            // Half of the latencies are 100 ms below the mean, the other half 100 ms above it.
            let (mean, variance) = (row.latency.mean, row.latency.variance);
            assert!((0.15..0.25).contains(&mean) && (0.0095..0.0101).contains(&variance), "{row:?}");
        }
    }
}

fn the_texts_of_the_environment_are_in_every_log_and_malformed_ones_are_refused() {
    let (memory, logs) = (Memory::new(), Logs::new());
    let mut command = memory.command(&format!("-r 100 --max-runtime 1 --message-layout 1.x {}", logs.options()));
    let output = command.env("APEX_PERFORMANCE_TEST", r#"{"Githash": "4e61", "Rack": "a: b"}"#).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let [csv, json] = logs.both(Generation::One);
    assert_eq!((csv.header["Githash"].as_str(), csv.header["Rack"].as_str()), ("4e61", "a: b"));
    assert_eq!(json.header["external_info_Rack"], "a: b");
    assert_eq!((json.header["external_info_githash"].as_str(), json.header["external_info_ci"].as_str()), ("4e61", ""));
    let full = logs.full(&schema());
    assert_eq!(full["run"]["external_info"]["Githash"], "4e61");
    for nonsense in ["Githash=4e61", r#"{"Githash": 7}"#, r#"{"a": {"b": "c"}}"#] {
        let mut command = memory.command("-r 100 --max-runtime 1");
        let output = command.env("APEX_PERFORMANCE_TEST", nonsense).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("APEX_PERFORMANCE_TEST") && stderr.contains("JSON object of texts"), "{stderr}");
    }
    memory.assert_empty();
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

/// Adds up the cells of several histograms. Returns the counts by value.
fn cells<'a>(distributions: impl IntoIterator<Item = &'a Value>) -> std::collections::BTreeMap<u64, u64> {
    let mut sum = std::collections::BTreeMap::new();
    for distribution in distributions {
        let own = distribution["cells"].as_array().unwrap();
        let n: u64 = own.iter().map(|cell| number(&cell[1])).sum();
        assert_eq!(n, number(&distribution["n"]), "a histogram does not hold all of its samples");
        own.iter().for_each(|cell| *sum.entry(number(&cell[0])).or_default() += number(&cell[1]));
    }
    sum
}

fn the_full_log_has_everything_and_its_parts_agree() {
    let (memory, logs) = (Memory::new(), Logs::new());
    let run = memory.run(&format!(
        "--reliable --history-depth 1000 -s 2 -m Array4k -r 200 --max-runtime 3 --ignore 1 --touch page {}",
        logs.options()
    ));
    run.assert_good();
    let full = logs.full(&schema());
    assert_eq!(full["schema"], "gantry.perf_test/2");
    assert!(full["run"]["command_line"].as_array().unwrap().contains(&Value::from("--touch")));
    assert!(run.stdout.contains(full["run"]["full_topic"].as_str().unwrap()), "{}", run.stdout);
    let asked = &full["run"]["spec"];
    assert_eq!(
        (&asked["touch"], &asked["message_bytes"], &asked["ignore_s"]),
        (&"page".into(), &4096.into(), &1.into())
    );
    assert!(!full["environment"]["cpu"].is_null());
    let (rows, summary) = (full["rows"].as_array().unwrap(), &full["summary"]);
    assert!(rows.len() >= 2);
    for (part, field, words) in [("sent", "samples", "sent"), ("received", "samples", "received")] {
        let sum: u64 = rows.iter().map(|row| number(&row["total"][part][field])).sum();
        assert_eq!((sum, number(&summary["total"][part][field])), (run.number(words), run.number(words)));
    }
    assert_eq!(number(&summary["lost"]), run.number("lost"));
    for which in ["latency", "response", "send_lateness"] {
        let whole = &summary["total"][which];
        assert_eq!(cells(rows.iter().map(|row| &row["total"][which])), cells([whole]), "{which}");
        let figure = |name: &str| whole[name].as_f64().unwrap();
        let ladder = ["min_ns", "p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "p99_99_ns", "max_ns"].map(figure);
        // The lowest quantile is the end of a histogram cell, so the minimum may be below it.
        assert!(
            ladder.windows(2).skip(1).all(|pair| pair[0] <= pair[1]) && ladder[0] <= ladder[1] * 1.001,
            "{ladder:?}"
        );
        assert!(ladder[0] <= figure("mean_ns") && figure("mean_ns") <= ladder[6], "{whole}");
    }
    // Each message is sent after it is due, so the latency from the due time is longer.
    let latency = |which: &str| summary["total"][which]["mean_ns"].as_f64().unwrap();
    assert!(latency("latency") < latency("response"), "{summary}");
    for cost in [&summary["own_cost"]["send_ns"], &summary["own_cost"]["receive_ns"]] {
        assert!(cost.as_f64() > Some(0.0), "{summary}");
    }
    let used = |part: &Value| part["used"]["user_ns"].as_i64().unwrap() + part["used"]["system_ns"].as_i64().unwrap();
    // The cost of the run covers only the whole seconds.
    let sum: i64 = rows.iter().filter(|row| row["length_s"].as_f64() == Some(1.0)).map(used).sum();
    assert!(sum > 0 && sum == used(summary), "{sum} is not {}", used(summary));
    let workers = summary["workers"].as_array().unwrap();
    assert_eq!(workers.len(), 3);
    for worker in workers {
        assert!(run.stdout.contains(worker["label"].as_str().unwrap()));
        assert!(
            number(&worker["footprint"]["heap"]["rss_kib"]) > 0 && !worker["threads"].as_array().unwrap().is_empty()
        );
    }
    memory.assert_empty();
}

fn requirements_and_verdicts_are_in_the_full_log() {
    let (memory, logs) = (Memory::new(), Logs::new());
    let require = "--require received=50 --require max<1ns";
    let run = memory.run(&format!("--reliable -r 50 --max-runtime 1 {require} {}", logs.options()));
    assert_eq!(run.status.code(), Some(3), "{}", run.everything());
    let full = logs.full(&schema());
    let answers = full["summary"]["requirements"].as_array().unwrap();
    let answer = |i: usize| (answers[i]["requirement"].as_str().unwrap(), answers[i]["met"].as_bool().unwrap());
    assert_eq!([answer(0), answer(1)], [("received=50", true), ("max<1ns", false)]);
}

fn the_full_log_fits_its_schema_after_every_row_and_after_the_coordinators_death() {
    let (memory, logs, schema) = (Memory::new(), Logs::new(), schema());
    let mut run = memory.start(&format!("--reliable --history-depth 1000 -m Array1k -r 100 {}", logs.options()));
    run.wait_for("getrusage(2)");
    assert_eq!(logs.full(&schema)["summary"], Value::Null);
    for rows in 1..=3 {
        run.wait_for("T_experiment |");
        // A row is written to the logs before it is printed.
        let full = logs.full(&schema);
        assert!(full["rows"].as_array().unwrap().len() >= rows && full["summary"].is_null());
    }
    run.signal(Signal::KILL);
    assert!(!run.finish().status.success());
    let full = logs.full(&schema);
    let (rows, json) = (full["rows"].as_array().unwrap(), parser::json(&logs.read("json"), Generation::Two));
    assert!(rows.len() >= 3 && full["summary"].is_null());
    for (row, other) in rows.iter().zip(&json.rows) {
        assert_eq!(number(&row["total"]["sent"]["samples"]), other.sent);
    }
    // The log of a killed run can also be plotted.
    let picture = logs.path("other.svg");
    let plot = memory.run(&format!("plot {} --output {}", logs.path("full.json").display(), picture.display()));
    plot.assert_good();
    assert!(fs::read_to_string(picture).unwrap().contains("no summary: the run was killed"));
    // The next run removes the files of the dead workers.
    memory.run("-r 10 --max-runtime 1").assert_good();
    memory.assert_empty();
}

fn logs_that_are_removed_during_the_run_are_a_failure() {
    let (memory, logs) = (Memory::new(), Logs::new());
    let mut run = memory.start(&format!("-r 100 --max-runtime 2 {}", logs.options()));
    run.wait_for("T_experiment |");
    fs::remove_dir_all(logs.0.path()).unwrap();
    let run = run.finish();
    assert_eq!(run.status.code(), Some(1), "{}", run.everything());
    for kind in ["CSV", "JSON", "full"] {
        assert!(run.stdout.contains(&format!("the {kind} log ")), "{}", run.everything());
    }
    assert!(run.stdout.contains(" was removed during the run"), "{}", run.everything());
    assert!(run.stderr.contains("3 logs are not complete"), "{}", run.everything());
    memory.assert_empty();
}

fn a_picture_is_drawn_beside_each_log() {
    let (memory, logs) = (Memory::new(), Logs::new());
    let run = memory.run(&format!("-r 100 --max-runtime 1 --plot -l {}", logs.path("csv").display()));
    run.assert_good();
    let picture = logs.read("svg");
    assert!(picture.starts_with("<svg") && picture.contains("Latency by percentile"), "{picture}");
    assert!(run.stdout.contains(&format!("plot: {}", logs.path("svg").display())), "{}", run.stdout);
    fs::remove_file(logs.path("svg")).unwrap();
    memory.run(&format!("plot {}", logs.path("full.json").display())).assert_good();
    assert!(logs.read("svg").contains("Array128, 128 bytes, 100 Hz, copy over Gantry"));
    for (arguments, why) in [
        (format!("plot {}", logs.path("csv").display()), "is not a log of perf_test"),
        (format!("plot {}", logs.path("none").display()), "cannot read"),
        (format!("plot a b --output {}", logs.path("svg").display()), "names one picture"),
    ] {
        let run = memory.run(&arguments);
        assert_eq!(run.status.code(), Some(2), "{}", run.everything());
        assert!(run.stderr.contains(why), "{}", run.stderr);
    }
}
