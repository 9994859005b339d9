//! The complete description of one run: messages, rates, endpoints, QoS and durations. Every worker gets it as JSON.
//!
//! Invariant: the command line has checked the ranges of all values.

mod check;
mod mock_script;

use serde::{Deserialize, Serialize};

pub use crate::spec::{
    message::{Content, Layout, MessageSpec},
    qos::{Durability, History, Qos, Reliability},
    threshold::Threshold,
    ways::{PassBy, Phase, Roundtrip, RtScope, Strategy, Touch, Wait},
};
use crate::{
    choice::Choice,
    clock::SECOND_NS,
    pacing::Pace,
    spec::{capabilities::Capabilities, daemon::DaemonCommand, description::Settings, matching::MatchingKind},
};
pub use mock_script::{MockDaemon, MockScript, Timed, is_nth};

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The middleware, by the name of its back end: `Gantry`, `Mock`, or another program's.
    pub communicator: String,
    /// Its version.
    pub middleware_version: String,
    /// Its capabilities.
    pub capabilities: Capabilities,
    /// Its settings, those that have their defaults included.
    pub settings: Settings,
    /// The messages.
    pub message: MessageSpec,
    /// The topic as given.
    pub topic: String,
    /// ROS 2 domain, 0 to 232.
    pub domain_id: u32,
    /// Messages per second of each publisher; 0 is as fast as possible.
    pub rate_hz: u32,
    /// The beginnings of the publishers' periods.
    pub phase: Phase,
    /// Publishers of this run; 0 if another program publishes.
    pub publishers: u32,
    /// Subscriptions of this run; 0 if another program subscribes.
    pub subscriptions: u32,
    /// Their processes and threads.
    pub strategy: Strategy,
    /// Whether messages come back.
    pub roundtrip: Roundtrip,
    /// Publishers that each subscription waits for before the start, with those of other programs.
    pub expected_publishers: u32,
    /// Subscriptions that each publisher waits for before the start, with those of other programs.
    pub expected_subscriptions: u32,
    /// The longest time that they wait, seconds.
    pub match_timeout_s: u32,
    /// Quality of service.
    pub qos: Qos,
    /// Seconds before those of `max_runtime_s`, in no row and no statistic.
    pub warmup_s: u32,
    /// Seconds from the end of the warm-up to the last message; 0 is until interrupted.
    pub max_runtime_s: u32,
    /// Seconds at the beginning of `max_runtime_s` that are in no row and no statistic.
    pub ignore_s: u32,
    /// Messages are loaned and read in place, not copied in and out.
    pub zero_copy: bool,
    /// Messages are bytes without a type: time, id (both little-endian) and payload.
    pub raw: bool,
    /// The phases of a message's way are marked, as far as the middleware lets them be seen.
    pub phases: bool,
    /// Messages go through shared memory.
    pub shared_memory: bool,
    /// The way in which subscriptions wait.
    pub wait: Wait,
    /// The part of each payload that is written and read.
    pub touch: Touch,
    /// The time by the clock for which each subscription is busy with each message, or on a round trip the relay or the
    /// server, ns.
    pub work_ns: i64,
    /// Above this latency a sample is late.
    pub late: Threshold,
    /// Above this latency a sample is too late, and not late.
    pub too_late: Threshold,
    /// Real-time priority (SCHED_FIFO); 0 is none.
    pub rt_priority: u32,
    /// The threads that have this priority and these pins.
    pub rt_scope: RtScope,
    /// CPUs that the workers may use; empty: all.
    pub rt_cpus: Vec<u32>,
    /// CPUs to which the endpoints' threads are pinned in turn, publishers first; empty: not pinned.
    pub pins: Vec<u32>,
    /// Allocations per message are counted.
    pub check_memory: bool,
    /// CPUs are kept from sleeping deeply.
    pub prevent_cpu_idle: bool,
    /// Processes that the middleware needs besides the workers, by number or name.
    pub daemons: Vec<String>,
    /// The daemons that the run starts, by the check of the middleware. Workers do not get them.
    #[serde(skip)]
    pub daemon_commands: Vec<DaemonCommand>,
    /// The executor in which the endpoints run as callbacks of nodes, one of [`Capabilities::executors`]; none: the
    /// endpoints have threads of the instrument.
    #[serde(default)]
    pub executor: Option<String>,
    /// The messages of nodes that are late, missing or not sent are reported one by one.
    #[serde(default)]
    pub tracking: bool,
    /// The script of the mock.
    pub mock: MockScript,
    /// Notes about options that have no effect in this run, or are always in effect. The heading prints them.
    pub heading_notes: Vec<String>,
}

