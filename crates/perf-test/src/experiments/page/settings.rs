//! The settings of a run as names and values: the conditions of the run and the machine, from the log.

use std::collections::BTreeMap;

use serde_json::Value;

use super::run::Run;
use crate::{
    log::{WITHOUT_EFFECT, conditions},
    system::System,
};

/// The settings of a run, by their names. A setting of the middleware has the name `setting NAME`.
pub type Settings = BTreeMap<String, String>;

/// Conditions that follow from other conditions. They may differ within a group of runs, as [`WITHOUT_EFFECT`] may.
const FOLLOWING: [&str; 4] = ["expected_publishers", "expected_subscriptions", "daemons", "started_daemons"];
/// Conditions that differ between messages, and so between the points of one curve over message size.
const MESSAGE_CONDITIONS: [&str; 4] = ["message", "message_bytes", "message_layout", "unbounded_payload_bytes"];
/// Conditions that have their own column, or that identify the contestant.
const IN_COLUMNS: [&str; 8] =
    [CONTESTANT, "communicator", "executor", "middleware_version", "delivery", "rate_hz", "wait", "zero_copy"];
/// The name of the setting that has the contestant's text, such as `zenoh:best`. Contestants with default settings lack
/// it.
const CONTESTANT: &str = "contestant";
/// The name of the setting that has the run's experiment.
pub const EXPERIMENT: &str = "experiment";
/// The prefix in the names of the middleware's settings.
const OF_MIDDLEWARE: &str = "setting ";

/// The settings by which runs are grouped: all except [`WITHOUT_EFFECT`] and [`FOLLOWING`].
pub fn settings(run: &Run) -> Settings {
    let mut settings = Settings::new();
    for (name, value) in conditions(&run.entry.spec) {
        match value {
            Value::Object(of_middleware) => settings
                .extend(of_middleware.iter().map(|(name, value)| (format!("{OF_MIDDLEWARE}{name}"), plain(value)))),
            _ if WITHOUT_EFFECT.contains(&name.as_str()) || FOLLOWING.contains(&name.as_str()) => {}
            value => _ = settings.insert(name, plain(&value)),
        }
    }
    if let Some(nodes) = run.entry.nodes.clone() {
        settings.extend([("processes".to_owned(), nodes.processes), ("late".to_owned(), nodes.late)]);
        settings.extend(nodes.pass_by.map(|way| ("pass by".to_owned(), way)));
    }
    settings.extend(run.form.is_some().then(|| (CONTESTANT.to_owned(), run.contestant())));
    settings.extend((!run.experiment.is_empty()).then(|| (EXPERIMENT.to_owned(), run.experiment.clone())));
    settings.extend(run.machine.as_ref().map(|machine| ("machine".to_owned(), machine_in_short(machine))));
    settings
}

/// The settings without the message. Runs with the same values of these settings are on one curve over message size.
pub fn without_message(settings: &Settings) -> Settings {
    settings
        .iter()
        .filter(|(name, _)| !MESSAGE_CONDITIONS.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Whether a setting has no column of its own.
pub fn has_no_column(name: &str) -> bool {
    !IN_COLUMNS.contains(&name) && !MESSAGE_CONDITIONS.contains(&name) && !is_of_middleware(name)
}

/// Whether the name belongs to a setting of the middleware.
pub fn is_of_middleware(name: &str) -> bool {
    name.starts_with(OF_MIDDLEWARE)
}

/// A setting as a short phrase.
pub fn in_words(name: &str, value: &str) -> String {
    if name == "executor" {
        return value.to_owned();
    }
    let name = name.strip_prefix(OF_MIDDLEWARE).unwrap_or(name);
    match (name, value) {
        ("zero_copy", "true") => "zero copy".to_owned(),
        ("zero_copy", _) => "copy".to_owned(),
        ("raw", "true") => "raw bytes".to_owned(),
        ("raw", _) => "typed".to_owned(),
        ("rate_hz", "0") => "as fast as possible".to_owned(),
        ("rate_hz", hz) => format!("{hz} Hz"),
        ("history_depth", depth) => format!("depth {depth}"),
        ("reliability" | "durability" | "history" | "execution_strategy" | "machine" | EXPERIMENT, value) => {
            value.to_owned()
        }
        ("middleware_version", version) => format!("version {version}"),
        (name, value) => format!("{name}={value}"),
    }
}

/// The machine in one line of text: model, CPU and kernel.
pub fn machine_in_short(machine: &System) -> String {
    let kernel = machine.kernel.release.as_ref().map(|release| format!("Linux {release}"));
    let parts = [machine.machine.model.clone(), machine.cpu.model.clone(), kernel];
    let virtual_machine = (machine.machine.hypervisor == Some(true)).then(|| "virtual machine".to_owned());
    parts.into_iter().chain([virtual_machine]).flatten().collect::<Vec<String>>().join(", ")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<String>>().join(", "),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}
