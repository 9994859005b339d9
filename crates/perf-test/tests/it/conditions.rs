//! Tests of `perf_test compare conditions`: settings of the machine are applied, recorded and always restored, and
//! results of several boots are merged.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use perf_test::{common::idle::Awake, system::System};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use test_support::ignore;

use crate::program::{Finished, Memory, send, stat_of, wait_until_gone};
use crate::system::fake::Fake;

test_support::tests![
    settings_are_applied_recorded_and_restored,
    a_setting_that_is_refused_leaves_the_others_as_they_were,
    a_setting_that_is_not_restored_costs_no_table,
    topologies_run_in_each_executor_under_each_condition,
    an_interrupt_and_a_kill_restore_the_machine,
    scheduling_and_wake_up_limits_of_this_machine_are_applied_and_restored,
    results_of_several_boots_are_put_together,
    another_user_is_told_what_to_do,
    wrong_plans_are_refused_before_a_run,
];

const CPUFREQ: &str = "sys/devices/system/cpu/cpufreq";
const POLICY: &str = "sys/devices/system/cpu/cpufreq/policy0";
const GROUPS: &str = "sys/fs/cgroup";
const DEVICE: &str = "/dev/cpu_dma_latency";
const RUN: &str = "runs: {mock: -c Mock -r 100 --warmup 0 --max-runtime 1}\n";
const LONG_RUN: &str = "runs: {mock: -c Mock -r 100 --warmup 0 --max-runtime 600}\n";

/// A machine with several governors and with control groups of version 2.
fn machine() -> Fake {
    let fake = Fake::board();
    fake.file(&format!("{POLICY}/scaling_available_governors"), "schedutil performance powersave\n");
    fake.file(&format!("{GROUPS}/cgroup.controllers"), "cpuset cpu memory\n");
    fake.file(&format!("{GROUPS}/cgroup.subtree_control"), "cpuset cpu\n");
    fake.file(&format!("{GROUPS}/user.slice/cgroup.procs"), "");
    fake.file("proc/sys/kernel/random/boot_id", "boot-1\n");
    fake
}

/// Creates a folder with a plan of this text.
fn plan(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("plan.yaml"), text).unwrap();
    folder
}

fn content(fake: &Fake, path: &str) -> String {
    fs::read_to_string(fake.root().join(path)).unwrap().trim().to_owned()
}

fn governor(fake: &Fake) -> String {
    content(fake, &format!("{POLICY}/scaling_governor"))
}

/// Starts `perf_test` with these options. `root` is a fake machine, made of files; `None` is this machine.
fn start(memory: &Memory, options: &str, root: Option<&Fake>) -> Child {
    let mut command = memory.command(options);
    if let Some(fake) = root {
        command.env("PERF_TEST_SYSTEM_ROOT", fake.root());
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn finish(child: Child) -> Finished {
    let output = child.wait_with_output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    Finished { status: output.status, stdout, stderr }
}

fn run(memory: &Memory, options: &str, root: Option<&Fake>) -> Finished {
    finish(start(memory, options, root))
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))).unwrap()
}

