//! From options to one checked run and the places where its results go.
//!
//! Used by `main`. Contradictions are errors, never decided silently; everything that can be known to
//! be wrong before a process is started is found here.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::{Output, RunOptions};
use crate::error::Failure;
use crate::experiment::{Durability, Experiment, History, Layout, Reliability, Roundtrip, Threshold, name_of};
use crate::messages::{self, Found};
use crate::topic;

/// What an option means that is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defaults {
    /// performance_test's.
    Run,
    /// Those of the zero-copy experiment: 4 MB at 100 Hz, reliable, for 30 s.
    ZeroCopyExperiment,
}

/// Where the results of a run go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// Tables on the console.
    pub console: bool,
    /// A CSV log under this name.
    pub csv: Option<PathBuf>,
    /// A JSON log under this name.
    pub json: Option<PathBuf>,
    /// A log has a name that was not given but made up here.
    pub log_named_here: bool,
}

/// The run that the options describe and where its results go.
///
/// # Errors
/// [`Failure::Usage`] if options contradict each other or name what does not exist.
pub fn resolve(options: &RunOptions, defaults: Defaults) -> Result<(Experiment, Outputs), Failure> {
    let experiment = experiment(options, defaults).map_err(Failure::Usage)?;
    let outputs = outputs(options, &experiment.topic).map_err(Failure::Usage)?;
    Ok((experiment, outputs))
}

fn experiment(options: &RunOptions, defaults: Defaults) -> Result<Experiment, String> {
    let of_experiment = defaults == Defaults::ZeroCopyExperiment;
    let layout = options.message_layout.unwrap_or_default();
    let default_message = match (of_experiment, layout) {
        (true, _) => "Array4m",
        (false, Layout::V1) => "Array1k",
        (false, Layout::V2) => "Array128",
    };
    let message = message(options, default_message, layout)?;
    let reliability =
        switch(options.reliable, "--reliable", Reliability::Reliable, "--reliability", options.reliability)?;
    let transient = Durability::TransientLocal;
    let durability = switch(options.transient, "--transient", transient, "--durability", options.durability)?;
    let history = switch(options.keep_last, "--keep-last", History::KeepLast, "--history", options.history)?;
    let (publishers, subscriptions) = (options.num_pub_threads.unwrap_or(1), options.num_sub_threads.unwrap_or(1));
    #[rustfmt::skip]
    let experiment = Experiment {
        communicator: crate::coordinator::communicator::Communicator::find(options.communicator.as_deref().unwrap_or("Gantry"))?.name().to_owned(),
        message: message.name.to_owned(),
        layout,
        content: message.content,
        message_bytes: message.bytes,
        last_id: message.last_id,
        unbounded_bytes: options.unbounded_msg_size.unwrap_or(0),
        topic: topic(options.topic.as_deref())?,
        domain_id: domain_id(options.dds_domain_id)?,
        rate_hz: options.rate.unwrap_or(if of_experiment { 100 } else { 1000 }),
        publishers,
        subscriptions,
        strategy: options.execution_strategy.unwrap_or_default(),
        roundtrip: options.roundtrip_mode.unwrap_or(Roundtrip::None),
        expected_publishers: options.expected_num_pubs.unwrap_or(publishers),
        expected_subscriptions: options.expected_num_subs.unwrap_or(subscriptions),
        match_timeout_s: options.wait_for_matched_timeout.unwrap_or(30),
        reliability: reliability.unwrap_or(if of_experiment { Reliability::Reliable } else { Reliability::BestEffort }),
        durability: durability.unwrap_or_default(),
        history: history.unwrap_or_default(),
        history_depth: options.history_depth.unwrap_or(if of_experiment { 10 } else { 16 }),
        max_runtime_s: options.max_runtime.unwrap_or(if of_experiment { 30 } else { 0 }),
        ignore_s: options.ignore.unwrap_or(0),
        zero_copy: options.zero_copy,
        warmup_s: options.warmup.unwrap_or(0),
        wait: options.wait.unwrap_or_default(),
        touch: options.touch.unwrap_or_default(),
        late: Threshold::LATE,
        too_late: Threshold::TOO_LATE,
        rt_priority: 0,
        rt_cpus: Vec::new(),
        pins: Vec::new(),
        check_memory: false,
        prevent_cpu_idle: false,
        mock: options.mock.clone().unwrap_or_default(),
        remarks: Vec::new(),
    };
    check(&experiment, defaults)?;
    Ok(experiment)
}

fn message(options: &RunOptions, default: &str, layout: Layout) -> Result<Found, String> {
    let unbounded_bytes = options.unbounded_msg_size.unwrap_or(0) as usize;
    let found = messages::find(options.msg.as_deref().unwrap_or(default), layout, unbounded_bytes)?;
    if options.unbounded_msg_size.is_some() && !found.content.is_unbounded() {
        return Err(format!(
            "--unbounded-msg-size {unbounded_bytes} does not apply: {} always has {} bytes. Leave it out, or give -m \
             UnboundedSequence, UnboundedString or StampedVector",
            found.name, found.bytes
        ));
    }
    Ok(found)
}

