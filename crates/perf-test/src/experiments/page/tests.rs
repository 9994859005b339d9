//! Tests of the page with folders of logs: groups, damaged files, and texts in logs that look like HTML.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::experiments::batch::{Shortfall, ShortfallKind};
use crate::experiments::results_file::{ResultsFile, Table};
use crate::log::documented_row;
use crate::log::external_info::ExternalInfo;
use crate::log::{Head, RunEntry, SCHEMA};
use crate::report::summary::tests::{spec, summary};
use crate::system::System;

/// Writes the log of a run of 3000 samples with equal latencies. If it is not complete, it has no summary, like the log
/// of a killed run.
fn log(path: &Path, (message, bytes): (&str, u64), options: &str, latency_ns: u64, is_complete: bool) {
    let mut run = RunEntry::now(&spec(options), "0123456789abcdef", "/topic", &ExternalInfo::default());
    (run.spec.message.name, run.spec.message.bytes) = (message.to_owned(), bytes as usize);
    let head = Head { schema: SCHEMA, run, environment: System::default() };
    let mut log = head.create(path).unwrap();
    log.push(&documented_row()).unwrap();
    if is_complete {
        log.finish("summary", &summary(options, latency_ns)).unwrap();
    }
}

const LARGE: (&str, u64) = ("Array4m", 4 << 20);

/// A folder with three equal runs and a run with zero copy. A subfolder has a run with another message size.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, latency_ns) in [("a", 1_000_000), ("b", 9_000_000), ("c", 2_000_000)] {
        log(&folder.path().join(format!("{name}.json")), LARGE, &format!("-t {name}"), latency_ns, true);
    }
    log(&folder.path().join("zero.json"), LARGE, "--zero-copy", 50_000, true);
    std::fs::create_dir_all(folder.path().join("more/sizes")).unwrap();
    log(&folder.path().join("more/sizes/small.json"), ("Array1k", 1024), "", 10_000, true);
    folder
}

/// Writes the page and the Markdown tables of a folder, and returns their texts.
fn written(folder: &TempDir) -> [String; 2] {
    let files = [folder.path().join("page.html"), folder.path().join("table.md")];
    let names = report(folder.path(), Some(&files[0]), Some(&files[1])).unwrap();
    assert_eq!(names, files);
    files.map(|file| std::fs::read_to_string(file).unwrap())
}

/// The JSON data of the plots in a page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn topologies_have_tables_of_contestants_and_executors() {
    // One folder has other runs besides the topologies; the other folder has only topologies.
    for folder in [folder(), tempfile::tempdir().unwrap()] {
        let others = Folder::read(folder.path()).map_or(0, |found| found.runs.len());
        robot(&folder.path().join("one.json"), ("Gantry", "single"), 1_000_000);
        robot(&folder.path().join("again.json"), ("Gantry", "single"), 3_000_000);
        robot(&folder.path().join("events.json"), ("Gantry", "<events>"), 500_000);
        robot(&folder.path().join("other.json"), ("cyclonedds", "wait-set"), 9_000_000);
        let found = Folder::read(folder.path()).unwrap();
        assert_eq!((found.runs.len(), found.robots.len()), (others, 4));
        let [(name, shown)] = &Groups::of_topologies(&found.robots)[..] else { panic!("several topologies") };
        let of_group = |group: &group::Group| {
            let spec = group.conditions();
            let executor = spec.executor.as_deref().unwrap();
            let median = group.interval(&crate::log::figures::MEAN).unwrap().median;
            (spec.communicator.clone(), executor.to_owned(), group.good().count(), median)
        };
        let groups: Vec<_> = shown.groups.iter().map(of_group).collect();
        let expected =
            [("cyclonedds", "wait-set", 1, 9e6), ("Gantry", "<events>", 1, 5e5), ("Gantry", "single", 2, 2e6)]
                .map(|(name, executor, good, ns)| (name.to_owned(), executor.to_owned(), good, ns));
        assert_eq!((*name, &groups[..]), ("sierra_nevada", &expected[..]));
        let [page, table] = written(&folder);
        for words in [
            "<h2 id=\"topologies-title\">",
            "sierra_nevada",
            "&lt;events&gt;",
            "<div class=\"robot plots\" data-robot=\"0\">",
            "2.00 ms<small>[1.00, 3.00 ms]",
        ] {
            assert!(page.contains(words), "{words}");
        }
        assert!(!page.contains("<events>"), "markup of a log");
        let latency = &data(&page)["robots"][0][2];
        assert_eq!(
            [&latency["rows"][2]["label"], &latency["rows"][2]["median"]],
            [&Value::from("Gantry, single"), &Value::from(2e6)]
        );
        assert_eq!(page.matches(" hidden>").count(), if others == 0 { 4 } else { 0 });
        assert!(table.contains(" | single | 2 | 9.0 |"), "{table}");
        assert_eq!(table.contains("| Middleware, settings | Message |"), others > 0, "{table}");
    }
}

