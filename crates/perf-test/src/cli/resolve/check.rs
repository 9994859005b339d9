//! The rules that a run must satisfy as a whole. Each rule is one function and one sentence.

use crate::cli::options::RunOptions;
use perf_worker::choice::Choice;
use perf_worker::run_spec::{History, Roundtrip, RunSpec, Strategy};

/// A run of messages of this size has a note about their memory.
const LARGE_MESSAGE_BYTES: usize = 256 << 20;

/// Checks a run.
///
/// # Errors
/// The first rule that is broken.
pub fn check(spec: &RunSpec, options: &RunOptions) -> Result<(), String> {
    has_endpoints(spec)?;
    has_measured_time(spec)?;
    expected_can_match(spec)?;
    fits_one_thread(spec)?;
    limits_are_ordered(spec, options)?;
    fits_a_service(spec)?;
    has_a_worker(spec)?;
    if options.endpoints.mock.is_some() && spec.communicator != "Mock" {
        let communicator = &spec.communicator;
        return Err(format!("--mock does not apply to {communicator}: add -c Mock, or leave it out"));
    }
    Ok(())
}

/// The notes for the heading about options without effect.
pub fn heading_notes(spec: &RunSpec, options: &RunOptions) -> Vec<String> {
    let mut heading_notes = Vec::new();
    if let Some(option) = match options.measuring.wait {
        Some(wait) => Some(format!("--wait {}", wait.name())),
        None => options.legacy.no_waitset.then(|| "--no-waitset".to_owned()),
    } {
        if spec.strategy == Strategy::IntraThread {
            heading_notes.push(format!(
                "{option} has no effect: the thread of INTRA_THREAD publishes and takes, and never waits"
            ));
        } else if spec.subscriptions == 0 && spec.roundtrip == Roundtrip::None {
            heading_notes.push(format!("{option} has no effect: this run has no subscription"));
        }
    }
    if let (Some(depth), History::KeepAll) = (options.qos.history_depth, spec.qos.history) {
        heading_notes.push(format!("--history-depth {depth} has no effect: KEEP_ALL keeps all samples"));
    }
    if let (Some(count), 0) = (options.endpoints.expected_num_pubs.filter(|count| *count > 0), spec.subscriptions) {
        heading_notes
            .push(format!("--expected-num-pubs {count} has no effect: this run has no subscription that waits"));
    }
    if let (Some(count), 0) = (options.endpoints.expected_num_subs.filter(|count| *count > 0), spec.publishers) {
        heading_notes.push(format!("--expected-num-subs {count} has no effect: this run has no publisher that waits"));
    }
    if let (Some(scope), 0, true) = (options.machine.rt_scope, spec.rt_priority, spec.pins.is_empty()) {
        let scope = scope.name();
        heading_notes.push(format!("--rt-scope {scope} has no effect: this run has neither --use-rt-prio nor --pin"));
    }
    heading_notes.extend(memory_of_messages(spec));
    heading_notes
}

/// The note about messages whose memory, and whose preparation before the start, may surprise.
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

fn has_endpoints(spec: &RunSpec) -> Result<(), String> {
    if spec.publishers == 0 && spec.subscriptions == 0 && spec.roundtrip == Roundtrip::None {
        return Err("-p 0 -s 0 leaves nothing to measure: give at least one publisher or subscription".to_owned());
    }
    Ok(())
}

fn has_measured_time(spec: &RunSpec) -> Result<(), String> {
    if spec.max_runtime_s > 0 && spec.ignore_s >= spec.max_runtime_s {
        return Err(format!(
            "--ignore {} leaves nothing of --max-runtime {}: ignore fewer seconds or run longer",
            spec.ignore_s, spec.max_runtime_s
        ));
    }
    Ok(())
}

/// A run with publishers and subscriptions has a private topic.
fn expected_can_match(spec: &RunSpec) -> Result<(), String> {
    for (option, expected, short, own) in [
        ("--expected-num-pubs", spec.expected_publishers, "-p", spec.publishers),
        ("--expected-num-subs", spec.expected_subscriptions, "-s", spec.subscriptions),
    ] {
        if spec.is_private() && expected > own {
            return Err(format!(
                "{option} {expected} can never be reached: a run with publishers and subscriptions has a private topic, and \
                 {short} is {own}. Give {short} {expected}, or -p 0 or -s 0 to match with other programs"
            ));
        }
    }
    Ok(())
}

fn fits_one_thread(spec: &RunSpec) -> Result<(), String> {
    if spec.strategy != Strategy::IntraThread {
        return Ok(());
    }
    if spec.roundtrip != Roundtrip::None {
        let mode = spec.roundtrip.name();
        return Err(format!(
            "-e INTRA_THREAD contradicts --roundtrip-mode {mode}: one thread cannot wait for its own reply. Give -e INTER_THREAD"
        ));
    }
    if spec.publishers != 1 || spec.subscriptions == 0 {
        return Err(format!(
            "-e INTRA_THREAD needs one publisher and at least one subscription, not -p {} -s {}: its one thread publishes and then takes",
            spec.publishers, spec.subscriptions
        ));
    }
    Ok(())
}

fn limits_are_ordered(spec: &RunSpec, options: &RunOptions) -> Result<(), String> {
    let rate_hz = spec.rate_hz;
    for (option, given) in [("--late", options.measuring.late), ("--too-late", options.measuring.too_late)] {
        if rate_hz == 0 && given.is_some_and(|given| given.absolute_ns.is_none()) {
            return Err(format!(
                "{option} in percent of the period does not apply to -r 0, which has no period: give a time"
            ));
        }
    }
    let [late_ns, too_late_ns] =
        [spec.late_above_ns, spec.too_late_above_ns].map(|limit_ns| limit_ns.unwrap_or(u64::MAX));
    if late_ns > too_late_ns {
        return Err(format!(
            "samples are late above {late_ns} ns and too late above {too_late_ns} ns at -r {rate_hz}, so none could be late. Give --late a \
             lower limit than --too-late"
        ));
    }
    Ok(())
}

fn fits_a_service(spec: &RunSpec) -> Result<(), String> {
    if spec.roundtrip == Roundtrip::Service && spec.rate_hz == 0 {
        return Err("--roundtrip-mode Service sends requests at a rate, and -r 0 would send them without waiting for responses: \
                    give -r 1 or more"
            .to_owned());
    }
    Ok(())
}

fn has_a_worker(spec: &RunSpec) -> Result<(), String> {
    let nobody = match spec.roundtrip {
        Roundtrip::Main => "the relay of a round trip works, and it belongs to another program: give --work there",
        Roundtrip::None if spec.subscriptions == 0 => "this run has no subscription: leave it out",
        _ => return Ok(()),
    };
    if spec.work_ns > 0 { Err(format!("--work does not apply here: {nobody}")) } else { Ok(()) }
}
