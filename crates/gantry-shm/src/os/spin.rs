//! A bounded look before a sleep, for as long as that has been worth it.
//!
//! Used by whatever sleeps: `waiter` and `sender`.

use std::time::{Duration, Instant};

/// Longest spin before a sleep.
const MAX_SPIN: Duration = Duration::from_micros(20);
/// Shortest spin: what one whose spins never helped still tries.
const MIN_SPIN: Duration = Duration::from_nanos(250);
/// Looks between two readings of the clock.
const LOOKS_PER_CLOCK: usize = 8;

/// How long a thread spins now.
pub(crate) struct Spin {
    /// `None`: it does not spin. It is told not to, or only one CPU is usable and spinning would keep the other side from running.
    bound: Option<Duration>,
}

impl Spin {
    /// For the calling thread.
    pub(crate) fn new() -> Spin {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Spin { bound: (cpus > 1).then_some(MAX_SPIN) }
    }

    /// Whether it spins at all from now on, where more than one CPU is usable.
    pub(crate) fn set(&mut self, on: bool) {
        *self = if on { Spin::new() } else { Spin { bound: None } };
    }

    /// Looks again and again; whether there was something. The bound doubles when it helps and halves when it does not.
    pub(crate) fn finds(&mut self, look: &mut impl FnMut() -> bool) -> bool {
        let Some(bound) = self.bound else { return false };
        let end = Instant::now() + bound;
        loop {
            for _ in 0..LOOKS_PER_CLOCK {
                if look() {
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
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    #[test]
    fn nobody_spins_where_one_cpu_is_usable() {
        let all = sched_getaffinity(None).unwrap(); // of this thread alone
        let first = (0..CpuSet::MAX_CPU).find(|&cpu| all.is_set(cpu)).unwrap();
        let mut one = CpuSet::new();
        one.set(first);
        sched_setaffinity(None, &one).unwrap();
        assert_eq!(Spin::new().bound, None);
        sched_setaffinity(None, &all).unwrap();
        let several = std::thread::available_parallelism().unwrap().get() > 1;
        assert_eq!(Spin::new().bound, several.then_some(MAX_SPIN));
    }

    #[test]
    fn who_is_told_not_to_spin_does_not_even_look() {
        let mut spin = Spin { bound: Some(MAX_SPIN) };
        spin.set(false);
        assert!(!spin.finds(&mut || unreachable!("it looked")));
        assert_eq!(spin.bound, None);
        spin.set(true);
        assert_eq!(spin.bound, Spin::new().bound);
    }

    #[test]
    fn spins_adapt_and_are_bounded() {
        let mut spin = Spin { bound: Some(MAX_SPIN) };
        for _ in 0..20 {
            assert!(!spin.finds(&mut || false));
        }
        assert_eq!(spin.bound, Some(MIN_SPIN), "it gives up when nothing comes");
        for _ in 0..20 {
            assert!(spin.finds(&mut || true));
        }
        assert_eq!(spin.bound, Some(MAX_SPIN), "and takes it up again");
    }
}
