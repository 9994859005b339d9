//! The rows: one for each executor and load. Rows that are compared stand close together.

use crate::{Options, kind::Kind, statistics::Statistics};
use std::time::Duration;

/// The numbers of topics.
pub const TOPICS: [usize; 4] = [1, 10, 100, 1000];
/// Messages per second on all topics together, and messages of a turn: few, so that other work of the machine disturbs few turns.
const RATES: [(u32, usize); 3] = [(100, 20), (1000, 60), (10_000, 400)];

/// The messages of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The number of topics, which take turns.
    pub topics: usize,
    /// Messages per second on all topics together.
    pub rate: u32,
    /// The number of messages.
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

    /// The time from one message to the next.
    pub fn period(&self) -> Duration {
        Duration::from_secs(1) / self.rate
    }
}

/// All rows that the options ask for.
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

/// The row at an index of a cycle: the rows of a load begin with another executor in each cycle.
pub fn rotated(place: usize, cycle: usize, count: usize) -> usize {
    let kinds = Kind::ALL.len();
    let (first, nth) = (place / kinds * kinds, place % kinds);
    let here = kinds.min(count - first);
    first + (nth + cycle) % here
}
