//! Calibration: the time that this machine needs to read the clock, wake a thread, and fill and copy a message.
//!
//! The coordinator (the process `perf_test`) calibrates before and after a run. The workers' resource figures therefore
//! do not contain the calibration, and the two results show whether the machine changed. Every figure is a median of
//! repetitions in warm memory. The summary prints the mean of both results beside the latencies, as a scale.

#[expect(unsafe_code, reason = "a mapping of shared memory")]
mod shared_memory;
pub mod wake_up;

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{clock::now_ns, measure::median::median};
use shared_memory::SharedMemory;
use wake_up::Sleeper;

/// The largest and the smallest number of timed wake-ups. At least the smallest number is timed, even if this takes
/// longer than [`PACED_NS`].
const WAKE_UPS: (u64, u64) = (100, 31);
/// The total sleep before the timed wake-ups, ns; it limits their number.
const PACED_NS: u64 = 300_000_000;
/// The shortest and the longest sleep before each wake-up, ns. The sleep is limited because a processor wakes up more
/// slowly after a longer sleep.
const SLEEP_NS: (u64, u64) = (200_000, 10_000_000);
/// The number of batches; the result is the median over the batches.
const BATCHES: usize = 15;
/// The shortest duration of a batch, ns. It is long enough that the two readings of the clock around the batch are
/// negligible.
const BATCH_NS: i64 = 20_000;

/// The largest memory for the slots of a history, bytes. It is larger than the caches of a CPU.
const MAX_SLOTS_BYTES: usize = 128 << 20;

/// The largest difference between the results before and after a run that is tolerated, as a fraction of their mean. If
/// the difference is larger, both results are printed.
const MAX_DRIFT: f64 = 0.1;

/// The results of the calibrations before and after a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibrations {
    /// Before the run.
    pub before: Calibration,
    /// After the run.
    pub after: Calibration,
}

impl Calibrations {
    /// The mean of the results before and after the run.
    #[must_use]
    pub fn mean(&self) -> Calibration {
        let mean = |figure: fn(&Calibration) -> f64| f64::midpoint(figure(&self.before), figure(&self.after));
        Calibration {
            clock_ns: mean(|found| found.clock_ns),
            wake_up_ns: mean(|found| found.wake_up_ns),
            fill_ns: mean(|found| found.fill_ns),
            warm_copy_ns: mean(|found| found.warm_copy_ns),
            paced_copy_ns: mean(|found| found.paced_copy_ns),
        }
    }

    /// The values of a figure before and after the run, if they differ by more than 10 % of their mean; otherwise
    /// `None`.
    #[must_use]
    pub fn drift(&self, figure: fn(&Calibration) -> f64) -> Option<(f64, f64)> {
        let (before, after) = (figure(&self.before), figure(&self.after));
        ((before - after).abs() > MAX_DRIFT * f64::midpoint(before, after)).then_some((before, after))
    }
}

/// The results of one calibration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calibration {
    /// One reading of the clock, nanoseconds.
    pub clock_ns: f64,
    /// The time from waking a sleeping thread to the thread's first reading of the clock, nanoseconds.
    pub wake_up_ns: f64,
    /// Writing every byte of one message, nanoseconds.
    pub fill_ns: f64,
    /// Copying one message from a private buffer into shared memory, or from shared memory into another private buffer,
    /// in a tight loop: the mean of both directions, nanoseconds. A transfer by copying has at least these three
    /// buffers.
    pub warm_copy_ns: f64,
    /// Copying one message at the pace of the run, nanoseconds. Between two copies other programs use the caches. Each
    /// copy uses the next of as many slots as the run's history has.
    pub paced_copy_ns: f64,
}

impl Calibration {
    /// Measures this machine for messages of `message_bytes` at `rate_hz` (0: as fast as possible) with a history of
    /// `depth` messages. Uses up to 128 MiB of memory. Takes a third of a second at 100 Hz, less at higher rates.
    ///
    /// # Errors
    /// The reason, as a sentence, if no thread can be started or there is no memory.
    pub fn measure(message_bytes: usize, rate_hz: u32, depth: u32) -> Result<Calibration, String> {
        let period_ns = 1_000_000_000_u64.checked_div(u64::from(rate_hz)).unwrap_or(0);
        let sleep_ns = period_ns.clamp(SLEEP_NS.0, SLEEP_NS.1);
        let clock_ns = clock_cost_ns();
        let source = vec![0x5a_u8; message_bytes];
        let mut target = vec![0_u8; message_bytes];
        // One slot more than the depth: a publisher writes one slot while its history keeps the others.
        let slots = slots(message_bytes, depth);
        let mut shared = SharedMemory::new(message_bytes * slots)?;
        let mut copies = |target: &mut [u8], slot: usize| {
            let slot = shared.bytes().chunks_mut(message_bytes.max(1)).nth(slot).unwrap_or_default();
            black_box(&mut *slot).copy_from_slice(black_box(&source));
            black_box(target).copy_from_slice(black_box(slot));
        };
        let warm_copy_ns = median_batch_ns(|| copies(&mut target, 0)) / 2.0;
        let mut value = 0_u8;
        let fill_ns = median_batch_ns(|| {
            value = value.wrapping_add(1);
            black_box(&mut target).fill(black_box(value));
        });
        let mut next = (0..slots).cycle();
        let (wake_up_ns, paced_copies_ns) = paced_ns(sleep_ns, || copies(&mut target, next.next().unwrap_or(0)))?;
        Ok(Calibration { clock_ns, wake_up_ns, fill_ns, warm_copy_ns, paced_copy_ns: paced_copies_ns / 2.0 })
    }

