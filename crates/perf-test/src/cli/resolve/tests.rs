//! What commands of both generations of performance_test mean, and what wrong ones are told.

use std::ffi::OsString;

use super::*;
use crate::cli::{Command, Question, parse};
use crate::experiment::Strategy;

fn run(line: &str) -> Result<(Experiment, Outputs), String> {
    let arguments = line.split_whitespace().map(OsString::from);
    let cli = parse(std::iter::once(OsString::from("perf_test")).chain(arguments)).map_err(|e| e.to_string())?;
    let resolved = match cli.command {
        Some(Command::Experiment(Question::ZeroCopy(options))) => resolve(&options, Defaults::ZeroCopyExperiment),
        Some(Command::Worker { .. } | Command::System(_)) => panic!("no run"),
        None => resolve(&cli.options, Defaults::Run),
    };
    resolved.map_err(|failure| {
        assert_eq!(failure.exit_code(), 2);
        failure.to_string()
    })
}

fn refused(line: &str) -> String {
    run(line).expect_err(line)
}

#[test]
fn both_generations_spell_the_same_run() {
    let lines = [
        "-p 2 -s 3 --reliable --transient --keep-last --history-depth 10 --max-runtime 30 --dds-domain-id 7 -m Array4m",
        "--num_pub_threads 2 --num_sub_threads 3 --reliable --transient --keep_last --history_depth 10 \
         --max_runtime 30 --dds_domain_id 7 --msg Array4m",
        "--num-pub-threads 2 --num-sub-threads 3 --reliability RELIABLE --durability TRANSIENT_LOCAL \
         --history KEEP_LAST --history-depth 10 --max-runtime 30 --dds-domain_id 7 -m Array4m",
        "-p 2 -s=3 --reliability reliable --durability Transient_Local --history keep_last --history-depth=10 \
         --max-runtime=30 --dds-domain-id=7 --msg array4M --message-layout 2.X -e inter_process",
    ];
    let (expected, outputs) = run(lines[0]).unwrap();
    assert_eq!((expected.publishers, expected.subscriptions, expected.domain_id), (2, 3, 7));
    assert_eq!((expected.max_runtime_s, expected.history_depth, expected.rate_hz), (30, 10, 1000));
    assert_eq!(expected.durability, Durability::TransientLocal);
    assert_eq!(outputs, Outputs { console: true, csv: None, json: None, log_named_here: false });
    for line in &lines[1..] {
        assert_eq!(run(line).unwrap().0, expected, "{line}");
    }
}

#[test]
fn the_commands_of_the_zero_copy_documentation_mean_what_they_say() {
    let line = "--reliable --keep-last --history-depth 10 -s 1 -m Array4m -r 100 --max-runtime 30";
    let (copy, _) = run(line).unwrap();
    assert_eq!((copy.rate_hz, copy.message_bytes, copy.zero_copy), (100, 4_194_304, false));
    assert_eq!(copy.reliability, Reliability::Reliable);
    let (zero_copy, _) = run(&format!("--zero-copy {line}")).unwrap();
    assert_eq!(zero_copy, Experiment { zero_copy: true, ..copy.clone() });
    assert_eq!(run(&format!("--loaned-samples {line}")).unwrap().0, zero_copy);
    // The experiment's defaults are the same run.
    assert_eq!(run("experiment zero-copy").unwrap().0, copy);
    assert_eq!(run("experiment zero-copy -r 50").unwrap().0, Experiment { rate_hz: 50, ..copy });
}

#[test]
fn defaults_follow_the_generation() {
    let (run_2, _) = run("").unwrap();
    assert_eq!((run_2.message.as_str(), run_2.message_bytes, run_2.rate_hz), ("Array128", 128, 1000));
    assert_eq!((run_2.topic.as_str(), run_2.history_depth, run_2.max_runtime_s), ("test_topic", 16, 0));
    assert_eq!((run_2.reliability, run_2.strategy), (Reliability::BestEffort, Strategy::InterProcess));
    let (run_1, _) = run("--message-layout 1.x").unwrap();
    assert_eq!((run_1.message.as_str(), run_1.message_bytes), ("Array1k", 1040));
}

#[test]
fn the_unbounded_size_is_zero_if_it_is_not_given() {
    for (line, bytes, message_bytes) in [
        ("-m UnboundedSequence", 0, 24),
        ("-m unboundedsequence --unbounded_msg_size 8", 8, 32),
        ("-m stamped_vector --unbounded-msg-size=6", 6, 30),
    ] {
        let (run, _) = run(line).unwrap();
        assert_eq!((run.unbounded_bytes, run.message_bytes), (bytes, message_bytes), "{line}");
    }
}

