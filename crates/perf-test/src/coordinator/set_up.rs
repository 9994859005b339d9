//! From started processes to the start of the measurement.
//!
//! Part of the coordinator. Whatever goes wrong here ends the run: nothing has been measured yet.

use std::collections::BTreeSet;

use super::fleet::Event;
use super::{Run, TICK, is_publisher};
use crate::clock::{SECOND_NS, now_ns};
use crate::worker::protocol::{Endpoint, MATCH_TIMEOUT_S, Order, Report};

/// Everybody must exist within this time; matching has its own time-out, in the publishers.
const SET_UP_NS: i64 = 60 * SECOND_NS;
/// From the order to go to the start, so that everybody has it in time.
const LEAD_NS: i64 = SECOND_NS / 10;

impl Run<'_> {
    /// Waits until all endpoints exist and see each other, then gives the start.
    pub(super) fn set_up(&mut self, endpoints: &[Endpoint]) -> Result<(), String> {
        let mut not_ready: BTreeSet<Endpoint> = endpoints.iter().copied().collect();
        let mut not_matched: BTreeSet<Endpoint> = not_ready.iter().copied().filter(is_publisher).collect();
        if !self.experiment.is_private() {
            not_matched.clear();
        }
        let give_up_ns = now_ns() + SET_UP_NS;
        while !(not_ready.is_empty() && not_matched.is_empty()) {
            if self.interrupt.requested() {
                return Err("interrupted before the start: nothing was measured".to_owned());
            }
            if now_ns() > give_up_ns {
                let missing: Vec<String> = not_ready.union(&not_matched).map(Endpoint::to_string).collect();
                return Err(format!("after {} s these were not ready: {}", SET_UP_NS / SECOND_NS, missing.join(", ")));
            }
            match self.fleet.next(TICK) {
                None => {}
                Some((_, Event::Said(Report::Ready(endpoint)))) => drop(not_ready.remove(&endpoint)),
                Some((_, Event::Said(Report::Matched(endpoint)))) => drop(not_matched.remove(&endpoint)),
                Some((_, Event::Said(Report::Unmatched { endpoint, matched }))) => {
                    return Err(self.explain(endpoint, matched));
                }
                Some((_, Event::Said(Report::Failed(Some(endpoint), sentence)))) => {
                    return Err(format!("{endpoint} cannot begin: {sentence}"));
                }
                Some((_, Event::Said(Report::Failed(None, sentence)))) => return Err(sentence),
                Some((_, Event::Said(_))) => {}
                Some((worker, event @ (Event::Garbled(_) | Event::Closed))) => {
                    return Err(format!("{} before the start", self.obituary(worker, &event)));
                }
            }
        }
        self.start_ns = now_ns() + LEAD_NS;
        self.fleet.order(Order::Go { start_ns: self.start_ns });
        Ok(())
    }

    /// Why a publisher is not matched with all subscriptions: asks those.
    fn explain(&mut self, publisher: Endpoint, matched: usize) -> String {
        let wanted = self.experiment.subscriptions;
        let mut sentence =
            format!("{publisher} is matched with {matched} of {wanted} subscriptions after {MATCH_TIMEOUT_S} s");
        self.fleet.order(Order::Explain);
        let give_up_ns = now_ns() + 2 * SECOND_NS;
        let mut unheard: BTreeSet<Endpoint> = (0..wanted).map(Endpoint::Subscription).collect();
        while !unheard.is_empty() && now_ns() < give_up_ns {
            if let Some((_, Event::Said(Report::Explained { endpoint, publishers, mismatches }))) =
                self.fleet.next(TICK)
            {
                unheard.remove(&endpoint);
                if publishers < self.experiment.publishers as usize {
                    let why =
                        if mismatches.is_empty() { "no reason is known".to_owned() } else { mismatches.join("; ") };
                    sentence.push_str(&format!(". {endpoint} sees {publishers} publishers: {why}"));
                }
            }
        }
        for endpoint in unheard {
            sentence.push_str(&format!(". {endpoint} does not answer"));
        }
        sentence
    }
}
