//! Events of single messages (late, missing or not sent), with ids and times, for the log of such messages. The counts
//! of a run include these messages even if the log is not written.

use serde::{Deserialize, Serialize};

/// The largest number of events of one endpoint in one second that are kept. Further events are only counted.
pub const MOST_EVENTS: usize = 250;

/// The reason why a message is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// The latency of the message was above the limit for late messages, but not above the limit for too late messages.
    Late {
        /// The latency of the message, ns.
        latency_ns: u64,
        /// The limit, ns.
        limit_ns: u64,
    },
    /// The latency of the message was above the limit for too late messages.
    TooLate {
        /// The latency of the message, ns.
        latency_ns: u64,
        /// The limit, ns.
        limit_ns: u64,
    },
    /// This message, and perhaps messages directly after it, had not arrived when a later message arrived.
    Missing {
        /// The number of messages.
        messages: u64,
    },
    /// The publisher did not send this message, and perhaps messages directly after it: its timer skipped them, or the
    /// middleware refused them. Subscriptions see a gap in the ids, but do not count these messages as lost.
    Unsent {
        /// The number of messages.
        messages: u64,
    },
}

/// An event: one message that is late, missing or not sent, or several consecutive missing or unsent messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The time of arrival of the message, ns of CLOCK_MONOTONIC. For a missing message, the time of arrival of the
    /// next message.
    pub at_ns: i64,
    /// The id of the message, or the first id of several messages.
    pub id: u64,
    /// The reason.
    pub trouble: Trouble,
}

/// The events of one endpoint in one row of its report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// The first events of the row, in order.
    pub kept: Vec<Event>,
    /// The number of further events, which are not kept.
    pub more: u64,
}

impl Events {
    /// Creates an empty list with memory for all events that it may keep.
    #[must_use]
    pub fn with_memory() -> Events {
        Events { kept: Vec::with_capacity(MOST_EVENTS), more: 0 }
    }

    /// Adds an event.
    pub fn add(&mut self, event: Event) {
        if self.kept.len() < MOST_EVENTS {
            self.kept.push(event);
        } else {
            self.more += 1;
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Removes all events and keeps the memory.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.more = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_events_are_kept_and_the_others_counted() {
        let mut events = Events::default();
        let event = |id| Event { at_ns: 1, id, trouble: Trouble::Missing { messages: 1 } };
        (0..300).for_each(|id| events.add(event(id)));
        assert_eq!((events.kept.len(), events.kept[249], events.more), (MOST_EVENTS, event(249), 50));
        events.clear();
        assert!(events.is_empty() && events == Events::default());
    }
}
