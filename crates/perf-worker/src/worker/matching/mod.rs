//! The wait before the start. Endpoints wait until they are matched, answer the coordinator's questions, and wait for
//! the order `Go`.
//!
//! Only one thing is measured here: the time until the endpoints are matched.

pub mod probe;
pub mod relay_ends;

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use super::{
    context::Context,
    protocol::{MatchStatus, Order, Report, times::QUIET_NS},
};
use crate::{
    choice::Choice,
    clock::{SECOND_NS, now_ns},
    endpoint::Source,
};
use probe::{Early, End, Probes};

/// The interval between two checks of matching. It is also the resolution of the measured time to match.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// The start of the measurement.
#[derive(Clone, Debug)]
pub struct Start {
    /// The time of the start, ns. At this time the first message is due, unless its publisher has a phase.
    pub start_ns: i64,
    /// The publishers of the run that the middleware can tell apart.
    pub sources: Vec<Source>,
    /// For each endpoint of the thread: the messages that it took before the start, without probes.
    pub early: Vec<Early>,
}

/// An endpoint of this thread before the start.
struct Waiting<'a, 'b> {
    context: &'a Context,
    end: &'a mut End<'b>,
    probes: Probes,
    is_matched: bool,
}

/// Waits for the start of the run on an endpoint's thread: applies the placement to the thread, reports that its
/// endpoints exist, and waits until they are matched and the order `Go` arrives. Returns the start; `None` if the run
/// ended before it. The order `Go` is read from the channel of the first endpoint.
///
/// # Errors
/// The reason, as a sentence, if the middleware failed or the kernel refused the placement.
pub fn wait_for_start(endpoints: &mut [(&Context, End<'_>)]) -> Result<Option<Start>, String> {
    // The placement is applied only now: the middleware's threads that already exist do not inherit it.
    if let Some((context, _)) = endpoints.first() {
        context.placement.apply_to_thread(context.plan.index as usize)?;
    }
    let created_ns = now_ns();
    for (context, end) in endpoints.iter_mut() {
        let matching = end.matching();
        let (source, clock) = (matching.source(), matching.clock());
        context.report(Report::Ready { endpoint: context.plan.endpoint, created_ns, source, clock });
    }
    let waiting = |(context, end)| Waiting { context, end, probes: Probes::new(context), is_matched: false };
    let mut endpoints: Vec<Waiting<'_, '_>> =
        endpoints.iter_mut().map(|(context, end)| waiting((*context, end))).collect();
    loop {
        // The check also runs when all endpoints are matched. It makes the middleware map the memory of new endpoints
        // before the measurement begins.
        endpoints.iter_mut().try_for_each(|waiting| waiting.check(created_ns))?;
        let Some(Waiting { context, .. }) = endpoints.first() else { return Ok(None) };
        match context.orders.recv_timeout(CHECK_INTERVAL).as_deref() {
            Ok(Order::Go { start_ns, sources }) => {
                if context.spec.has_probes() {
                    take_last_probes(&mut endpoints, *start_ns);
                }
                let early = endpoints.iter_mut().map(|waiting| waiting.probes.take_early()).collect();
                return Ok(Some(Start { start_ns: *start_ns, sources: sources.clone(), early }));
            }
            Ok(Order::Explain) => {
                for waiting in &mut endpoints {
                    let status = waiting.match_status()?;
                    waiting.context.report(Report::Explained(status));
                }
            }
            Err(RecvTimeoutError::Timeout) if !context.flags.is_abandoned() => {}
            _ => return Ok(None),
        }
    }
}

/// Takes the remaining probes of all endpoints of the thread, so that their histories are empty at the start.
fn take_last_probes(endpoints: &mut [Waiting<'_, '_>], start_ns: i64) {
    while now_ns() < start_ns - QUIET_NS {
        for Waiting { context, end, probes, .. } in endpoints.iter_mut() {
            probes.receive(context, end);
        }
        std::thread::sleep(CHECK_INTERVAL);
    }
}

impl Waiting<'_, '_> {
    /// Checks whether the endpoint is matched with all endpoints that it awaits, and reports a change.
    fn check(&mut self, created_ns: i64) -> Result<(), String> {
        let Waiting { context, end, probes, .. } = self;
        let matching = end.matching().matched()?;
        let declared = context.spec.capabilities.matching;
        if !matching.is_of(declared) {
            return Err(format!(
                "the endpoint reports the matching {matching}, and the middleware declares {}",
                declared.name()
            ));
        }
        let mut is_enough = matching.is_enough(context.plan.expected as usize);
        if context.spec.has_probes() {
            probes.send(context, end);
            probes.receive(context, end);
            is_enough &= probes.are_enough(context, end);
        }
        let endpoint = context.plan.endpoint;
        let give_up_ns = created_ns + i64::from(context.spec.match_timeout_s) * SECOND_NS;
        if self.is_matched {
            return Ok(());
        }
        if is_enough {
            self.context.report(Report::Matched { endpoint, matched_ns: now_ns() });
        } else if now_ns() > give_up_ns {
            let status = self.match_status()?;
            self.context.report(Report::Unmatched(status));
        } else {
            return Ok(());
        }
        self.is_matched = true;
        Ok(())
    }

    fn match_status(&mut self) -> Result<MatchStatus, String> {
        let Waiting { context, end, probes, .. } = self;
        let matching = end.matching();
        let (matched, expected) = (matching.matched()?, context.plan.expected as usize);
        let mismatches = matching.mismatches();
        let mut status = MatchStatus { endpoint: context.plan.endpoint, matched, expected, mismatches };
        if context.spec.has_probes() {
            probes.explain(context, end, &mut status);
        }
        Ok(status)
    }
}