#[test]
fn outputs_are_chosen_by_kind_name_and_suffix() {
    let outputs = |line| run(line).unwrap().1;
    assert_eq!(
        outputs("-l a.csv"),
        Outputs { console: true, csv: Some("a.csv".into()), json: None, log_named_here: false }
    );
    assert_eq!(
        outputs("-o csv -l a.CSV"),
        Outputs { console: false, csv: Some("a.CSV".into()), json: None, log_named_here: false }
    );
    assert_eq!(
        outputs("-o STDOUT --json-logfile b.json --csv_logfile a"),
        Outputs { console: true, csv: Some("a".into()), json: Some("b.json".into()), log_named_here: false }
    );
    assert_eq!(outputs("-o none"), Outputs::default());
    // As in performance_test 1.x.
    assert_eq!(outputs("-l run1").csv, Some("run1".into()));
    let named = outputs("-o json --print-to-console -t /a/b").json.unwrap();
    assert!(named.to_str().unwrap().starts_with("a_b_") && named.extension().unwrap() == "json", "{named:?}");
}

#[test]
fn contradictions_are_named() {
    for (line, words) in [
        ("--reliable --reliability BEST_EFFORT", ["--reliable", "BEST_EFFORT"]),
        ("--transient --durability VOLATILE", ["--transient", "VOLATILE"]),
        ("--keep-last --history KEEP_ALL", ["--keep-last", "KEEP_ALL"]),
        ("-p 0 -s 0", ["-p 0", "-s 0"]),
        ("--ignore 30 --max-runtime 30", ["--ignore 30", "--max-runtime 30"]),
        ("-o none -o csv", ["-o none", "contradicts"]),
        ("-l a.csv --csv-logfile b.csv", ["--logfile a.csv", "--csv-logfile"]),
        ("--csv-logfile a --json-logfile a", ["--csv-logfile", "--json-logfile"]),
        ("--csv-logfile a.x --json-logfile ./a.x", ["a.x and", "./a.x name the same file"]),
        ("-l a --json-logfile src/../a", ["--csv-logfile a", "the same file"]),
        ("experiment zero-copy --zero-copy", ["experiment zero-copy", "--zero-copy"]),
        ("experiment zero-copy --max-runtime 0", ["experiment zero-copy", "--max-runtime"]),
        ("-l log.txt", [".csv", ".json"]),
        ("-m Array4m --unbounded-msg-size 10", ["--unbounded-msg-size 10", "Array4m always has 4194304 bytes"]),
        ("-m BoundedSequence1k --unbounded-msg-size 0", ["does not apply", "UnboundedSequence"]),
        ("--unbounded-msg-size 10", ["does not apply", "Array128"]),
    ] {
        let sentence = refused(line);
        assert!(words.iter().all(|word| sentence.contains(word)), "{line}: {sentence}");
    }
}

#[test]
fn what_is_out_of_range_is_told_the_range() {
    for (line, range) in [
        ("-r 1000001", "from 0 to 1000000"),
        ("-r -5", "from 0 to 1000000"),
        ("-r 1.5", "from 0 to 1000000"),
        ("--history-depth 0", "from 1 to 1000000"),
        ("--history-depth 1x", "from 1 to 1000000"),
        ("-s 1001", "from 0 to 1000"),
        ("-s -1", "from 0 to 1000"),
        ("-p 65", "from 0 to 64"),
        ("--dds-domain-id 233", "from 0 to 232"),
        ("--max-runtime -1", "from 0 to 1000000000"),
        ("--ignore 1s", "from 0 to 1000000000"),
        ("-m UnboundedString --unbounded-msg-size 1073741825", "from 0 to 1073741824"),
        ("-m UnboundedString --unbounded-msg-size 1k", "from 0 to 1073741824"),
    ] {
        let sentence = refused(line);
        assert!(sentence.contains(range), "{line}: {sentence}");
    }
}

#[test]
fn what_is_misspelt_is_told_the_nearest() {
    for (line, nearest) in [
        ("-m Aray4m", "`Array4m`"),
        ("--reliability RELIABEL", "'RELIABLE'"),
        ("--max-runtim 3", "'--max-runtime'"),
        ("experiment zero-cpy", "'zero-copy'"),
        ("-e INTER_PROCES", "'INTER_PROCESS'"),
    ] {
        let sentence = refused(line);
        assert!(sentence.contains(nearest), "{line}: {sentence}");
    }
}
