//! The scenarios of the recovery experiment.

use perf_worker::choice::Choice;

/// A scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// Frames are lost by chance.
    Loss,
    /// Bytes are damaged by chance.
    Corruption,
    /// The cable is pulled out for a time.
    Cut,
    /// The agent is killed, and started again.
    AgentRestart,
    /// The board loses all that it knows.
    BoardReset,
}

impl Choice for Scenario {
    const ALL: &'static [(Scenario, &'static str, &'static str)] = &[
        (Scenario::Loss, "loss", "One frame in a hundred is lost, both ways."),
        (Scenario::Corruption, "corruption", "One byte in a thousand is damaged, both ways."),
        (Scenario::Cut, "cut", "The cable is pulled out for two seconds."),
        (Scenario::AgentRestart, "agent-restart", "The agent is killed by SIGKILL and started again at once."),
        (Scenario::BoardReset, "board-reset", "The board loses all that it knows, and begins anew."),
    ];
}

/// The parts of a million of [`Scenario::Loss`] and [`Scenario::Corruption`].
pub const LOST_FRAMES_PER_MILLION: u32 = 10_000;
pub const DAMAGED_BYTES_PER_MILLION: u32 = 1_000;

impl Scenario {
    /// The scenario in words.
    #[must_use]
    pub fn description(self) -> &'static str {
        Self::ALL.iter().find(|(value, ..)| *value == self).map_or("", |(.., description)| description)
    }
}
