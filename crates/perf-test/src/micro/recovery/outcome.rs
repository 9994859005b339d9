//! The outcome of a scenario.

use perf_worker::clock::SECOND_NS;
use serde::Serialize;

use super::{
    board::{Account, HISTORY, Told},
    host::Host,
    scenario::Scenario,
};

/// The times of a fault, ns.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// It began.
    pub began_ns: i64,
    /// Its cause was gone: the cable was in, the agent ready, the board's new life began. None if it stays.
    pub ended_ns: Option<i64>,
}

/// An event, with its time after the beginning of the fault.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    pub after_ms: f64,
    pub side: &'static str,
    pub what: String,
}

/// The outcome of a scenario.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub scenario: Scenario,
    /// Frames that were lost and bytes that were damaged on the line, without those of a cut cable.
    pub lost_frames: u32,
    pub damaged_bytes: u32,
    /// Messages that the client took ...
    pub published: usize,
    /// ... and the host received.
    pub received: usize,
    /// Messages that it refused: there was no session ...
    pub not_connected: u64,
    /// ... or no room.
    pub full: u64,
    /// Messages that it took and the host did not receive.
    pub lost: usize,
    /// Messages of which it said that it had forgotten them; some of them may have been received.
    pub forgotten: u64,
    /// Messages that nobody was told of: lost ones beyond the forgotten ones. Those that a reset board had in its memory are no such.
    pub lost_in_silence: u64,
    pub duplicates: u64,
    pub reordered: u64,
    /// The longest time between two receptions, ms.
    pub longest_gap_ms: f64,
    /// From the end of the fault's cause to the first reception, ms.
    pub time_to_data_ms: Option<f64>,
    /// From the publication to the reception, ms.
    pub delay_median_ms: f64,
    pub delay_max_ms: f64,
    /// What each side was told after the beginning of the fault.
    pub events: Vec<Event>,
}

fn ms(ns: i64) -> f64 {
    ns as f64 * 1000.0 / SECOND_NS as f64
}

impl Outcome {
    pub fn new(
        scenario: Scenario,
        account: &Account,
        host: &Host,
        fault: Fault,
        [lost_frames, damaged_bytes]: [u32; 2],
    ) -> Outcome {
        let lost = account.published_ns.iter().filter(|(number, _)| !host.received_ns.contains_key(number)).count();
        let delay = |(number, published_ns): &(i64, i64)| Some(host.received_ns.get(number)? - published_ns);
        let mut delays_ns: Vec<i64> = account.published_ns.iter().filter_map(delay).collect();
        delays_ns.sort_unstable();
        let mut times_ns: Vec<i64> = host.received_ns.values().copied().collect();
        times_ns.sort_unstable();
        let gaps = times_ns.windows(2).filter_map(|pair| Some(pair.last()? - pair.first()?));
        let known = account.forgotten + if scenario == Scenario::BoardReset { HISTORY as u64 } else { 0 };
        Outcome {
            scenario,
            lost_frames,
            damaged_bytes,
            published: account.published_ns.len(),
            received: host.received_ns.len(),
            not_connected: account.not_connected,
            full: account.full,
            lost,
            forgotten: account.forgotten,
            lost_in_silence: (lost as u64).saturating_sub(known),
            duplicates: host.duplicates,
            reordered: host.reordered,
            longest_gap_ms: ms(gaps.max().unwrap_or_default()),
            time_to_data_ms: fault.ended_ns.and_then(|ended_ns| Some(ms(host.first_after_ns(ended_ns)? - ended_ns))),
            delay_median_ms: ms(delays_ns.get(delays_ns.len() / 2).copied().unwrap_or_default()),
            delay_max_ms: ms(delays_ns.last().copied().unwrap_or_default()),
            events: events(&[&account.events, &host.events], fault.began_ns),
        }
    }
}

/// The events after the beginning of the fault, in order.
fn events(of: &[&[Told]], began_ns: i64) -> Vec<Event> {
    let mut told: Vec<&Told> = of.iter().copied().flatten().filter(|told| told.time_ns >= began_ns).collect();
    told.sort_by_key(|told| told.time_ns);
    let event = |told: &Told| Event { after_ms: ms(told.time_ns - began_ns), side: told.side, what: told.what.clone() };
    told.into_iter().map(event).collect()
}