fn check(experiment: &Experiment, defaults: Defaults) -> Result<(), String> {
    if experiment.publishers == 0 && experiment.subscriptions == 0 {
        return Err("-p 0 -s 0 leaves nothing to measure: give at least one publisher or one subscription".to_owned());
    }
    if experiment.max_runtime_s > 0 && experiment.ignore_s >= experiment.max_runtime_s {
        return Err(format!(
            "--ignore {} leaves nothing of --max-runtime {}: ignore fewer seconds or run longer",
            experiment.ignore_s, experiment.max_runtime_s
        ));
    }
    if defaults == Defaults::ZeroCopyExperiment {
        if experiment.zero_copy {
            return Err("`experiment zero-copy` runs without zero copy and with it: leave out --zero-copy".to_owned());
        }
        if experiment.max_runtime_s == 0 || !experiment.is_private() {
            return Err(
                "`experiment zero-copy` compares two whole runs: it needs --max-runtime, -p and -s of at least 1"
                    .to_owned(),
            );
        }
    }
    Ok(())
}

/// The value of an option that has a short form as a switch.
fn switch<T: ValueEnum + PartialEq + Clone>(
    given: bool,
    name: &str,
    meaning: T,
    option: &str,
    value: Option<T>,
) -> Result<Option<T>, String> {
    match value {
        Some(value) if given && value != meaning => {
            let (value, meaning) = (name_of(value), name_of(meaning));
            Err(format!("{name} means {option} {meaning} and contradicts {option} {value}: give one of them"))
        }
        Some(value) => Ok(Some(value)),
        None => Ok(given.then_some(meaning)),
    }
}

fn topic(given: Option<&str>) -> Result<String, String> {
    let topic = given.unwrap_or("test_topic");
    topic::check(topic)?;
    Ok(topic.to_owned())
}

fn domain_id(given: Option<u32>) -> Result<u32, String> {
    if let Some(id) = given {
        return Ok(id);
    }
    let Some(text) = std::env::var_os("ROS_DOMAIN_ID").filter(|text| !text.is_empty()) else {
        return Ok(0);
    };
    text.to_str()
        .and_then(|text| text.trim().parse().ok())
        .filter(|id| *id <= 232)
        .ok_or_else(|| format!("ROS_DOMAIN_ID is {text:?}: it must be a number from 0 to 232, or give --dds-domain-id"))
}

fn outputs(options: &RunOptions, topic: &str) -> Result<Outputs, String> {
    let asked = |output| options.output.contains(&output);
    if asked(Output::None) && (options.output.iter().any(|output| *output != Output::None) || options.print_to_console)
    {
        return Err("-o none contradicts another output: give the one or the other".to_owned());
    }
    let (mut csv, mut json) = (options.csv_logfile.clone(), options.json_logfile.clone());
    if let Some(path) = &options.logfile {
        let (log, option) = match suffix(path).as_str() {
            // Without a suffix as in performance_test 1.x, whose only log was this one.
            "csv" | "" => (&mut csv, "--csv-logfile"),
            "json" => (&mut json, "--json-logfile"),
            _ => {
                return Err(format!(
                    "--logfile {} does not say which kind of log: its name must end in .csv or .json",
                    path.display()
                ));
            }
        };
        if log.as_ref().is_some_and(|other| other != path) {
            return Err(format!("--logfile {} contradicts {option}: give one of them", path.display()));
        }
        *log = Some(path.clone());
    }
    let log_named_here = (asked(Output::Csv) && csv.is_none()) || (asked(Output::Json) && json.is_none());
    if asked(Output::Csv) && csv.is_none() {
        csv = Some(default_name(topic, "csv"));
    }
    if asked(Output::Json) && json.is_none() {
        json = Some(default_name(topic, "json"));
    }
    if let (Some(csv), Some(json)) = (&csv, &json)
        && location(csv) == location(json)
    {
        let (csv, json) = (csv.display(), json.display());
        return Err(format!("--csv-logfile {csv} and --json-logfile {json} name the same file: give two names"));
    }
    let console = options.output.is_empty() || asked(Output::Stdout) || options.print_to_console;
    Ok(Outputs { console, csv, json, log_named_here })
}

/// The same for all names of one file, as far as its folder exists.
fn location(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let there = path.canonicalize();
    there
        .or_else(|_| Ok(folder.canonicalize()?.join(path.file_name().unwrap_or_default())))
        .unwrap_or_else(|_: std::io::Error| path.to_owned())
}

fn suffix(path: &Path) -> String {
    path.extension().map(|suffix| suffix.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// A name in the current folder that no earlier second's run has.
fn default_name(topic: &str, suffix: &str) -> PathBuf {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let topic: String = topic.chars().map(|c| if c.is_alphanumeric() || "_-".contains(c) { c } else { '_' }).collect();
    PathBuf::from(format!("{}_{}.{suffix}", topic.trim_matches('_'), since_epoch.as_secs()))
}

#[cfg(test)]
mod tests;