/// Waits until the condition is true. The timeout of the test runner ends a wait that lasts too long.
fn wait_until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn settings_are_applied_recorded_and_restored() {
    let (memory, fake) = (Memory::new(), machine());
    let folder = plan(&format!(
        "rounds: 2\n{RUN}conditions:\n- baseline\n- {{name: fast, governor: performance, isolate: 1-2}}\n\
         - {{name: poll, boot: idle=poll isolcpus=3}}\n"
    ));
    let options = format!("compare conditions {}/plan.yaml", folder.path().display());
    let done = run(&memory, &options, Some(&fake));
    done.assert_good();
    assert_eq!(governor(&fake), "schedutil");
    let groups: Vec<String> = fs::read_dir(fake.root().join(GROUPS))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(!groups.iter().any(|name| name.starts_with("perf_test")), "{groups:?}");
    assert!(content(&fake, &format!("{GROUPS}/user.slice/cgroup.procs")).parse::<u32>().is_ok(), "the process is back");
    assert!(fs::read_dir(fake.root().join("run")).unwrap().next().is_none(), "the journal is gone");
    let results = folder.path().join("plan-results");
    let environment = |log: &str| json(&results.join(log))["environment"].clone();
    // The second round has the reverse order, so its baseline comes after the other condition.
    for log in ["baseline/mock-round1.json", "baseline/mock-round2.json"] {
        let found = environment(log);
        assert_eq!(found["frequency"]["policies"][0]["governor"], "schedutil", "{log}");
        assert_eq!(found["cpu"]["partition_cpus"], Value::Array(Vec::new()), "{log}");
    }
    let found = environment("fast/mock-round2.json");
    assert_eq!(found["frequency"]["policies"][0]["governor"], "performance");
    assert_eq!(found["cpu"]["partition_cpus"], serde_json::json!([1, 2]));
    for words in [
        "| fast      |",
        "partition 1-2",
        "240 MHz to 1.20 GHz",
        "poll: skipped: it needs a boot with the kernel parameters `idle=poll isolcpus=3`",
        "Best conditions",
        "? too few rounds",
    ] {
        assert!(done.stdout.contains(words), "{words:?} is not in {}", done.everything());
    }
    let found = json(&results.join("conditions.json"))["details"].clone();
    assert_eq!(found["runs"][0]["cells"][1]["figures"][2]["metric"], "latency_mean_ns", "{found}");
    assert_eq!(found["missing"][0]["condition"], "poll", "{found}");
    let csv = fs::read_to_string(results.join("conditions.csv")).unwrap();
    assert!(csv.lines().count() == 3 && csv.starts_with("run,condition,rounds,cpu_percent_median"), "{csv}");
    // All logs exist, so no run is repeated. But the name of a condition cannot get other settings.
    let again = run(&memory, &options, Some(&fake));
    assert_eq!(again.stderr.matches("its log is there").count(), 4, "{}", again.everything());
    let other = format!("{RUN}conditions: [{{name: fast, governor: powersave}}]\n");
    fs::write(folder.path().join("plan.yaml"), other).unwrap();
    let refused = run(&memory, &options, Some(&fake));
    assert!(
        refused.status.code() == Some(2) && refused.stderr.contains("with other settings"),
        "{}",
        refused.everything()
    );
    memory.assert_empty();
}

fn a_setting_that_is_refused_leaves_the_others_as_they_were() {
    let (memory, fake) = (Memory::new(), machine());
    // The file with the governor of the second policy is empty, so this governor cannot be read.
    fake.policy(1, "1", "schedutil", (240_000, 1_200_000));
    fake.file(&format!("{CPUFREQ}/policy1/scaling_governor"), "");
    let folder = plan(&format!("rounds: 1\n{RUN}conditions: [baseline, {{name: fast, governor: performance}}]\n"));
    let done = run(&memory, &format!("compare conditions {}/plan.yaml", folder.path().display()), Some(&fake));
    assert_eq!(done.status.code(), Some(1), "{}", done.everything());
    let words = format!("fast: rounds are missing: refused: /{CPUFREQ}/policy1/scaling_governor cannot be read");
    assert!(done.stdout.contains(&words), "{}", done.everything());
    assert!(done.stderr.contains("without figures: mock under fast: "), "{}", done.everything());
    assert_eq!(governor(&fake), "schedutil");
}

fn a_setting_that_is_not_restored_costs_no_table() {
    let (memory, fake) = (Memory::new(), machine());
    let folder = plan(&format!("rounds: 1\n{RUN}conditions: [baseline, {{name: fast, governor: performance}}]\n"));
    let child = start(&memory, &format!("compare conditions {}/plan.yaml", folder.path().display()), Some(&fake));
    // When the log exists, the program has already applied the settings, and checked them by reading them back.
    let log = folder.path().join("plan-results/fast/mock-round1.json");
    wait_until(|| log.exists());
    assert_eq!(governor(&fake), "performance");
    let file = fake.root().join(format!("{POLICY}/scaling_governor"));
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let done = finish(child);
    assert_eq!(done.status.code(), Some(1), "{}", done.everything());
    assert!(done.stderr.contains("the machine is not as it was: "), "{}", done.everything());
    assert!(done.stdout.contains("| fast      |"), "{}", done.everything());
    assert!(folder.path().join("plan-results/conditions.json").exists());
    let next = run(&memory, "list", Some(&fake));
    assert!(next.stderr.contains("ended and could not restore all of them"), "{}", next.everything());
}

