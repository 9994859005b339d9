//! The sleep states of idle CPUs (C-states), and the time to wake up from them.

use serde::{Deserialize, Serialize};

use super::{cpu::CPUS, root::Root};

/// The wake-up time above which a sleep state counts as deep. A message may take less time than this, so a longer
/// wake-up would be most of its latency.
pub(super) const DEEP_LATENCY_US: u64 = 10;

/// The device file by which programs limit the wake-up time of CPUs.
pub(crate) const LATENCY_DEVICE: &str = "dev/cpu_dma_latency";
/// The value that the kernel reports if no program sets a limit, microseconds.
const NO_LATENCY_LIMIT_US: i32 = 2_000_000_000;

/// The sleep states of the CPUs, with their driver and governor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuIdle {
    /// The cpuidle driver.
    pub driver: Option<String>,
    /// The cpuidle governor, which chooses the state of an idle CPU.
    pub governor: Option<String>,
    /// The states, the lightest first; empty if the kernel shows no states.
    pub states: Vec<SleepState>,
    /// The current limit on the wake-up time, which programs set by holding /dev/cpu_dma_latency open, microseconds;
    /// `None` if there is no limit, or if this user may not read the file.
    #[serde(default)]
    pub latency_limit_us: Option<i32>,
}

/// A sleep state of idle CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SleepState {
    /// The name of the state's folder, such as `state0`.
    pub folder: String,
    /// The driver's name of the state, such as `C6`.
    pub name: Option<String>,
    /// The longest time from an interrupt to the first instruction, microseconds.
    pub latency_us: Option<u64>,
    /// Whether the state is disabled on all CPUs that have it.
    pub disabled: Option<bool>,
    /// The time that all CPUs together have spent in this state, microseconds.
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

    /// The deep states that are enabled.
    pub fn deep_states(&self) -> impl Iterator<Item = &SleepState> {
        self.states.iter().filter(|state| state.is_deep() && state.disabled == Some(false))
    }
}

/// The states of all CPUs. The same state of several CPUs is one element.
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

    /// Merges the same state of another CPU.
    fn add(&mut self, other: &SleepState) {
        self.latency_us = self.latency_us.max(other.latency_us);
        self.disabled = self.disabled.zip(other.disabled).map(|(ours, theirs)| ours && theirs);
        self.time_us = self.time_us.zip(other.time_us).map(|(ours, theirs)| ours.saturating_add(theirs));
    }

    /// Whether a wake-up from the state may take longer than a message.
    #[must_use]
    pub fn is_deep(&self) -> bool {
        self.latency_us.is_some_and(|latency_us| latency_us > DEEP_LATENCY_US)
    }

    /// The driver's name of the state, or the name of its folder.
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
