//! The frequencies of the CPUs and their control: cpufreq's policies, turbo, and the governors of other devices.

use serde::{Deserialize, Serialize};

use super::root::Root;

pub(crate) const POLICIES: &str = "sys/devices/system/cpu/cpufreq";
pub(super) const DEVICES: &str = "sys/class/devfreq";
/// The file with which Intel's driver turns turbo off.
const NO_TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
/// The file with which other drivers turn turbo on.
const BOOST: &str = "sys/devices/system/cpu/cpufreq/boost";

/// Frequencies. A list is empty if the kernel shows none: a virtual machine, a container, a board without cpufreq.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frequency {
    /// The CPUs' policies.
    pub policies: Vec<Policy>,
    /// Memory, buses, GPUs and accelerators that change their frequency.
    pub devices: Vec<Device>,
    /// Whether CPUs may exceed their nominal frequency for a while.
    pub turbo: Option<Turbo>,
}

/// Turbo: frequencies above the nominal one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turbo {
    /// Whether CPUs may use turbo now.
    pub on: bool,
    /// The file that turns turbo on and off.
    pub file: String,
    /// The content of `file` that turns turbo off.
    pub off_value: u8,
}

/// CPUs whose frequency changes together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The name of the policy's folder: `policy0`.
    pub name: String,
    /// The CPUs of the policy.
    pub cpus: Option<Vec<u32>>,
    /// The driver.
    pub driver: Option<String>,
    /// The governor: `performance`, `schedutil`, `powersave`, …
    pub governor: Option<String>,
    /// The energy preference of drivers that choose the frequency by themselves.
    pub energy_performance_preference: Option<String>,
    /// The lowest frequency allowed now, kHz.
    pub min_khz: Option<u64>,
    /// The highest frequency allowed now, kHz.
    pub max_khz: Option<u64>,
    /// The frequency at the time of reading, kHz.
    pub current_khz: Option<u64>,
}

/// Another device that changes its frequency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// The name of the device's folder: `devfreq0`.
    pub name: String,
    /// The governor.
    pub governor: Option<String>,
    /// The lowest frequency allowed now, Hz.
    pub min_hz: Option<u64>,
    /// The highest frequency allowed now, Hz.
    pub max_hz: Option<u64>,
}

impl Frequency {
    pub(super) fn read(root: &Root) -> Frequency {
        let turbo = [(NO_TURBO, 1), (BOOST, 0)].into_iter().find_map(|(file, off_value)| {
            let on = root.flag(file)? == (off_value == 0);
            Some(Turbo { on, file: format!("/{file}"), off_value })
        });
        let devices = root.names(DEVICES, "").into_iter().map(|name| Device::read(root, name)).collect();
        Frequency { policies: policies(root), devices, turbo }
    }
}

/// The CPUs' policies.
pub(crate) fn policies(root: &Root) -> Vec<Policy> {
    root.numbered(POLICIES, "policy").into_iter().map(|name| Policy::read(root, name)).collect()
}

impl Policy {
    fn read(root: &Root, name: String) -> Policy {
        let file = |file: &str| format!("{POLICIES}/{name}/{file}");
        Policy {
            cpus: root.line(&file("affected_cpus")).and_then(|text| super::root::cpu_list(&text.replace(' ', ","))),
            driver: root.word(&file("scaling_driver")),
            governor: root.word(&file("scaling_governor")),
            energy_performance_preference: root.word(&file("energy_performance_preference")),
            min_khz: root.number(&file("scaling_min_freq")),
            max_khz: root.number(&file("scaling_max_freq")),
            current_khz: root.number(&file("scaling_cur_freq")),
            name,
        }
    }

    /// Whether a governor lowers the frequency of these CPUs; false if there is only one frequency.
    #[must_use]
    pub fn is_lowered(&self) -> bool {
        lowers(self.governor.as_deref(), self.min_khz, self.max_khz)
    }
}

impl Device {
    fn read(root: &Root, name: String) -> Device {
        let file = |file: &str| format!("{DEVICES}/{name}/{file}");
        Device {
            governor: root.word(&file("governor")),
            min_hz: root.number(&file("min_freq")),
            max_hz: root.number(&file("max_freq")),
            name,
        }
    }

    /// Whether a governor lowers the frequency of this device; false if there is only one frequency.
    #[must_use]
    pub fn is_lowered(&self) -> bool {
        lowers(self.governor.as_deref(), self.min_hz, self.max_hz)
    }
}

fn lowers(governor: Option<&str>, min: Option<u64>, max: Option<u64>) -> bool {
    governor.is_some_and(|governor| governor != "performance") && (min.is_none() || min != max)
}

/// The command that gives the governor `performance` to all policies that have another one.
pub(super) fn performance_command(policies: &[Policy]) -> String {
    let lowered: Vec<&str> =
        policies.iter().filter(|policy| policy.is_lowered()).map(|policy| policy.name.as_str()).collect();
    let which = match lowered.as_slice() {
        [one] => one,
        _ => "policy*",
    };
    format!("echo performance | sudo tee /{POLICIES}/{which}/scaling_governor")
}
