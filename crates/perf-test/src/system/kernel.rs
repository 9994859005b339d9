//! The kernel: release, preemption, scheduler settings, clock source.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::root::Root;

pub(super) const SYSCTL: &str = "proc/sys/kernel";
pub(super) const CLOCK_SOURCE: &str = "sys/devices/system/clocksource/clocksource0";
/// The limit on the length of a setting. Longer settings are lists of features, which do not help to compare machines.
const MAX_SETTING_BYTES: usize = 64;

/// The kernel. An unreadable value is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// `5.10.0-rt` …
    pub release: Option<String>,
    /// `#1 SMP PREEMPT …`
    pub version: Option<String>,
    /// `PREEMPT_RT`, `PREEMPT_DYNAMIC (full)`, `PREEMPT`, or `none or voluntary`.
    pub preemption: Option<String>,
    /// The command line of the kernel.
    pub command_line: Option<String>,
    /// Whether GRUB's configuration sets the command line of the kernel.
    pub has_grub: bool,
    /// The time that real-time threads may run in each period, microseconds; -1 is no limit.
    pub sched_rt_runtime_us: Option<i64>,
    /// The period of `sched_rt_runtime_us`, microseconds.
    pub sched_rt_period_us: Option<i64>,
    /// Every setting of the scheduler that could be read, named as the kernel names it.
    pub scheduler: BTreeMap<String, String>,
    /// The time by which the kernel may delay timers of this process to let several expire at once, nanoseconds.
    pub timer_slack_ns: Option<u64>,
    /// The clock source.
    pub clock_source: Option<String>,
    /// The available clock sources.
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
    // Only version strings with SMP name the preemption model.
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
