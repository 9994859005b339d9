//! The load of the CPUs: load averages, the kernel's counts of CPU time, and the CPU time of this run.
//!
//! Steal is the time in which a CPU had work but the hypervisor ran another virtual machine on it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::root::Root;

/// The load of the CPUs. An unreadable value is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The load average over the last minute.
    pub mean_1_min: Option<f64>,
    /// The load average over the last five minutes.
    pub mean_5_min: Option<f64>,
    /// The load average over the last fifteen minutes.
    pub mean_15_min: Option<f64>,
    /// The CPU times since the boot.
    pub cpu_times: Option<CpuTimes>,
}

/// The times of all CPUs added up, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTimes {
    /// The time in programs with normal priority.
    pub user_ms: u64,
    /// The time in programs with low priority (positive nice value).
    pub nice_ms: u64,
    /// The time in the kernel on behalf of programs.
    pub system_ms: u64,
    /// The idle time.
    pub idle_ms: u64,
    /// The idle time while a thread waited for a disk.
    pub iowait_ms: u64,
    /// The time in interrupts.
    pub irq_ms: u64,
    /// The time in deferred work of interrupts (softirq).
    pub softirq_ms: u64,
    /// The time in which the hypervisor ran another virtual machine (steal).
    pub steal_ms: u64,
}

impl Load {
    pub(super) fn read(root: &Root) -> Load {
        let line = root.line("proc/loadavg").unwrap_or_default();
        let mut means =
            line.split(' ').map(|mean| mean.parse::<f64>().ok().filter(|mean| mean.is_finite() && *mean >= 0.0));
        let mut mean = || means.next().flatten();
        Load { mean_1_min: mean(), mean_5_min: mean(), mean_15_min: mean(), cpu_times: CpuTimes::read(root) }
    }
}

impl CpuTimes {
    pub(super) fn read(root: &Root) -> Option<CpuTimes> {
        let text = root.text("proc/stat")?;
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let times: Option<Vec<u64>> =
            line.split_whitespace().take(8).map(|ticks| milliseconds(ticks.parse().ok()?)).collect();
        let [user_ms, nice_ms, system_ms, idle_ms, iowait_ms, irq_ms, softirq_ms, steal_ms] = times?.try_into().ok()?;
        Some(CpuTimes { user_ms, nice_ms, system_ms, idle_ms, iowait_ms, irq_ms, softirq_ms, steal_ms })
    }

    /// The sum of all times.
    #[must_use]
    pub fn total_ms(&self) -> u64 {
        [self.busy_ms(), self.idle_ms, self.iowait_ms, self.steal_ms].into_iter().fold(0, u64::saturating_add)
    }

    /// The time in which the CPUs were busy.
    #[must_use]
    pub fn busy_ms(&self) -> u64 {
        let parts = [self.user_ms, self.nice_ms, self.system_ms, self.irq_ms, self.softirq_ms];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// The stolen fraction of all time, 0 to 1; `None` if the sum of all times is 0.
    #[must_use]
    pub fn stolen_part(&self) -> Option<f64> {
        let total_ms = self.total_ms();
        (total_ms > 0).then(|| self.steal_ms as f64 / total_ms as f64)
    }

    /// The differences to the `earlier` times.
    #[must_use]
    pub fn since(&self, earlier: &CpuTimes) -> CpuTimes {
        let between = |figure: fn(&CpuTimes) -> u64| figure(self).saturating_sub(figure(earlier));
        CpuTimes {
            user_ms: between(|times| times.user_ms),
            nice_ms: between(|times| times.nice_ms),
            system_ms: between(|times| times.system_ms),
            idle_ms: between(|times| times.idle_ms),
            iowait_ms: between(|times| times.iowait_ms),
            irq_ms: between(|times| times.irq_ms),
            softirq_ms: between(|times| times.softirq_ms),
            steal_ms: between(|times| times.steal_ms),
        }
    }
}

/// The CPU time of this process, its living descendants and its ended descendants, milliseconds.
pub(super) fn own_ms(root: &Root) -> Option<u64> {
    let (own, _, own_ms) = process(root, "self")?;
    let others: Vec<(u32, u32, u64)> =
        root.numbered("proc", "").iter().filter_map(|folder| process(root, folder)).collect();
    let mut children: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
    others.iter().for_each(|(pid, parent, ms)| children.entry(*parent).or_default().push((*pid, *ms)));
    let (mut sum_ms, mut open, mut seen) = (own_ms, vec![own], BTreeSet::from([own]));
    while let Some(parent) = open.pop() {
        for (pid, ms) in children.get(&parent).into_iter().flatten() {
            if seen.insert(*pid) {
                sum_ms = sum_ms.saturating_add(*ms);
                open.push(*pid);
            }
        }
    }
    Some(sum_ms)
}

/// The ID of a process, the ID of its parent, and the CPU time of the process and its ended children, milliseconds.
fn process(root: &Root, folder: &str) -> Option<(u32, u32, u64)> {
    let text = root.text(&format!("proc/{folder}/stat"))?;
    // The second field is the program's name in parentheses. It may contain any characters, even spaces.
    let (before, after) = (text.split_once(' ')?.0, text.rsplit_once(')')?.1);
    let fields: Vec<&str> = after.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place)?.parse::<u64>().ok();
    // Fields 14 to 17 are utime, stime, cutime and cstime. `fields` starts with field 3, the state.
    let all = (11..15).map(ticks).try_fold(0_u64, |sum, ticks| Some(sum.saturating_add(ticks?)))?;
    Some((before.parse().ok()?, fields.get(1)?.parse().ok()?, milliseconds(all)?))
}

/// Converts ticks, in which the kernel counts CPU time, into milliseconds.
fn milliseconds(ticks: u64) -> Option<u64> {
    Some(ticks.checked_mul(1000)? / procfs::ticks_per_second().max(1))
}
