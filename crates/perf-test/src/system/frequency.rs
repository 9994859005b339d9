//! The frequencies of the CPUs and their control: cpufreq policies, turbo, and the frequency governors of other
//! devices.

use serde::{Deserialize, Serialize};

use super::root::Root;

pub(crate) const POLICIES: &str = "sys/devices/system/cpu/cpufreq";
pub(super) const DEVICES: &str = "sys/class/devfreq";
/// The file by which Intel's driver turns turbo off.
const NO_TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
/// The file by which other drivers turn turbo on.
const BOOST: &str = "sys/devices/system/cpu/cpufreq/boost";

/// The frequencies of the machine. A list is empty if the kernel shows nothing, as in a virtual machine, in a container
/// or on a board without cpufreq.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frequency {
    /// The cpufreq policies.
    pub policies: Vec<Policy>,
    /// Other devices with a variable frequency: memory, buses, GPUs, accelerators.
    pub devices: Vec<Device>,
    /// Whether turbo is on, and how to change it; `None` if the kernel shows no turbo.
    pub turbo: Option<Turbo>,
}

/// Turbo: frequencies above the nominal one for a short time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turbo {
    /// Whether CPUs may use turbo.
    pub on: bool,
    /// The file that turns turbo on and off.
    pub file: String,
    /// The content of `file` that turns turbo off.
    pub off_value: u8,
}

/// A cpufreq policy: CPUs whose frequency changes together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The name of the policy's folder, such as `policy0`.
    pub name: String,
    /// The CPUs of the policy.
    pub cpus: Option<Vec<u32>>,
    /// The cpufreq driver.
    pub driver: Option<String>,
    /// The cpufreq governor: `performance`, `schedutil`, `powersave`, …
    pub governor: Option<String>,
    /// The energy preference, if the driver chooses the frequency by itself.
    pub energy_performance_preference: Option<String>,
    /// The lowest frequency that is allowed, kHz.
    pub min_khz: Option<u64>,
    /// The highest frequency that is allowed, kHz.
    pub max_khz: Option<u64>,
    /// The frequency when it was read, kHz.
    pub current_khz: Option<u64>,
}

/// Another device with a variable frequency (devfreq).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// The name of the device's folder, such as `devfreq0`.
    pub name: String,
    /// The devfreq governor.
    pub governor: Option<String>,
    /// The lowest frequency that is allowed, Hz.
    pub min_hz: Option<u64>,
    /// The highest frequency that is allowed, Hz.
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

/// Reads all cpufreq policies.
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

    /// Whether a governor may lower the frequency of these CPUs; false if they have only one frequency.
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

    /// Whether a governor may lower the frequency of this device; false if it has only one frequency.
    #[must_use]
    pub fn is_lowered(&self) -> bool {
        lowers(self.governor.as_deref(), self.min_hz, self.max_hz)
    }
}

fn lowers(governor: Option<&str>, min: Option<u64>, max: Option<u64>) -> bool {
    governor.is_some_and(|governor| governor != "performance") && (min.is_none() || min != max)
}

/// The command that sets the governor `performance` for all policies with another governor.
pub(super) fn performance_command(policies: &[Policy]) -> String {
    let lowered: Vec<&str> =
        policies.iter().filter(|policy| policy.is_lowered()).map(|policy| policy.name.as_str()).collect();
    let which = match lowered.as_slice() {
        [one] => one,
        _ => "policy*",
    };
    format!("echo performance | sudo tee /{POLICIES}/{which}/scaling_governor")
}
