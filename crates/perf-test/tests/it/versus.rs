//! Tests of `perf_test compare middlewares` with the real program. Contestants that fail have rows, a measurement can
//! be continued in its folder of results, and Ctrl-C keeps the measured runs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use perf_test::log::Log;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Finished, Memory, send};

test_support::tests![
    contestants_that_refuse_crash_or_hang_are_rows_and_the_others_go_on,
    runs_whose_logs_are_there_are_not_repeated,
    a_log_of_other_conditions_is_kept_and_one_of_another_boot_is_not,
    user_mistakes_are_errors_before_a_run,
    an_interrupt_ends_with_what_was_measured,
];

/// The options of a single short case.
const CASE: &str = "-m Array1k -r 200 --max-runtime 1 --warmup 0 --rounds 1";

fn value(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Creates a folder with worker programs. They are shell scripts, and print the mock's description as their own.
fn workers(memory: &Memory, scripts: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let list = memory.run("list --json");
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let mock = list["middlewares"].as_array().unwrap().iter().find(|found| found["name"] == "Mock").unwrap();
    let description = folder.path().join("description.json");
    fs::write(&description, mock["description"].to_string()).unwrap();
    for (name, answers) in scripts {
        let path = folder.path().join(format!("perf_test_{name}"));
        let describe = format!("describe) cat {};;", description.display());
        test_support::write_script(&path, &format!("#!/bin/sh\ncase $1 in {describe} {answers} clean-up) ;; esac\n"));
    }
    folder
}

fn finish(command: &mut Command) -> Finished {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Finished { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn contestants_that_refuse_crash_or_hang_are_rows_and_the_others_go_on() {
    let memory = Memory::new();
    let workers = workers(
        &memory,
        &[
            ("crasher", "check) echo '{\"daemons\":[]}';; worker) kill -SEGV $$;;"),
            ("refuser", "check) echo 'refuser has no Array1k' >&2; exit 1;;"),
        ],
    );
    let results = workers.path().join("results");
    let options = format!("compare middlewares -c refuser,crasher,Mock,Gantry --mock stall=1:100s {CASE} --results");
    let path = std::env::join_paths([workers.path(), Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    let versus = finish(memory.command(&options).arg(&results).env("PATH", path));
    versus.assert_good();
    for words in [
        "| refuser    | -      | -        | refused [1] |",
        "| failed [2] ",
        "| hung [3] ",
        "[3] none of the publishers finished the run; publisher 0",
    ] {
        assert!(versus.stdout.contains(words), "{words:?} is not in {}", versus.everything());
    }
    let told = |name: &str| value(&results.join(format!("Array1k/{name}-round1.failed.json")));
    assert!(told("refuser")["sentence"].as_str().unwrap().ends_with("refuser has no Array1k"), "{}", told("refuser"));
    assert!(told("crasher")["sentence"].as_str().unwrap().contains("signal 11"), "{}", told("crasher"));
    assert!(told("mock")["sentence"].as_str().unwrap().contains("publisher 0 did not finish"), "{}", told("mock"));
    assert_eq!(["refuser", "crasher", "mock"].map(|name| told(name)["kind"].clone()), ["refused", "failed", "hung"]);
    assert!(Log::read(&results.join("Array1k/gantry-round1.json")).unwrap().summary.is_some());
    memory.assert_empty();
}

fn runs_whose_logs_are_there_are_not_repeated() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    let versus = |more: &str| {
        let options = format!("compare middlewares -c Gantry,Mock {CASE} {more} --results {}", results.display());
        let versus = memory.run(&options);
        versus.assert_good();
        versus
    };
    let log = |name: &str| results.join(format!("Array1k/{name}-round1.json"));
    let ids = || ["gantry", "mock"].map(|name| Log::read(&log(name)).unwrap().run.id);
    let first = versus("");
    for line in ["ratio gantry/mock-Array1k-latency ", "ratio gantry/mock-Array1k-cpu ", "ratio gantry/mock-rss "] {
        assert!(first.stdout.lines().any(|said| said.starts_with(line)), "{}", first.everything());
    }
    for file in ["environment.json", "commands.txt", "versus.json", "versus.md", "versus.svg"] {
        assert!(results.join(file).is_file(), "{file}");
    }
    let before = ids();
    // Cuts off the end of the log, as if its run was killed.
    let text = fs::read_to_string(log("mock")).unwrap();
    fs::write(log("mock"), format!("{}]}}", text.split_once("],\n\"summary\"").unwrap().0)).unwrap();
    let second = versus("");
    assert!(second.stderr.contains("run 1 of 2: gantry Array1k: its log is there"), "{}", second.everything());
    let after = ids();
    assert!(before[0] == after[0] && before[1] != after[1], "{before:?} {after:?}");
    let row = |versus: &Finished| versus.stdout.lines().find(|line| line.starts_with("| gantry ")).unwrap().to_owned();
    assert_eq!(row(&first), row(&second));
    versus("--again");
    assert!(ids()[0] != before[0]);
    assert_eq!(fs::read_to_string(results.join("commands.txt")).unwrap().lines().count(), 3);
}

fn a_log_of_other_conditions_is_kept_and_one_of_another_boot_is_not() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("Array1k/mock-round1.json");
    let versus = |more: &str| {
        memory.run(&format!("compare middlewares -c Mock {CASE} {more} --results {}", folder.path().display()))
    };
    versus("").assert_good();
    let first = fs::read_to_string(&log).unwrap();
    let refused = versus("--work 5us");
    assert_eq!(refused.status.code(), Some(2), "{}", refused.everything());
    for words in ["work_ns 0 there, 5000 now", "--again", "another folder"] {
        assert!(refused.stderr.contains(words), "{words} is not in {}", refused.everything());
    }
    assert_eq!(fs::read_to_string(&log).unwrap(), first);
    let id = Log::read(&log).unwrap().run.build.boot_id;
    fs::write(&log, first.replace(&id, "another")).unwrap();
    let again = versus("");
    again.assert_good();
    assert!(
        again.stderr.contains("mock Array1k is measured again: its log is from before the last boot"),
        "{}",
        again.everything()
    );
    assert_eq!(Log::read(&log).unwrap().run.build.boot_id, id);
}

fn user_mistakes_are_errors_before_a_run() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    for (options, words) in [
        ("-m Arry1k", "there is no message `Arry1k`"),
        ("-m Array1k,Array4k", "there is no message `Array1k,Array4k`"),
        ("-m ../../x", "there is no message `../../x`"),
        ("-t 1a", "topic name \"1a\" is not allowed"),
    ] {
        let refused = memory.run(&format!("compare middlewares -c Mock {options} --results {}", results.display()));
        assert_eq!(refused.status.code(), Some(2), "{}", refused.everything());
        assert!(refused.stderr.contains(words), "{words} is not in {}", refused.everything());
    }
    assert!(!results.exists());
}

fn an_interrupt_ends_with_what_was_measured() {
    let memory = Memory::new();
    let folder = tempfile::tempdir().unwrap();
    let options = format!("compare middlewares -c Gantry,Mock {CASE} --results {}", folder.path().display());
    let running = memory.start(&options);
    let second = folder.path().join("Array1k/mock-round1.json");
    while !second.is_file() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    send(running.pid(), Signal::INT);
    let ended = running.finish();
    assert_eq!(ended.status.code(), Some(1), "{}", ended.everything());
    assert!(ended.stdout.contains("| gantry     | copied |"), "{}", ended.everything());
    assert!(ended.stdout.contains("| mock       | -      | adaptive | not done |"), "{}", ended.everything());
    assert!(ended.stderr.contains("ended early: runs not done: 1"), "{}", ended.everything());
    memory.assert_empty();
}
