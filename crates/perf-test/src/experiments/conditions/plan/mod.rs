//! The plan of `perf_test compare conditions`, read from YAML: `runs`, `executors`, `conditions` and `rounds`.
//!
//! Invariant: names are unique and values are within their ranges. Whether the machine has a setting is checked
//! elsewhere.

mod run;
mod yaml;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{
    common::yaml::{Node, document, elements, entries, line, text_of, unknown_key},
    experiments::batch::file_name,
    system::root::list_text,
};
pub use run::{LabelledRun, ResolvedRun};
use yaml::{cpus, number};

/// The number of rounds if the plan does not give it. With six rounds, an interval has a confidence of over 95 %.
const ROUNDS: u32 = 6;
/// The name of the condition without settings.
pub const BASELINE: &str = "baseline";
/// The keys of a condition in the plan.
const KEYS: [&str; 10] =
    ["name", "governor", "driver", "kernel", "boot", "cpu_dma_latency_us", "taskset", "isolate", "chrt", "pin"];

/// A plan: each of its runs is done under each of its conditions.
#[derive(Debug)]
pub struct Plan {
    /// How often each run is done under each condition.
    pub rounds: u32,
    /// The runs.
    pub runs: Vec<LabelledRun>,
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// Sentences about runs whose middleware does not have an executor of the plan.
    pub notes: Vec<String>,
}

/// The settings of one condition. A setting that the plan does not give is not changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Condition {
    /// The name of the condition.
    pub name: String,
    /// The governor for all cpufreq policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// The frequency driver, which only a reboot can change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// A string that the kernel's release must contain, for example `lowlatency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Parameters that the kernel's command line must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boot: Vec<String>,
    /// The limit on the wake-up time of idle CPUs, µs; 0 keeps idle CPUs from sleeping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_dma_latency_us: Option<i32>,
    /// The CPUs on which perf_test and its workers run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taskset: Vec<u32>,
    /// The CPUs of an isolated cpuset partition in which perf_test and its workers run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub isolate: Vec<u32>,
    /// The real-time policy and priority of perf_test and its workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chrt: Option<Chrt>,
    /// The CPUs to which the threads of the endpoints are pinned, one after the other (`--pin`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<u32>,
}

/// A real-time policy with its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Chrt {
    /// The scheduling policy.
    pub policy: RtPolicy,
    /// The priority, 1 to 99.
    pub priority: u8,
}

/// A real-time policy of sched(7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RtPolicy {
    /// SCHED_FIFO.
    Fifo,
    /// SCHED_RR.
    Rr,
}

impl std::fmt::Display for Chrt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", if self.policy == RtPolicy::Fifo { "fifo" } else { "rr" }, self.priority)
    }
}

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// A sentence with the file, the line and the fault.
    pub fn read(path: &Path) -> Result<Plan, String> {
        let name = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read the plan {name}: {error}"))?;
        Plan::parse(&text).map_err(|why| format!("{name}: {why}"))
    }

    fn parse(text: &str) -> Result<Plan, String> {
        let root = document(text, "give `conditions` and `runs`")?;
        let mut plan = Plan { rounds: ROUNDS, runs: Vec::new(), conditions: Vec::new(), notes: Vec::new() };
        let mut executors = None;
        for (key, value) in entries(&root, "the plan")? {
            match key.as_str() {
                "rounds" => plan.rounds = number(value, "rounds", 1..=1000)?,
                "runs" => plan.runs = run::runs(value)?,
                "executors" => executors = Some(run::executors(value)?),
                "conditions" => plan.conditions = conditions(value)?,
                other => return Err(unknown_key(line(value), other, &["rounds", "runs", "executors", "conditions"])),
            }
        }
        if let Some(executors) = executors {
            plan.runs = run::in_executors(plan.runs, &executors, &mut plan.notes)?;
        }
        if plan.runs.is_empty() {
            return Err(
                "it has no runs: give `runs:` with a map from labels to arguments, as `gantry: -m Array1k -r 1000`"
                    .into(),
            );
        }
        if plan.conditions.is_empty() {
            return Err(format!("it has no conditions: give `conditions:` with a list, as `[{BASELINE}]`"));
        }
        unique(plan.runs.iter().map(|run| run.label.as_str()), "label of a run")?;
        unique(plan.conditions.iter().map(|condition| condition.name.as_str()), "condition")?;
        // Each run is resolved under each condition to find errors now. This must follow the parsing of executors and
        // conditions, which change the arguments of the runs.
        for run in &plan.runs {
            for condition in &plan.conditions {
                run.resolve(condition)?.spec.map_err(|why| format!("the run {}: {why}", run.label))?;
            }
        }
        Ok(plan)
    }
}

