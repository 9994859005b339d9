//! `events.txt` has a line for the discovery, for each late message, and for each gap of lost messages.

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
/// iRobot's codes of events.
const DISCOVERY: u8 = 0;
const LATE: u8 = 1;
const TOO_LATE: u8 = 2;
const LOST: u8 = 3;
const NS_PER_US: u64 = 1000;
const NS_PER_MS: i64 = 1_000_000;
/// The number of ranges of unsent message ids that are kept for each topic, for gaps that show in later seconds. A
/// queue holds fewer messages than this.
const KEPT_RANGES: usize = 1000;

fn line(style: Style, at_ms: i64, caller: &str, code: u8, description: String) -> String {
    style.line(&COLUMNS, [at_ms.to_string(), caller.to_owned(), code.to_string(), description])
}

/// The line of the discovery. `after_ns` is the time from the creation of the last endpoint until all endpoints
/// were matched.
pub fn matched(style: Style, after_ns: i64) -> String {
    line(style, 0, "SYSTEM", DISCOVERY, format!("all endpoints matched after {} ms", after_ns / NS_PER_MS))
}

/// The events of a second, kept until all endpoints have reported the second. A missing message is not lost if its
/// publisher reports that it was not sent.
#[derive(Debug, Default)]
pub struct EventLog {
    /// The start of the run, ns.
    pub start_ns: i64,
    of_second: BTreeMap<Endpoint, Events>,
    /// The ids of the messages that the publishers of each topic did not send.
    unsent: BTreeMap<String, Vec<Range<u64>>>,
}

impl EventLog {
    /// Adds the events of an endpoint.
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

    /// Forgets the events of the second, after their lines are written.
    pub fn end_second(&mut self) {
        self.of_second.clear();
        for ranges in self.unsent.values_mut() {
            // The gaps of the oldest ranges have been reported by now, so these ranges are not needed any more.
            let old = ranges.len().saturating_sub(KEPT_RANGES);
            ranges.drain(..old);
        }
    }

    /// The lines of the events of a subscription.
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

/// The pieces of a gap whose messages were sent, and are therefore lost.
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

/// The code and the description of an event of a subscription; `None` if the event belongs to a publisher.
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
