//! Policy, priority and CPUs of the engine's threads: a thread inherits those of the thread that starts it, which may be real-time
//! and pinned to a CPU that nothing else should use.

use rustix::{
    process::{getpid, getpriority_process, setpriority_process},
    thread::{sched_getaffinity, sched_setaffinity},
};

/// Gives the calling thread SCHED_OTHER, nice 0 unless it is nicer, and the CPUs of the process's main thread. Best effort: a
/// system that refuses one of them leaves the inherited one.
pub(crate) fn leave_real_time() {
    // SAFETY: an all-zero structure is a value of the type, with the priority that SCHED_OTHER asks for.
    let parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: it has no preconditions.
    let thread = unsafe { libc::pthread_self() };
    // SAFETY: of this thread; the parameters are ours, and the call only reads them.
    unsafe { libc::pthread_setschedparam(thread, libc::SCHED_OTHER, &raw const parameters) };
    // The kernel takes the number 0 for this thread, not for the process.
    if getpriority_process(None).is_ok_and(|nice| nice < 0) {
        let _ = setpriority_process(None, 0);
    }
    let _ = sched_getaffinity(Some(getpid())).and_then(|cpus| sched_setaffinity(None, &cpus));
}