/// Writes the log of a run of a topology.
fn robot(path: &Path, (communicator, executor): (&str, &str), latency_ns: u64) {
    log(path, LARGE, "", latency_ns, true);
    let mut robot: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let run = &mut robot["run"];
    run["topology"] = serde_json::json!({ "processes": [] });
    run["nodes"] = serde_json::json!({ "processes": "file", "pass_by": null, "late": "above 20 %" });
    for (name, value) in [("communicator", communicator), ("executor", executor), ("topic", "sierra_nevada")] {
        run["spec"][name] = value.into();
    }
    std::fs::write(path, robot.to_string()).unwrap();
}

#[test]
fn equal_settings_are_a_group_with_the_median_of_its_runs() {
    let folder = folder();
    let found = Folder::read(folder.path()).unwrap();
    let groups = Groups::new(&found.runs);
    let shown: Vec<_> = groups
        .groups
        .iter()
        .map(|group| {
            let p50 = group.interval(&crate::log::figures::P50).unwrap();
            let label = groups.series[group.series].label.as_str();
            (group.conditions().message.name.as_str(), label, group.runs.len(), p50.low, p50.median, p50.high)
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("Array1k", "Gantry, copy", 1, 10_000.0, 10_000.0, 10_000.0),
            ("Array4m", "Gantry, copy", 3, 1e6, 2e6, 9e6),
            ("Array4m", "Gantry, zero copy", 1, 50_000.0, 50_000.0, 50_000.0),
        ]
    );
    assert_eq!(groups.series.len(), 2, "sizes are marks of one line");
    assert_eq!(groups.groups[1].cells.n(), 9000, "a sample is missing in the curve");
    assert!(groups.common.contains_key("reliability") && !groups.common.contains_key("zero_copy"));
    assert_eq!(found.runs.iter().filter(|run| run.file == "more/sizes/small.json").count(), 1);
}

#[test]
fn an_interval_of_many_runs_leaves_out_the_extremes() {
    let folder = tempfile::tempdir().unwrap();
    for ms in 1..=9 {
        log(&folder.path().join(format!("{ms}.json")), LARGE, &format!("-t t{ms}"), ms * 1_000_000, true);
    }
    let [page, table] = written(&folder);
    assert!(page.contains("5.00 ms<small>[2.00, 8.00 ms]</small>"), "{table}");
    assert!(table.contains("| 5.00 ms [2.00, 8.00 ms] |") && table.contains("95 % or more"), "{table}");
    let p50 = data(&page)["groups"][0]["values"][0].clone();
    assert_eq!([&p50["low"], &p50["high"]], [2e6, 8e6]);
}

