//! The clock for short times, such as a message's hop from one process to another. On x86-64 it is the CPU's own
//! counter, because reading the system's clock costs as much as half a hop.
//!
//! On x86-64, the clock is the time stamp counter. If the kernel does not report this counter as constant and non-stop,
//! [`Clock`] says so. Elsewhere the clock is the monotonic clock, in ns. On aarch64, the monotonic clock also reads the
//! CPU's counter; many boards count in steps of 32 ns, so medians are not finer than 32 ns.

use std::{
    fmt,
    time::{Duration, Instant},
};

/// The present time, in ticks.
#[inline(always)]
pub fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: the instruction exists on every x86-64 CPU, and Linux lets programs use it.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        monotonic_ns()
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The length of a tick.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Nanoseconds in a tick.
    pub ns_per_tick: f64,
    /// True if the counter has the same rate at every frequency of the CPU.
    pub steady: bool,
}

impl Clock {
    /// Measures the counter against the monotonic clock for `time`.
    pub fn calibrate(time: Duration) -> Clock {
        let (start, ticks) = (Instant::now(), now());
        while start.elapsed() < time {}
        let (elapsed, ticks) = (start.elapsed(), now() - ticks);
        let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let steady =
            !cfg!(target_arch = "x86_64") || ["constant_tsc", "nonstop_tsc"].iter().all(|flag| flags.contains(flag));
        Clock { ns_per_tick: elapsed.as_nanos() as f64 / ticks as f64, steady }
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steady = if self.steady {
            ""
        } else {
            "; WARNING: the kernel does not report a constant rate of the counter (constant_tsc, nonstop_tsc), so \
             times may be wrong"
        };
        write!(f, "{:.3} ns a tick{steady}", self.ns_per_tick)
    }
}
