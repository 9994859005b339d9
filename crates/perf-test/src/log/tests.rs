//! Tests of the log's schema: it is generated from the types of the log, and logs match it.

use std::path::PathBuf;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::json;

use super::*;
use crate::common::verdict::Verdict;
use crate::log::external_info::ExternalInfo;
use crate::report::summary::tests::{spec, summary};
use perf_worker::measure::histogram::Latencies;

/// The schema of a log, generated from the types.
fn schema() -> Value {
    schema_of::<Log>(SCHEMA)
}

/// The schema of a document of the type `T`. Its objects allow no other fields, and its field `schema` must be `name`.
pub(crate) fn schema_of<T: schemars::JsonSchema>(name: &str) -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.root_schema_for::<T>();
    let mut closed = RecursiveTransform(|schema: &mut Schema| {
        if schema.get("properties").is_some() {
            schema.insert("additionalProperties".to_owned(), json!(false));
        }
    });
    closed.transform(&mut schema);
    let mut schema = schema.to_value();
    schema["properties"]["schema"]["const"] = json!(name);
    schema
}

/// Asserts that a file in `docs/internals` has this schema.
pub(crate) fn assert_committed(schema: &Value, file: &str) {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../docs/internals", file].iter().collect();
    let text = format!("{schema:#}\n");
    if std::env::var_os("WRITE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap() == text,
        "docs/internals/{file} is not the schema of the types: `WRITE_GOLDEN=1 cargo test -p perf-test --lib \
         committed_schema` writes it anew. docs/internals/releasing.md says when the version must be raised"
    );
}

/// Asserts that a JSON document matches its schema.
#[track_caller]
pub(crate) fn assert_matches(schema: &Value, document: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{error} at {}", error.instance_path())).collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_committed_schema_is_that_of_the_types() {
    assert_committed(&schema(), "perf_test-log-2.schema.json");
}

/// Adds all objects in a schema that have fields to `found`.
fn objects<'a>(schema: &'a Value, found: &mut Vec<&'a Value>) {
    if schema.get("properties").is_some_and(Value::is_object) {
        found.push(schema);
    }
    match schema {
        Value::Object(members) => members.values().for_each(|member| objects(member, found)),
        Value::Array(items) => items.iter().for_each(|item| objects(item, found)),
        _ => {}
    }
}

#[test]
fn every_field_is_described_and_its_unit_is_in_its_name() {
    let schema = schema();
    assert_described(&schema);
    let mut found = Vec::new();
    objects(&schema, &mut found);
    assert!(found.len() > 20);
    let units = ["_ns", "_ns2", "_ms", "_s", "_hz", "_bytes", "_kib", "_percent"];
    for (name, field) in found.iter().flat_map(|object| object["properties"].as_object().unwrap()) {
        // A field that may have a fraction is no count, so its name must contain a unit.
        let kinds = field["type"].as_array().cloned().unwrap_or_else(|| vec![field["type"].clone()]);
        let has_unit = units.iter().any(|unit| name.ends_with(unit));
        assert!(has_unit || !kinds.contains(&json!("number")), "{name} has no unit");
    }
}

/// Asserts that each field of a schema has a description and that no object allows other fields.
pub(crate) fn assert_described(schema: &Value) {
    let mut found = Vec::new();
    objects(schema, &mut found);
    assert!(!found.is_empty());
    for (name, field) in found.iter().flat_map(|object| object["properties"].as_object().unwrap()) {
        assert!(field["description"].as_str().is_some_and(|text| text.len() > 4), "{name} has no description");
    }
    assert!(found.iter().all(|object| object["additionalProperties"] == json!(false)));
}

fn head() -> Head {
    let external = ExternalInfo::from([("Branch".to_owned(), "main".to_owned())]);
    let run = RunEntry::now(&spec(""), "id", "/topic", &external);
    Head { schema: SCHEMA, run, environment: System::default() }
}

