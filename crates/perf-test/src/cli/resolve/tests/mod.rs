//! Tests of the runs that result from command lines, and of the errors of wrong command lines.

mod generations;

use std::ffi::OsString;

use super::*;
use crate::cli::parse;
use crate::report::outputs::Tables;
use perf_worker::run_spec::{Roundtrip, Strategy, Touch};

fn run(line: &str) -> Result<Resolved, String> {
    let arguments = line.split_whitespace().map(OsString::from);
    let cli = parse(std::iter::once(OsString::from("perf_test")).chain(arguments)).map_err(|e| e.to_string())?;
    let resolved = match cli.command {
        None => resolve(&cli.options),
        Some(_) => panic!("no run"),
    };
    resolved.map_err(|failure| {
        assert_eq!(failure.exit_code(), 2);
        failure.to_string()
    })
}

fn refused(line: &str) -> String {
    run(line).expect_err(line)
}

fn unpacked(line: &str) -> (RunSpec, Outputs) {
    let resolved = run(line).unwrap_or_else(|sentence| panic!("{line}: {sentence}"));
    (resolved.spec, resolved.outputs)
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
    let (expected, outputs) = unpacked(lines[0]);
    assert_eq!((expected.publishers, expected.subscriptions, expected.domain_id), (2, 3, 7));
    assert_eq!((expected.max_runtime_s, expected.qos.depth, expected.rate_hz), (30, 10, 1000));
    assert_eq!(expected.qos.durability, Durability::TransientLocal);
    assert_eq!(outputs, Outputs { console: true, ..Outputs::default() });
    for line in &lines[1..] {
        assert_eq!(unpacked(line).0, expected, "{line}");
    }
}

#[test]
fn the_commands_of_the_zero_copy_documentation_mean_what_they_say() {
    let line = "--reliable --keep-last --history-depth 10 -s 1 -m Array4m -r 100 --max-runtime 30";
    let (copy, _) = unpacked(line);
    assert_eq!((copy.rate_hz, copy.message.bytes, copy.zero_copy), (100, 4_194_304, false));
    assert_eq!(copy.qos.reliability, Reliability::Reliable);
    let (zero_copy, _) = unpacked(&format!("--zero-copy {line}"));
    assert_eq!(zero_copy, RunSpec { zero_copy: true, ..copy.clone() });
    assert_eq!(unpacked(&format!("--loaned-samples {line}")).0, zero_copy);
}

#[test]
fn defaults_follow_the_generation() {
    let (run_2, _) = unpacked("");
    assert_eq!((run_2.message.name.as_str(), run_2.message.bytes, run_2.rate_hz), ("Array128", 128, 1000));
    assert_eq!((run_2.topic.as_str(), run_2.qos.depth, run_2.max_runtime_s), ("test_topic", 16, 0));
    assert_eq!((run_2.qos.reliability, run_2.strategy), (Reliability::BestEffort, Strategy::InterProcess));
    let (run_1, _) = unpacked("--message-layout 1.x");
    assert_eq!((run_1.message.name.as_str(), run_1.message.bytes), ("Array1k", 1040));
}

#[test]
fn the_unbounded_size_is_zero_if_it_is_not_given() {
    for (line, bytes, message_bytes) in [
        ("-m UnboundedSequence", 0, 24),
        ("-m unboundedsequence --unbounded_msg_size 8", 8, 32),
        ("-m stamped_vector --unbounded-msg-size=6", 6, 30),
    ] {
        let (run, _) = unpacked(line);
        assert_eq!((run.message.unbounded_bytes, run.message.bytes), (bytes, message_bytes), "{line}");
    }
}

#[test]
fn outputs_are_chosen_by_kind_name_and_suffix() {
    let outputs = |line| unpacked(line).1;
    assert_eq!(outputs("-l a.csv"), Outputs { console: true, csv: Some("a.csv".into()), ..Outputs::default() });
    assert_eq!(outputs("-o csv -l a.CSV"), Outputs { csv: Some("a.CSV".into()), ..Outputs::default() });
    assert_eq!(
        outputs("-o STDOUT --json-logfile b.json --csv_logfile a"),
        Outputs { console: true, csv: Some("a".into()), json: Some("b.json".into()), ..Outputs::default() }
    );
    assert_eq!(outputs("-o none"), Outputs::default());
    // A log without a suffix is CSV, as in performance_test 1.x.
    assert_eq!(outputs("-l run1").csv, Some("run1".into()));
    assert_eq!(outputs("-l a.csv --disable-logging"), Outputs { csv: Some("a.csv".into()), ..Outputs::default() });
    assert_eq!(outputs("--tables 2.x").tables, Tables::V2);
    let named = outputs("-o json --print-to-console -t /a/b").json.unwrap();
    assert!(named.to_str().unwrap().starts_with("a_b_") && named.extension().unwrap() == "json", "{named:?}");
}

