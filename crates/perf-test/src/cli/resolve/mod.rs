//! Conversion of the options into one checked run and its outputs.
//!
//! Contradicting options are an error; none of them wins silently. All errors are found here, before a process starts,
//! except the errors that only the machine can report.

mod check;

mod endpoints;
mod outputs;

use std::collections::BTreeMap;

use super::legacy;
use super::options::{MessageOptions, QosOptions, RunOptions};
use crate::common::error::Failure;
use crate::communicator::Communicator;
use crate::judge::requirement::Requirement;
use crate::report::outputs::Outputs;
use perf_worker::backend::{Description, Settings};
use perf_worker::choice::Choice;
use perf_worker::pacing::Pace;
use perf_worker::raw::RAW_HEADER_BYTES;
use perf_worker::run_spec::{
    Content, Durability, History, Layout, Qos, Reliability, Roundtrip, RunSpec, Threshold, Touch, Wait,
};
use perf_worker_gantry::messages::{self, MessageChoice};

/// A resolved command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The run, with a value for each option.
    pub spec: RunSpec,
    /// The destinations of the results.
    pub outputs: Outputs,
    /// The number of runs.
    pub runs: u32,
    /// The requirements on each run.
    pub requirements: Vec<Requirement>,
}

/// The run that the options describe, and its outputs.
///
/// # Errors
/// [`Failure::Usage`] if options contradict each other or a name is unknown.
pub fn resolve(options: &RunOptions) -> Result<Resolved, Failure> {
    let communicator = endpoints::communicator(options.endpoints.communicator.as_deref()).map_err(Failure::Usage)?;
    let description = communicator.describe().map_err(Failure::Usage)?;
    resolve_for(&communicator, description, options)
}

/// Like [`resolve`], but for the given middleware. The option `-c` is ignored.
///
/// # Errors
/// [`Failure::Usage`] if options contradict each other or a name is unknown.
pub fn resolve_for(
    communicator: &Communicator,
    description: Description,
    options: &RunOptions,
) -> Result<Resolved, Failure> {
    let resolved = || {
        let spec = spec(communicator, description, options)?;
        let outputs = outputs::outputs(&options.output, options.legacy.disable_logging, &spec.topic)?;
        let (runs, requirements) = (options.time.runs.unwrap_or(1), options.gate.require.clone());
        Ok(Resolved { spec, outputs, runs, requirements })
    };
    resolved().map_err(Failure::Usage)
}

/// Checks the rules that do not depend on the middleware. [`check_message`] checks the rules about the message.
///
/// # Errors
/// [`Failure::Usage`]: options contradict each other, or a value is not allowed.
pub fn check_shared(options: &RunOptions) -> Result<(), Failure> {
    let check = || {
        legacy::resolve::refuse(&options.legacy)?;
        let (roundtrip, ..) = endpoints::counts(&options.endpoints)?;
        switch(options.legacy.no_waitset, "--no-waitset", Wait::Spin, "--wait", options.measuring.wait)?;
        legacy::resolve::real_time(&options.machine, options.legacy.use_drive_px_rt)?;
        endpoints::topic(&options.endpoints, options.messages.msg.is_some())?;
        endpoints::domain_id(options.endpoints.dds_domain_id)?;
        qos(&options.qos, roundtrip == Roundtrip::Service).map(drop)
    };
    check().map_err(Failure::Usage)
}

/// Checks the message type of `-m` and the payload size.
///
/// # Errors
/// [`Failure::Usage`]: no message has this name, or the message has no variable size.
pub fn check_message(options: &RunOptions) -> Result<(), Failure> {
    let layout = options.messages.message_layout.unwrap_or_default();
    message(&options.messages, "Array1k", layout).map(drop).map_err(Failure::Usage)
}

/// The outputs of each run if there are several: the logs and the plot that the options name. The console is among them
/// only if the user asks for it, as with `-o stdout`.
///
/// # Errors
/// [`Failure::Usage`]: options contradict each other.
pub fn outputs_of_several(options: &RunOptions) -> Result<Outputs, Failure> {
    let topic = endpoints::topic(&options.endpoints, options.messages.msg.is_some());
    let found = topic.and_then(|topic| outputs::outputs(&options.output, options.legacy.disable_logging, &topic));
    let is_asked = options.output.print_to_console || !options.output.output.is_empty();
    found.map(|outputs| Outputs { console: outputs.console && is_asked, ..outputs }).map_err(Failure::Usage)
}