impl RunSpec {
    /// The options that the middleware carries out, with their values.
    #[must_use]
    pub fn options(&self) -> Settings {
        let Qos { reliability, durability, history, depth } = self.qos;
        let depth = match history {
            History::KeepLast => depth.to_string(),
            History::KeepAll => "all".to_owned(),
        };
        let options = [
            ("reliability", reliability.name().to_owned()),
            ("durability", durability.name().to_owned()),
            ("history", history.name().to_owned()),
            ("history-depth", depth),
            ("zero-copy", self.zero_copy.to_string()),
            ("raw", self.raw.to_string()),
            ("wait", self.wait.name().to_owned()),
        ];
        options.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// The pace of each publisher.
    #[must_use]
    pub fn pace(&self) -> Pace {
        Pace::hz(self.rate_hz)
    }

    /// Whether both sides belong to this run, so that its topics get their own namespace.
    #[must_use]
    pub fn is_private(&self) -> bool {
        let one_way = self.roundtrip == Roundtrip::None && self.publishers > 0 && self.subscriptions > 0;
        one_way || matches!(self.roundtrip, Roundtrip::Both | Roundtrip::Service)
    }

    /// The shortest time between the due times of two messages that are not due at once, nanoseconds; none without a
    /// rate. With random phases it is that of one publisher.
    #[must_use]
    pub fn gap_ns(&self) -> Option<i64> {
        let in_turn = if self.phase == Phase::Spread { self.publishers.max(1) } else { 1 };
        SECOND_NS.checked_div(i64::from(self.rate_hz) * i64::from(in_turn))
    }

    /// Whether the publishers of the subscribed topics belong to this run, so that their schedule is known and each
    /// subscription receives from their first message.
    #[must_use]
    pub fn has_publishers(&self) -> bool {
        self.publishers > 0
    }

    /// Whether probes decide that endpoints are matched, because the middleware does not count the others.
    #[must_use]
    pub fn has_probes(&self) -> bool {
        self.capabilities.matching != MatchingKind::Count
    }

    /// Seconds at the beginning that are in no statistic.
    #[must_use]
    pub fn left_out_s(&self) -> u32 {
        self.warmup_s + self.ignore_s
    }

    /// Seconds from the first message to the last; `None` is until interrupted.
    #[must_use]
    pub fn length_s(&self) -> Option<u32> {
        (self.max_runtime_s > 0).then_some(self.warmup_s + self.max_runtime_s)
    }

    /// The end of a run that starts at `start_ns`; the largest time if only a signal ends it.
    #[must_use]
    pub fn end_ns(&self, start_ns: i64) -> i64 {
        self.length_s().map_or(i64::MAX, |run_s| start_ns + i64::from(run_s) * SECOND_NS)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The run in the example of the page about the protocol.
    pub fn example() -> RunSpec {
        let page = include_str!("../../../../docs/internals/worker-protocol.md");
        let plan = page.lines().find_map(|line| line.strip_prefix("-> {\"protocol\"")).unwrap();
        let plan: serde_json::Value = serde_json::from_str(&format!("{{\"protocol\"{plan}")).unwrap();
        serde_json::from_value(plan["spec"].clone()).unwrap()
    }
}
