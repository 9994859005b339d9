//! The noise floor of the machine: lateness of timers, cost of a wake-up and of reading the clock, and stops of a
//! thread that never sleeps. No middleware can be faster than this floor, and no measurement can be finer.
//!
//! The noise is measured on a separate thread with the smallest timer slack. The threads are not pinned and have no
//! real-time priority, like the threads of an ordinary run.

use std::num::NonZeroU64;
use std::thread;
use std::time::Duration;

use rustix::thread::set_current_timer_slack;
use serde::Serialize;

use crate::common::units::format_ns;
use perf_worker::clock::{SECOND_NS, now_ns, sleep_until};
use perf_worker::measure::calibration::clock_cost_ns;
use perf_worker::measure::calibration::wake_up::Sleeper;
use perf_worker::measure::histogram::Latencies;

/// The period of the timers whose lateness is measured.
const TIMER_PERIOD_NS: i64 = 1_000_000;
/// The time that a thread sleeps before a measured wake-up.
const SLEEP: Duration = Duration::from_millis(1);
/// The number of clock readings for the cost and the step of the clock. The smallest step is used.
const CLOCK_READINGS: u32 = 10_000;
/// The shortest gap between two clock readings that counts as a stop of the thread.
const STOP_NS: i64 = 5_000;
/// A machine is quiet if the p99 of timers and of wake-ups is not above this value.
const MAX_QUIET_P99_NS: u64 = 100_000;
/// A machine is quiet if no stop of a thread is longer than this.
const MAX_QUIET_GAP_NS: u64 = 1_000_000;

/// The noise of the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// The length of the measurement, seconds.
    pub length_s: f64,
    /// The lateness of a thread that sleeps until a timer expires, with timers at 1 kHz.
    pub timer_lateness: Spread,
    /// The time from the wake call to the woken thread's first clock reading, after a sleep of a millisecond.
    pub wake_up: Spread,
    /// The cost of one clock reading, nanoseconds.
    pub clock_cost_ns: f64,
    /// The smallest step between two different clock readings, nanoseconds.
    pub clock_step_ns: u64,
    /// The longest stop of a thread that never sleeps, nanoseconds.
    pub largest_gap_ns: u64,
    /// The fraction of time in stops longer than 5 µs, 0 to 1.
    pub stopped_part: f64,
    /// Whether the machine is quiet enough for measurements of p99.
    pub quiet: bool,
    /// A sentence on the meaning of the noise for p99.
    pub verdict: String,
}

/// The number, median, 99th percentile and maximum of several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// The number of times.
    pub n: u64,
    /// The median, nanoseconds.
    pub p50_ns: u64,
    /// The 99th percentile, nanoseconds.
    pub p99_ns: u64,
    /// The longest time, nanoseconds.
    pub max_ns: u64,
}

impl Spread {
    fn from_values(values: &Latencies) -> Spread {
        let [p50_ns, p99_ns, max_ns] = [0.5, 0.99, 1.0].map(|quantile| values.quantile_ns(quantile));
        Spread { n: values.n(), p50_ns, p99_ns, max_ns }
    }
}

impl Noise {
    /// Measures the noise for about `length_s` seconds.
    ///
    /// # Errors
    /// The reason, as a sentence: the system cannot start a thread.
    pub fn measure(length_s: u32) -> Result<Noise, String> {
        let cannot = |error| format!("cannot start a thread to measure the noise floor: {error}");
        let meter =
            thread::Builder::new().name("noise".to_owned()).spawn(move || measure_here(length_s)).map_err(cannot)?;
        meter.join().map_err(|_| "the thread that measured the noise floor failed".to_owned())?
    }
}

/// Measures the noise on the current thread. Sets the timer slack of this thread to the minimum.
fn measure_here(length_s: u32) -> Result<Noise, String> {
    // The timers expire later by the default slack if the kernel refuses this; the slack then counts as noise of this
    // machine.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let length_ns = i64::from(length_s) * SECOND_NS;
    let begin_ns = now_ns();
    let timer_lateness = timer_lateness(length_ns / 2);
    let wake_up = wake_ups(length_ns / 4)?;
    let (largest_gap_ns, stopped_part) = gaps(length_ns / 4);
    let (quiet, verdict) = verdict(&timer_lateness, &wake_up, largest_gap_ns);
    Ok(Noise {
        timer_lateness,
        wake_up,
        clock_cost_ns: clock_cost_ns(),
        clock_step_ns: clock_step_ns(),
        largest_gap_ns,
        stopped_part,
        quiet,
        verdict,
        length_s: (now_ns() - begin_ns) as f64 / SECOND_NS as f64,
    })
}

