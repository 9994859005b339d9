//! The options of a run in a batch.

use crate::cli::RunOptions;
use perf_worker::run_spec::{History, Reliability};

/// The default depth of histories in comparisons.
const DEPTH: u32 = 10;

/// The options of a run, as pairs of name and value for tables.
pub type Options = Vec<(String, String)>;

/// The value of an option of a run; `None` if the run does not have the option.
#[must_use]
pub fn value<'a>(options: &'a Options, option: &str) -> Option<&'a str> {
    options.iter().find(|(name, _)| name == option).map(|(_, value)| value.as_str())
}

/// Refuses options of a single run that do not apply to a batch. `command` is the name of the command, for the error.
///
/// # Errors
/// The reason, as a sentence, with the option to use instead.
pub fn refuse(run: &RunOptions, command: &str) -> Result<(), String> {
    let output = &run.output;
    let logs = [&output.logfile, &output.csv_logfile, &output.json_logfile, &output.full_logfile];
    let endpoints = &run.endpoints;
    let wrong = [
        (run.time.runs.is_some(), "--runs does not apply here: give --rounds, in which each run is done once"),
        (
            logs.into_iter().flatten().next().is_some() || output.plot || !output.output.is_empty(),
            "the logs of all runs are in a folder: give --results DIR instead of -o, --plot or names of logs",
        ),
        (!run.gate.require.is_empty(), "--require applies to single runs: leave out --require"),
        (run.time.max_runtime == Some(0), "no run may be endless: give --max-runtime 1 or more"),
        (
            endpoints.num_pub_threads == Some(0) || endpoints.num_sub_threads == Some(0),
            "each run needs both sides: give -p and -s of at least 1",
        ),
    ];
    let wrong = wrong.into_iter().find(|(is_wrong, _)| *is_wrong);
    wrong.map_or(Ok(()), |(_, sentence)| Err(format!("{command}: {sentence}")))
}

/// Adds the defaults of comparisons to the options: RELIABLE, KEEP_LAST 10, and the given seconds of warm-up and
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
