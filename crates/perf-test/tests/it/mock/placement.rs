//! Tests of the real-time priority and the CPU pins of a worker: which of its threads get them.

use std::collections::BTreeMap;
use std::fs;

use perf_worker::worker::{ORDERS_THREAD, placement::Placement};
use test_support::ignore;

use crate::program::{Memory, stat_of};

test_support::tests![
    the_priority_reaches_the_threads_of_the_scope_and_never_the_instruments,
    the_middlewares_threads_run_on_the_pinned_cpus_and_the_instruments_on_all,
];

/// The name of the thread by which the mock delivers messages.
const OF_MIDDLEWARE: &str = "mock-delivery";

/// Reads a value of each thread of the subscription's process. Returns the values by the names of the threads; the main
/// thread, which reports, is `main`.
fn threads<T>(options: &str, value: impl Fn(&str) -> T) -> BTreeMap<String, T> {
    let memory = Memory::new();
    let mut run = memory.start(&format!("-c Mock --mock push -r 100 --max-runtime 2 {options}"));
    run.wait_for("T_experiment |");
    let pid = run.worker("subscription 0");
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().map(|entry| {
        let tid = entry.unwrap().file_name().into_string().unwrap();
        let path = format!("{pid}/task/{tid}");
        let name = fs::read_to_string(format!("/proc/{path}/comm")).unwrap().trim().to_owned();
        (if tid == pid.to_string() { "main".to_owned() } else { name }, value(&path))
    });
    let threads = threads.collect();
    run.finish().assert_good();
    threads
}

fn the_priority_reaches_the_threads_of_the_scope_and_never_the_instruments() {
    const OTHER: &str = "0";
    const FIFO: &str = "1";
    if let Err(sentence) = (Placement { rt_priority: 1, ..Placement::default() }).check() {
        ignore(format!("no real-time priority here: {sentence}"));
    }
    for (scope, of_middleware) in [("", FIFO), ("--rt-scope process", FIFO), ("--rt-scope endpoints", OTHER)] {
        let policies = threads(&format!("--use-rt-prio 1 {scope}"), |path| stat_of(path)[38].clone());
        for (thread, policy) in
            [(OF_MIDDLEWARE, of_middleware), ("subscription 0", FIFO), ("main", OTHER), (ORDERS_THREAD, OTHER)]
        {
            assert_eq!(policies.get(thread).map(String::as_str), Some(policy), "{scope}: {thread} in {policies:?}");
        }
    }
}

fn the_middlewares_threads_run_on_the_pinned_cpus_and_the_instruments_on_all() {
    let cpus = |path: &str| {
        let status = fs::read_to_string(format!("/proc/{path}/status")).unwrap();
        status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned()
    };
    let all = cpus("self");
    let last = all.rsplit([',', '-']).next().unwrap().to_owned();
    for (scope, of_middleware) in [("process", &last), ("endpoints", &all)] {
        let found = threads(&format!("--pin {last} --rt-scope {scope}"), cpus);
        for (thread, cpus) in
            [(OF_MIDDLEWARE, of_middleware), ("subscription 0", &last), ("main", &all), (ORDERS_THREAD, &all)]
        {
            assert_eq!(found.get(thread), Some(cpus), "{scope}: {thread} in {found:?}");
        }
    }
}
