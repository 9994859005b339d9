//! Whether all of a run fits together.
//!
//! Used by `resolve`, at the end. Each rule is one function and one sentence.

use super::Defaults;
use crate::cli::options::RunOptions;
use crate::experiment::{Experiment, History, Roundtrip, Strategy, Threshold, name_of};

/// # Errors
/// The first rule that is broken.
pub fn check(experiment: &Experiment, options: &RunOptions, defaults: Defaults) -> Result<(), String> {
    somebody_takes_part(experiment)?;
    something_is_measured(experiment)?;
    expected_can_come(experiment)?;
    one_thread_can_do_it(experiment)?;
    limits_are_ordered(experiment, options)?;
    if options.who.mock.is_some() && experiment.communicator != "Mock" {
        let communicator = &experiment.communicator;
        return Err(format!("--mock does not apply to {communicator}: give -c Mock too, or leave it out"));
    }
    if defaults == Defaults::ZeroCopyExperiment {
        two_runs_can_be_compared(experiment)?;
        if !options.gate.require.is_empty() {
            return Err("`experiment zero-copy` compares two runs, --require is about one: give it to that run alone"
                .to_owned());
        }
    }
    Ok(())
}

/// What was asked for and makes no difference.
pub fn remarks(experiment: &Experiment, options: &RunOptions) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(option) = match options.measuring.wait {
        Some(wait) => Some(format!("--wait {}", name_of(wait))),
        None => options.older.no_waitset.then(|| "--no-waitset".to_owned()),
    } {
        if experiment.strategy == Strategy::IntraThread {
            remarks.push(format!(
                "{option} makes no difference: INTRA_THREAD's thread publishes and takes and never waits"
            ));
        } else if experiment.subscriptions == 0 && experiment.roundtrip == Roundtrip::None {
            remarks.push(format!("{option} makes no difference: this run has no subscription"));
        }
    }
    if let (Some(depth), History::KeepAll) = (options.qos.history_depth, experiment.history) {
        remarks.push(format!("--history-depth {depth} makes no difference: KEEP_ALL keeps all"));
    }
    if let (Some(count), 0) = (options.who.expected_num_pubs.filter(|count| *count > 0), experiment.subscriptions) {
        remarks.push(format!("--expected-num-pubs {count} makes no difference: no subscription of this run waits"));
    }
    if let (Some(count), 0) = (options.who.expected_num_subs.filter(|count| *count > 0), experiment.publishers) {
        remarks.push(format!("--expected-num-subs {count} makes no difference: no publisher of this run waits"));
    }
    remarks
}

fn somebody_takes_part(experiment: &Experiment) -> Result<(), String> {
    if experiment.publishers == 0 && experiment.subscriptions == 0 && experiment.roundtrip == Roundtrip::None {
        return Err("-p 0 -s 0 leaves nothing to measure: give at least one publisher or one subscription".to_owned());
    }
    Ok(())
}

fn something_is_measured(experiment: &Experiment) -> Result<(), String> {
    if experiment.max_runtime_s > 0 && experiment.ignore_s >= experiment.max_runtime_s {
        return Err(format!(
            "--ignore {} leaves nothing of --max-runtime {}: ignore fewer seconds or run longer",
            experiment.ignore_s, experiment.max_runtime_s
        ));
    }
    Ok(())
}

/// A run with both ends has its topic for itself.
fn expected_can_come(experiment: &Experiment) -> Result<(), String> {
    for (option, expected, short, own) in [
        ("--expected-num-pubs", experiment.expected_publishers, "-p", experiment.publishers),
        ("--expected-num-subs", experiment.expected_subscriptions, "-s", experiment.subscriptions),
    ] {
        if experiment.is_private() && expected > own {
            return Err(format!(
                "{option} {expected} would wait in vain: a run with publishers and subscriptions has its topic for itself, and \
                 {short} is {own}. Give {short} {expected}, or -p 0 or -s 0 to meet other programs"
            ));
        }
    }
    Ok(())
}

fn one_thread_can_do_it(experiment: &Experiment) -> Result<(), String> {
    if experiment.strategy != Strategy::IntraThread {
        return Ok(());
    }
    if experiment.roundtrip != Roundtrip::None {
        let mode = name_of(experiment.roundtrip);
        return Err(format!(
            "-e INTRA_THREAD contradicts --roundtrip-mode {mode}: one thread cannot wait for its own answer. Give -e INTER_THREAD"
        ));
    }
    if experiment.publishers != 1 || experiment.subscriptions == 0 {
        return Err(format!(
            "-e INTRA_THREAD needs one publisher and at least one subscription, not -p {} -s {}: its thread publishes and then takes",
            experiment.publishers, experiment.subscriptions
        ));
    }
    Ok(())
}

fn limits_are_ordered(experiment: &Experiment, options: &RunOptions) -> Result<(), String> {
    let rate_hz = experiment.rate_hz;
    for (option, given) in [("--late", options.measuring.late), ("--too-late", options.measuring.too_late)] {
        if rate_hz == 0 && given.is_some_and(|given| given.absolute_ns.is_none()) {
            return Err(format!(
                "{option} in percent of the period does not apply to -r 0, which has no period: give a time"
            ));
        }
    }
    let [late_ns, too_late_ns] = [experiment.late, experiment.too_late].map(|limit: Threshold| limit.limit_ns(rate_hz));
    if late_ns > too_late_ns {
        return Err(format!(
            "late begins above {late_ns} ns and too late above {too_late_ns} ns at -r {rate_hz}: nothing could be late. Give --late a \
             lower limit than --too-late"
        ));
    }
    Ok(())
}

fn two_runs_can_be_compared(experiment: &Experiment) -> Result<(), String> {
    if experiment.zero_copy {
        return Err("`experiment zero-copy` runs without zero copy and with it: leave out --zero-copy".to_owned());
    }
    if experiment.max_runtime_s == 0 || !experiment.is_private() {
        return Err("`experiment zero-copy` compares two whole runs: it needs --max-runtime, -p and -s of at least 1"
            .to_owned());
    }
    Ok(())
}
