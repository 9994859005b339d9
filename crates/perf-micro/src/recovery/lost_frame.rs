//! The cost of one lost frame: round trips with a lost frame are compared with round trips without one.

use serde::Serialize;

use crate::{
    distribution::{Distribution, ms},
    latency::{Done, Exchanges, exchange},
    rig::Rig,
};

/// One in `EACH` exchanges loses a frame: alternately a frame from the board and a frame from the agent.
pub const EACH: usize = 5;
/// The time between two exchanges, ms. An exchange with a lost frame ends within this time.
const PERIOD_MS: u32 = 60;

/// The cost of one lost frame.
#[derive(Clone, Debug, Serialize)]
pub struct LostFrame {
    /// The number of exchanges that lost a frame.
    pub n: usize,
    /// The median round trip of the exchanges that lost no frame, ms.
    pub round_trip_ms: f64,
    /// The median round trip of the exchanges that lost the board's frame, ms; `to_board_ms` is the median of the
    /// exchanges that lost the agent's frame.
    pub from_board_ms: f64,
    pub to_board_ms: f64,
    /// The 90th percentile of all exchanges that lost a frame, in both directions, ms; `max_ms` is their maximum.
    pub p90_ms: f64,
    pub max_ms: f64,
}

impl LostFrame {
    /// Measures `n` exchanges that lose a frame.
    ///
    /// # Errors
    /// The reason, as a sentence, if an exchange failed, or the line lost more or fewer frames than planned.
    pub fn measure(rig: &Rig, n: u32) -> Result<LostFrame, String> {
        let number = n * EACH as u32;
        let plan = Exchanges { number, period_ms: PERIOD_MS, loses_each: Some(EACH) };
        let sent = match exchange(rig, plan)? {
            Done { failure: Some(sentence), .. } => return Err(sentence),
            Done { sent, .. } => sent,
        };
        let [lost_frames, _] = rig.line.faults.counts();
        if lost_frames != n {
            return Err(format!("the line lost {lost_frames} frames instead of {n}"));
        }
        let (mut good, mut lost) = (Vec::new(), [Vec::new(), Vec::new()]);
        for (index, sent) in sent.iter().enumerate() {
            let is_lost = index % EACH == EACH - 1;
            let place = lost.get_mut(index / EACH % 2).filter(|_| is_lost);
            place.unwrap_or(&mut good).push(sent.round_trip_ns());
        }
        let of_all: Distribution = lost.iter().flatten().copied().collect();
        let median_ms = |values_ns: Vec<i64>| ms(Distribution::from_iter(values_ns).p50_ns);
        let [from_board_ms, to_board_ms] = lost.map(median_ms);
        let (p90_ms, max_ms) = (ms(of_all.p90_ns), ms(of_all.max_ns));
        let n = number as usize / EACH;
        Ok(LostFrame { n, round_trip_ms: median_ms(good), from_board_ms, to_board_ms, p90_ms, max_ms })
    }

    /// The cost of a lost frame, as a number of round trips. Of the two directions, the one with the higher median
    /// counts.
    #[must_use]
    pub fn cost_round_trips(&self) -> f64 {
        self.from_board_ms.max(self.to_board_ms) / self.round_trip_ms - 1.0
    }
}
