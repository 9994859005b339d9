//! Tests of a worker program in C. They compile the example `examples/c_backend`; without a C compiler they are
//! ignored.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use perf_test::log::{Log, Summary};
use serde_json::Value;
use tempfile::TempDir;
use test_support::{built_archive, compile, missing_compiler};

use crate::program::said;

test_support::tests!(
    every_message_arrives_whole_and_in_order,
    several_of_each_in_one_process_and_apart,
    messages_come_back_from_a_relay,
    sentences_from_c_reach_the_user,
    a_topology_needs_executors,
    only_perf_test_starts_the_program,
    the_example_does_as_it_declares
);

/// The reason why these tests are ignored; `None` if they can run.
pub fn why_not() -> Option<String> {
    missing_compiler("cc", "c")
}

/// The folder with the compiled example.
static EXAMPLE: LazyLock<TempDir> = LazyLock::new(|| {
    let (folder, root) = (tempfile::tempdir().unwrap(), Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let source = root.join("examples/c_backend/perf_test_example.c");
    let include = format!("-I{}", root.join("crates/perf-worker-c/include").display());
    let archive = built_archive("perf_worker_c");
    let options = ["-std=gnu11", "-O2", &include, archive.to_str().unwrap(), "-lpthread", "-ldl", "-lm"];
    let compiled = compile("cc", &source, &folder.path().join("perf_test_example"), &options);
    compiled.unwrap_or_else(|messages| panic!("{messages}"));
    folder
});

/// Runs `perf_test -c example`. Each call uses another domain.
fn example(options: &str) -> Output {
    perf_test(&format!("-c example --history KEEP_ALL --reliable {options}"))
}

fn perf_test(options: &str) -> Output {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let domain = (std::process::id() + 20 * NEXT.fetch_add(1, Ordering::Relaxed)) % 233;
    let path = format!("{}:{}", EXAMPLE.path().display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_perf_test"));
    command.args(options.split_whitespace()).args(["--dds-domain-id", &domain.to_string()]);
    command.env("PATH", path).output().unwrap()
}

/// Runs `perf_test`, asserts that it succeeds, and reads the results.
#[track_caller]
fn measure(options: &str) -> Summary {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.json");
    let output = example(&format!("{options} --full-logfile {}", log.display()));
    assert!(output.status.success(), "{options}: {}", said(&output));
    Log::read(&log).unwrap().summary.unwrap()
}

fn every_message_arrives_whole_and_in_order() {
    for options in ["-m Array1k --wait block", "-m Array64k -e INTRA_THREAD", "-m Stamped10b --wait spin"] {
        let summary = measure(&format!("{options} -r 200 --max-runtime 1 --touch full"));
        let (sent, received) = (&summary.total.sent, &summary.total.received);
        assert!(sent.samples > 0 && received.samples == sent.samples && summary.lost == 0, "{options}: {summary:?}");
        let faults = [received.reordered, received.duplicates, received.corrupt, received.negative, received.missed];
        assert_eq!((faults, received.refused, sent.refused), ([0; 5], 0, 0), "{options}: {received:?}");
        assert_eq!([summary.total.latency.n, summary.total.response.n], [sent.samples; 2], "{options}");
    }
}

fn several_of_each_in_one_process_and_apart() {
    for strategy in ["INTER_PROCESS", "INTER_THREAD"] {
        let summary = measure(&format!("-e {strategy} -p 2 -s 2 -r 100 --max-runtime 1 --touch full"));
        let (sent, received) = (&summary.total.sent, &summary.total.received);
        assert!(
            sent.samples > 0 && received.samples == 2 * sent.samples && summary.lost == 0,
            "{strategy}: {summary:?}"
        );
        // The subscription distinguishes the two publishers, and computes the latency from the due time with the phase
        // of each publisher.
        assert_eq!((received.missed, received.duplicates, received.corrupt), (0, 0, 0), "{strategy}: {received:?}");
        assert_eq!(summary.total.response.n, received.samples, "{strategy}");
    }
}

fn messages_come_back_from_a_relay() {
    let summary = measure("--roundtrip-mode Both -r 100 --max-runtime 1 --touch full");
    let (sent, received) = (&summary.total.sent, &summary.total.received);
    assert!(sent.samples > 0 && received.samples == sent.samples, "{summary:?}");
    assert_eq!((summary.lost, received.corrupt), (0, 0), "{received:?}");
}

fn sentences_from_c_reach_the_user() {
    for (options, words) in [
        ("-m Array4m", "the example moves at most 131072 bytes and not Array4m: use -m Array64k or a smaller one"),
        ("--zero-copy", "example has no --zero-copy, because it copies messages in and out: leave out --zero-copy"),
        (
            "--check-memory",
            "--check-memory counts the allocations of Rust alone, and example is not Rust: leave out --check-memory",
        ),
    ] {
        let output = example(&format!("{options} -r 100 --max-runtime 1"));
        assert!(!output.status.success() && said(&output).contains(words), "{options}: {}", said(&output));
    }
}

fn a_topology_needs_executors() {
    let output = perf_test("topology pub_sub_10b -c example");
    let said = said(&output);
    let words = "example has no executors, in which the nodes of a topology run: give -c Gantry or -c ";
    assert!(output.status.code() == Some(2) && said.contains(words), "{said}");
}

fn only_perf_test_starts_the_program() {
    let page = include_str!("../../../../docs/internals/worker-protocol.md");
    let plan = page.lines().find_map(|line| line.strip_prefix("-> ").filter(|line| line.contains("\"spec\""))).unwrap();
    let spec = serde_json::from_str::<Value>(plan).unwrap()["spec"].to_string();
    for (arguments, code, words) in [
        (&["check", &spec][..], 0, r#"{"daemons":[]}"#),
        (&["describe"], 0, r#""version":"1.0""#),
        (&["clean-up", "nothing"], 1, "install both programs from one version"),
        (&[], 2, "only perf_test starts perf_test_example: run `perf_test -c example`"),
        (&["sing"], 2, "only perf_test starts perf_test_example"),
    ] {
        let output = Command::new(EXAMPLE.path().join("perf_test_example")).args(arguments).output().unwrap();
        assert!(
            output.status.code() == Some(code) && said(&output).contains(words),
            "{arguments:?}: {}",
            said(&output)
        );
    }
}

fn the_example_does_as_it_declares() {
    let output = perf_test("check -c example");
    let said = said(&output);
    assert!(output.status.success() && said.contains(" ok, 0 failed, 5 not declared\n"), "{said}");
    for name in ["every Array64k", "round trip", "late join, VOLATILE", "matching", "killed publisher"] {
        assert!(said.contains(&format!("\nok            {name}: ")), "{name}: {said}");
    }
    // A refusal names the option that is refused.
    assert!(said.contains("--durability TRANSIENT_LOCAL is refused: example has no --durability"), "{said}");
}
