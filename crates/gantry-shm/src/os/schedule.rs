//! The scheduling policy, the priority and the CPUs of threads. A thread inherits all three from the thread that starts
//! it, which may be a real-time thread that is pinned to one CPU.

use rustix::{
    process::{getpid, getpriority_process, setpriority_process},
    thread::{sched_getaffinity, sched_setaffinity},
};
use std::{io, time::Duration};

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

/// Gives the calling thread a time slice of this length, from 100 µs to 100 ms; zero means the default, about 3 ms.
/// When the thread wakes, it preempts a thread with a longer slice at once. Before Linux 6.12, the length has no
/// effect. A thread with a real-time policy keeps its policy, and needs no slice. Threads inherit the slice.
///
/// # Errors
/// An error of the operating system.
pub fn set_time_slice(slice: Duration) -> io::Result<()> {
    // SAFETY: an all-zero structure is a value of the type.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    let size_bytes = size_of_val(&attributes);
    // SAFETY: the attributes are ours and have this size; the call only writes them. 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size_bytes, 0) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    if ![libc::SCHED_OTHER, libc::SCHED_BATCH].contains(&attributes.sched_policy.cast_signed()) {
        return Ok(());
    }
    attributes.sched_runtime = slice.as_nanos() as u64;
    // SAFETY: the attributes are ours and contain their size; the call only reads them.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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

#[cfg(all(test, not(miri), not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gets_a_time_slice() {
        std::thread::spawn(|| {
            set_time_slice(Duration::from_micros(100)).unwrap();
            set_time_slice(Duration::ZERO).unwrap();
        })
        .join()
        .unwrap();
    }
}