fn timer_lateness(length_ns: i64) -> Spread {
    let mut values = Latencies::default();
    let begin_ns = now_ns();
    for timer in 1..=length_ns / TIMER_PERIOD_NS {
        let due_ns = begin_ns + timer * TIMER_PERIOD_NS;
        let mut awake_ns = now_ns();
        // After a long stop, several timers are already due. Their lateness counts, too.
        while awake_ns < due_ns {
            sleep_until(due_ns);
            awake_ns = now_ns();
        }
        values.record((awake_ns - due_ns).unsigned_abs());
    }
    Spread::from_values(&values)
}

fn wake_ups(length_ns: i64) -> Result<Spread, String> {
    let mut values = Latencies::default();
    let mut sleeper = Sleeper::start()?;
    let end_ns = now_ns() + length_ns;
    while now_ns() < end_ns {
        thread::sleep(SLEEP);
        values.record(u64::try_from(sleeper.wake_up_ns()).unwrap_or(0));
    }
    Ok(Spread::from_values(&values))
}

/// The largest gap between two clock readings, and the fraction of time in gaps longer than [`STOP_NS`].
fn gaps(length_ns: i64) -> (u64, f64) {
    let begin_ns = now_ns();
    let (mut before_ns, mut largest_ns, mut stopped_ns) = (begin_ns, 0, 0);
    while before_ns - begin_ns < length_ns {
        let time_ns = now_ns();
        let gap_ns = time_ns - before_ns;
        largest_ns = largest_ns.max(gap_ns);
        stopped_ns += if gap_ns > STOP_NS { gap_ns } else { 0 };
        before_ns = time_ns;
    }
    (largest_ns.unsigned_abs(), stopped_ns as f64 / (before_ns - begin_ns).max(1) as f64)
}

fn clock_step_ns() -> u64 {
    let mut before_ns = now_ns();
    let steps = (0..CLOCK_READINGS).filter_map(|_| {
        let time_ns = now_ns();
        let step_ns = u64::try_from(time_ns - before_ns).ok().filter(|step_ns| *step_ns > 0);
        before_ns = time_ns;
        step_ns
    });
    steps.min().unwrap_or(0)
}

/// Decides whether the machine is quiet, and returns a sentence. A latency from the send time contains only the wake-up
/// of the reader. A latency from the due time also contains the lateness of the publisher's timer.
fn verdict(timer: &Spread, wake_up: &Spread, gap_ns: u64) -> (bool, String) {
    let quiet = timer.p99_ns.max(wake_up.p99_ns) <= MAX_QUIET_P99_NS && gap_ns <= MAX_QUIET_GAP_NS;
    let parts = [wake_up.p99_ns, timer.p99_ns.saturating_add(wake_up.p99_ns), gap_ns];
    let [woken, scheduled, gap] = parts.map(|ns| format_ns(ns as f64));
    let machine = format!(
        "of p99, up to {woken} is this machine's wake-up of a reader, {scheduled} in latencies from the due time"
    );
    let sentence = if quiet {
        format!("quiet: {machine}; the rest is the middleware's own")
    } else {
        format!("noisy: {machine}; p99.9 and the maximum also show stops of threads for up to {gap}")
    };
    (quiet, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(p99_ns: u64) -> Spread {
        Spread { n: 1000, p50_ns: 5_000, p99_ns, max_ns: p99_ns }
    }

    #[test]
    fn the_verdict_names_the_part_of_p99_that_is_the_machine() {
        let (quiet, sentence) = verdict(&spread(20_000), &spread(45_000), 80_000);
        assert!(quiet && sentence.starts_with("quiet: of p99, up to 45.0 µs"), "{sentence}");
        assert!(sentence.contains("65.0 µs in latencies from the due time"), "{sentence}");
        for (timer_ns, wake_up_ns) in [(350_000, 45_000), (45_000, 350_000)] {
            let (quiet, sentence) = verdict(&spread(timer_ns), &spread(wake_up_ns), 80_000);
            assert!(!quiet && sentence.starts_with("noisy") && sentence.contains("395.0 µs"), "{sentence}");
        }
        let (quiet, sentence) = verdict(&spread(20_000), &spread(45_000), 8_000_000);
        assert!(!quiet && sentence.contains("stops of threads for up to 8.00 ms"), "{sentence}");
    }

    #[test]
    fn every_figure_is_measured() {
        let noise = Noise::measure(1).unwrap();
        assert_eq!(noise.timer_lateness.n, 500);
        assert!(noise.wake_up.n > 0 && noise.wake_up.p50_ns > 0, "{noise:?}");
        assert!(noise.clock_cost_ns > 0.0 && noise.clock_step_ns > 0 && noise.largest_gap_ns > 0, "{noise:?}");
        assert!((0.0..=1.0).contains(&noise.stopped_part), "{noise:?}");
        for spread in [noise.timer_lateness, noise.wake_up] {
            assert!(spread.p50_ns <= spread.p99_ns && spread.p99_ns <= spread.max_ns, "{noise:?}");
        }
    }
}
