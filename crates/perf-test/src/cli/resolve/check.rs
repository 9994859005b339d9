//! Whether all of a run fits together.
//!
//! Used by `resolve`, at the end. Each rule is one function and one sentence.

use super::Defaults;
use crate::cli::options::RunOptions;
use crate::run_spec::{History, Roundtrip, RunSpec, Strategy, Threshold, name_of};

/// # Errors
/// The first rule that is broken.
pub fn check(spec: &RunSpec, options: &RunOptions, defaults: Defaults) -> Result<(), String> {
    somebody_takes_part(spec)?;
    something_is_measured(spec)?;
    expected_can_come(spec)?;
    one_thread_can_do_it(spec)?;
    limits_are_ordered(spec, options)?;
    if options.endpoints.mock.is_some() && spec.communicator != "Mock" {
        let communicator = &spec.communicator;
        return Err(format!("--mock does not apply to {communicator}: give -c Mock too, or leave it out"));
    }
    if defaults == Defaults::ZeroCopyExperiment {
        two_runs_can_be_compared(spec)?;
        if !options.gate.require.is_empty() {
            return Err("`experiment zero-copy` compares two runs, --require is about one: give it to that run alone"
                .to_owned());
        }
    }
    Ok(())
}

/// What was asked for and makes no difference.
pub fn heading_notes(spec: &RunSpec, options: &RunOptions) -> Vec<String> {
    let mut heading_notes = Vec::new();
    if let Some(option) = match options.measuring.wait {
        Some(wait) => Some(format!("--wait {}", name_of(wait))),
        None => options.legacy.no_waitset.then(|| "--no-waitset".to_owned()),
    } {
        if spec.strategy == Strategy::IntraThread {
            heading_notes.push(format!(
                "{option} makes no difference: INTRA_THREAD's thread publishes and takes and never waits"
            ));
        } else if spec.subscriptions == 0 && spec.roundtrip == Roundtrip::None {
            heading_notes.push(format!("{option} makes no difference: this run has no subscription"));
        }
    }
    if let (Some(depth), History::KeepAll) = (options.qos.history_depth, spec.history) {
        heading_notes.push(format!("--history-depth {depth} makes no difference: KEEP_ALL keeps all"));
    }
    if let (Some(count), 0) = (options.endpoints.expected_num_pubs.filter(|count| *count > 0), spec.subscriptions) {
        heading_notes
            .push(format!("--expected-num-pubs {count} makes no difference: no subscription of this run waits"));
    }
    if let (Some(count), 0) = (options.endpoints.expected_num_subs.filter(|count| *count > 0), spec.publishers) {
        heading_notes.push(format!("--expected-num-subs {count} makes no difference: no publisher of this run waits"));
    }
    heading_notes
}

fn somebody_takes_part(spec: &RunSpec) -> Result<(), String> {
    if spec.publishers == 0 && spec.subscriptions == 0 && spec.roundtrip == Roundtrip::None {
        return Err("-p 0 -s 0 leaves nothing to measure: give at least one publisher or one subscription".to_owned());
    }
    Ok(())
}

fn something_is_measured(spec: &RunSpec) -> Result<(), String> {
    if spec.max_runtime_s > 0 && spec.ignore_s >= spec.max_runtime_s {
        return Err(format!(
            "--ignore {} leaves nothing of --max-runtime {}: ignore fewer seconds or run longer",
            spec.ignore_s, spec.max_runtime_s
        ));
    }
    Ok(())
}

/// A run with both ends has its topic for itself.
fn expected_can_come(spec: &RunSpec) -> Result<(), String> {
    for (option, expected, short, own) in [
        ("--expected-num-pubs", spec.expected_publishers, "-p", spec.publishers),
        ("--expected-num-subs", spec.expected_subscriptions, "-s", spec.subscriptions),
    ] {
        if spec.is_private() && expected > own {
            return Err(format!(
                "{option} {expected} would wait in vain: a run with publishers and subscriptions has its topic for itself, and \
                 {short} is {own}. Give {short} {expected}, or -p 0 or -s 0 to meet other programs"
            ));
        }
    }
    Ok(())
}

fn one_thread_can_do_it(spec: &RunSpec) -> Result<(), String> {
    if spec.strategy != Strategy::IntraThread {
        return Ok(());
    }
    if spec.roundtrip != Roundtrip::None {
        let mode = name_of(spec.roundtrip);
        return Err(format!(
            "-e INTRA_THREAD contradicts --roundtrip-mode {mode}: one thread cannot wait for its own answer. Give -e INTER_THREAD"
        ));
    }
    if spec.publishers != 1 || spec.subscriptions == 0 {
        return Err(format!(
            "-e INTRA_THREAD needs one publisher and at least one subscription, not -p {} -s {}: its thread publishes and then takes",
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
    let [late_ns, too_late_ns] = [spec.late, spec.too_late].map(|limit: Threshold| limit.limit_ns(rate_hz));
    if late_ns > too_late_ns {
        return Err(format!(
            "late begins above {late_ns} ns and too late above {too_late_ns} ns at -r {rate_hz}: nothing could be late. Give --late a \
             lower limit than --too-late"
        ));
    }
    Ok(())
}

fn two_runs_can_be_compared(spec: &RunSpec) -> Result<(), String> {
    if spec.zero_copy {
        return Err("`experiment zero-copy` runs without zero copy and with it: leave out --zero-copy".to_owned());
    }
    if spec.max_runtime_s == 0 || !spec.is_private() {
        return Err("`experiment zero-copy` compares two whole runs: it needs --max-runtime, -p and -s of at least 1"
            .to_owned());
    }
    Ok(())
}