#[test]
fn a_plot_has_a_log_of_its_own_beside_the_one_that_is_asked_for() {
    let full = |line| {
        let outputs = unpacked(line).1;
        assert!(outputs.plot, "{line}");
        outputs.full.unwrap().to_str().unwrap().to_owned()
    };
    assert_eq!(full("--plot -l x/run1.csv"), "x/run1.full.json");
    assert_eq!(full("--plot --json-logfile run1.json"), "run1.full.json");
    assert_eq!(full("--plot --full-logfile other.json -l run1.csv"), "other.json");
    let named = full("--plot");
    assert!(named.starts_with("test_topic_") && named.ends_with(".full.json"), "{named}");
    assert_eq!(unpacked("-l run1.csv").1.full, None);
}

#[test]
fn options_that_performance_test_does_not_have_resolve() {
    let (run, _) = unpacked(
        "--wait block --touch full --warmup 2 --pin 3,0 --late 20%,5ms --too-late 1s -m Array64 --roundtrip-mode both -r 10",
    );
    let expected = RunSpec {
        wait: Wait::Block,
        touch: Touch::Full,
        warmup_s: 2,
        pins: vec![3, 0],
        late_above_ns: Some(5_000_000),
        too_late_above_ns: Some(1_000_000_000),
        roundtrip: Roundtrip::Both,
        ..unpacked("-m Array64 -r 10").0
    };
    assert_eq!(run, expected);
}

#[test]
fn a_run_is_not_repeated_unless_that_is_asked_for() {
    assert_eq!((run("").unwrap().runs, run("--runs 5").unwrap().runs), (1, 5));
}

#[test]
fn options_without_effect_are_noted() {
    for (line, words) in [
        ("--history KEEP_ALL --history-depth 10", "--history-depth 10 has no effect"),
        ("--expected-num-pubs 1 -s 0", "--expected-num-pubs 1 has no effect"),
        ("--expected-num-subs 1 -p 0", "--expected-num-subs 1 has no effect"),
        ("--wait block -e INTRA_THREAD", "--wait block has no effect"),
        ("--no_waitset -s 0", "--no-waitset has no effect"),
        ("--touch full -m UnboundedString --unbounded-msg-size 9", "--touch full has no effect: UnboundedString has"),
        ("--touch page -m NavSatFix --message-layout 1.x", "NavSatFix has no payload that could stay untouched"),
    ] {
        let heading_notes = unpacked(line).0.heading_notes;
        assert!(heading_notes.len() == 1 && heading_notes[0].contains(words), "{line}: {heading_notes:?}");
    }
    assert_eq!(unpacked("--wait block --roundtrip-mode Relay").0.heading_notes, Vec::<String>::new());
}

#[test]
fn messages_whose_memory_may_surprise_are_noted() {
    let notes = unpacked("-m UnboundedSequence --unbounded-msg-size 268435456 -s 2").0.heading_notes;
    assert!(notes.len() == 1 && notes[0].contains("256 MiB"), "{notes:?}");
    assert!(notes[0].contains("hold up to 19: 4.8 GiB"), "{notes:?}");
    assert!(unpacked("-m Array8m").0.heading_notes.is_empty());
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
        ("-l log.txt", [".csv", ".json"]),
        ("-m Array4m --unbounded-msg-size 10", ["--unbounded-msg-size 10", "Array4m always has 4194304 bytes"]),
        ("-m BoundedSequence1k --unbounded-msg-size 0", ["does not apply", "UnboundedSequence"]),
        ("--unbounded-msg-size 10", ["does not apply", "Array128"]),
        ("--csv-logfile a --full-logfile a", ["--csv-logfile a", "--full-logfile a name the same file"]),
        ("--disable-logging -o stdout", ["--disable-logging", "-o stdout"]),
        ("--no-waitset --wait block", ["--no-waitset means --wait spin", "--wait block"]),
        ("--use-drive-px-rt --use-rt-prio 6", ["--use-drive-px-rt means", "different --use-rt-prio"]),
        ("--use-drive-px-rt --use-rt-cpus 1", ["--use-drive-px-rt means", "different --use-rt-cpus"]),
        ("-p 2 --roundtrip-mode Main", ["exactly one publisher and one subscription", "leave out -p 2"]),
        ("-s 0 --roundtrip-mode Both", ["exactly one publisher and one subscription", "leave out -s 0"]),
        ("-p 2 -s 3 --roundtrip-mode Service", ["give their number with -p", "leave out -s"]),
        ("-p 0 --roundtrip-mode Service", ["give their number with -p", "at least 1"]),
        ("-r 0 --roundtrip-mode Service", ["without waiting for responses", "give -r 1 or more"]),
        ("-e INTRA_THREAD --roundtrip-mode Service", ["-e INTRA_THREAD contradicts", "--roundtrip-mode Service"]),
        ("--roundtrip-mode Service --reliability BEST_EFFORT", ["services of Gantry are reliable", "leave out"]),
        ("--roundtrip-mode Service --transient", ["keep nothing", "leave out --durability TRANSIENT_LOCAL"]),
        ("--roundtrip-mode Service --wait block", ["the middleware's own way", "leave out --wait block"]),
        ("--roundtrip-mode Service --publishing async", ["on the calling thread", "leave out --publishing async"]),
        (
            "--roundtrip-mode Service -c mock --mock push",
            ["Mock has no services", "leave out --roundtrip-mode Service"],
        ),
        ("--work 1ms -s 0", ["--work does not apply", "no subscription"]),
        ("--work 1ms --roundtrip-mode Main", ["belongs to another program", "give --work there"]),
        ("-p 2 -s 3 --roundtrip-mode Relay", ["no publishers of its own", "leave out -p 2 -s 3"]),
        ("-e INTRA_THREAD -p 2", ["INTRA_THREAD needs one publisher", "-p 2 -s 1"]),
        ("-e INTRA_THREAD -s 0", ["INTRA_THREAD needs", "-p 1 -s 0"]),
        ("-e INTRA_THREAD --roundtrip-mode Main", ["-e INTRA_THREAD contradicts", "--roundtrip-mode Main"]),
        ("--expected-num-subs 2", ["--expected-num-subs 2 can never be reached", "Give -s 2, or -p 0"]),
        ("-p 2 --expected-num-pubs 3", ["--expected-num-pubs 3 can never be reached", "-p is 2"]),
        ("--late 10ms --too-late 5ms -r 10", ["late above 10000000 ns", "too late above 5000000 ns"]),
        ("--late 20% -r 0", ["--late in percent", "-r 0"]),
        ("--require p95<1ms", ["`p95` cannot be required", "p99.99, max"]),
        ("--mock lose=10", ["--mock does not apply to Gantry", "-c Mock"]),
        ("-c Mock --shared-memory", ["--shared-memory does not apply to Mock", "leave out --shared-memory"]),
    ] {
        let sentence = refused(line);
        assert!(words.iter().all(|word| sentence.contains(word)), "{line}: {sentence}");
    }
}

