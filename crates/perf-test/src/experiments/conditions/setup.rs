//! The state of the machine under a condition, taken from the description of the machine in a log. Each field is a
//! column of the table of conditions.

use serde::Serialize;

use super::boot::drivers;
use super::plan::Condition;
use crate::{
    common::distinct,
    system::{System, root::list_text},
};

/// The state of the machine. Rounds of different folders are merged if all these values and the boot are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setup {
    /// The model of the machine and of its CPU.
    pub machine: String,
    /// The kernel's release.
    pub kernel: String,
    /// The cpufreq driver.
    pub driver: String,
    /// The cpufreq governor.
    pub governor: String,
    /// The lowest and the highest allowed frequency.
    pub frequency: String,
    /// The settings of idle CPUs: the kernel parameter `idle`, the limit on the wake-up time, and the disabled idle
    /// states.
    pub idle: String,
    /// The isolated CPUs, the CPUs without a scheduling tick, and the CPUs of isolated partitions.
    pub isolation: String,
    /// The scheduling policy, priority, CPU affinity and pins of perf_test and its workers.
    pub scheduling: String,
    /// The kernel's command line.
    pub command_line: String,
}

const UNKNOWN: &str = "-";

impl Setup {
    /// The names of the columns that [`Setup::columns`] fills: all except the machine and the command line.
    pub const COLUMNS: [&str; 7] = ["kernel", "driver", "governor", "frequency", "idle", "isolation", "scheduling"];

    /// The state of the machine from the description that a run under this condition has logged.
    #[must_use]
    pub fn new(system: &System, condition: &Condition) -> Setup {
        let or_unknown = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
        let machine = [system.machine.model.clone(), system.cpu.model.clone()];
        let governors = system.frequency.policies.iter().filter_map(|policy| policy.governor.as_deref());
        Setup {
            machine: joined(machine.into_iter().flatten()),
            kernel: or_unknown(system.kernel.release.clone()),
            driver: joined(drivers(system)),
            governor: joined(distinct(governors)),
            frequency: or_unknown(frequency(system)),
            idle: idle(system),
            isolation: isolation(system),
            scheduling: scheduling(system, condition),
            command_line: or_unknown(system.kernel.command_line.clone()),
        }
    }

    /// The values of [`Setup::COLUMNS`].
    #[must_use]
    pub fn columns(&self) -> [&str; 7] {
        [&self.kernel, &self.driver, &self.governor, &self.frequency, &self.idle, &self.isolation, &self.scheduling]
            .map(String::as_str)
    }
}

fn joined(parts: impl IntoIterator<Item = impl Into<String>>) -> String {
    let parts: Vec<String> = parts.into_iter().map(Into::into).collect();
    if parts.is_empty() { UNKNOWN.to_owned() } else { parts.join(", ") }
}

fn frequency(system: &System) -> Option<String> {
    let policies = &system.frequency.policies;
    let min_khz = policies.iter().filter_map(|policy| policy.min_khz).min()?;
    let max_khz = policies.iter().filter_map(|policy| policy.max_khz).max()?;
    let show = |khz: u64| match khz {
        0..1_000_000 => format!("{} MHz", khz / 1000),
        _ => format!("{:.2} GHz", khz as f64 / 1e6),
    };
    Some(format!("{} to {}", show(min_khz), show(max_khz)))
}

/// The parameter `name` of the kernel's command line; the last one if there are several.
fn parameter<'a>(system: &'a System, name: &str) -> Option<&'a str> {
    let line = system.kernel.command_line.as_deref()?;
    line.split_whitespace().rev().find(|one| one.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')))
}

fn idle(system: &System) -> String {
    let limit = system.cpu_idle.latency_limit_us.map(|us| format!("wake-up within {us} µs"));
    let disabled: Vec<&str> =
        system.cpu_idle.states.iter().filter(|state| state.disabled == Some(true)).map(|state| state.label()).collect();
    let disabled = (!disabled.is_empty()).then(|| format!("without {}", disabled.join(" ")));
    let parts = [parameter(system, "idle").map(str::to_owned), limit, disabled];
    joined(parts.into_iter().flatten())
}

fn isolation(system: &System) -> String {
    let list = |name: &str, cpus: Option<&Vec<u32>>| {
        cpus.filter(|cpus| !cpus.is_empty()).map(|cpus| format!("{name} {}", list_text(cpus)))
    };
    let cpu = &system.cpu;
    let parts = [
        list("isolcpus", cpu.isolated_cpus.as_ref()),
        list("nohz_full", cpu.nohz_full_cpus.as_ref()),
        list("partition", cpu.partition_cpus.as_ref()),
    ];
    joined(parts.into_iter().flatten())
}

fn scheduling(system: &System, condition: &Condition) -> String {
    let is_restricted = system.cpu.usable_cpus != system.cpu.online_cpus;
    let usable = system.cpu.usable_cpus.as_ref().filter(|_| is_restricted);
    let pins: Vec<String> = condition.pin.iter().map(u32::to_string).collect();
    let parts = [
        system.process.scheduling(),
        usable.map(|cpus| format!("CPUs {}", list_text(cpus))),
        (!pins.is_empty()).then(|| format!("pins {}", pins.join(","))),
    ];
    joined(parts.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::frequency::Policy;

    #[test]
    fn the_columns_are_those_of_the_seed() {
        let mut system = System::default();
        system.kernel.command_line = Some("ro quiet isolcpus=0-11 nohz_full=0-11 idle=poll".to_owned());
        system.kernel.release = Some("5.19.0-45-generic".to_owned());
        system.frequency.policies = (0..2)
            .map(|cpu| Policy {
                name: format!("policy{cpu}"),
                driver: Some("amd-pstate".to_owned()),
                governor: Some("performance".to_owned()),
                min_khz: Some(400_000),
                max_khz: Some(4_370_000),
                ..Policy::default()
            })
            .collect();
        system.cpu.isolated_cpus = Some((0..12).collect());
        system.cpu.nohz_full_cpus = Some((0..12).collect());
        system.cpu_idle.latency_limit_us = Some(0);
        system.process.policy = Some("SCHED_RR".to_owned());
        system.process.rt_priority = Some(1);
        let condition = Condition { pin: vec![2, 3], ..Condition::default() };
        assert_eq!(
            Setup::new(&system, &condition).columns(),
            [
                "5.19.0-45-generic",
                "amd-pstate",
                "performance",
                "400 MHz to 4.37 GHz",
                "idle=poll, wake-up within 0 µs",
                "isolcpus 0-11, nohz_full 0-11",
                "SCHED_RR, priority 1, pins 2,3",
            ]
        );
        let unknown = Setup::new(&System::default(), &Condition::default());
        assert!(unknown.columns().iter().all(|value| *value == UNKNOWN), "{unknown:?}");
    }
}