/// The run `spec` with or without zero copy. Its daemons are determined anew, because they may depend on zero copy.
///
/// # Errors
/// [`Failure::Usage`] if the middleware refuses the run.
pub fn with_zero_copy(spec: &RunSpec, zero_copy: bool) -> Result<RunSpec, Failure> {
    let spec = RunSpec { zero_copy, ..spec.clone() };
    let checked = Communicator::find(&spec.communicator).and_then(|communicator| communicator.check(&spec));
    Ok(RunSpec { daemon_commands: checked.map_err(Failure::Usage)?, ..spec })
}

fn spec(communicator: &Communicator, description: Description, options: &RunOptions) -> Result<RunSpec, String> {
    legacy::resolve::refuse(&options.legacy)?;
    let settings = settings(options, communicator, &description)?;
    let heading_notes = legacy::resolve::heading_notes(&options.legacy, &description);
    let layout = options.messages.message_layout.unwrap_or_default();
    let default_message = match layout {
        Layout::V1 => "Array1k",
        Layout::V2 => "Array128",
    };
    let message = message(&options.messages, default_message, layout)?;
    let (touch, untouched) = touch(options.messages.touch.unwrap_or_default(), &message);
    let (roundtrip, publishers, subscriptions) = endpoints::counts(&options.endpoints)?;
    let wait = switch(options.legacy.no_waitset, "--no-waitset", Wait::Spin, "--wait", options.measuring.wait)?;
    let (rt_priority, rt_cpus) = legacy::resolve::real_time(&options.machine, options.legacy.use_drive_px_rt)?;
    let mock = options.endpoints.mock.clone().unwrap_or_default();
    let capabilities = mock.limit(description.capabilities);
    let rate_hz = options.time.rate.unwrap_or(1000);
    let spec = RunSpec {
        communicator: communicator.name.clone(),
        middleware_version: description.version.clone(),
        delivery: capabilities.delivery,
        capabilities,
        message: message.spec(layout, options.messages.unbounded_msg_size.unwrap_or(0)),
        topic: endpoints::topic(&options.endpoints, options.messages.msg.is_some())?,
        domain_id: endpoints::domain_id(options.endpoints.dds_domain_id)?,
        rate_hz,
        phase: options.time.phase.unwrap_or_default(),
        publishers,
        subscriptions,
        strategy: options.endpoints.execution_strategy.unwrap_or_default(),
        roundtrip,
        expected_publishers: options.endpoints.expected_num_pubs.unwrap_or(publishers),
        expected_subscriptions: options.endpoints.expected_num_subs.unwrap_or(subscriptions),
        match_timeout_s: options.endpoints.wait_for_matched_timeout.unwrap_or(30),
        // Services of ROS 2 are reliable by default.
        qos: qos(&options.qos, roundtrip == Roundtrip::Service)?,
        warmup_s: options.time.warmup.unwrap_or(0),
        max_runtime_s: options.time.max_runtime.unwrap_or(0),
        ignore_s: options.time.ignore.unwrap_or(0),
        zero_copy: options.messages.zero_copy,
        shared_memory: settings.get("transport").is_some_and(|transport| transport == "shared-memory"),
        settings,
        raw: options.messages.raw,
        phases: options.measuring.phases,
        wait: wait.unwrap_or_default(),
        touch,
        work_ns: options.measuring.work.unwrap_or(0),
        late_above_ns: options.measuring.late.unwrap_or(Threshold::LATE).limit_ns(Pace::hz(rate_hz)),
        too_late_above_ns: options.measuring.too_late.unwrap_or(Threshold::TOO_LATE).limit_ns(Pace::hz(rate_hz)),
        rt_priority,
        rt_scope: options.machine.rt_scope.unwrap_or_default(),
        rt_cpus,
        pins: options.machine.pin.clone().unwrap_or_default().0,
        check_memory: options.measuring.check_memory,
        daemons: options.measuring.daemon.clone(),
        daemon_commands: Vec::new(),
        prevent_cpu_idle: options.machine.prevent_cpu_idle,
        executor: None,
        tracking: false,
        mock,
        heading_notes,
    };
    check::check(&spec, options)?;
    Ok(RunSpec {
        daemon_commands: communicator.check(&spec)?,
        heading_notes: [spec.heading_notes.clone(), untouched, check::heading_notes(&spec, options)].concat(),
        ..spec
    })
}

