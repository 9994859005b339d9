//! The rows: one for each executor and load. Rows that are compared stand close together.

use crate::{Options, kind::Kind, statistics::Statistics};
use std::time::Duration;

/// How many topics.
pub const TOPICS: [usize; 4] = [1, 10, 100, 1000];
/// Messages a second, on all topics together, and how many make a turn: few, so that most turns are over before this machine has
/// something else to do.
const RATES: [(u32, usize); 3] = [(100, 20), (1000, 60), (10_000, 400)];

/// The messages of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// On so many topics, one after the other.
    pub topics: usize,
    /// Messages a second, on all of them together.
    pub rate: u32,
    /// Messages.
    pub count: usize,
}

/// A line of the table.
pub struct Row {
    /// The executor.
    pub kind: Kind,
    /// The messages.
    pub load: Load,
    /// The turns that were measured.
    pub statistics: Statistics,
}

impl Load {
    /// Its name in comparisons.
    pub fn name(&self) -> String {
        format!("{}@{}", self.topics, self.rate)
    }

    /// From one message to the next.
    pub fn period(&self) -> Duration {
        Duration::from_secs(1) / self.rate
    }
}

/// All that was asked for.
pub fn all(options: &Options) -> Vec<Row> {
    let shorter = if options.is_quick { 2 } else { 1 };
    let mut rows = Vec::new();
    for topics in TOPICS {
        for (rate, count) in RATES {
            let load = Load { topics, rate, count: count / shorter };
            for kind in Kind::ALL {
                let name = format!("{} {}", kind.name(), load.name());
                if options.only.split(',').any(|part| name.contains(part)) {
                    rows.push(Row { kind, load, statistics: Statistics::default() });
                }
            }
        }
    }
    rows
}

/// Which row is at that place of a cycle: those of a load begin with another executor each time.
pub fn rotated(place: usize, cycle: usize, count: usize) -> usize {
    let kinds = Kind::ALL.len();
    let (first, nth) = (place / kinds * kinds, place % kinds);
    let here = kinds.min(count - first);
    first + (nth + cycle) % here
}