    /// The least time on this machine for a copy into shared memory, a wake-up and a copy out of shared memory,
    /// nanoseconds.
    #[must_use]
    pub fn copy_path_ns(&self) -> f64 {
        2.0 * self.warm_copy_ns + self.wake_up_ns
    }

    /// The least time at the pace of the run for a copy into shared memory, a wake-up and a copy out of shared memory,
    /// nanoseconds.
    #[must_use]
    pub fn paced_copy_path_ns(&self) -> f64 {
        2.0 * self.paced_copy_ns + self.wake_up_ns
    }
}

/// The number of slots that a publisher with a history of `depth` messages uses in turn, at most as many as fit into
/// [`MAX_SLOTS_BYTES`].
fn slots(message_bytes: usize, depth: u32) -> usize {
    (depth as usize + 1).min(MAX_SLOTS_BYTES / message_bytes.max(1)).max(1)
}

/// The duration of one reading of the clock, nanoseconds.
#[must_use]
pub fn clock_cost_ns() -> f64 {
    median_batch_ns(|| {
        black_box(now_ns());
    })
}

/// The duration of one call of `work`, nanoseconds: the median over [`BATCHES`] batches of calls.
fn median_batch_ns(mut work: impl FnMut()) -> f64 {
    let mut repeats = 1_u32;
    let mut batch_ns = |repeats: u32| {
        let begin_ns = now_ns();
        (0..repeats).for_each(|_| work());
        now_ns() - begin_ns
    };
    batch_ns(1);
    while batch_ns(repeats) < BATCH_NS && repeats < 1 << 20 {
        repeats *= 2;
    }
    median((0..BATCHES).map(|_| batch_ns(repeats) as f64 / f64::from(repeats)).collect())
}

/// The median durations of a wake-up and of a call of `copy` after it. A wake-up lasts from the waker's reading of the
/// clock to the sleeper's reading. Both threads sleep before each wake-up, like a publisher and a subscription.
fn paced_ns(sleep_ns: u64, mut copy: impl FnMut()) -> Result<(f64, f64), String> {
    let mut sleeper = Sleeper::start()?;
    let (mut wake_ups_ns, mut copies_ns) = (Vec::new(), Vec::new());
    for _ in 0..(PACED_NS / sleep_ns).clamp(WAKE_UPS.1, WAKE_UPS.0) {
        thread::sleep(Duration::from_nanos(sleep_ns));
        wake_ups_ns.push(sleeper.wake_up_ns() as f64);
        let begin_ns = now_ns();
        copy();
        copies_ns.push((now_ns() - begin_ns) as f64);
    }
    Ok((median(wake_ups_ns), median(copies_ns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_messages_cost_more_and_everything_costs_something() {
        let small = Calibration::measure(1024, 1000, 16).unwrap();
        let large = Calibration::measure(4 << 20, 0, 10).unwrap();
        for found in [small, large] {
            assert!(found.clock_ns > 0.0 && found.wake_up_ns > 0.0, "{found:?}");
        }
        // The large message has 4096 times as many bytes. The test requires only a hundredth of this factor, so that
        // noise cannot fail it.
        assert!(large.warm_copy_ns > 40.0 * small.warm_copy_ns, "{small:?} {large:?}");
        assert!(large.fill_ns > 40.0 * small.fill_ns, "{small:?} {large:?}");
        assert!(large.copy_path_ns() > 2.0 * large.warm_copy_ns);
    }

    #[test]
    fn messages_go_through_a_history_that_fits_into_memory() {
        assert_eq!([slots(1024, 16), slots(4 << 20, 10), slots(64 << 20, 16), slots(1 << 30, 1)], [17, 11, 2, 1]);
        assert_eq!(slots(0, 1), 2);
    }

    #[test]
    fn two_results_are_one_mean_and_both_shown_only_if_they_differ() {
        let before =
            Calibration { clock_ns: 20.0, wake_up_ns: 5e3, fill_ns: 1e5, warm_copy_ns: 4e5, paced_copy_ns: 5e5 };
        let calibrations = Calibrations { before, after: Calibration { warm_copy_ns: 6e5, clock_ns: 21.0, ..before } };
        assert_eq!((calibrations.mean().warm_copy_ns, calibrations.mean().fill_ns), (5e5, 1e5));
        assert_eq!(calibrations.drift(|found| found.warm_copy_ns), Some((4e5, 6e5)));
        assert_eq!(calibrations.drift(|found| found.clock_ns), None);
    }
}
