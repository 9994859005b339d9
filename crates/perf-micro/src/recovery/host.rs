//! The host of the recovery experiment. It stores the numbers that its subscription receives, and their times.

use std::{collections::BTreeMap, time::Duration};

use gantry::{Result, Subscription};
use gantry_msgs::std_msgs::msg::Int64;
use perf_worker::clock::now_ns;

use super::note::Note;

/// The longest sleep before the host checks the deadline again.
const PATIENCE: Duration = Duration::from_millis(5);

/// The subscription of the host, and the numbers that it has received.
#[derive(Debug)]
pub struct Host {
    subscription: Subscription<Int64>,
    publishers: usize,
    /// For each number, the time of its first reception, ns.
    pub received_ns: BTreeMap<i64, i64>,
    /// The number of messages that came more than once.
    pub duplicates: u64,
    /// The number of messages that came after a message with a greater number.
    pub reordered: u64,
    /// The changes of the number of publishers.
    pub events: Vec<Note>,
}

impl Host {
    pub fn new(subscription: Subscription<Int64>) -> Host {
        Host {
            subscription,
            publishers: 0,
            received_ns: BTreeMap::new(),
            duplicates: 0,
            reordered: 0,
            events: Vec::new(),
        }
    }

    /// Takes numbers until `is_done` returns true, or until `deadline_ns`. Returns false at the deadline.
    pub fn receive(&mut self, deadline_ns: i64, mut is_done: impl FnMut(&Host) -> bool) -> Result<bool> {
        loop {
            while let Some(number) = self.subscription.take()? {
                self.note(number.data, now_ns());
            }
            let publishers = self.subscription.publisher_count()?;
            if publishers != self.publishers {
                let what = format!("{publishers} publishers matched");
                self.events.push(Note::now("host", what));
                self.publishers = publishers;
            }
            if is_done(self) {
                return Ok(true);
            }
            if now_ns() >= deadline_ns {
                return Ok(false);
            }
            self.subscription.wait(PATIENCE)?;
        }
    }

    fn note(&mut self, number: i64, now_ns: i64) {
        let is_late = self.received_ns.last_key_value().is_some_and(|(last, _)| *last > number);
        if self.received_ns.contains_key(&number) {
            self.duplicates += 1;
        } else {
            self.reordered += u64::from(is_late);
            self.received_ns.insert(number, now_ns);
        }
    }
}
