//! The script of the mock: the faults and latencies of messages, from `--mock`, for example
//! `latency=2ms,lose=10,duplicate=25`.
//!
//! The plan of a worker contains the script as text. *Every K-th* message is each message whose id is a multiple
//! of K; the first id is 1. So the fate of a message depends on its id alone. If several keys apply to one
//! message, the first of `refuse`, `join`, `lose` and `overwrite` in this order removes it, and `early` takes
//! precedence over `slow`.

mod text;

use serde::{Deserialize, Serialize};

use crate::spec::{
    capabilities::{Capabilities, DeliveryKind},
    matching::{MatchingKind, OtherClock},
};

/// A number and a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// The interval K, in messages; of a stall, the id of the message that stalls.
    pub number: u64,
    /// The time, ns.
    pub time_ns: i64,
}

/// The daemon of a mock. It prints a line, and reports after 200 ms that it is ready, unless the variant is a
/// daemon that does not become ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MockDaemon {
    /// The daemon uses a little CPU time until it is ended.
    Lives,
    /// The daemon exits this time after it was ready, ns.
    Dies(i64),
    /// The daemon never reports that it is ready.
    Silent,
    /// The daemon exits before it is ready.
    Exits,
}

/// A script. A number of 0 means never.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MockScript {
    /// The time from sending to reception, ns.
    pub latency_ns: i64,
    /// Every K-th message has this latency instead. No message overtakes it: later messages are delivered after it,
    /// with their own latencies.
    pub slow: Option<Timed>,
    /// Every K-th message is received this time before it is sent.
    pub early: Option<Timed>,
    /// Every K-th message is not delivered, and no count of the mock contains it.
    pub lose: u64,
    /// Every K-th message is not delivered, and counted as overwritten.
    pub overwrite: u64,
    /// Every K-th message is delivered twice.
    pub duplicate: u64,
    /// Every K-th message is delivered after the next message of its publisher. If it is the last message, no next
    /// message follows, and it is not delivered.
    pub swap: u64,
    /// The payload of every K-th message is changed on its way.
    pub corrupt: u64,
    /// Every K-th message is refused when it is published.
    pub refuse: u64,
    /// The publication of the message with this id stalls for this time before the time of sending is read. Relays
    /// do not stall.
    pub stall: Option<Timed>,
    /// Messages up to this id are not delivered.
    pub join: u64,
    /// The only subscription to which the script applies, by its index; the others receive all messages after the
    /// default latency.
    pub subscription: Option<u32>,
    /// An endpoint is not matched for this time after its creation, ns.
    pub match_ns: i64,
    /// A publisher sends nothing for this time after its creation, ns, although it is matched.
    pub mute_ns: i64,
    /// An endpoint is never matched.
    pub mismatch: bool,
    /// The kind of matching that endpoints report; if it is `None`, they report the number of matched endpoints.
    pub matching: Option<MatchingKind>,
    /// Subscriptions do not tell publishers apart.
    pub nameless: bool,
    /// Messages are delivered on a thread of the mock.
    pub push: bool,
    /// Messages are copied, even in a run with zero copy.
    pub copy: bool,
    /// No setting has an effect.
    pub deaf: bool,
    /// The mock declares the capabilities of a mock without a script, whatever the script does.
    #[serde(default)]
    pub undeclared: bool,
    /// Each message is announced on standard output.
    pub print: bool,
    /// The time from the stamp until the message was serialised, ns. In this field and the next two, `None` means
    /// that the mock does not mark the phase.
    pub serialise_ns: Option<i64>,
    /// The time from sending to arrival, ns. It is a part of the latency, which stays the same: the rest of the latency
    /// is the wake-up or, with `wake`, the deserialising.
    pub transport_ns: Option<i64>,
    /// The time from arrival until the bytes are in hand, ns.
    pub wake_ns: Option<i64>,
    /// The clock of the first publisher; the second publisher's clock is behind by twice the offset, and so on.
    pub clock: Option<OtherClock>,
    /// The clock of the times of reception.
    pub reception_clock: Option<OtherClock>,
    /// The bytes that each message takes on the wire.
    pub wire_bytes: u64,
    /// Each worker measures a device with known memory.
    pub device: bool,
    /// The daemon that the run starts.
    pub daemon: Option<MockDaemon>,
    /// The time from the order `Go` until the instrument in each worker begins, ns.
    pub start_ns: i64,
    /// CPU time that the instrument itself takes in each worker for each report of a row, ns.
    pub report_ns: i64,
}

impl Default for MockScript {
    fn default() -> Self {
        MockScript {
            latency_ns: 1_000_000,
            slow: None,
            early: None,
            lose: 0,
            overwrite: 0,
            duplicate: 0,
            swap: 0,
            corrupt: 0,
            refuse: 0,
            stall: None,
            join: 0,
            subscription: None,
            match_ns: 0,
            mute_ns: 0,
            mismatch: false,
            matching: None,
            nameless: false,
            push: false,
            copy: false,
            deaf: false,
            undeclared: false,
            print: false,
            serialise_ns: None,
            transport_ns: None,
            wake_ns: None,
            clock: None,
            reception_clock: None,
            wire_bytes: 0,
            device: false,
            daemon: None,
            start_ns: 0,
            report_ns: 0,
        }
    }
}

/// Whether `id` is a multiple of `nth`; never if `nth` is 0.
#[must_use]
pub fn is_nth(id: u64, nth: u64) -> bool {
    nth > 0 && id.is_multiple_of(nth)
}

impl MockScript {
    /// The time from the sending of message `id` to its reception, ns.
    #[must_use]
    pub fn latency_of_ns(&self, id: u64) -> i64 {
        let of = |timed: Option<Timed>| timed.filter(|timed| is_nth(id, timed.number)).map(|timed| timed.time_ns);
        of(self.early).map(|time_ns| -time_ns).or_else(|| of(self.slow)).unwrap_or(self.latency_ns)
    }

    /// The clock of publisher `index`.
    #[must_use]
    pub fn clock_of_publisher(&self, index: u32) -> Option<OtherClock> {
        self.clock.map(|clock| OtherClock { offset_ns: clock.offset_ns * (i64::from(index) + 1), ..clock })
    }

    /// The script for subscription `index`.
    #[must_use]
    pub fn of_subscription(&self, index: u32) -> MockScript {
        let applies = self.subscription.is_none_or(|only| only == index);
        let MockScript { match_ns, mute_ns, mismatch, matching, nameless, push, copy, .. } = *self;
        let others =
            MockScript { match_ns, mute_ns, mismatch, matching, nameless, push, copy, ..MockScript::default() };
        if applies { self.clone() } else { others }
    }

    /// The capabilities that a mock with this script declares.
    #[must_use]
    pub fn limit(&self, all: Capabilities) -> Capabilities {
        if self.undeclared {
            return all;
        }
        Capabilities {
            delivery: if self.push { DeliveryKind::Push } else { all.delivery },
            services: all.services && !self.push,
            matching: self.matching.unwrap_or(all.matching),
            sources: all.sources && !self.nameless,
            ..all
        }
    }

    /// Whether message `id` is lost on the way.
    #[must_use]
    pub fn loses(&self, id: u64) -> bool {
        id <= self.join || is_nth(id, self.lose)
    }
}

#[cfg(test)]
mod tests;