#[test]
fn killed_failed_and_other_files_are_shown_as_such() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    log(&path("killed.json"), LARGE, "", 5_000_000, false);
    log(&path("worthless.json"), ("Array64k", 1 << 16), "", 5_000_000, true);
    let mut failed: Value = serde_json::from_slice(&std::fs::read(path("worthless.json")).unwrap()).unwrap();
    failed["summary"]["failure"] = "subscription 0 exited".into();
    std::fs::write(path("worthless.json"), failed.to_string()).unwrap();
    let refused = Shortfall {
        contestant: "zenoh:best".to_owned(),
        title: "4 MB".to_owned(),
        log: "x.json".to_owned(),
        kind: ShortfallKind::Refused,
        sentence: "no shared memory here".to_owned(),
    };
    std::fs::write(path("x.failed.json"), serde_json::to_string(&refused).unwrap()).unwrap();
    std::fs::write(path("y.failed.json"), "{}").unwrap();
    std::fs::write(path("other.json"), "{}").unwrap();
    std::fs::write(path("broken.json"), r#"{"schema": "gantry.perf_test/2", "run""#).unwrap();
    let [page, table] = written(&folder);
    for words in [
        "7 runs in 4 groups of equal settings",
        "3<small>1 killed</small>",
        "0<small>1 failed</small>",
        "failed: subscription 0 exited",
        "killed: it was killed or still runs: no summary after 1.0 s",
        "<strong>No figures, refused.</strong><small>4 MB: no shared memory here (x.failed.json)</small>",
        "3 other JSON files skipped",
        "<li>other.json is not a log",
        "<li>y.failed.json describes no run without figures: missing field",
        "<pre>perf_test",
    ] {
        assert!(page.contains(words), "no {words:?}");
    }
    assert!(!page.contains(&folder.path().display().to_string()), "a path of this machine");
    let program = std::env::current_exe().unwrap();
    assert!(!page.contains(&program.display().to_string()), "the path of a program of this machine");
    assert!(
        table.contains("| zenoh:best | No figures, refused. 4 MB: no shared memory here (x.failed.json) |"),
        "{table}"
    );
    assert!(table.contains("| - | - | - | 100 Hz | adaptive | copy | 0, 1 failed | - | - |"), "{table}");
    assert!(table.contains("| 2.00 ms [1.00, 9.00 ms] |") && table.contains("| 3, 1 killed |"), "{table}");
}

#[test]
fn a_run_that_ended_early_is_in_no_median() {
    let folder = folder();
    let path = folder.path().join("early.json");
    log(&path, LARGE, "", 80_000_000, true);
    let mut early: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    early["summary"]["stopped_early"] = true.into();
    std::fs::write(path, early.to_string()).unwrap();
    let [page, table] = written(&folder);
    assert!(
        page.contains("3<small>1 stopped early</small>") && page.contains("stopped early: it ended after"),
        "{table}"
    );
    assert!(table.contains("| 2.00 ms [1.00, 9.00 ms] |") && table.contains("| 3, 1 stopped early |"), "{table}");
}

#[test]
fn numbers_that_no_run_has_are_shown_nevertheless() {
    let folder = folder();
    let path = folder.path().join("a.json");
    let mut log: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    log["summary"]["total"]["latency"]["cells"] = serde_json::json!([[1000, u64::MAX], [2000, u64::MAX]]);
    for worker in [0, 1] {
        log["summary"]["workers"][worker]["memory"]["peak_rss_kib"] = u64::MAX.into();
    }
    log["run"]["created_unix_ms"] = u64::MAX.into();
    log["environment"]["cpu"]["caches"] =
        serde_json::json!([{"level": 1, "kind": "Data", "size_kib": u64::MAX, "count": u64::MAX}]);
    std::fs::write(&path, log.to_string()).unwrap();
    let [page, _] = written(&folder);
    assert!(page.contains("5 runs in") && page.contains("18014398509481984.0 MiB"), "a run is missing");
}

/// A ratio of six rounds, as JSON for a `versus.json`. `case` is a JSON value.
fn ratio(base: &str, other: &str, case: &str, figure: &str, interval: [f64; 3], base_is: &str) -> String {
    let [median, low, high] = interval;
    format!(
        r#"{{"base": "{base}", "other": "{other}", "case": {case}, "figure": "{figure}", "by_round": [], "n": 6,
            "median": {median}, "low": {low}, "high": {high}, "confidence": 0.96875, "base_is": "{base_is}"}}"#
    )
}