#[test]
fn a_log_matches_its_schema_after_every_step_and_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.full.json");
    let schema = schema();
    let read = || {
        let document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_matches(&schema, &document);
        Log::read(&path).unwrap()
    };
    let mut log = head().create(&path).unwrap();
    let mut latencies = Latencies::default();
    latencies.record(4_400_000);
    let row = documented_row_with(&latencies);
    for n in 0..3 {
        let whole = read();
        assert_eq!((whole.rows.len(), whole.summary.is_none()), (n, true));
        log.push(&row).unwrap();
    }
    let first = read().rows.remove(0);
    assert_eq!((first.t_s, first.total.sent.samples, first.total.received.samples), (31.0, 100, 99));
    let (end_ns, n) = first.total.latency.cells[0];
    assert!((4_400_000..4_405_000).contains(&end_ns) && n == 1, "{end_ns} {n}");
    assert_eq!(first.total.latency.p50_ns, Some(end_ns));
    assert_eq!((first.total.response.n, first.total.response.mean_ns), (0, None));
    let met = Verdict { requirement: "lost=0".to_owned(), met: true, found: "0".to_owned() };
    log.finish("summary", &Summary { requirements: vec![met.clone()], ..summary("", 1_000_000) }).unwrap();
    let whole = read();
    let summary = whole.summary.unwrap();
    assert_eq!((whole.rows.len(), summary.total.received.samples, summary.achieved_hz), (3, 3000, 100.0));
    assert_eq!((summary.total.latency.cells[0].1, summary.total.latency.p99_ns), (3000, Some(1_000_000)));
    assert_eq!(summary.requirements, [met]);
}

#[test]
fn a_file_that_is_no_log_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    for (text, why) in [
        ("", "EOF"),
        ("{\"id\": 1}", "missing field `schema`"),
        ("{\"schema\": \"gantry.perf_test/9\"}", "perf_test/9"),
    ] {
        std::fs::write(&path, text).unwrap();
        let sentence = Log::read(&path).unwrap_err();
        assert!(sentence.contains(why) && sentence.contains("--full-logfile"), "{sentence}");
    }
    assert!(Log::read(&folder.path().join("none")).unwrap_err().contains("cannot read"));
}

#[test]
fn an_unknown_field_does_not_match() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let mut document = json!({"schema": SCHEMA, "run": head().run, "environment": {}, "rows": []});
    assert!(validator.is_valid(&document));
    document["run"]["spec"]["latency"] = json!(1);
    assert!(!validator.is_valid(&document));
    let other = json!({"schema": "gantry.perf_test/1", "run": head().run, "environment": {}, "rows": []});
    assert!(!validator.is_valid(&other));
}

/// The log is of a run of rclcpp with an earlier build, in which the conditions of a run had another form than
/// `run.spec` has now.
#[test]
fn a_log_of_an_earlier_build_is_read_and_is_in_reports() {
    let path = [env!("CARGO_MANIFEST_DIR"), "tests/logs/array4m-0.1.0.json"].iter().collect::<PathBuf>();
    let log = Log::read(&path).unwrap();
    let spec = &log.run.spec;
    assert_eq!((spec.communicator.as_str(), spec.message.name.as_str(), spec.rate_hz), ("rclcpp", "Array4m", 30));
    assert_eq!((spec.qos.to_string().as_str(), spec.max_runtime_s), ("RELIABLE, VOLATILE, KEEP_LAST 16", 2));
    assert_eq!(log.rows.iter().map(|row| row.total.received.samples).sum::<u64>(), 60);
    let summary = log.summary.unwrap();
    assert_eq!((summary.total.received.samples, summary.total.latency.p50_ns), (60, Some(989_695)));
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(&path, folder.path().join("run.json")).unwrap();
    let table = folder.path().join("report.md");
    crate::experiments::page::report(folder.path(), None, Some(&table)).unwrap();
    let text = std::fs::read_to_string(&table).unwrap();
    assert!(text.contains("4 MiB, Array4m") && text.contains("989.7 µs"), "{text}");
    let picture = crate::report::plot::write(&path, Some(&folder.path().join("run.svg"))).unwrap();
    assert!(std::fs::read_to_string(picture).unwrap().contains("Array4m"));
}
