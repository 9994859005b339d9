//! An event of the board, the host or the agent.

use perf_worker::clock::now_ns;
use serde::Serialize;

use crate::distribution::ms;

/// An event.
#[derive(Clone, Debug, Serialize)]
pub struct Note {
    /// The time of the event, ms. In an outcome, the time since the fault began.
    pub after_ms: f64,
    /// The side (board, host or agent) that reported the event.
    pub side: &'static str,
    pub what: String,
}

impl Note {
    /// Creates an event with the present time.
    pub fn now(side: &'static str, what: String) -> Note {
        Note { after_ms: ms(now_ns()), side, what }
    }
}
