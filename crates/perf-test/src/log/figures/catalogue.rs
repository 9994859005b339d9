//! All figures of a run. For figures of time, memory and losses, lower values are better.

use super::{
    Figure,
    source::{Series, Source, Statistic},
};
use crate::{
    common::units::Unit,
    log::{Summary, UsedEntry},
};
use perf_worker::clock::SECOND_NS;

/// A function that returns the value of a figure in a run.
type Value = fn(&Summary) -> Option<f64>;

const fn figure(names: [&'static str; 4], unit: Unit, value: Value) -> Figure {
    number(names, unit, value, "no message was received")
}

/// Creates a figure. If a run has no value for it, `why` is the reason.
const fn number(names: [&'static str; 4], unit: Unit, value: Value, why: &'static str) -> Figure {
    let [key, name, column, field] = names;
    Figure { key, name, column, field, unit, is_sum: false, source: Source::Number(value, why) }
}

const fn times(names: [&'static str; 4], series: Series, statistic: Statistic) -> Figure {
    Figure { source: Source::Times(series, statistic), ..figure(names, Unit::Time, |_| None) }
}

const fn sum(names: [&'static str; 4], value: Value) -> Figure {
    Figure { is_sum: true, ..figure(names, Unit::Count, value) }
}

// Each figure has four names: for options, for sentences, for column headings, and for files.

/// The median of the latency from the send time.
pub static P50: Figure = times(["p50", "latency p50", "p50", "p50_ns"], Series::Latency, Statistic::Percentile(50.0));
/// The mean of the latency from the send time.
pub static MEAN: Figure =
    times(["mean", "latency mean", "mean latency", "latency_mean_ns"], Series::Latency, Statistic::Mean);
/// The 99th percentile of the latency from the send time.
pub static P99: Figure = times(["p99", "latency p99", "p99", "p99_ns"], Series::Latency, Statistic::Percentile(99.0));
/// The 99.9th percentile of the latency from the send time.
pub static P99_9: Figure =
    times(["p99.9", "latency p99.9", "p99.9", "p99_9_ns"], Series::Latency, Statistic::Percentile(99.9));
/// The longest latency from the send time.
pub static MAX: Figure = times(["max", "latency max", "max", "latency_max_ns"], Series::Latency, Statistic::Max);
/// The 99th percentile of the latency from the time at which the message was due.
pub static RESPONSE_P99: Figure = times(
    ["response.p99", "response p99", "response p99", "response_p99_ns"],
    Series::Response,
    Statistic::Percentile(99.0),
);
/// The number of lost messages.
pub static LOST: Figure =
    sum(["lost"; 4], |run| (run.total.received.samples > 0 || run.lost > 0).then_some(run.lost as f64));
/// The CPU time of all workers and daemons per received message.
pub static CPU_PER_MESSAGE: Figure = number(
    ["cpu_per_message", "CPU per message", "CPU/message", "cpu_per_message_ns"],
    Unit::Time,
    |run| run.cpu_per_message_ns,
    "there was no message",
);
/// The peak memory of each process, summed over all processes ([`RunMemory`](crate::log::RunMemory)).
pub static PEAK_MEMORY: Figure =
    figure(["rss", "peak memory", "memory", "memory_kib"], Unit::Memory, |run| Some(run.memory().peak_kib));
/// The proportional memory (PSS) of all processes at the end of the run, without perf_test's own counters and
/// histograms ([`RunMemory`](crate::log::RunMemory)).
pub static PSS: Figure =
    figure(["pss", "memory at the end (PSS)", "PSS", "pss_kib"], Unit::Memory, |run| Some(run.memory().pss_kib));
/// The number of messages that all subscriptions received.
pub static RECEIVED: Figure = figure(["received", "received", "received", "received"], Unit::Count, |run| {
    Some(run.total.received.samples as f64)
});
/// The number of messages that all subscriptions received per second.
pub static RECEIVED_HZ: Figure =
    figure(["received_hz", "received per second", "received/s", "received_hz"], Unit::Count, |run| {
        per_second(run, run.total.received.samples)
    });
/// The number of bytes that all subscriptions received per second.
pub static THROUGHPUT: Figure =
    figure(["throughput", "throughput", "MB/s", "received_bytes_per_s"], Unit::BytesPerSecond, |run| {
        per_second(run, run.total.received.bytes)
    });
/// The number of messages that were copied, on publish or on take, although loans were requested.
pub static COPIED: Figure =
    sum(["copied"; 4], |run| Some(run.total.sent.copied.saturating_add(run.total.received.copied) as f64));
/// The mean duration of each phase of a message, from the publisher to the subscription.
pub static PHASES: [Figure; 4] = [
    phase(["serialise", "time to serialise", "serialise", "serialise_ns"], |run| run.total.serialise.mean_ns),
    phase(["transport", "time of transport", "transport", "transport_ns"], |run| run.total.transport.mean_ns),
    phase(["wake-up", "time of the wake-up", "wake-up", "wake_up_ns"], |run| run.total.wake_up.mean_ns),
    phase(["deserialise", "time to deserialise", "deserialise", "deserialise_ns"], |run| run.total.deserialise.mean_ns),
];
/// The resources that all workers have used since their start, without perf_test's own threads. The column headings are
/// performance_test's.
pub static USAGE: [Figure; 5] = [
    figure(["cpu_time", "CPU time", "utime+stime", "cpu_time_ns"], Unit::Time, |run| {
        used(run, |used| used.user_ns.saturating_add(used.system_ns))
    }),
    figure(["minor_faults", "page faults without I/O", "minflt", "minor_faults"], Unit::Count, |run| {
        used(run, |used| used.minor_faults)
    }),
    figure(["major_faults", "page faults with I/O", "majflt", "major_faults"], Unit::Count, |run| {
        used(run, |used| used.major_faults)
    }),
    figure(["voluntary_switches", "voluntary context switches", "nvcsw", "voluntary_switches"], Unit::Count, |run| {
        used(run, |used| used.voluntary_switches)
    }),
    figure(
        ["involuntary_switches", "involuntary context switches", "nivcsw", "involuntary_switches"],
        Unit::Count,
        |run| used(run, |used| used.involuntary_switches),
    ),
];
/// The CPU time of endpoints and middleware in the workers, and of daemons.
pub static CPU: Figure = figure(["cpu", "CPU", "CPU (% of a core)", "cpu_percent"], Unit::PercentOfCore, |run| {
    Some(run.core_percent + run.daemons.iter().map(|daemon| daemon.core_percent).sum::<f64>())
});
/// The number of late messages.
pub static LATE_COUNT: Figure =
    sum(["late", "late messages", "late", "late"], |run| Some(run.total.received.late as f64));
/// The number of messages that were too late.
pub static TOO_LATE_COUNT: Figure =
    sum(["too_late", "too late messages", "too late", "too_late"], |run| Some(run.total.received.too_late as f64));
/// The late messages, as a percentage of the received messages.
pub static LATE: Figure = figure(["late%", "late", "late", "late_percent"], Unit::Percent, |run| {
    percent_of_received(run, run.total.received.late)
});
/// The messages that were too late, as a percentage of the received messages.
pub static TOO_LATE: Figure = figure(["too_late%", "too late", "too late", "too_late_percent"], Unit::Percent, |run| {
    percent_of_received(run, run.total.received.too_late)
});
/// The lost messages, as a percentage of the received and lost messages.
pub static LOST_PERCENT: Figure = figure(["lost%", "lost", "lost", "lost_percent"], Unit::Percent, |run| {
    percent(run.lost, run.lost.saturating_add(run.total.received.samples))
});
/// The messages that arrived late after their due time, as a percentage of the messages whose due time is known.
pub static LATE_RESPONSE: Figure =
    responses(["late_response%", "late responses", "late responses", "late_response_percent"], |run| {
        percent(run.total.received.late_response, run.total.response.n)
    });
/// The messages that arrived too late after their due time, as a percentage of the messages whose due time is known.
pub static TOO_LATE_RESPONSE: Figure =
    responses(["too_late_response%", "too late responses", "too late responses", "too_late_response_percent"], |run| {
        percent(run.total.received.too_late_response, run.total.response.n)
    });
/// The number of messages that arrived more than once.
pub static DUPLICATES: Figure =
    sum(["duplicates"; 4], |run| (run.total.received.samples > 0).then_some(run.total.received.duplicates as f64));
/// The number of messages that arrived after a message that was sent later.
pub static REORDERED: Figure =
    sum(["reordered"; 4], |run| (run.total.received.samples > 0).then_some(run.total.received.reordered as f64));
/// The number of messages that each publisher sent per second.
pub static RATE: Figure = number(
    ["rate", "rate of each publisher", "rate (Hz)", "achieved_hz"],
    Unit::Frequency,
    |run| (!run.publishers.is_empty()).then_some(run.achieved_hz),
    "this run has no publisher",
);
/// The number of warnings.
pub static WARNINGS: Figure = sum(["warnings"; 4], |run| Some(run.warnings.len() as f64));
/// The number of sent messages.
pub static SENT: Figure = sum(["sent"; 4], |run| Some(run.total.sent.samples as f64));
/// The number of messages that timers skipped, because they were late.
pub static SKIPPED: Figure = sum(["skipped"; 4], |run| Some(run.total.sent.skipped as f64));
/// The number of messages that were due: sent, skipped by a late timer, refused, or not sent before the end.
pub static DUE: Figure = sum(["due"; 4], |run| {
    let sent = &run.total.sent;
    Some((sent.samples + sent.skipped + sent.refused + sent.unsent) as f64)
});
/// The CPU time of perf_test's own threads in the workers. [`CPU`] does not include it.
pub static INSTRUMENT_CPU: Figure = figure(
    ["instrument", "CPU of the instrument", "instrument (%)", "instrument_percent"],
    Unit::PercentOfCore,
    |run| {
        let used_ns = (run.instrument_used.user_ns + run.instrument_used.system_ns) as f64;
        Some(100.0 * used_ns / (run.measured_s * SECOND_NS as f64).max(1.0))
    },
);
/// The memory of perf_test's own counters and histograms in the workers. [`PSS`] does not include it.
pub static INSTRUMENT_MEMORY: Figure =
    figure(["instrument_memory", "memory of the instrument", "instrument", "instrument_kib"], Unit::Memory, |run| {
        Some(run.memory().instrument_kib)
    });
/// The time from the start of the first process until all endpoints were matched.
pub static START_UP: Figure =
    figure(["start_up", "start-up", "start-up", "start_up_ns"], Unit::Time, |run| run.start_up_ns.map(|ns| ns as f64));

/// The figures in results files. [`USAGE`] and [`PHASES`] are also in these files.
pub static KEPT: [&Figure; 11] =
    [&P50, &MEAN, &P99, &CPU_PER_MESSAGE, &PEAK_MEMORY, &PSS, &RECEIVED, &RECEIVED_HZ, &THROUGHPUT, &LOST, &COPIED];
/// Further figures in the `details` of results files of `compare conditions` and `scale`, and on the page of a folder.
pub static IN_DETAILS: [&Figure; 14] = [
    &P99_9,
    &MAX,
    &CPU,
    &LATE,
    &TOO_LATE,
    &LOST_PERCENT,
    &LATE_COUNT,
    &TOO_LATE_COUNT,
    &SENT,
    &SKIPPED,
    &DUE,
    &INSTRUMENT_CPU,
    &INSTRUMENT_MEMORY,
    &START_UP,
];

/// The figures that a user can require (`--require`), besides the statistics of latencies and other times.
pub static REQUIRED: [&Figure; 14] = [
    &LOST,
    &LOST_PERCENT,
    &LATE,
    &TOO_LATE,
    &LATE_RESPONSE,
    &TOO_LATE_RESPONSE,
    &DUPLICATES,
    &REORDERED,
    &RECEIVED,
    &RATE,
    &CPU,
    &CPU_PER_MESSAGE,
    &PEAK_MEMORY,
    &WARNINGS,
];
/// The figures by which two versions are compared. Lower values are better.
pub static COMPARED: [&Figure; 9] =
    [&P50, &MEAN, &P99, &P99_9, &MAX, &RESPONSE_P99, &LOST, &CPU_PER_MESSAGE, &PEAK_MEMORY];
/// The primary figures. Their verdicts are not corrected for the number of compared figures.
pub static PRIMARY: [&Figure; 2] = [&P50, &CPU_PER_MESSAGE];

const fn responses(names: [&'static str; 4], value: Value) -> Figure {
    number(names, Unit::Percent, value, "no message was received whose schedule is known")
}

const fn phase(names: [&'static str; 4], value_ns: Value) -> Figure {
    figure(names, Unit::Time, value_ns)
}

fn used(run: &Summary, count: fn(&UsedEntry) -> i64) -> Option<f64> {
    Some(run.workers.iter().map(|worker| count(&worker.used) as f64).sum())
}

fn per_second(run: &Summary, count: u64) -> Option<f64> {
    (run.measured_s > 0.0).then(|| count as f64 / run.measured_s)
}

fn percent_of_received(run: &Summary, count: u64) -> Option<f64> {
    percent(count, run.total.received.samples)
}

fn percent(count: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| 100.0 * count as f64 / of as f64)
}
