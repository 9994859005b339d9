//! Accounts: the CPU time of the middleware, and that of the instrument apart from it.

use perf_test::report::full::UsedEntry;

use super::measure;

test_support::tests![reports_cost_the_middleware_nothing, the_time_after_the_last_second_costs_nothing];

const SECONDS: i64 = 3;
/// The publisher's and the subscription's.
const WORKERS: i64 = 2;

fn cpu_ns(used: &UsedEntry) -> i64 {
    used.user_ns + used.system_ns
}

fn reports_cost_the_middleware_nothing() {
    const WORK_NS: i64 = 100_000_000;
    let run = measure("latency=1ms,report=100ms", &format!("-r 10 --max-runtime {SECONDS}"));
    let summary = run.summary();
    let (middleware_ns, instrument_ns) = (cpu_ns(&summary.used), cpu_ns(&summary.instrument_used));
    assert!(instrument_ns >= SECONDS * WORKERS * WORK_NS, "{instrument_ns} ns for reports");
    // Ten messages a second need far less than one report does here.
    assert!(middleware_ns < SECONDS * WORK_NS, "{middleware_ns} ns for messages");
    for row in run.log.rows.iter().filter(|row| row.length_s == 1.0) {
        let (middleware_ns, instrument_ns) = (cpu_ns(&row.used), cpu_ns(&row.instrument_used));
        assert!(instrument_ns >= WORKERS * WORK_NS && middleware_ns < WORK_NS, "{row:?}");
        assert!(row.core_percent < 10.0, "{row:?}");
    }
    assert!(summary.core_percent < 10.0, "{} %", summary.core_percent);
    let per_message_ns = summary.cpu_per_message_ns.unwrap();
    assert!(per_message_ns * (10 * SECONDS) as f64 <= 1.1 * middleware_ns as f64, "{per_message_ns} ns per message");
}

fn the_time_after_the_last_second_costs_nothing() {
    // The subscriptions spin for a second after the end, because the last message is lost; on one thread one after the other.
    for options in ["", "-s 3 -e INTRA_THREAD"] {
        let run = measure("latency=1ms,lose=100", &format!("-r 100 --max-runtime 1 --wait spin {options}"));
        let (summary, rows) = (run.summary(), &run.log.rows);
        let whole: i64 = rows.iter().filter(|row| row.length_s == 1.0).map(|row| cpu_ns(&row.used)).sum();
        assert_eq!(whole, cpu_ns(&summary.used), "{options}");
        let since_start_ns: i64 = summary.workers.iter().map(|worker| cpu_ns(&worker.used)).sum();
        // The cost of a second of spinning depends on the machine's load, but it is more than nothing.
        assert!(
            since_start_ns > whole + 10_000_000,
            "{whole} ns of {since_start_ns} ns in the first second: {options}"
        );
    }
}
