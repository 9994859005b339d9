use super::*;
use crate::cli::{Command, Question};
use crate::experiments::batch::{Shortfall, ShortfallKind};
use crate::experiments::results_file::RunResults;
use crate::experiments::sweep::{MATRIX, SIZES, TYPES, combination::log_name};
use crate::log::figures::{LOST, P50, Values};
use perf_worker::run_spec::RunSpec;

/// The planned runs of a matrix with these arguments.
fn runs_of(line: &str) -> Result<Vec<PlannedRun>, String> {
    runs(&MATRIX, plan(line)?, false)
}

/// The options of the first run that a matrix with these arguments has.
fn spec(line: &str) -> Result<RunSpec, String> {
    runs_of(line)?.remove(0).spec
}

fn plan(line: &str) -> Result<Vec<Combination>, String> {
    let cli = cli::parse(format!("perf_test sweep matrix {line}").split_whitespace().map(Into::into)).unwrap();
    match cli.command {
        Some(Command::Sweep(Question::Matrix(options))) => {
            planned(&MATRIX, options.file.as_deref(), &options.sweep.axes)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn lists_give_every_combination_with_the_contestants_varying_fastest() {
    let found = plan("-m Array1k,Array4m -r 100,1000 -s 1,3 -c gantry,Mock").unwrap();
    assert_eq!(found.len(), 16);
    let lines: Vec<String> =
        found.iter().map(|one| format!("{} {}", one.contestant, one.arguments().join(" "))).collect();
    assert_eq!(lines[0], "gantry --warmup=1 --max-runtime=3 --msg=Array1k --num-sub-threads=1 --rate=100");
    assert_eq!(lines[1], "Mock --warmup=1 --max-runtime=3 --msg=Array1k --num-sub-threads=1 --rate=100");
    assert_eq!(lines[15], "Mock --warmup=1 --max-runtime=3 --msg=Array4m --num-sub-threads=3 --rate=1000");
    let spec = runs(&MATRIX, found, false).unwrap().pop().unwrap().spec.unwrap();
    assert_eq!((spec.message.name.as_str(), spec.subscriptions, spec.rate_hz), ("Array4m", 3, 1000));
    assert_eq!(plan("-c all").unwrap()[0].contestant, "gantry");
}

#[test]
fn options_beside_a_file_replace_its_keys_and_equal_runs_are_one() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "experiments:\n- msg: [Array1k, Array4k]\n  com_mean: FastRTPS\n- msg: Array4k\n")
        .unwrap();
    let path = file.path().display();
    assert_eq!(plan(&path.to_string()).unwrap().len(), 3);
    let found = plan(&format!("{path} -c Gantry --max-runtime 2 --ignore 0 --keep-last")).unwrap();
    assert_eq!(found.len(), 2);
    let spec = runs(&MATRIX, found, false).unwrap().remove(1).spec.unwrap();
    assert_eq!((spec.message.name.as_str(), spec.max_runtime_s, spec.ignore_s, spec.warmup_s), ("Array4k", 2, 0, 0));
    assert_eq!(spec.qos.to_string(), "RELIABLE, VOLATILE, KEEP_LAST 16");
}

#[test]
fn wrong_values_are_errors_and_refusals_are_rows() {
    let error = |line: &str| runs_of(line).err().unwrap_or_default();
    for (line, words) in [
        ("-r 100,fast", ""),
        ("no-such-file.yaml", "cannot read no-such-file.yaml"),
        ("--max-runtime 0", "give --max-runtime 1 or more"),
        ("-o csv", "give --results DIR"),
        ("--msg-list", "perf_test list"),
        ("-m ,", "--msg has no value"),
    ] {
        assert!(error(line).contains(words), "{line}: {}", error(line));
    }
    let wrong = error("-r 100,fast");
    assert!(wrong.contains("--rate=fast") && wrong.contains("give a whole number from 0"), "{wrong}");
    let many: Vec<String> = (1..400).map(|n| n.to_string()).collect();
    assert!(plan(&format!("-r {0} --history-depth {0}", many.join(","))).unwrap_err().contains("more than 100000"));
    for (line, words) in [("-c Nothing", "there is no communicator"), ("-m Arry1k", "there is no message `Arry1k`")] {
        let refused = spec(line).err().unwrap();
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn a_long_name_of_a_log_is_shortened_and_stays_its_own() {
    let name = |value: &str| log_name(&vec![format!("--set=name={value}"); 20]).display().to_string();
    assert!(name("abcdef1").len() < 200 && name("abcdef1") != name("abcdef2"));
    assert_eq!(
        log_name(&["--msg=Array1k".to_owned(), "--late=5%,5ms".to_owned()]).to_str(),
        Some("msg=Array1k_late=5__5ms")
    );
}

#[test]
fn the_table_has_a_column_for_each_option_that_varies() {
    let figures = Values::known([(&P50, 5e3), (&LOST, 7.0)]);
    let refused = Shortfall {
        contestant: String::new(),
        title: String::new(),
        log: String::new(),
        kind: ShortfallKind::Refused,
        sentence: "no such rate".to_owned(),
    };
    let row = |rate: &str, found: RunResults| RunResults {
        contestant: "gantry".to_owned(),
        options: vec![("msg".to_owned(), "Array1k".to_owned()), ("rate".to_owned(), rate.to_owned())],
        ..found
    };
    let runs = vec![
        row("100", RunResults { medians: Some(figures), ..RunResults::default() }),
        row("0", RunResults { shortfall: Some(refused), ..RunResults::default() }),
    ];
    let text = table(&runs, 1, Vec::new()).markdown().join("\n");
    for words in [
        "| contestant | rate | p50 | p99 |",
        "| gantry | 100 | 5.0 µs | - | - | - | - | 7 |",
        "| gantry | 0 | refused [1] |",
        "- all runs: msg Array1k",
        "- [1] no such rate",
    ] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
}

#[test]
fn presets_have_defaults_that_options_replace() {
    let of = |preset: &Preset, given: &[Axis]| runs(preset, planned(preset, None, given).unwrap(), false).unwrap();
    let sizes = of(&SIZES, &[]);
    assert_eq!(sizes.len(), 11 * 2 * 2);
    let spec = sizes[3].spec.clone().unwrap();
    assert_eq!((spec.message.name.as_str(), spec.strategy), ("Array1k", perf_worker::run_spec::Strategy::InterThread));
    assert_eq!((spec.settings["publishing"].as_str(), spec.rate_hz, spec.qos.depth), ("async", 1000, 10));
    let name = "sizes/gantry/msg=Array1k_execution-strategy=INTER_THREAD_publishing=async";
    assert_eq!(sizes[3].log.to_str(), Some(name));
    let value = |option: &str, value: &str| Axis::of_values(option, [value.to_owned()]);
    let types = of(&TYPES, &[value("rate", "50"), value("unbounded-msg-size", "100"), value("message-layout", "1.x")]);
    assert!(types.len() > 20 && types.iter().all(|run| run.spec.as_ref().unwrap().rate_hz == 50));
    for (names, words) in [("Nothing", "there is no communicator"), ("Mock,mock", "the contestant mock twice")] {
        let axis = Axis::of_values("communicator", names.split(',').map(str::to_owned));
        assert!(planned(&TYPES, None, &[axis]).err().unwrap().contains(words), "{names}");
    }
}
