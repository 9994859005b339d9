//! The rows of the table: one for each executor and load. Rows that are compared with each other are adjacent.

use crate::{Options, kind::Kind, statistics::Statistics};
use std::time::Duration;

/// The numbers of topics.
pub const TOPICS: [usize; 4] = [1, 10, 100, 1000];
/// The numbers of idle timers in loads with `TIMED_TOPICS` topics.
pub const TIMERS: [usize; 3] = [0, 100, 10_000];
/// The number of topics of a load with timers.
pub const TIMED_TOPICS: usize = 10;
/// The message rates (messages per second on all topics together), each with the number of messages in a turn. Turns
/// are short, so that other work of the machine disturbs only few of them.
const RATES: [(u32, usize); 3] = [(100, 20), (1000, 60), (10_000, 400)];

/// The load of a turn: topics, idle timers and messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The number of topics. Consecutive messages go to different topics.
    pub topics: usize,
    /// The number of timers that are not due.
    pub timers: usize,
    /// Messages per second on all topics together.
    pub rate: u32,
    /// The number of messages.
    pub count: usize,
}

/// A line of the table.
pub struct Row {
    /// The executor.
    pub kind: Kind,
    /// The load of the turns.
    pub load: Load,
    /// The turns that were measured.
    pub statistics: Statistics,
}

impl Load {
    /// The load's name in comparisons.
    pub fn name(&self) -> String {
        let timers = if self.timers == 0 { String::new() } else { format!("+{}timers", self.timers) };
        format!("{}@{}{timers}", self.topics, self.rate)
    }

    /// The time from one message to the next.
    pub fn period(&self) -> Duration {
        Duration::from_secs(1) / self.rate
    }
}

/// All rows that the options select.
pub fn all(options: &Options) -> Vec<Row> {
    let shorter = if options.is_quick { 2 } else { 1 };
    let timed = TIMERS.into_iter().filter(|&timers| timers > 0).map(|timers| (TIMED_TOPICS, timers));
    let mut rows = Vec::new();
    for (topics, timers) in TOPICS.into_iter().map(|topics| (topics, 0)).chain(timed) {
        for (rate, count) in RATES {
            let load = Load { topics, timers, rate, count: count / shorter };
            for kind in Kind::ALL.into_iter().filter(|&kind| timers == 0 || kind != Kind::WaitSet) {
                let name = format!("{} {}", kind.name(), load.name());
                if options.only.split(',').any(|part| name.contains(part)) {
                    rows.push(Row { kind, load, statistics: Statistics::default() });
                }
            }
        }
    }
    rows
}

/// The order of the rows in a cycle. Among the rows of one load, each cycle begins with another executor.
pub fn order(rows: &[Row], cycle: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    for same_load in order.chunk_by_mut(|&one, &other| rows[one].load == rows[other].load) {
        let count = same_load.len();
        same_load.rotate_left(cycle % count);
    }
    order
}
