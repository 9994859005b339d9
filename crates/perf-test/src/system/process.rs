//! The scheduling of this process, which its workers inherit: policy, priority and nice value (as `chrt` and `nice` set
//! them), and limits.

use serde::{Deserialize, Serialize};

use super::{memory::soft_limit, root::Root};

/// The names of the scheduling policies. The index is the kernel's number of the policy (sched(7)).
const POLICIES: [&str; 8] =
    ["SCHED_OTHER", "SCHED_FIFO", "SCHED_RR", "SCHED_BATCH", "SCHED_ISO", "SCHED_IDLE", "SCHED_DEADLINE", "SCHED_EXT"];
/// The index of the nice value among the fields after the program's name in `/proc/self/stat` (proc_pid_stat(5)).
const NICE: usize = 16;
/// The index of the real-time priority among the fields after the program's name in `/proc/self/stat`.
const RT_PRIORITY: usize = 37;
/// The index of the scheduling policy among the fields after the program's name in `/proc/self/stat`.
const POLICY: usize = 38;

/// The scheduling and limits of this process. An unreadable value is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The scheduling policy: `SCHED_OTHER`, `SCHED_FIFO`, `SCHED_RR`, …
    pub policy: Option<String>,
    /// The real-time priority, 1 to 99; 0 if the policy is not real-time.
    pub rt_priority: Option<u32>,
    /// The nice value, from -20 (highest priority) to 19 (lowest).
    pub nice: Option<i32>,
    /// The number of files that this process may open.
    pub open_files_limit: Option<u64>,
    /// The address space that this process may use, bytes; `u64::MAX` means no limit.
    pub address_space_limit_bytes: Option<u64>,
}

impl Process {
    pub(super) fn read(root: &Root) -> Process {
        let stat = root.text("proc/self/stat").unwrap_or_default();
        // The program's name in parentheses may contain any characters, even spaces and parentheses.
        let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<i32>().ok();
        let policy = number(POLICY).and_then(|number| POLICIES.get(usize::try_from(number).ok()?));
        let limits = root.text("proc/self/limits").unwrap_or_default();
        Process {
            policy: policy.map(|policy| (*policy).to_owned()),
            rt_priority: number(RT_PRIORITY).and_then(|priority| u32::try_from(priority).ok()),
            nice: number(NICE),
            open_files_limit: soft_limit(&limits, "Max open files"),
            address_space_limit_bytes: soft_limit(&limits, "Max address space"),
        }
    }

    /// The policy, the priority and the nice value as text.
    #[must_use]
    pub fn scheduling(&self) -> Option<String> {
        let policy = self.policy.as_deref()?;
        Some(match (self.rt_priority, self.nice) {
            (Some(priority @ 1..), _) => format!("{policy}, priority {priority}"),
            (_, Some(nice)) => format!("{policy}, nice {nice}"),
            _ => policy.to_owned(),
        })
    }

    /// Whether the policy or the nice value is not the system's default.
    #[must_use]
    pub fn is_special(&self) -> bool {
        self.policy.as_deref().is_some_and(|policy| policy != POLICIES[0]) || self.nice.is_some_and(|nice| nice != 0)
    }
}
