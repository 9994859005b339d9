//! The scheduling of a thread (its policy, nice value and CPUs), which can be saved and restored.

use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use thread_priority::{
    ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
    thread_schedule_policy_param,
};

/// The saved scheduling of a thread.
#[derive(Debug)]
pub struct Scheduling {
    policy: ThreadSchedulePolicy,
    rt_priority: i32,
    nice: i32,
    cpus: CpuSet,
}

impl Scheduling {
    /// Reads the scheduling of the calling thread.
    ///
    /// # Errors
    /// The reason, as a sentence, if the kernel does not report the scheduling.
    pub fn of_this_thread() -> Result<Scheduling, String> {
        let unknown =
            |error: &dyn std::fmt::Display| format!("the kernel does not report the scheduling of a thread: {error}");
        let (policy, parameters) = thread_schedule_policy_param(thread_native_id()).map_err(|error| unknown(&error))?;
        Ok(Scheduling {
            policy,
            rt_priority: parameters.sched_priority,
            nice: getpriority_process(None).map_err(|error| unknown(&error))?,
            cpus: sched_getaffinity(None).map_err(|error| unknown(&error))?,
        })
    }

    /// Applies the scheduling to the calling thread. Threads that it starts later inherit the scheduling.
    ///
    /// # Errors
    /// The reason, as a sentence, if the kernel refuses the scheduling.
    pub fn restore(&self) -> Result<(), String> {
        let refused = |error: &dyn std::fmt::Display| format!("the scheduling of a thread cannot be restored: {error}");
        let priority = match self.policy {
            // `Max` also sets the lowest nice value, which fails without permission. The code below sets the saved nice
            // value.
            ThreadSchedulePolicy::Normal(_) => ThreadPriority::Max,
            ThreadSchedulePolicy::Realtime(_) => {
                let value = u8::try_from(self.rt_priority).unwrap_or_default();
                ThreadPriority::Crossplatform(ThreadPriorityValue::try_from(value).map_err(|error| refused(&error))?)
            }
        };
        let set = set_thread_priority_and_policy(thread_native_id(), priority, self.policy);
        let (policy, _) = thread_schedule_policy_param(thread_native_id()).map_err(|error| refused(&error))?;
        if policy != self.policy {
            return Err(refused(
                &set.err().map_or("the kernel ignored the change".to_owned(), |error| error.to_string()),
            ));
        }
        setpriority_process(None, self.nice).map_err(|error| refused(&error))?;
        sched_setaffinity(None, &self.cpus).map_err(|error| refused(&error))
    }
}
