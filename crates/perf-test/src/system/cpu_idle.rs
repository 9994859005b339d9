//! How deep CPUs sleep when they have nothing to do (C-states), and how long they take to wake up.
//!
//! Used by [`System::read`](super::System::read), by the advice and by the [`Watch`](super::watch::Watch).

use serde::{Deserialize, Serialize};

use super::root::Root;

const CPUS: &str = "sys/devices/system/cpu";
/// A state from which a CPU takes longer to wake up is deep: it is longer than what a message takes.
pub(super) const DEEP_US: u64 = 10;

/// What CPUs do when they have nothing to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuIdle {
    /// The driver.
    pub driver: Option<String>,
    /// Who chooses the state.
    pub governor: Option<String>,
    /// The states, the lightest first; empty if the kernel shows none.
    pub states: Vec<SleepState>,
}

/// One state of sleep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SleepState {
    /// Its folder: `state0`.
    pub folder: String,
    /// What the driver calls it: `C6`.
    pub name: Option<String>,
    /// From an interrupt to the first instruction, at worst, microseconds.
    pub latency_us: Option<u64>,
    /// Is it disabled on all CPUs that have it?
    pub disabled: Option<bool>,
    /// The time that all CPUs together have spent in it, microseconds.
    pub time_us: Option<u64>,
}

impl CpuIdle {
    pub(super) fn read(root: &Root) -> CpuIdle {
        let governor = ["current_governor", "current_governor_ro"];
        CpuIdle {
            driver: root.word(&format!("{CPUS}/cpuidle/current_driver")),
            governor: governor.iter().find_map(|file| root.word(&format!("{CPUS}/cpuidle/{file}"))),
            states: states(root),
        }
    }

    /// The states that are deep and not disabled.
    pub fn deep_states(&self) -> impl Iterator<Item = &SleepState> {
        self.states.iter().filter(|state| state.is_deep() && state.disabled == Some(false))
    }
}

/// The states of all CPUs, equal ones as one.
pub(super) fn states(root: &Root) -> Vec<SleepState> {
    let mut states: Vec<SleepState> = Vec::new();
    for cpu in root.numbered(CPUS, "cpu") {
        let folder = format!("{CPUS}/{cpu}/cpuidle");
        for state in root.numbered(&folder, "state") {
            let state = SleepState::read(root, &folder, state);
            match states.iter_mut().find(|known| known.folder == state.folder) {
                Some(known) => known.add(&state),
                None => states.push(state),
            }
        }
    }
    states
}

impl SleepState {
    fn read(root: &Root, cpu: &str, folder: String) -> SleepState {
        let file = |file: &str| format!("{cpu}/{folder}/{file}");
        SleepState {
            name: root.line(&file("name")),
            latency_us: root.number(&file("latency")),
            disabled: root.number::<u64>(&file("disable")).map(|disable| disable != 0),
            time_us: root.number(&file("time")),
            folder,
        }
    }

    /// The same state of another CPU.
    fn add(&mut self, other: &SleepState) {
        self.latency_us = self.latency_us.max(other.latency_us);
        self.disabled = self.disabled.zip(other.disabled).map(|(ours, theirs)| ours && theirs);
        self.time_us = self.time_us.zip(other.time_us).map(|(ours, theirs)| ours.saturating_add(theirs));
    }

    /// Does waking up from it take longer than a message?
    #[must_use]
    pub fn is_deep(&self) -> bool {
        self.latency_us.is_some_and(|latency_us| latency_us > DEEP_US)
    }

    /// What it is called.
    #[must_use]
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.folder)
    }
}

/// The command that disables these states on all CPUs.
pub(super) fn disable_command<'a>(states: impl Iterator<Item = &'a SleepState>) -> String {
    let files: Vec<String> = states.map(|state| format!("/{CPUS}/cpu*/cpuidle/{}/disable", state.folder)).collect();
    format!("echo 1 | sudo tee {}", files.join(" "))
}
