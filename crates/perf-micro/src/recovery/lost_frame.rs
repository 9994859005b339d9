//! The cost of one lost frame: round trips in which one frame was lost, against others.

use serde::Serialize;

use crate::{
    latency::{Done, Exchanges, exchange},
    rig::Rig,
    transport::Transport,
};
use perf_test::interrupt::Interrupt;

/// One exchange in this number loses a frame, in turn the board's and the agent's.
pub const EACH: usize = 5;
/// Between two exchanges, ms: an exchange with a lost frame has ended by then.
const PERIOD_MS: u32 = 60;

/// The cost of one lost frame.
#[derive(Clone, Debug, Serialize)]
pub struct LostFrame {
    /// Exchanges that lost a frame.
    pub n: usize,
    /// The median of the exchanges that lost no frame, ms.
    pub round_trip_ms: f64,
    /// The median of the exchanges that lost the board's frame, ms; `to_board_ms`: of the exchanges that lost the
    /// agent's frame.
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
    /// A sentence.
    pub fn measure(rig: &Rig, transport: Transport, n: u32, interrupt: &Interrupt) -> Result<LostFrame, String> {
        let number = n * EACH as u32;
        let plan = Exchanges { number, period_ms: PERIOD_MS, loses_each: Some(EACH) };
        let sent = match exchange(rig, transport, plan, interrupt)? {
            Done { failure: Some(sentence), .. } => return Err(sentence),
            Done { sent, .. } => sent,
        };
        let [lost_frames, _] = rig.line.faults.counts();
        if lost_frames != n {
            return Err(format!("the line lost {lost_frames} frames instead of {n}"));
        }
        let mut good = Vec::new();
        let mut lost = [Vec::new(), Vec::new()];
        for (index, sent) in sent.iter().enumerate() {
            let round_trip_ms = (sent.returned_ns - sent.sent_ns) as f64 / 1e6;
            let is_lost = index % EACH == EACH - 1;
            let place = lost.get_mut(index / EACH % 2).filter(|_| is_lost);
            place.unwrap_or(&mut good).push(round_trip_ms);
        }
        let mut all: Vec<f64> = lost.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let p90_ms = all.get(all.len() * 9 / 10).copied().unwrap_or(f64::NAN);
        let max_ms = all.last().copied().unwrap_or(f64::NAN);
        let [from_board, to_board] = lost;
        Ok(LostFrame {
            n: from_board.len() + to_board.len(),
            round_trip_ms: median(good),
            from_board_ms: median(from_board),
            to_board_ms: median(to_board),
            p90_ms,
            max_ms,
        })
    }

    /// The round trips that a lost frame costs: the median of the worse direction.
    #[must_use]
    pub fn cost_round_trips(&self) -> f64 {
        self.from_board_ms.max(self.to_board_ms) / self.round_trip_ms - 1.0
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