#[test]
fn the_ratios_of_versus_are_tables_and_own_results_are_not_counted_as_other_files() {
    let folder = folder();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("sizes.json", r#"{"schema": "gantry.perf_test.sizes/1", "contestants": []}"#);
    let case = ["\"4MB\"", "\"256B\"", "null"];
    let ratios = [
        ratio("gantry", "<i>zenoh", case[0], "latency", [0.375, 0.25, 0.5], "better"),
        ratio("gantry", "<i>zenoh", case[1], "cpu", [0.9, 0.8, 1.1], "no difference shown"),
        ratio("gantry:best", "udp", case[0], "latency", [0.3, 0.2, 0.4], "better"),
        ratio("gantry", "udp", case[0], "latency", [2.0, 1.5, 2.5], "worse"),
        ratio("gantry", "udp", case[2], "rss", [0.5, 0.4, 0.6], "better"),
    ];
    let ratios = ratios.join(", ");
    let schema = "gantry.perf_test.versus/1";
    write("more/versus.json", &format!(r#"{{"schema": "{schema}", "rounds": 6, "cases": [], "ratios": [{ratios}]}}"#));
    let [page, table] = written(&folder);
    assert!(!page.contains("other JSON file"));
    for words in [
        "<div data-experiment=\"more\">\n<h3><code>more/versus.json</code></h3>\n<p class=\"note\">perf_test compare middlewares</p>",
        "<li>A ratio is the base&#39;s value divided by the contestant&#39;s",
        "below 1 the base is better.",
        "with 96.9 % or more.",
        "○ marks an interval that holds 1: no difference shown.</li>",
        "<th scope=\"col\">gantry / contestant</th><th scope=\"col\">4MB latency</th>\
         <th scope=\"col\">256B CPU</th><th scope=\"col\">memory</th></tr>",
        "<th scope=\"row\">&lt;i&gt;zenoh</th><td>0.375 [0.250, 0.500]</td>\
         <td>0.900 [0.800, 1.100] ○</td><td>-</td></tr>",
        "<th scope=\"col\">gantry:best / contestant</th><th scope=\"col\">4MB latency</th></tr>",
    ] {
        assert!(page.contains(words), "no {words:?}");
    }
    assert!(!page.contains("too few rounds to say"), "the legend of a mark that is not there");
    let lines = "| gantry / contestant | 4MB latency | 256B CPU | memory |\n| --- | --- | --- | --- |\n\
        | \\<i\\>zenoh | 0.375 [0.250, 0.500] | 0.900 [0.800, 1.100] ○ | - |\n\
        | udp (baseline) | 2.000 [1.500, 2.500] | - | 0.500 [0.400, 0.600] |\n";
    assert!(table.contains(lines), "{table}");

    write("more/versus.json", &format!(r#"{{"schema": "{}"}}"#, crate::experiments::results_file::SCHEMA));
    let [page, _] = written(&folder);
    assert!(
        page.contains("1 other JSON file skipped") && page.contains("the results of more/versus.json cannot be read")
    );
}

#[test]
fn the_tables_of_experiments_are_on_the_page_with_their_findings() {
    let folder = folder();
    let notes = vec!["mock: knee at 256 KiB <b>".to_owned()];
    let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
    let short = vec!["absent".to_owned()];
    let rows = vec![row(["contestant", "p50"]), row(["mock", "5.0 µs"]), short];
    let table = Table { title: "3 runs".to_owned(), rows, notes };
    let file = ResultsFile::new("sweep sizes", 1, Vec::new(), vec![table]);
    std::fs::write(folder.path().join("more/sizes.json"), serde_json::to_string(&file).unwrap()).unwrap();
    let [page, _] = written(&folder);
    for words in [
        "<div data-experiment=\"more\">\n<h3><code>more/sizes.json</code></h3>\n<p class=\"note\">perf_test sweep sizes</p>\n<h4>3 runs</h4>",
        "<tr><th scope=\"col\">contestant</th><th scope=\"col\">p50</th></tr>",
        "<tr><th scope=\"row\">mock</th><td>5.0 µs</td></tr>\n<tr><th scope=\"row\" colspan=\"2\">absent</th></tr>",
        "<li>mock: knee at 256 KiB &lt;b&gt;</li>",
    ] {
        assert!(page.contains(words), "no {words:?}");
    }
    assert!(!page.contains("other JSON file"));
}

#[test]
fn each_machine_has_a_section_and_the_plots_have_the_caches_that_all_share() {
    let folder = folder();
    let caches = serde_json::json!([{"level": 2, "kind": "Unified", "size_kib": 512, "count": 1}]);
    for (name, model) in [("a", "A"), ("b", "A"), ("c", "A"), ("zero", "B"), ("more/sizes/small", "B")] {
        let path = folder.path().join(format!("{name}.json"));
        let mut log: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        log["environment"]["machine"]["model"] = format!("Board {model}").into();
        log["environment"]["cpu"]["caches"] = caches.clone();
        std::fs::write(&path, log.to_string()).unwrap();
    }
    let [page, table] = written(&folder);
    assert!(page.contains("Board A: 3 runs</p>") && page.contains("Board B: 2 runs</p>"));
    assert_eq!(data(&page)["caches"][0]["bytes"], 512 << 10);
    assert!(table.contains("Machines: Board A; Board B."), "{table}");

    let mut other = System::default();
    other.machine.model = Some("Board B".to_owned());
    std::fs::write(folder.path().join("more/environment.json"), serde_json::json!({"system": other}).to_string())
        .unwrap();
    let [page, _] = written(&folder);
    assert_eq!(data(&page)["caches"].as_array().unwrap().len(), 0, "machines differ in their caches");
}

#[test]
fn a_text_in_a_log_is_no_markup() {
    let folder = folder();
    let evil = "</script><script>alert(1)</script>|{{data}}";
    let path = folder.path().join("a.json");
    let mut log: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    log["run"]["spec"]["communicator"] = evil.into();
    log["run"]["spec"]["settings"]["transport"] = "<b>|".into();
    std::fs::write(&path, log.to_string()).unwrap();
    let [page, table] = written(&folder);
    assert!(!page.contains("<script>alert") && !page.contains("<b>|"));
    assert_eq!(data(&page)["groups"].as_array().unwrap().len(), 4);
    assert!(
        data(&page)["series"].as_array().unwrap().iter().any(|line| line["label"].as_str().unwrap().contains(evil))
    );
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(table.lines().filter(|line| line.starts_with('|')).all(|line| columns(line) == 16), "{table}");
}

#[test]
fn the_page_needs_no_other_file_and_every_curve_ends_at_the_longest_latency() {
    let folder = folder();
    let [page, _] = written(&folder);
    // Removes the XML namespace of SVG, which looks like a URL but is never opened by a browser.
    let own = page.replace("http://www.w3.org/2000/svg", "");
    for reference in [" src=", "<link", "@import", " url(", "http:", "https:"] {
        assert!(!own.contains(reference), "{reference}");
    }
    assert!(page.len() < 200_000, "a page of five runs has {} bytes", page.len());
    let data = data(&page);
    let curve = data["groups"][1]["curve"].as_array().unwrap();
    let n = curve.last().unwrap()[0].as_f64().unwrap();
    assert_eq!(n, 9000.0);
    assert_eq!(curve.last().unwrap()[1], 9_000_000);
    assert!(curve.windows(2).all(|pair| pair[0][0].as_f64() < pair[1][0].as_f64()), "{curve:?}");
    assert!(curve.windows(2).all(|pair| pair[0][1].as_u64() <= pair[1][1].as_u64()), "{curve:?}");
}

#[test]
fn a_folder_without_a_log_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("environment.json"), "{}").unwrap();
    let sentence = report(folder.path(), None, None).unwrap_err();
    assert!(sentence.contains("has no log") && sentence.contains("--full-logfile"), "{sentence}");
    assert!(report(&folder.path().join("none"), None, None).unwrap_err().contains("cannot read the folder"));
}

#[test]
fn the_first_sentence_has_the_ratios_of_the_tables() {
    let folder = folder();
    let case = ["\"4MB\"", "\"256B\""];
    let ratios = [
        ratio("gantry", "zenoh", case[0], "latency", [0.5, 0.4, 0.625], "better"),
        ratio("gantry", "ecal", case[0], "latency", [0.25, 0.2, 0.3], "better"),
        ratio("gantry", "udp", case[0], "latency", [0.7, 0.6, 0.8], "better"),
        ratio("gantry", "<i>", case[0], "latency", [0.9, 0.8, 1.1], "no difference shown"),
        ratio("gantry", "iceoryx2", case[0], "latency", [2.0, 1.25, 4.0], "worse"),
        ratio("gantry", "memcpy", case[0], "latency", [3.0, 2.5, 4.0], "worse"),
        ratio("gantry", "zenoh", case[0], "cpu", [0.1, 0.1, 0.1], "better"),
        ratio("gantry", "zenoh", case[1], "latency", [0.1, 0.05, 0.2], "too few rounds to say"),
    ];
    let text = format!(r#"{{"schema": "gantry.perf_test.versus/1", "ratios": [{}]}}"#, ratios.join(", "));
    std::fs::write(folder.path().join("more/versus.json"), text).unwrap();
    let [page, _] = written(&folder);
    let sentences = page.split_once("<ul class=\"headlines\">").unwrap().1.split_once("</ul>").unwrap().0;
    assert!(
        sentences.trim_start().starts_with(
            "<li data-experiment=\"more\">4MB: gantry is 2.00 × [1.60, 2.50] faster than zenoh, and faster than ecal; \
         iceoryx2 is 2.00 × [1.25, 4.00] faster than gantry; no difference to &lt;i&gt; is shown.</li>\n\
         <li data-experiment=\"more\">256B: too few runs to say more of gantry beside zenoh.</li>"
        ),
        "{sentences}"
    );
    // No sentence mentions a baseline, and the tables mark baselines.
    assert!(page.contains("memcpy (baseline)") && page.contains("udp (baseline)"));
    assert_eq!(data(&page)["first"], "more", "the experiment with the ratios is not chosen first");
}

#[test]
fn without_ratios_the_first_sentence_compares_the_largest_messages() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..6 {
        for (name, ms) in [("gantry", 1), ("other", 3), ("gantry-small", 9)] {
            let path = folder.path().join(format!("{name}-{round}.json"));
            let message = if name == "gantry-small" { ("Array1k", 1024) } else { LARGE };
            log(&path, message, "", ms * 1_000_000 + round * 1000, true);
            if name == "other" {
                let mut other: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
                other["run"]["spec"]["communicator"] = "other".into();
                std::fs::write(path, other.to_string()).unwrap();
            }
        }
    }
    let [page, _] = written(&folder);
    let (_, sentence) = page.split_once("4 MiB messages: Gantry is ").expect("no sentence on the largest message");
    let (factor, rest) = sentence.split_once(" × [").unwrap();
    assert!((2.9..3.1).contains(&factor.parse::<f64>().unwrap()), "{factor}");
    assert!(rest.split_once("] ").unwrap().1.starts_with("faster than other.</li>"), "{rest:.60}");
}

#[test]
fn runs_of_experiments_and_forms_of_contestants_are_no_group() {
    let folder = folder();
    for name in ["one/gantry-round1", "one/gantry_best-round1", "two/gantry-round1"] {
        let path = folder.path().join(name).with_extension("json");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path.with_file_name("environment.json"), "{}").unwrap();
        log(&path, LARGE, "", 1_000_000, true);
    }
    let found = Folder::read(folder.path()).unwrap();
    let groups = Groups::new(&found.runs);
    let shown: Vec<_> = groups
        .groups
        .iter()
        .filter(|group| !group.experiment().is_empty())
        .map(|group| (group.experiment(), groups.series[group.series].label.as_str(), group.runs.len()))
        .collect();
    assert_eq!(shown, [("one", "Gantry", 1), ("two", "Gantry", 1), ("one", "Gantry:best", 1)]);
    let [page, table] = written(&folder);
    assert!(data(&page)["experiments"] == serde_json::json!(["one", "two"]));
    assert!(page.contains(">Gantry:best</a>") && table.contains("| Gantry:best, "), "{table}");
}
