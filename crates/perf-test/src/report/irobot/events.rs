//! The file `events.txt` in iRobot's format. It has a line for the discovery, for each late message, and for each gap
//! of lost messages.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{
    short,
    style::{Column, Style, column},
};
use perf_worker::{
    endpoint::{Endpoint, EndpointPlan},
    measure::events::{Event, Events, Trouble},
};

pub const COLUMNS: [Column; 4] = [
    column("Time[ms]", "Time_ms", 12),
    column("Caller", "Caller", 30),
    column("Code", "Code", 8),
    column("Description", "Description", 0),
];
/// iRobot's codes for the kinds of events.
const DISCOVERY: u8 = 0;
const LATE: u8 = 1;
const TOO_LATE: u8 = 2;
const LOST: u8 = 3;
const NS_PER_US: u64 = 1000;
const NS_PER_MS: i64 = 1_000_000;
/// The number of ranges of unsent message ids that are kept for each topic. A subscription notices a gap only when it
/// receives the next message, which may wait in its queue for seconds. A queue holds fewer messages than this number.
const KEPT_RANGES: usize = 1000;

fn line(style: Style, at_ms: i64, caller: &str, code: u8, description: String) -> String {
    style.line(&COLUMNS, [at_ms.to_string(), caller.to_owned(), code.to_string(), description])
}

/// The line about discovery. `after_ns` is the time between the creation of the last endpoint and the moment when all
/// endpoints were matched.
pub fn matched(style: Style, after_ns: i64) -> String {
    line(style, 0, "SYSTEM", DISCOVERY, format!("all endpoints matched after {} ms", after_ns / NS_PER_MS))
}

/// The events of one second, kept until all endpoints have reported the second. Only then it is known which missing
/// messages were not sent by their publisher and therefore are not lost.
#[derive(Debug, Default)]
pub struct EventLog {
    /// The start time of the run, ns.
    pub start_ns: i64,
    of_second: BTreeMap<Endpoint, Events>,
    /// For each topic, the ranges of message ids that its publishers did not send.
    unsent: BTreeMap<String, Vec<Range<u64>>>,
}

impl EventLog {
    /// Adds the events that an endpoint has reported.
    pub fn add(&mut self, plan: &EndpointPlan, events: &Events) {
        if matches!(plan.endpoint, Endpoint::Publisher(_)) {
            let unsent = events.kept.iter().filter_map(|event| match event.trouble {
                Trouble::Unsent { messages } => Some(event.id..event.id.saturating_add(messages)),
                _ => None,
            });
            self.unsent.entry(plan.topic.clone()).or_default().extend(unsent);
        } else {
            let of = self.of_second.entry(plan.endpoint).or_default();
            of.kept.extend(&events.kept);
            of.more += events.more;
        }
    }

    /// Clears the events of the second, whose lines have been written.
    pub fn end_second(&mut self) {
        self.of_second.clear();
        for ranges in self.unsent.values_mut() {
            // Removes the oldest ranges, whose gaps all subscriptions have already reported.
            let old = ranges.len().saturating_sub(KEPT_RANGES);
            ranges.drain(..old);
        }
    }

    /// The lines about the events of a subscription in this second.
    pub fn lines(&self, style: Style, plan: &EndpointPlan) -> Vec<String> {
        let Some(events) = self.of_second.get(&plan.endpoint) else { return Vec::new() };
        let caller = format!("{}->{}", short(plan.given_topic()), short(&plan.node));
        let at_ms = |event: &Event| (event.at_ns - self.start_ns) / NS_PER_MS;
        let unsent = self.unsent.get(&plan.topic).map(Vec::as_slice).unwrap_or_default();
        let kept = events.kept.iter().flat_map(|event| match event.trouble {
            Trouble::Missing { messages } => lost(*event, messages, unsent),
            _ => vec![*event],
        });
        let of = |event: Event| {
            let (code, description) = description(&event)?;
            Some(line(style, at_ms(&event), &caller, code, description))
        };
        let mut lines: Vec<String> = kept.filter_map(of).collect();
        if let Some(last) = events.kept.last().filter(|_| events.more > 0) {
            let description = format!("and {} more in this second", events.more);
            lines.push(line(style, at_ms(last), &caller, LATE, description));
        }
        lines
    }
}

/// The parts of a gap whose messages were sent, so that they are lost. `unsent` has the ranges of ids that were not
/// sent.
fn lost(gap: Event, messages: u64, unsent: &[Range<u64>]) -> Vec<Event> {
    let whole = gap.id..gap.id.saturating_add(messages);
    let mut parts = Vec::from_iter([whole]);
    for hole in unsent {
        let outside = |part: Range<u64>| [part.start..part.end.min(hole.start), part.start.max(hole.end)..part.end];
        parts = parts.into_iter().flat_map(outside).filter(|part| !part.is_empty()).collect();
    }
    let event = |part: Range<u64>| {
        let messages = part.end - part.start;
        Event { id: part.start, trouble: Trouble::Missing { messages }, ..gap }
    };
    parts.into_iter().map(event).collect()
}

/// The code and the description of a subscription's event; `None` for an event of a publisher.
fn description(event: &Event) -> Option<(u8, String)> {
    let id = event.id;
    let above = |latency_ns: u64, limit_ns: u64| format!("{}us > {}us", latency_ns / NS_PER_US, limit_ns / NS_PER_US);
    Some(match event.trouble {
        Trouble::Late { latency_ns, limit_ns } => (LATE, format!("msg {id} late. {}", above(latency_ns, limit_ns))),
        Trouble::TooLate { latency_ns, limit_ns } => {
            (TOO_LATE, format!("msg {id} too late. {}", above(latency_ns, limit_ns)))
        }
        Trouble::Missing { messages: 1 } => (LOST, format!("msg {id} lost.")),
        Trouble::Missing { messages } => {
            (LOST, format!("msgs {id} to {} lost.", id.saturating_add(messages).saturating_sub(1)))
        }
        Trouble::Unsent { .. } => return None,
    })
}
