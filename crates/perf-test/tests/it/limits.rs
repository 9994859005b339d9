//! Tests with too little space: logs on a full disk, and shared memory that is too small.
//!
//! These tests mount small file systems in their own mount namespace. If that is impossible, they are ignored with the
//! reason.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_perf_test");

test_support::tests!(
    a_json_log_on_a_full_disk_stays_a_document,
    a_full_log_on_a_full_disk_stays_a_document,
    a_csv_log_on_a_full_disk_ends_with_a_whole_row,
    too_little_shared_memory_says_what_to_do
);

/// The reason why these tests are ignored; `None` if they can run.
pub fn why_not() -> Option<String> {
    why_no_small_tmpfs().map(|why| format!("no small tmpfs can be had here: {why}"))
}

/// Creates a folder in /dev/shm on which a small file system can be mounted.
fn folder() -> TempDir {
    tempfile::Builder::new().prefix("perf_test_limits_").tempdir_in("/dev/shm").unwrap()
}

/// Runs a shell script in a new mount namespace, with a tmpfs of `size` at `folder`.
fn in_tmpfs(folder: &Path, size: &str, script: &str) -> std::io::Result<Output> {
    let mount = format!("mount -t tmpfs -o size={size},mode=1777 tmpfs '{}'", folder.display());
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--mount", "sh", "-c", &format!("{mount} && {script}")]).output()
}

fn why_no_small_tmpfs() -> Option<String> {
    match in_tmpfs(folder().path(), "64k", "true") {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Some(format!("unshare: {error}")),
    }
}

/// Runs for five seconds with a log of this kind on a disk of `size_kib`. Returns the log, and the program's messages
/// about it.
fn log_on_a_full_disk(kind: &str, size_kib: u32) -> (String, String) {
    let (disk, memory) = (folder(), folder());
    // The header of a CSV log contains the command line, so a long path leaves room for only a few rows.
    let log = format!("{}{}/log", disk.path().display(), "/.".repeat(1300));
    let memory = memory.path().display();
    let run = format!("GANTRY_SHM_DIR='{memory}' '{PROGRAM}' -r 100 --max-runtime 5 -o none --{kind}-logfile");
    let output =
        in_tmpfs(disk.path(), &format!("{size_kib}k"), &format!("{run} '{log}'; code=$?; cat '{log}'; exit $code"))
            .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("perf_test: a log is not complete: the warning above has the cause"), "{stderr}");
    (String::from_utf8(output.stdout).unwrap(), stderr)
}

fn a_json_log_on_a_full_disk_stays_a_document() {
    let (log, stderr) = log_on_a_full_disk("json", 4);
    let document: serde_json::Value = serde_json::from_str(&log).unwrap_or_else(|error| panic!("{error}: {log}"));
    let rows = document["analysis_results"].as_array().unwrap();
    assert!((1..5).contains(&rows.len()), "{log}");
    assert!(rows.iter().all(|row| row["num_samples_sent"].as_u64() > Some(0)), "{log}");
    let said = format!("the JSON log ends after {} s", rows.len());
    assert!(stderr.contains(&said), "no error was printed: {stderr}");
}

fn a_full_log_on_a_full_disk_stays_a_document() {
    // The disk gets room for the text before the rows and for two and a half rows. The length of this text depends on
    // the machine, so a first run measures it. The text is one line, and so is each row.
    let roomy = folder();
    let log = roomy.path().join("log");
    let mut command = Command::new(PROGRAM);
    command.args(["-r", "100", "--max-runtime", "1", "-o", "none", "--full-logfile"]).arg(&log);
    assert!(command.env("GANTRY_SHM_DIR", roomy.path()).status().unwrap().success());
    let lengths: Vec<usize> = std::fs::read_to_string(log).unwrap().lines().map(str::len).collect();
    let size_kib = u32::try_from((lengths[0] + lengths[1] * 5 / 2) / 1024).unwrap().next_multiple_of(4);
    let (log, stderr) = log_on_a_full_disk("full", size_kib);
    let document: serde_json::Value = serde_json::from_str(&log).unwrap_or_else(|error| panic!("{error}: {log}"));
    let rows = document["rows"].as_array().unwrap();
    assert!((1..5).contains(&rows.len()) && document["summary"].is_null(), "{log}");
    assert!(rows.iter().all(|row| row["total"]["sent"]["samples"].as_u64() > Some(0)), "{log}");
    let said = format!("the full log ends after {} s", rows.len());
    assert!(stderr.contains(&said), "no error was printed: {stderr}");
}

fn a_csv_log_on_a_full_disk_ends_with_a_whole_row() {
    let (log, stderr) = log_on_a_full_disk("csv", 4);
    let rows: Vec<&str> = log.split_once("---EXPERIMENT-START---\n").unwrap().1.lines().collect();
    assert!(log.ends_with('\n') && rows.iter().all(|row| row.split(',').count() == 28), "{log}");
    assert!((2..6).contains(&rows.len()), "{log}");
    let said = format!("the CSV log ends after {} s", rows.len() - 1);
    assert!(stderr.contains(&said), "no error was printed: {stderr}");
}

fn too_little_shared_memory_says_what_to_do() {
    let memory = folder();
    let place = memory.path().display();
    let script = format!("GANTRY_SHM_DIR='{place}' exec '{PROGRAM}' -m Array4m -r 100 --max-runtime 5");
    // The first size is too small for the start-up, the second one for the messages.
    for (size, what) in [("64k", " of 65536 are free"), ("1m", " of 1048576 are free")] {
        let output = in_tmpfs(memory.path(), size, &script).unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        for words in ["no room in shared memory", what, "bytes were needed", "--shm-size", "GANTRY_SHM_DIR"] {
            assert!(stderr.contains(words), "{words:?} is not in: {stderr}");
        }
    }
}
