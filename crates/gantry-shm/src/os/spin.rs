//! A bounded spin before a sleep. The bound adapts to the success of earlier spins.

use rustix::thread::sched_getaffinity;
use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

/// The longest spin before a sleep.
const MAX_SPIN: Duration = Duration::from_micros(20);
/// The shortest bound of a spin, after spins that never succeeded.
const MIN_SPIN: Duration = Duration::from_nanos(250);
/// The number of checks between two readings of the clock.
const CHECKS_PER_CLOCK: usize = 8;

/// The number of CPUs that the process may use under a quota (of a container, for instance). The quota is read once,
/// because it is in several files.
static QUOTA: OnceLock<usize> = OnceLock::new();

/// The spin of one thread.
pub(crate) struct Spin {
    /// The longest time of a spin. `None` means no spin: spinning is switched off, or only one CPU is usable, so that
    /// a spin would keep the awaited thread from running.
    bound: Option<Duration>,
}

impl Spin {
    /// Makes a spin for the calling thread. Makes one system call, and more in the first call of the process.
    pub(crate) fn new() -> Spin {
        let allowed = || sched_getaffinity(None).map_or(1, |cpus| cpus.count() as usize);
        let quota = *QUOTA.get_or_init(|| match std::thread::available_parallelism() {
            Ok(cpus) if cpus.get() < allowed() => cpus.get(),
            _ => usize::MAX,
        });
        Spin { bound: (quota > 1 && allowed() > 1).then_some(MAX_SPIN) }
    }

    /// Switches spinning on or off; it stays off if only one CPU is usable.
    pub(crate) fn set(&mut self, on: bool) {
        *self = if on { Spin::new() } else { Spin { bound: None } };
    }

    /// Spins until `is_ready` or the bound. Returns whether `is_ready` was true. Success doubles the bound, failure
    /// halves it.
    pub(crate) fn until(&mut self, is_ready: &mut impl FnMut() -> bool) -> bool {
        let Some(bound) = self.bound else { return false };
        let end = Instant::now() + bound;
        loop {
            for _ in 0..CHECKS_PER_CLOCK {
                if is_ready() {
                    self.bound = Some((bound * 2).min(MAX_SPIN));
                    return true;
                }
                std::hint::spin_loop();
            }
            if Instant::now() >= end {
                self.bound = Some((bound / 2).max(MIN_SPIN));
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::{CpuSet, sched_setaffinity};

    #[test]
    fn there_is_no_spin_where_one_cpu_is_usable() {
        let all = sched_getaffinity(None).unwrap(); // of this thread alone
        let first = (0..CpuSet::MAX_CPU).find(|&cpu| all.is_set(cpu)).unwrap();
        let mut one = CpuSet::new();
        one.set(first);
        sched_setaffinity(None, &one).unwrap();
        let spins = || {
            let mut looks = 0;
            Spin::new().until(&mut || {
                looks += 1;
                false
            });
            looks > 0
        };
        assert!(!spins());
        sched_setaffinity(None, &all).unwrap();
        let several = std::thread::available_parallelism().unwrap().get() > 1;
        assert_eq!(spins(), several);
    }

    #[test]
    fn switched_off_it_does_not_even_check() {
        let mut spin = Spin { bound: Some(MAX_SPIN) };
        spin.set(false);
        assert!(!spin.until(&mut || unreachable!("it checked")));
        spin.set(true);
        let several = std::thread::available_parallelism().unwrap().get() > 1;
        assert_eq!(spin.until(&mut || true), several);
    }

    #[test]
    fn spins_adapt_and_are_bounded() {
        let mut spin = Spin { bound: Some(MAX_SPIN) };
        for _ in 0..20 {
            assert!(!spin.until(&mut || false));
        }
        assert_eq!(spin.bound, Some(MIN_SPIN), "it gives up after failures");
        for _ in 0..20 {
            assert!(spin.until(&mut || true));
        }
        assert_eq!(spin.bound, Some(MAX_SPIN), "and spins again after successes");
    }
}
