//! The sleep states of idle CPUs (C-states) and their wake-up times.

use serde::{Deserialize, Serialize};

use super::{cpu::CPUS, root::Root};

/// A sleep state is deep if its wake-up takes longer than this time: a message can take less time, so the wake-up
/// would be most of its latency.
pub(super) const DEEP_LATENCY_US: u64 = 10;

/// The device through which programs limit the wake-up time of CPUs.
pub(crate) const LATENCY_DEVICE: &str = "dev/cpu_dma_latency";
/// The limit that the kernel reports if no program sets one, microseconds.
const NO_LATENCY_LIMIT_US: i32 = 2_000_000_000;

/// The idle states of the CPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuIdle {
    /// The driver.
    pub driver: Option<String>,
    /// The governor that chooses the state.
    pub governor: Option<String>,
    /// The states, the lightest first; empty if the kernel shows none.
    pub states: Vec<SleepState>,
    /// The longest wake-up time that programs allow now by holding /dev/cpu_dma_latency open, microseconds; `None` if
    /// there is no limit, or if this user may not read the device.
    #[serde(default)]
    pub latency_limit_us: Option<i32>,
}

/// One sleep state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SleepState {
    /// The name of the state's folder: `state0`.
    pub folder: String,
    /// The name that the driver gives to the state: `C6`.
    pub name: Option<String>,
    /// The worst time from an interrupt to the first instruction, microseconds.
    pub latency_us: Option<u64>,
    /// Whether the state is disabled on all CPUs that have it.
    pub disabled: Option<bool>,
    /// The time that all CPUs together have spent in the state, microseconds.
    pub time_us: Option<u64>,
}

impl CpuIdle {
    pub(super) fn read(root: &Root) -> CpuIdle {
        let governor = ["current_governor", "current_governor_ro"];
        CpuIdle {
            driver: root.word(&format!("{CPUS}/cpuidle/current_driver")),
            governor: governor.iter().find_map(|file| root.word(&format!("{CPUS}/cpuidle/{file}"))),
            states: states(root),
            latency_limit_us: root.binary_number(LATENCY_DEVICE).filter(|us| (0..NO_LATENCY_LIMIT_US).contains(us)),
        }
    }

    /// The states that are deep and not disabled.
    pub fn deep_states(&self) -> impl Iterator<Item = &SleepState> {
        self.states.iter().filter(|state| state.is_deep() && state.disabled == Some(false))
    }
}

/// The states of all CPUs, equal ones merged.
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

    /// Adds the same state of another CPU.
    fn add(&mut self, other: &SleepState) {
        self.latency_us = self.latency_us.max(other.latency_us);
        self.disabled = self.disabled.zip(other.disabled).map(|(ours, theirs)| ours && theirs);
        self.time_us = self.time_us.zip(other.time_us).map(|(ours, theirs)| ours.saturating_add(theirs));
    }

    /// Whether a wake-up from the state takes longer than a message.
    #[must_use]
    pub fn is_deep(&self) -> bool {
        self.latency_us.is_some_and(|latency_us| latency_us > DEEP_LATENCY_US)
    }

    /// The name of the state.
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
