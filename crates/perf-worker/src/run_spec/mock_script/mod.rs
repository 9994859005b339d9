//! The script of the mock (the middleware with which `perf_test` tests itself). It is the value of `--mock` and lists
//! the faults and latencies of messages, for example `latency=2ms,lose=10,duplicate=25`.
//!
//! The plan of a worker contains the script as text. *Every K-th* message means each message whose id is a multiple of
//! K; the first id is 1. The effect on a message therefore depends on its id alone. If several keys apply to one
//! message, the first of `refuse`, `join`, `lose` and `overwrite` removes it, and `early` takes precedence over `slow`.

mod text;

use serde::{Deserialize, Serialize};

use crate::spec::{
    capabilities::{Capabilities, DeliveryKind},
    matching::{MatchingKind, OtherClock},
};

/// A number and a time, for a fault that needs both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// The interval K, in messages. For a stall, the id of the message that stalls.
    pub number: u64,
    /// The time, ns.
    pub time_ns: i64,
}

/// The behaviour of the mock's daemon process. The daemon prints a line, and reports after 200 ms that it is ready,
/// except in the variants that never become ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MockDaemon {
    /// The daemon uses a little CPU time until the run ends it.
    Lives,
    /// The daemon exits this time after it became ready, ns.
    Dies(i64),
    /// The daemon never reports that it is ready.
    Silent,
    /// The daemon exits before it is ready.
    Exits,
}

/// A script for the mock. In fields with an interval K or an id, 0 means never.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MockScript {
    /// The time from sending to reception of a message, ns.
    pub latency_ns: i64,
    /// Every K-th message has this latency instead. No message overtakes it: later messages are delivered after it, but
    /// each counts its own latency.
    pub slow: Option<Timed>,
    /// The time of reception of every K-th message is this much before its time of sending.
    pub early: Option<Timed>,
    /// Every K-th message is not delivered and not counted by the mock.
    pub lose: u64,
    /// Every K-th message is not delivered, but the mock counts it as overwritten.
    pub overwrite: u64,
    /// Every K-th message is delivered twice.
    pub duplicate: u64,
    /// Every K-th message is delivered after the next message of its publisher. The last message of a publisher has no
    /// next message, so it is not delivered in this case.
    pub swap: u64,
    /// The payload of every K-th message is changed during the transfer.
    pub corrupt: u64,
    /// The mock refuses to publish every K-th message.
    pub refuse: u64,
    /// Publishing the message with this id stalls for this time before the time of sending is read. Relays do not
    /// stall.
    pub stall: Option<Timed>,
    /// Messages up to this id are not delivered, as if the subscription had joined late.
    pub join: u64,
    /// The index of the only subscription to which the script applies; `None` means all. Other subscriptions receive
    /// all messages with the default latency.
    pub subscription: Option<u32>,
    /// The time after its creation during which an endpoint is not matched, ns.
    pub match_ns: i64,
    /// The time after its creation during which a publisher sends nothing although it is matched, ns.
    pub mute_ns: i64,
    /// Whether endpoints are never matched.
    pub mismatch: bool,
    /// The kind of matching information that endpoints report; `None` means the number of matched endpoints.
    pub matching: Option<MatchingKind>,
    /// Whether messages lack the id of their publisher.
    pub nameless: bool,
    /// Whether a thread of the mock delivers the messages.
    pub push: bool,
    /// Whether messages are copied even if the run requests zero copy.
    pub copy: bool,
    /// Whether the mock ignores all settings.
    pub deaf: bool,
    /// Whether the mock declares the capabilities of a mock without a script, although the script restricts them.
    #[serde(default)]
    pub undeclared: bool,
    /// Whether the mock prints a line on standard output for each message.
    pub print: bool,
    /// The time from the stamp until the message was serialised, ns. In this field, `transport_ns` and `wake_ns`,
    /// `None` means that the mock does not report the phase.
    pub serialise_ns: Option<i64>,
    /// The time from sending to arrival in the receiving process, ns. It is a part of `latency_ns`. The rest of the
    /// latency is the wake-up or, if `wake` is given, the deserialising.
    pub transport_ns: Option<i64>,
    /// The time from arrival in the process until the receiving thread has the bytes, ns.
    pub wake_ns: Option<i64>,
    /// The clock of the first publisher. The clock of publisher `k` is behind by `k + 1` times the offset.
    pub clock: Option<OtherClock>,
    /// The clock that the mock uses for times of reception.
    pub reception_clock: Option<OtherClock>,
    /// The number of bytes that the mock reports for each message on the wire.
    pub wire_bytes: u64,
    /// Whether each worker reports the memory of a device, as for a microcontroller.
    pub device: bool,
    /// The daemon that the run starts, if any.
    pub daemon: Option<MockDaemon>,
    /// The delay in each worker between the order `Go` and its execution, ns.
    pub start_ns: i64,
    /// The CPU time that each worker wastes for each row that it reports, ns. It counts as `perf_test`'s.
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

/// Whether `id` is a multiple of `nth`; false if `nth` is 0.
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

    /// The script that applies to subscription `index`.
    #[must_use]
    pub fn for_subscription(&self, index: u32) -> MockScript {
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

    /// Whether message `id` is not delivered because of `join` or `lose`.
    #[must_use]
    pub fn loses(&self, id: u64) -> bool {
        id <= self.join || is_nth(id, self.lose)
    }
}

#[cfg(test)]
mod tests;
