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
    // The subscription spins for a second after the end, because the last message is lost.
    let run = measure("latency=1ms,lose=100", "-r 100 --max-runtime 1 --wait spin");
    let summary = run.summary();
    assert_eq!(summary.lost, 1);
    let worker = summary.workers.iter().find(|worker| worker.label.starts_with("subscription")).unwrap();
    let (since_start_ns, measured_ns) = (cpu_ns(&worker.used), cpu_ns(&summary.used));
    // Waiting took as long as measuring, so with it this would be nearly all.
    assert!(measured_ns < since_start_ns * 3 / 4, "{measured_ns} ns of {since_start_ns} ns");
}
