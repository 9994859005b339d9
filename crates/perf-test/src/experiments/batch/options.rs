//! The options of a run, as the runs of a batch have them.

use crate::cli::RunOptions;
use perf_worker::run_spec::{History, Reliability};

/// The default depth of the histories.
const DEPTH: u32 = 10;

/// The options of a run by their names, with their values as they are shown.
pub type Options = Vec<(String, String)>;

/// The value of an option of a run.
#[must_use]
pub fn value<'a>(options: &'a Options, option: &str) -> Option<&'a str> {
    options.iter().find(|(name, _)| name == option).map(|(_, value)| value.as_str())
}

/// Refuses the options of a single run that a batch cannot carry out; `command` is the name of the command.
///
/// # Errors
/// A sentence with the option to give instead.
pub fn refuse(run: &RunOptions, command: &str) -> Result<(), String> {
    let output = &run.output;
    let logs = [&output.logfile, &output.csv_logfile, &output.json_logfile, &output.full_logfile];
    if run.time.runs.is_some() {
        return Err(format!("--runs does not apply to {command}: give --rounds, in which each run is done once"));
    }
    if logs.into_iter().flatten().next().is_some() || output.plot || !output.output.is_empty() {
        return Err(format!(
            "{command} writes the logs of its runs to a folder: give --results DIR instead of -o, --plot or names of logs"
        ));
    }
    if !run.gate.require.is_empty() {
        return Err(format!("--require applies to single runs: leave it out of {command}"));
    }
    if run.time.max_runtime == Some(0) {
        return Err(format!("{command} has complete runs: give --max-runtime 1 or more"));
    }
    if run.endpoints.num_pub_threads == Some(0) || run.endpoints.num_sub_threads == Some(0) {
        return Err(format!("{command} has complete runs: give -p and -s of at least 1"));
    }
    Ok(())
}

/// The options with the defaults of comparisons: RELIABLE, KEEP_LAST 10, and these seconds of warm-up and of
/// measurement.
#[must_use]
pub fn with_defaults(options: &RunOptions, warmup_s: u32, measured_s: u32) -> RunOptions {
    let mut options = options.clone();
    let time = &mut options.time;
    time.warmup = time.warmup.or(Some(warmup_s));
    time.max_runtime = time.max_runtime.or(Some(measured_s));
    let qos = &mut options.qos;
    qos.reliability = qos.reliability.or((!qos.reliable).then_some(Reliability::Reliable));
    qos.history = qos.history.or((!qos.keep_last).then_some(History::KeepLast));
    qos.history_depth = qos.history_depth.or(Some(DEPTH));
    options
}