#[test]
fn an_error_names_the_range() {
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
        ("--warmup -1", "from 0 to 1000000000"),
        ("--runs 0", "from 1 to 1000"),
        ("--use-rt-prio 100", "from 0 to 99"),
        ("--expected-num-subs 1001", "from 0 to 1000"),
        ("--use-rt-cpus 1,3", "10 is CPUs 1 and 3"),
        ("--pin 1-3", "as 2,3"),
        ("--late 5", "as 25%,5ms"),
        ("-m UnboundedString --unbounded-msg-size 1073741824", "from 0 to 1072693248"),
        ("-m UnboundedString --unbounded-msg-size 1k", "from 0 to 1072693248"),
    ] {
        let sentence = refused(line);
        assert!(sentence.contains(range), "{line}: {sentence}");
    }
}

#[test]
fn an_error_names_the_nearest_spelling() {
    for (line, nearest) in [
        ("-m Aray4m", "`Array4m`"),
        ("--reliability RELIABEL", "'RELIABLE'"),
        ("--max-runtim 3", "'--max-runtime'"),
        ("sweep zero-cpy", "'zero-copy'"),
        ("-e INTER_PROCES", "'INTER_PROCESS'"),
        ("--wait blok", "'block'"),
        ("-c Gantri", "this program has Gantry and Mock"),
    ] {
        let sentence = refused(line);
        assert!(sentence.contains(nearest), "{line}: {sentence}");
    }
}

#[test]
fn raw_messages_have_the_bytes_of_the_type_and_room_for_time_and_id() {
    let typed = run("-m UnboundedString --unbounded-msg-size 5000 --touch full").unwrap().spec;
    let raw = run("-m UnboundedString --unbounded-msg-size 5000 --touch full --raw").unwrap().spec;
    assert_eq!((raw.raw, raw.message.bytes, raw.message.content), (true, typed.message.bytes, Content::Plain));
    // A string must stay valid, so only its stamp is written. Untyped bytes may have any value.
    assert_eq!((typed.touch, raw.touch), (Touch::Stamp, Touch::Full));
    // The id of the typed message has 32 bits; the id of an untyped message has 64.
    assert_eq!(run("-m Stamped10b --raw").unwrap().spec.message.last_id, u64::MAX);
    let choice = |bytes| MessageChoice {
        name: "Small",
        type_name: "",
        content: Content::Plain,
        bytes,
        payload_bytes: 0,
        last_id: u64::MAX,
    };
    assert_eq!(super::raw(choice(16)).map(|message| message.payload_bytes), Ok(0));
    let sentence = super::raw(choice(15)).unwrap_err();
    assert_eq!(
        sentence,
        "--raw messages begin with time and id, 16 bytes, and Small has 15 bytes: give a larger message"
    );
}
