//! The rules about combinations of a run's options. Each rule is a function that returns a sentence if the rule is
//! broken.

use crate::cli::options::RunOptions;
use perf_worker::choice::Choice;
use perf_worker::run_spec::{History, Roundtrip, RunSpec, Strategy};

/// The size from which a message counts as large: the heading of the report then has a note on the memory of messages.
const LARGE_MESSAGE_BYTES: usize = 256 << 20;

/// Checks the options of a run against each other and against the capabilities of the middleware.
///
/// # Errors
/// The sentence of the first rule that is broken.
pub fn check(spec: &RunSpec, options: &RunOptions) -> Result<(), String> {
    let mock = options.endpoints.mock.as_ref().filter(|_| spec.communicator != "Mock");
    let mock =
        mock.map(|_| format!("--mock does not apply to {}: add -c Mock, or leave out --mock", spec.communicator));
    let broken = [
        no_endpoints(spec),
        no_measured_time(spec),
        too_many_expected(spec),
        unfit_for_one_thread(spec),
        limits_without_order(spec, options),
        service_without_rate(spec),
        work_without_worker(spec),
        mock,
    ];
    broken.into_iter().flatten().next().map_or(Ok(()), Err)
}

/// The notes on given options that have no effect, for the heading of the report.
pub fn heading_notes(spec: &RunSpec, options: &RunOptions) -> Vec<String> {
    let endpoints = &options.endpoints;
    let wait = match options.measuring.wait {
        Some(wait) => Some(format!("--wait {}", wait.name())),
        None => options.legacy.no_waitset.then(|| "--no-waitset".to_owned()),
    };
    let never_waits = match (spec.strategy, spec.subscriptions, spec.roundtrip) {
        (Strategy::IntraThread, ..) => Some("the thread of INTRA_THREAD publishes and takes, and never waits"),
        (_, 0, Roundtrip::None) => Some("this run has no subscription"),
        _ => None,
    };
    let depth = options.qos.history_depth.filter(|_| spec.qos.history == History::KeepAll);
    let publishers = endpoints.expected_num_pubs.filter(|count| *count > 0 && spec.subscriptions == 0);
    let subscriptions = endpoints.expected_num_subs.filter(|count| *count > 0 && spec.publishers == 0);
    let scope = options.machine.rt_scope.filter(|_| spec.rt_priority == 0 && spec.pins.is_empty());
    let without_effect = [
        wait.zip(never_waits),
        depth.map(|depth| (format!("--history-depth {depth}"), "KEEP_ALL keeps all samples")),
        publishers.map(|count| (format!("--expected-num-pubs {count}"), "this run has no subscription that waits")),
        subscriptions.map(|count| (format!("--expected-num-subs {count}"), "this run has no publisher that waits")),
        scope.map(|scope| (format!("--rt-scope {}", scope.name()), "this run has neither --use-rt-prio nor --pin")),
    ];
    let notes = without_effect.into_iter().flatten().map(|(option, why)| format!("{option} has no effect: {why}"));
    notes.chain(memory_of_messages(spec)).collect()
}

/// The note that the messages of this run need much memory and a long preparation before the start.
fn memory_of_messages(spec: &RunSpec) -> Option<String> {
    let bytes = spec.message.bytes;
    let of_publisher = 1 + if spec.qos.history == History::KeepLast { u64::from(spec.qos.depth) } else { 0 };
    let of_subscription = u64::from(!spec.zero_copy);
    let messages = u64::from(spec.publishers) * of_publisher + u64::from(spec.subscriptions) * of_subscription;
    let gib = messages as f64 * bytes as f64 / f64::from(1 << 30);
    (bytes >= LARGE_MESSAGE_BYTES).then(|| {
        format!(
            "each message has {} MiB, and the endpoints and their histories hold up to {messages}: {gib:.1} GiB. They are prepared before \
             the start, which takes a while; --history-depth lowers it",
            bytes >> 20
        )
    })
}

