//! Tests of the CPU time: the instrument's own time is counted separately from the middleware's time.

use perf_test::log::UsedEntry;

use super::{measure, measure_all};

test_support::tests![reports_cost_the_middleware_nothing, the_time_after_the_last_second_costs_nothing];

const SECONDS: i64 = 5;
/// The number of workers: one for the publisher and one for the subscription.
const WORKERS: i64 = 2;

fn cpu_ns(used: &UsedEntry) -> i64 {
    used.user_ns + used.system_ns
}

/// The CPU time that reporting threads spend on each row belongs to the instrument, and changes no figure of the
/// middleware.
fn reports_cost_the_middleware_nothing() {
    // With `push`, the mock polls for messages, so its own CPU time varies by more than 10 ms.
    for (delivery, work_ms) in [("", 10), (",push", 50)] {
        // The last report may start after the last whole second and is then not counted, so one second less is
        // expected.
        let work_ns = (SECONDS - 1) * WORKERS * work_ms * 1_000_000;
        let options = format!("-r 10 --max-runtime {SECONDS}");
        let plain = format!("latency=1ms{delivery}");
        let working = format!("{plain},report={work_ms}ms");
        let runs = measure_all([(&plain, &options), (&working, &options)]);
        let [plain, working] = runs.each_ref().map(|run| run.summary());
        let added_ns = cpu_ns(&working.instrument_used) - cpu_ns(&plain.instrument_used);
        assert!(added_ns > work_ns * 9 / 10, "{added_ns} of {work_ns} ns in the instrument's account{delivery}");
        let moved_ns = cpu_ns(&working.used) - cpu_ns(&plain.used);
        assert!(moved_ns < work_ns / 4, "{moved_ns} of {work_ns} ns in the middleware's account{delivery}");
        let per_message_ns = working.cpu_per_message_ns.unwrap() - plain.cpu_per_message_ns.unwrap();
        let all_ns = per_message_ns * (10 * SECONDS) as f64;
        assert!(all_ns < work_ns as f64 / 4.0, "{per_message_ns} ns per message{delivery}");
        let core_percent = working.core_percent - plain.core_percent;
        let quarter_percent = 25.0 * work_ns as f64 / (SECONDS * 1_000_000_000) as f64;
        assert!(core_percent < quarter_percent, "{core_percent} %{delivery}");
    }
}

fn the_time_after_the_last_second_costs_nothing() {
    // The last message is lost, so the subscriptions spin for a second after the end. On one thread, they spin one
    // after the other.
    for options in ["", "-s 3 -e INTRA_THREAD"] {
        let run = measure("latency=1ms,lose=100", &format!("-r 100 --max-runtime 1 --wait spin {options}"));
        let (summary, rows) = (run.summary(), &run.log.rows);
        let whole: i64 = rows.iter().filter(|row| row.length_s == 1.0).map(|row| cpu_ns(&row.used)).sum();
        assert_eq!(whole, cpu_ns(&summary.used), "{options}");
        let since_start_ns: i64 = summary.workers.iter().map(|worker| cpu_ns(&worker.used)).sum();
        // The CPU time of a second of spinning depends on the machine's load, but it is never near zero.
        assert!(
            since_start_ns > whole + 10_000_000,
            "{whole} ns of {since_start_ns} ns in the first second: {options}"
        );
    }
}