fn topologies_run_in_each_executor_under_each_condition() {
    let (memory, fake) = (Memory::new(), machine());
    let conditions = "[baseline, {name: fast, governor: performance}]";
    let folder = plan(&format!(
        "rounds: 1\nruns: {{robot: topology pub_sub_100kb -t 1}}\nexecutors: [single, events]\nconditions: {conditions}\n"
    ));
    let options = format!("compare conditions {}/plan.yaml", folder.path().display());
    let done = run(&memory, &options, Some(&fake));
    done.assert_good();
    let results = folder.path().join("plan-results");
    let found = json(&results.join("conditions.json"))["details"].clone();
    for (run, executor) in found["runs"].as_array().unwrap().iter().zip(["single", "events"]) {
        assert_eq!(run["label"], format!("robot {executor}"));
        let cells = run["cells"].as_array().unwrap();
        let names: Vec<&Value> = cells.iter().map(|cell| &cell["condition"]).collect();
        assert_eq!(names, ["baseline", "fast"]);
        for cell in cells {
            assert!(cell["counts"][0]["received"].as_u64().is_some_and(|received| received > 0), "{cell}");
            let log = json(Path::new(cell["logs"][0].as_str().unwrap()));
            assert_eq!(log["run"]["spec"]["executor"], executor);
            assert!(log["run"]["topology"]["processes"].is_array());
        }
    }
    assert!(done.stdout.contains("robot single: topology pub_sub_100kb -t 1 -x single"), "{}", done.everything());
    let again = run(&memory, &options, Some(&fake));
    assert_eq!(again.stderr.matches("its log is there").count(), 4, "{}", again.everything());
    memory.assert_empty();
}

fn an_interrupt_and_a_kill_restore_the_machine() {
    let (memory, fake) = (Memory::new(), machine());
    let folder = plan(&format!("{LONG_RUN}conditions: [{{name: fast, governor: performance, isolate: 1}}]\n"));
    let options = format!("compare conditions {}/plan.yaml", folder.path().display());
    for signal in [Signal::INT, Signal::TERM] {
        let child = start(&memory, &options, Some(&fake));
        wait_until(|| governor(&fake) == "performance");
        send(child.id(), signal);
        let done = finish(child);
        assert_eq!((done.status.code(), governor(&fake).as_str()), (Some(1), "schedutil"), "{}", done.everything());
    }
    let child = start(&memory, &options, Some(&fake));
    let pid = child.id();
    let group = fake.root().join(format!("{GROUPS}/perf_test-{pid}"));
    wait_until(|| group.join("cgroup.procs").exists());
    // A second `perf_test` does not restore settings that a living process has changed.
    let other = run(&memory, "list", Some(&fake));
    assert!(other.stderr.is_empty() && governor(&fake) == "performance", "{}", other.everything());
    send(pid, Signal::KILL);
    finish(child);
    assert!(governor(&fake) == "performance" && group.exists(), "nothing can restore it before the next start");
    // Every later start restores the settings, even one that only prints something or has wrong options.
    let next = run(&memory, "--version", Some(&fake));
    next.assert_good();
    let words = format!(
        "process {pid}, which had changed settings of this machine, was killed; restored: /{POLICY}/scaling_governor"
    );
    assert!(next.stderr.contains(&words), "{}", next.everything());
    assert!(governor(&fake) == "schedutil" && !group.exists());
    let then = run(&memory, "list", Some(&fake));
    assert!(then.stderr.is_empty(), "{}", then.everything());
    let merge = run(&memory, &format!("compare conditions merge {}/plan-results", folder.path().display()), None);
    assert!(merge.stderr.contains("no run was measured: mock, fast: rounds are missing: "), "{}", merge.everything());
}

/// The current limit on the CPU's wake-up time, µs.
fn limit_us() -> i32 {
    i32::from_ne_bytes(fs::read(DEVICE).unwrap().try_into().unwrap())
}

