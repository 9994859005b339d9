//! From started processes to the start of the measurement.
//!
//! Part of the coordinator. Whatever goes wrong here ends the run: nothing has been measured yet.

use std::collections::BTreeSet;

use super::fleet::Event;
use super::{Run, TICK};
use crate::clock::{SECOND_NS, now_ns};
use crate::endpoint::Endpoint;
use crate::worker::protocol::{Order, Report, Standing};

/// Everybody must exist within this time; matching has its own time-out, in the workers, which begins then.
const SET_UP_NS: i64 = 60 * SECOND_NS;
/// From the order to go to the start, so that everybody has it in time.
const LEAD_NS: i64 = SECOND_NS / 10;

impl Run<'_> {
    /// Waits until all endpoints exist and see those that they wait for, then gives the start.
    pub(super) fn set_up(&mut self, endpoints: &[Endpoint]) -> Result<(), String> {
        let mut not_ready: BTreeSet<Endpoint> = endpoints.iter().copied().collect();
        let mut not_matched = not_ready.clone();
        let patience_s = i64::from(self.spec.match_timeout_s);
        let give_up_ns = now_ns() + SET_UP_NS + patience_s * SECOND_NS;
        let (mut last_created_ns, mut last_matched_ns) = (0, 0);
        while !(not_ready.is_empty() && not_matched.is_empty()) {
            if self.interrupt.requested() {
                return Err("interrupted before the start: nothing was measured".to_owned());
            }
            if now_ns() > give_up_ns {
                let missing: Vec<String> = not_ready.union(&not_matched).map(Endpoint::to_string).collect();
                let waited_s = SET_UP_NS / SECOND_NS + patience_s;
                return Err(format!("after {waited_s} s these were not ready: {}", missing.join(", ")));
            }
            match self.fleet.next(TICK) {
                None => {}
                Some((_, Event::Said(Report::Ready { endpoint, created_ns }))) => {
                    not_ready.remove(&endpoint);
                    last_created_ns = last_created_ns.max(created_ns);
                }
                Some((_, Event::Said(Report::Matched { endpoint, matched_ns }))) => {
                    not_matched.remove(&endpoint);
                    last_matched_ns = last_matched_ns.max(matched_ns);
                }
                Some((_, Event::Said(Report::Unmatched(standing)))) => return Err(self.explain(&standing)),
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
        self.matched_after_ns = (last_matched_ns - last_created_ns).max(0);
        self.start_ns = now_ns() + LEAD_NS;
        self.fleet.order(Order::Go { start_ns: self.start_ns });
        Ok(())
    }

    /// Why an endpoint does not see enough of the others: asks all.
    fn explain(&mut self, unmatched: &Standing) -> String {
        let (matched, expected) = (unmatched.matched, unmatched.expected);
        let mut sentence = format!(
            "{} is matched with {matched} of {expected} {} after {} s (--wait-for-matched-timeout)",
            unmatched.endpoint,
            others(unmatched.endpoint),
            self.spec.match_timeout_s
        );
        self.fleet.order(Order::Explain);
        let give_up_ns = now_ns() + 2 * SECOND_NS;
        let mut unheard: BTreeSet<Endpoint> = self.working.clone();
        while !unheard.is_empty() && now_ns() < give_up_ns {
            if let Some((_, Event::Said(Report::Explained(standing)))) = self.fleet.next(TICK) {
                unheard.remove(&standing.endpoint);
                if standing.matched < standing.expected {
                    let why = if standing.mismatches.is_empty() {
                        "no reason is known".to_owned()
                    } else {
                        standing.mismatches.join("; ")
                    };
                    let (endpoint, matched) = (standing.endpoint, standing.matched);
                    sentence.push_str(&format!(". {endpoint} sees {matched} {}: {why}", others(endpoint)));
                }
            }
        }
        for endpoint in unheard {
            sentence.push_str(&format!(". {endpoint} does not answer"));
        }
        sentence
    }
}

/// What an endpoint waits for.
fn others(endpoint: Endpoint) -> &'static str {
    match endpoint {
        Endpoint::Publisher(_) => "subscriptions",
        Endpoint::Subscription(_) => "publishers",
        Endpoint::Relay(_) => "publishers or subscriptions",
    }
}
