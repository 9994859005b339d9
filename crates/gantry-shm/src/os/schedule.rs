//! The scheduling policy, the priority and the CPUs of threads. A thread inherits all three from the thread that starts
//! it, which may be a real-time thread that is pinned to one CPU.

use rustix::{
    process::{getpid, getpriority_process, setpriority_process},
    thread::{sched_getaffinity, sched_setaffinity},
};
use std::io;

/// A real-time scheduling policy of Linux with its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchedulingPolicy {
    /// SCHED_FIFO with a priority from 1 to 99 (most urgent).
    Fifo(u8),
    /// SCHED_RR with a priority from 1 to 99 (most urgent).
    RoundRobin(u8),
}

impl SchedulingPolicy {
    /// Gives the calling thread this policy.
    ///
    /// # Errors
    /// The priority is out of range; the limit of real-time priorities (RLIMIT_RTPRIO) forbids it, and the program
    /// lacks CAP_SYS_NICE.
    pub fn apply(self) -> io::Result<()> {
        let (policy, priority) = match self {
            SchedulingPolicy::Fifo(priority) => (libc::SCHED_FIFO, priority),
            SchedulingPolicy::RoundRobin(priority) => (libc::SCHED_RR, priority),
        };
        match set_policy(policy, priority.into()) {
            0 => Ok(()),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }
}

/// Gives the calling thread SCHED_OTHER, nice 0 (a higher nice value stays), and the CPUs of the process's main thread.
/// Best effort: if the system refuses one of the three, the inherited value stays.
pub(crate) fn leave_real_time() {
    set_policy(libc::SCHED_OTHER, 0);
    // The kernel takes the number 0 for this thread, not for the process.
    if getpriority_process(None).is_ok_and(|nice| nice < 0) {
        let _ = setpriority_process(None, 0);
    }
    let _ = sched_getaffinity(Some(getpid())).and_then(|cpus| sched_setaffinity(None, &cpus));
}

/// Gives the calling thread a policy; returns 0 or the number of an error.
fn set_policy(policy: i32, priority: i32) -> i32 {
    // SAFETY: an all-zero structure is a value of the type.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: `pthread_self` has no preconditions.
    let thread = unsafe { libc::pthread_self() };
    // SAFETY: `thread` is the calling thread; the parameters are ours, and the call only reads them.
    unsafe { libc::pthread_setschedparam(thread, policy, &raw const parameters) }
}
