//! The scenarios of the recovery experiment.

use clap::ValueEnum;

/// A scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// One frame in a hundred is lost, both ways.
    Loss,
    /// One byte in a thousand is damaged, both ways.
    Corruption,
    /// The cable is pulled out for two seconds.
    Cut,
    /// The agent is killed by SIGKILL and started again at once.
    AgentRestart,
    /// The board is reset: it loses its memory and starts again.
    BoardReset,
}

/// The number of frames in a million that [`Scenario::Loss`] loses, and the number of bytes in a million that
/// [`Scenario::Corruption`] damages.
pub const LOST_FRAMES_PER_MILLION: u32 = 10_000;
pub const DAMAGED_BYTES_PER_MILLION: u32 = 1_000;

impl Scenario {
    /// A description of the scenario in words.
    #[must_use]
    pub fn description(self) -> String {
        self.to_possible_value().and_then(|value| value.get_help().map(ToString::to_string)).unwrap_or_default()
    }
}