fn scheduling_and_wake_up_limits_of_this_machine_are_applied_and_restored() {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root || OpenOptions::new().read(true).write(true).open(DEVICE).is_err() {
        ignore(format!("this user may not set real-time priorities, or {DEVICE} cannot be used"));
    }
    let usable = System::read(Path::new("/")).cpu.usable_cpus.unwrap();
    if !usable.contains(&0) {
        ignore("this process may not use CPU 0");
    }
    let memory = Memory::new();
    let settings = "taskset: 0, chrt: rr 1, cpu_dma_latency_us: 7";
    let folder = plan(&format!("rounds: 2\n{RUN}conditions: [baseline, {{name: rt, {settings}}}]\n"));
    run(&memory, &format!("compare conditions {}/plan.yaml", folder.path().display()), None).assert_good();
    let results = folder.path().join("plan-results");
    let environment = |log: &str| json(&results.join(log))["environment"].clone();
    for round in [1, 2] {
        let rt = environment(&format!("rt/mock-round{round}.json"));
        assert_eq!((&rt["process"]["policy"], &rt["process"]["rt_priority"]), (&"SCHED_RR".into(), &1.into()));
        assert_eq!(rt["cpu"]["usable_cpus"], serde_json::json!([0]));
        assert_eq!(rt["cpu_idle"]["latency_limit_us"], 7);
        let baseline = environment(&format!("baseline/mock-round{round}.json"));
        assert_eq!(baseline["process"]["rt_priority"], 0, "round {round}");
        assert_eq!(baseline["cpu"]["usable_cpus"], serde_json::json!(usable), "round {round}");
        assert_ne!(baseline["cpu_idle"]["latency_limit_us"], 7, "round {round}");
    }
    assert_ne!(limit_us(), 7);
    // The workers have the scheduling and the limit of the condition. After a kill of the program, both are gone.
    let folder = plan(&format!("{LONG_RUN}conditions: [{{name: rt, {settings}}}]\n"));
    let child = start(&memory, &format!("compare conditions {}/plan.yaml", folder.path().display()), None);
    let workers = || -> Vec<u32> {
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id())).unwrap_or_default();
        children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
    };
    wait_until(|| workers().len() == 2);
    let found = workers();
    for pid in &found {
        // These two fields are the real-time priority (1) and the policy (2 is SCHED_RR).
        assert_eq!(stat_of(&pid.to_string())[37..39], ["1", "2"].map(str::to_owned));
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        assert!(status.contains("Cpus_allowed_list:\t0\n"), "{status}");
    }
    assert_eq!(limit_us(), 7);
    send(child.id(), Signal::KILL);
    finish(child);
    found.into_iter().for_each(wait_until_gone);
    wait_until(|| limit_us() != 7);
    // `Awake` is the implementation of the option --prevent-cpu-idle.
    let held = Awake::hold().unwrap();
    assert_eq!(limit_us(), 0);
    drop(held);
}

