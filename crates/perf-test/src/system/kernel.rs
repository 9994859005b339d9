//! The kernel: release, preemption model, scheduler settings, clock source.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::root::Root;

pub(super) const SYSCTL: &str = "proc/sys/kernel";
pub(super) const CLOCK_SOURCE: &str = "sys/devices/system/clocksource/clocksource0";
/// The longest value of a setting that is kept. Longer values are lists of features, which do not help to compare
/// machines.
const MAX_SETTING_BYTES: usize = 64;

/// The kernel and its settings. An unreadable value is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// The release, such as `5.10.0-rt`.
    pub release: Option<String>,
    /// The version text, such as `#1 SMP PREEMPT …`.
    pub version: Option<String>,
    /// The preemption model: `PREEMPT_RT`, `PREEMPT_DYNAMIC (full)`, `PREEMPT`, or `none or voluntary`.
    pub preemption: Option<String>,
    /// The command line of the kernel.
    pub command_line: Option<String>,
    /// Whether GRUB sets the kernel's command line, so that advice can mention its file.
    pub has_grub: bool,
    /// The time that real-time threads may run in each period, microseconds; -1 means no limit.
    pub sched_rt_runtime_us: Option<i64>,
    /// The period of `sched_rt_runtime_us`, microseconds.
    pub sched_rt_period_us: Option<i64>,
    /// All readable settings of the scheduler, by the kernel's names.
    pub scheduler: BTreeMap<String, String>,
    /// The timer slack of this process, nanoseconds: the kernel may delay timers by this time to let several expire
    /// together.
    pub timer_slack_ns: Option<u64>,
    /// The current clock source.
    pub clock_source: Option<String>,
    /// The clock sources that can be chosen.
    pub available_clock_sources: Option<Vec<String>>,
}

impl Kernel {
    pub(super) fn read(root: &Root) -> Kernel {
        let version = root.line(&format!("{SYSCTL}/version"));
        let sources = root.line(&format!("{CLOCK_SOURCE}/available_clocksource"));
        Kernel {
            release: root.line(&format!("{SYSCTL}/osrelease")),
            preemption: preemption(root, version.as_deref()),
            version,
            command_line: root.line("proc/cmdline"),
            has_grub: root.exists("etc/default/grub"),
            sched_rt_runtime_us: root.number(&format!("{SYSCTL}/sched_rt_runtime_us")),
            sched_rt_period_us: root.number(&format!("{SYSCTL}/sched_rt_period_us")),
            scheduler: scheduler(root),
            timer_slack_ns: root.number("proc/self/timerslack_ns"),
            clock_source: root.word(&format!("{CLOCK_SOURCE}/current_clocksource")),
            available_clock_sources: sources.map(|line| line.split_whitespace().map(str::to_owned).collect()),
        }
    }
}

fn preemption(root: &Root, version: Option<&str>) -> Option<String> {
    if root.flag("sys/kernel/realtime") == Some(true) {
        return Some("PREEMPT_RT".to_owned());
    }
    // Only version texts that begin with `#` contain the preemption model.
    let version = version.filter(|version| version.starts_with('#'))?;
    let Some(model) = version.split(' ').find(|word| word.starts_with("PREEMPT")) else {
        return Some("none or voluntary".to_owned());
    };
    let dynamic = root.chosen_in("sys/kernel/debug/sched/preempt", ('(', ')'));
    Some(dynamic.map_or_else(|| model.to_owned(), |mode| format!("{model} ({mode})")))
}

fn scheduler(root: &Root) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    for (folder, prefix) in [(SYSCTL, "sched_"), ("sys/kernel/debug/sched", "")] {
        for name in root.names(folder, prefix) {
            let value = root.line(&format!("{folder}/{name}"));
            settings.extend(value.filter(|value| value.len() <= MAX_SETTING_BYTES).map(|value| (name, value)));
        }
    }
    settings
}
