//! The clock of all measurements: CLOCK_MONOTONIC, in nanoseconds; and the CPU time of a thread.
//!
//! All processes of a host read the same clock, so the times in the stamps of one process can be compared in another.

use rustix::thread::{ClockId as SleepClock, clock_nanosleep_absolute};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// One second in nanoseconds.
pub const SECOND_NS: i64 = 1_000_000_000;

/// The time now, in nanoseconds of CLOCK_MONOTONIC.
#[must_use]
pub fn now_ns() -> i64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec * SECOND_NS + time.tv_nsec
}

/// The time now, in nanoseconds of CLOCK_REALTIME.
#[must_use]
pub fn real_now_ns() -> i64 {
    let time = clock_gettime(ClockId::Realtime);
    time.tv_sec * SECOND_NS + time.tv_nsec
}

/// The CPU time that the calling thread has used, in nanoseconds, up to the present. Makes a system call.
#[must_use]
pub fn thread_cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * SECOND_NS + time.tv_nsec
}

/// Sleeps until `time_ns` of CLOCK_MONOTONIC; returns at once if this time has passed. May return early on a signal.
pub fn sleep_until(time_ns: i64) {
    if time_ns <= 0 {
        return;
    }
    let until = Timespec { tv_sec: time_ns / SECOND_NS, tv_nsec: time_ns % SECOND_NS };
    // An early return is harmless: every caller reads the clock again.
    let _ = clock_nanosleep_absolute(SleepClock::Monotonic, &until);
}

/// Keeps the calling thread busy for `duration_ns` of CLOCK_MONOTONIC.
pub fn work(duration_ns: i64) {
    if duration_ns <= 0 {
        return;
    }
    let end_ns = now_ns() + duration_ns;
    while now_ns() < end_ns {
        std::hint::spin_loop();
    }
}

/// Keeps the calling thread busy until it has used `duration_ns` of CPU time. Another thread may interrupt it
/// meanwhile, so the function spins for the remaining time by the clock, reads the CPU time, and repeats.
pub fn work_cpu(duration_ns: i64) {
    if duration_ns <= 0 {
        return;
    }
    let end_ns = thread_cpu_ns() + duration_ns;
    loop {
        let left_ns = end_ns - thread_cpu_ns();
        if left_ns <= 0 {
            return;
        }
        // A thread uses CPU time at most as fast as the clock runs, so the CPU time need not be read before `left_ns`
        // have passed. Each reading is a system call; reading in a loop would spend the time in the kernel.
        work(left_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_processes_of_a_host_read_the_same_clock() {
        // `now_ns` must agree with the kernel's CLOCK_MONOTONIC, which workers in other languages read.
        let kernels_ns = || {
            let time = clock_gettime(ClockId::Monotonic);
            time.tv_sec * SECOND_NS + time.tv_nsec
        };
        let (before_ns, time_ns, after_ns) = (kernels_ns(), now_ns(), kernels_ns());
        assert!(before_ns <= time_ns && time_ns <= after_ns, "{before_ns} {time_ns} {after_ns}");
    }
}