fn no_endpoints(spec: &RunSpec) -> Option<String> {
    (spec.publishers == 0 && spec.subscriptions == 0 && spec.roundtrip == Roundtrip::None)
        .then(|| "-p 0 -s 0 leaves nothing to measure: give at least one publisher or subscription".to_owned())
}

fn no_measured_time(spec: &RunSpec) -> Option<String> {
    let (ignore_s, run_s) = (spec.ignore_s, spec.max_runtime_s);
    (run_s > 0 && ignore_s >= run_s).then(|| {
        format!("--ignore {ignore_s} leaves nothing of --max-runtime {run_s}: ignore fewer seconds or run longer")
    })
}

/// Refuses to expect more endpoints than the run has. A run with both publishers and subscriptions has a private topic,
/// so it can match only its own endpoints.
fn too_many_expected(spec: &RunSpec) -> Option<String> {
    let kinds = [
        ("--expected-num-pubs", spec.expected_publishers, "-p", spec.publishers),
        ("--expected-num-subs", spec.expected_subscriptions, "-s", spec.subscriptions),
    ];
    let found = kinds.into_iter().find(|(_, expected, _, own)| spec.is_private() && expected > own);
    found.map(|(option, expected, short, own)| {
        format!(
            "{option} {expected} can never be reached: a run with publishers and subscriptions has a private topic, and \
             {short} is {own}. Give {short} {expected}, or -p 0 or -s 0 to match with other programs"
        )
    })
}

fn unfit_for_one_thread(spec: &RunSpec) -> Option<String> {
    let (publishers, subscriptions, mode) = (spec.publishers, spec.subscriptions, spec.roundtrip.name());
    match spec.roundtrip {
        _ if spec.strategy != Strategy::IntraThread => None,
        Roundtrip::None => (publishers != 1 || subscriptions == 0).then(|| {
            format!(
                "-e INTRA_THREAD needs one publisher and at least one subscription, not -p {publishers} -s {subscriptions}: its one \
                 thread publishes and then takes"
            )
        }),
        _ => Some(format!(
            "-e INTRA_THREAD contradicts --roundtrip-mode {mode}: one thread cannot wait for its own reply. Give -e INTER_THREAD"
        )),
    }
}

fn limits_without_order(spec: &RunSpec, options: &RunOptions) -> Option<String> {
    let rate_hz = spec.rate_hz;
    for (option, given) in [("--late", options.measuring.late), ("--too-late", options.measuring.too_late)] {
        if rate_hz == 0 && given.is_some_and(|given| given.absolute_ns.is_none()) {
            return Some(format!(
                "{option} in percent of the period does not apply to -r 0, which has no period: give a time"
            ));
        }
    }
    let [late_ns, too_late_ns] =
        [spec.late_above_ns, spec.too_late_above_ns].map(|limit_ns| limit_ns.unwrap_or(u64::MAX));
    (late_ns > too_late_ns).then(|| {
        format!(
            "samples are late above {late_ns} ns and too late above {too_late_ns} ns at -r {rate_hz}, so none could be late. Give --late a \
             lower limit than --too-late"
        )
    })
}

fn service_without_rate(spec: &RunSpec) -> Option<String> {
    let sentence = "--roundtrip-mode Service sends requests at a rate, and -r 0 would send them without waiting for responses: \
                    give -r 1 or more";
    (spec.roundtrip == Roundtrip::Service && spec.rate_hz == 0).then(|| sentence.to_owned())
}

fn work_without_worker(spec: &RunSpec) -> Option<String> {
    let why = match spec.roundtrip {
        Roundtrip::Main => "the relay of a round trip works, and it belongs to another program: give --work there",
        Roundtrip::None if spec.subscriptions == 0 => "this run has no subscription: leave out --work",
        _ => return None,
    };
    (spec.work_ns > 0).then(|| format!("--work does not apply here: {why}"))
}