fn conditions(node: &Node<'_>) -> Result<Vec<Condition>, String> {
    let wrong = || format!("line {}: `conditions` must be a list, as `[{BASELINE}]`", line(node));
    elements(node).ok_or_else(wrong)?.iter().map(condition).collect()
}

fn condition(node: &Node<'_>) -> Result<Condition, String> {
    let line = line(node);
    if let Some(name) = text_of(node) {
        if name != BASELINE {
            return Err(format!(
                "line {line}: there is no condition `{name}`: without settings there is only `{BASELINE}`; give settings, as `{{name: {name}, governor: performance}}`. \
                 Their keys are {}",
                KEYS.join(", ")
            ));
        }
        return Ok(Condition { name, ..Condition::default() });
    }
    let mut found = Condition::default();
    for (key, value) in entries(node, "a condition")? {
        found.set(&key, value)?;
    }
    if found.name.is_empty() {
        return Err(format!("line {line}: the condition has no name: give `name: …`"));
    }
    if !found.taskset.is_empty()
        && !found.isolate.is_empty()
        && found.taskset.iter().any(|cpu| !found.isolate.contains(cpu))
    {
        return Err(format!(
            "line {line}: {}: taskset {} is not within isolate {}: a process in a partition runs on its CPUs alone",
            found.name,
            list_text(&found.taskset),
            list_text(&found.isolate)
        ));
    }
    Ok(found)
}

impl Condition {
    fn set(&mut self, key: &str, value: &Node<'_>) -> Result<(), String> {
        let line = line(value);
        let text = || {
            let found = text_of(value).filter(|text| !text.trim().is_empty());
            found.ok_or_else(|| format!("line {line}: {key} must be a word or a number"))
        };
        match key {
            "name" => self.name = text()?,
            "governor" => self.governor = Some(text()?),
            "driver" => self.driver = Some(text()?),
            "kernel" => self.kernel = Some(text()?),
            "boot" => self.boot = text()?.split_whitespace().map(str::to_owned).collect(),
            "cpu_dma_latency_us" => self.cpu_dma_latency_us = i32::try_from(number(value, key, 0..=1_000_000)?).ok(),
            "taskset" => self.taskset = cpus(value, key)?,
            "isolate" => self.isolate = cpus(value, key)?,
            "pin" => self.pin = cpus(value, key)?,
            "chrt" => self.chrt = Some(chrt(&text()?).map_err(|why| format!("line {line}: {why}"))?),
            other => return Err(unknown_key(line, other, &KEYS)),
        }
        Ok(())
    }

    /// The name of the condition's folder.
    #[must_use]
    pub fn folder(&self) -> String {
        file_name(&self.name)
    }
}

fn chrt(text: &str) -> Result<Chrt, String> {
    let wrong = || format!("chrt cannot be `{text}`: give `fifo` or `rr` and a priority from 1 to 99, as `rr 1`");
    let (policy, priority) = text.split_once(' ').ok_or_else(wrong)?;
    let policy = match policy {
        "fifo" => RtPolicy::Fifo,
        "rr" => RtPolicy::Rr,
        _ => return Err(wrong()),
    };
    let priority = priority.trim().parse().ok().filter(|priority| (1..=99).contains(priority)).ok_or_else(wrong)?;
    Ok(Chrt { policy, priority })
}

fn unique<'a>(names: impl Iterator<Item = &'a str>, of: &str) -> Result<(), String> {
    let mut known: Vec<String> = Vec::new();
    for name in names {
        // Names become names of folders and files, so they are compared as file names, ignoring case.
        let file = file_name(name).to_lowercase();
        if known.contains(&file) {
            return Err(format!("the {of} `{name}` is there twice: give each a name of its own"));
        }
        known.push(file);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
