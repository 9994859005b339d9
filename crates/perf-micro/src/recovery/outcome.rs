//! The outcome of a scenario.

use serde::Serialize;

use super::{board::Account, host::Host, note::Note, scenario::Scenario};
use crate::{
    distribution::{Distribution, ms},
    options::Named,
};

/// The times of a fault, ns.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The time at which the fault began.
    pub began_ns: i64,
    /// The time at which the cause was removed: the cable was in again, the agent was ready, or the board had
    /// restarted. `None` if the cause lasts to the end.
    pub ended_ns: Option<i64>,
    /// The time at which the board stopped publishing.
    pub flow_ended_ns: i64,
}

/// The outcome of a scenario.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub scenario: Scenario,
    /// The number of frames that the line lost; `damaged_bytes` is the number of bytes that it damaged. The losses of a
    /// cut cable do not count.
    pub lost_frames: u32,
    pub damaged_bytes: u32,
    /// The number of messages that the client accepted.
    pub published: usize,
    /// The number of messages that the host received.
    pub received: usize,
    /// The number of messages that the client refused because it had no session.
    pub not_connected: u64,
    /// The number of messages that the client refused because its history was full.
    pub full: u64,
    /// The number of messages that the client accepted and the host did not receive.
    pub lost: usize,
    /// The number of messages that the client reported as forgotten, or that were in the memory of a board that was
    /// reset. The host may have received some of them.
    pub forgotten: usize,
    /// The number of messages that were lost without being counted as forgotten.
    pub lost_in_silence: usize,
    pub duplicates: u64,
    pub reordered: u64,
    /// The longest time between two receptions, ms. The time from the last reception to the end of the flow also
    /// counts.
    pub longest_gap_ms: f64,
    /// The time from the removal of the fault's cause to the first reception of a message that was published after the
    /// removal, ms.
    pub time_to_data_ms: Option<f64>,
    /// The median time from the publication of a message to its reception, ms; `delay_max_ms` is the longest such time.
    pub delay_median_ms: f64,
    pub delay_max_ms: f64,
    /// The events that each side reported after the fault had begun.
    pub events: Vec<Note>,
}

impl Outcome {
    pub fn new(
        scenario: Scenario,
        account: &Account,
        host: &Host,
        fault: Fault,
        [lost_frames, damaged_bytes]: [u32; 2],
    ) -> Outcome {
        let is_lost = |number: &&i64| !host.received_ns.contains_key(*number);
        let lost: Vec<&i64> = account.published_ns.iter().map(|(number, _)| number).filter(is_lost).collect();
        let delay = |(number, published_ns): &(i64, i64)| Some(host.received_ns.get(number)? - published_ns);
        let delays: Distribution = account.published_ns.iter().filter_map(delay).collect();
        let mut times_ns: Vec<i64> = host.received_ns.values().copied().collect();
        times_ns.sort_unstable();
        times_ns.push(fault.flow_ended_ns);
        let gaps = times_ns.windows(2).filter_map(|pair| Some(pair.last()? - pair.first()?));
        let after = |ended_ns: i64| {
            let later = account.published_ns.iter().filter(move |(_, published_ns)| *published_ns >= ended_ns);
            later
                .filter_map(|(number, _)| host.received_ns.get(number))
                .min()
                .map(|received_ns| ms(received_ns - ended_ns))
        };
        Outcome {
            scenario,
            lost_frames,
            damaged_bytes,
            published: account.published_ns.len(),
            received: host.received_ns.len(),
            not_connected: account.not_connected,
            full: account.full,
            lost: lost.len(),
            forgotten: account.forgotten.len(),
            lost_in_silence: lost.iter().filter(|number| !account.forgotten.contains(number)).count(),
            duplicates: host.duplicates,
            reordered: host.reordered,
            longest_gap_ms: ms(gaps.max().unwrap_or_default()),
            time_to_data_ms: fault.ended_ns.and_then(after),
            delay_median_ms: ms(delays.p50_ns),
            delay_max_ms: ms(delays.max_ns),
            events: events(&[&account.events, &host.events], fault.began_ns),
        }
    }
}

impl Outcome {
    /// The reason why the scenario failed: no data came after the fault, or messages were lost without a report.
    pub fn failure(&self) -> Option<String> {
        let name = self.scenario.name();
        let is_over = matches!(self.scenario, Scenario::Cut | Scenario::AgentRestart | Scenario::BoardReset);
        if is_over && self.time_to_data_ms.is_none() {
            return Some(format!("{name}: no data came again"));
        }
        (self.lost_in_silence > 0).then(|| format!("{name}: {} messages are lost in silence", self.lost_in_silence))
    }
}

/// The events after the start of the fault, in the order of their times.
fn events(of: &[&[Note]], began_ns: i64) -> Vec<Note> {
    let after = |note: &Note| Note { after_ms: note.after_ms - ms(began_ns), ..note.clone() };
    let mut notes: Vec<Note> = of.iter().copied().flatten().map(after).filter(|note| note.after_ms >= 0.0).collect();
    notes.sort_by(|one, other| one.after_ms.total_cmp(&other.after_ms));
    notes
}