fn results_of_several_boots_are_put_together() {
    let (memory, fake) = (Memory::new(), machine());
    let folder = plan(&format!("rounds: 1\n{RUN}conditions: [baseline, {{name: poll, boot: idle=poll}}]\n"));
    let at = |name: &str| format!("{}/{name}", folder.path().display());
    let measure = |name: &str| {
        run(&memory, &format!("compare conditions {} --results {}", at("plan.yaml"), at(name)), Some(&fake))
    };
    let generic = measure("generic");
    generic.assert_good();
    assert!(generic.stderr.contains("poll: skipped: it needs a boot with the kernel parameters `idle=poll`"));
    fake.file("proc/sys/kernel/osrelease", "5.10.0-lowlatency\n");
    fake.file("proc/sys/kernel/random/boot_id", "boot-2\n");
    measure("lowlatency").assert_good();
    fake.file("proc/sys/kernel/random/boot_id", "boot-3\n");
    measure("later").assert_good();
    fake.file("proc/cmdline", "root=/dev/mmcblk0p1 quiet idle=poll\n");
    // The folder `lowlatency` already has the baseline's results, from an earlier boot.
    let polling = measure("lowlatency");
    polling.assert_good();
    assert!(polling.stderr.contains("baseline: skipped: it needs a boot without the kernel parameters `idle=poll`"));
    let merge = format!("compare conditions merge {} {} --output {}", at("generic"), at("lowlatency"), at("all"));
    let merged = run(&memory, &merge, None);
    merged.assert_good();
    for words in [
        "| baseline (5.10.0)            |",
        "| baseline (5.10.0-lowlatency) |",
        "| poll                         |",
        "idle=poll",
    ] {
        assert!(merged.stdout.contains(words), "{words:?} is not in {}", merged.everything());
    }
    assert!(!merged.stdout.contains("skipped"), "{}", merged.everything());
    // The two baselines come from the same machine, but from different boots.
    let two = run(&memory, &format!("compare conditions merge {} {}", at("later"), at("lowlatency")), None);
    for words in ["| baseline (boot 1) |", "| baseline (boot 2) |"] {
        assert!(two.stdout.contains(words), "{words:?} is not in {}", two.everything());
    }
    assert_eq!(
        json(&folder.path().join("all/conditions.json"))["details"]["conditions"].as_array().map(Vec::len),
        Some(3)
    );
    // The copied runs have the same ids as the originals, so they count once.
    let copied = memory.shell(&format!("cp -r {} {}", at("lowlatency"), at("copy"))).status().unwrap();
    assert!(copied.success());
    let merge = format!("compare conditions merge {} {} --output {}", at("lowlatency"), at("copy"), at("once"));
    run(&memory, &merge, None).assert_good();
    let once = json(&folder.path().join("once/conditions.json"))["details"].clone();
    for cell in once["runs"][0]["cells"].as_array().unwrap() {
        assert_eq!(cell["logs"].as_array().map(Vec::len), Some(1), "{cell}");
    }
    for (folders, words) in [
        (format!("{0} {0}", at("generic")), "is given twice"),
        (folder.path().display().to_string(), "has no conditions"),
    ] {
        let refused = run(&memory, &format!("compare conditions merge {folders}"), None);
        assert!(refused.status.code() == Some(2) && refused.stderr.contains(words), "{}", refused.everything());
    }
}

fn another_user_is_told_what_to_do() {
    let memory = Memory::new();
    const NOBODY: u32 = 65_534;
    let is_root = rustix::process::geteuid().is_root();
    let folder = plan(&format!("{RUN}conditions: [{{name: a, chrt: rr 1}}]\n"));
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = memory.command(&format!("compare conditions {}/plan.yaml", folder.path().display()));
    let output = if is_root { command.uid(NOBODY).gid(NOBODY).output() } else { command.output() };
    let Ok(output) = output else {
        ignore("the unprivileged user cannot start this program");
    };
    let said = String::from_utf8(output.stderr).unwrap();
    if !is_root && output.status.success() {
        ignore("this user may have real-time priorities");
    }
    assert!(output.status.code() == Some(2) && said.contains("Run perf_test as root"), "{said}");
}

fn wrong_plans_are_refused_before_a_run() {
    let (memory, fake) = (Memory::new(), machine());
    for (conditions, words) in [
        ("[baseline, fast]", "line 2: there is no condition `fast`"),
        ("[{name: a, governor: fast}]", "policy0 has no governor `fast`: it has schedutil performance powersave"),
        ("[{name: a, taskset: 0-9}]", "taskset: there is no CPU 4: online are 0-3"),
        ("[{name: a, isolate: 0-3}]", "isolate: 0-3 are all CPUs"),
    ] {
        let folder = plan(&format!("{RUN}conditions: {conditions}\n"));
        let refused = run(&memory, &format!("compare conditions {}/plan.yaml", folder.path().display()), Some(&fake));
        assert_eq!(refused.status.code(), Some(2), "{}", refused.everything());
        assert!(refused.stderr.contains(words), "{words:?} is not in {}", refused.everything());
        assert!(!folder.path().join("plan-results").exists());
    }
    // On a machine that has none of the settings in the plan, all conditions are skipped and reported.
    let bare = Fake::empty();
    let folder =
        plan(&format!("{RUN}conditions: [{{name: a, governor: performance}}, {{name: b, cpu_dma_latency_us: 0}}]\n"));
    let skipped = run(&memory, &format!("compare conditions {}/plan.yaml", folder.path().display()), Some(&bare));
    assert_eq!(skipped.status.code(), Some(1), "{}", skipped.everything());
    for words in [
        "a: skipped: no governor can be chosen",
        "b: skipped: /dev/cpu_dma_latency does not exist",
        "no condition of the plan",
    ] {
        assert!(skipped.stderr.contains(words), "{words:?} is not in {}", skipped.everything());
    }
}