/// The values of all settings of the middleware: requested by options, else the defaults.
fn settings(options: &RunOptions, communicator: &Communicator, description: &Description) -> Result<Settings, String> {
    let mut requested: BTreeMap<String, (String, String)> = BTreeMap::new();
    let publishing = options.endpoints.publishing.clone().map(|mode| ("--publishing", ("publishing".to_owned(), mode)));
    let own = communicator.setting.map(|(name, value)| ("-c", (name.to_owned(), value.to_owned())));
    let set = options.endpoints.set.iter().cloned().map(|setting| ("--set", setting));
    let legacy = legacy::resolve::settings(&options.legacy, &communicator.name, description)?;
    for (option, (name, value)) in own.into_iter().chain(set).chain(publishing).chain(legacy) {
        let (earlier, before) = requested.entry(name.clone()).or_insert_with(|| (option.to_owned(), value.clone()));
        if *before != value {
            return Err(format!(
                "{earlier} asks for {name}={before} and {option} for {name}={value}: give one of them"
            ));
        }
    }
    let requested = requested.into_iter().map(|(name, (_, value))| (name, value)).collect();
    description.resolve(&communicator.name, &requested)
}

fn message(options: &MessageOptions, default: &str, layout: Layout) -> Result<MessageChoice, String> {
    let unbounded_bytes = options.unbounded_msg_size.unwrap_or(0) as usize;
    let found = messages::find(options.msg.as_deref().unwrap_or(default), layout, unbounded_bytes)?;
    if options.unbounded_msg_size.is_some() && !found.content.is_unbounded() {
        return Err(format!(
            "--unbounded-msg-size {unbounded_bytes} does not apply: {} always has {} bytes. Leave it out, or give -m \
             UnboundedSequence, UnboundedString or StampedVector",
            found.name, found.bytes
        ));
    }
    if options.raw { raw(found) } else { Ok(found) }
}

/// A message of untyped bytes with the same size as `message`.
fn raw(message: MessageChoice) -> Result<MessageChoice, String> {
    let Some(payload_bytes) = message.bytes.checked_sub(RAW_HEADER_BYTES) else {
        return Err(format!(
            "--raw messages begin with time and id, {RAW_HEADER_BYTES} bytes, and {} has {} bytes: give a larger message",
            message.name, message.bytes
        ));
    };
    Ok(MessageChoice { content: Content::Plain, payload_bytes, last_id: u64::MAX, ..message })
}

/// The part of each payload that is written and read. If the message has no payload, this is the stamp, and a note says
/// so.
fn touch(asked: Touch, message: &MessageChoice) -> (Touch, Vec<String>) {
    if asked == Touch::Stamp || message.payload_bytes > 0 {
        return (asked, Vec::new());
    }
    let (asked, name) = (asked.name(), message.name);
    (Touch::Stamp, vec![format!("--touch {asked} has no effect: {name} has no payload that could stay untouched")])
}

/// The quality of service that the options give. If `reliable` is true, as for services, RELIABLE is the default.
///
/// # Errors
/// The reason, as a sentence: a switch and an option contradict each other.
pub fn qos(options: &QosOptions, reliable: bool) -> Result<Qos, String> {
    let reliability =
        switch(options.reliable, "--reliable", Reliability::Reliable, "--reliability", options.reliability)?;
    let transient = Durability::TransientLocal;
    let durability = switch(options.transient, "--transient", transient, "--durability", options.durability)?;
    let history = switch(options.keep_last, "--keep-last", History::KeepLast, "--history", options.history)?;
    let default = if reliable { Reliability::Reliable } else { Reliability::BestEffort };
    Ok(Qos {
        reliability: reliability.unwrap_or(default),
        durability: durability.unwrap_or_default(),
        history: history.unwrap_or_default(),
        depth: options.history_depth.unwrap_or(16),
    })
}

/// The value of an option that also has a switch: --reliable is --reliability RELIABLE. Both may be given if they
/// agree.
fn switch<T: Choice>(given: bool, name: &str, meaning: T, option: &str, value: Option<T>) -> Result<Option<T>, String> {
    match value {
        Some(value) if given && value != meaning => {
            let (value, meaning) = (value.name(), meaning.name());
            Err(format!("{name} means {option} {meaning} and contradicts {option} {value}: give one of them"))
        }
        Some(value) => Ok(Some(value)),
        None => Ok(given.then_some(meaning)),
    }
}

#[cfg(test)]
mod tests;
