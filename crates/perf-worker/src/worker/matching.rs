//! Matching: before the start, endpoints wait until they are matched, answer questions, and wait for the order to begin.
//!
//! The time until they are matched is the only measurement here.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use super::Context;
use super::protocol::{MatchStatus, Order, Report};
use crate::{
    backend::Matched,
    clock::{SECOND_NS, now_ns},
    endpoint::Source,
};

/// Interval of the checks for the other side: the resolution of the time to match.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// The start of the measurement.
#[derive(Clone, Debug)]
pub struct Start {
    /// Its time, and that of the first message of a publisher without a phase, ns.
    pub start_ns: i64,
    /// The run's publishers, as far as the middleware tells them apart.
    pub sources: Vec<Source>,
}

/// The endpoints of a thread, usually one.
type Endpoints<'a, 'b> = [(&'a Context, &'b mut dyn Matched)];

/// Applies the placement to this thread, reports that its endpoints exist, and waits until they are matched and for the start, which
/// is returned. The order comes through the first endpoint. `None`: the run ended before.
///
/// # Errors
/// A sentence of the middleware, or of the kernel about the placement.
pub fn wait_for_start(endpoints: &mut Endpoints<'_, '_>) -> Result<Option<Start>, String> {
    // The middleware's own threads exist now, so that they do not inherit it.
    if let Some((context, _)) = endpoints.first() {
        context.placement.apply_to_thread(context.plan.index as usize)?;
    }
    let created_ns = now_ns();
    for (context, matching) in endpoints.iter() {
        let (source, clock) = (matching.source(), matching.clock());
        context.report(Report::Ready { endpoint: context.plan.endpoint, created_ns, source, clock });
    }
    let mut waiting = vec![true; endpoints.len()];
    loop {
        // Also when all are matched: a check maps the memory of new ones, and this is the time for it.
        for ((context, matching), waiting) in endpoints.iter_mut().zip(&mut waiting) {
            *waiting = check(context, *matching, *waiting, created_ns)?;
        }
        let Some((context, _)) = endpoints.first() else { return Ok(None) };
        match context.orders.recv_timeout(CHECK_INTERVAL) {
            Ok(Order::Go { start_ns, sources }) => return Ok(Some(Start { start_ns, sources })),
            Ok(Order::Explain) => {
                for (context, matching) in endpoints.iter_mut() {
                    context.report(Report::Explained(match_status(context, *matching)?));
                }
            }
            Err(RecvTimeoutError::Timeout) if !context.flags.is_abandoned() => {}
            _ => return Ok(None),
        }
    }
}

/// Whether an endpoint still waits for others. A change is reported.
fn check(context: &Context, matching: &mut dyn Matched, waiting: bool, created_ns: i64) -> Result<bool, String> {
    let endpoint = context.plan.endpoint;
    let enough = matching.matched()?.is_enough(context.plan.expected as usize);
    let give_up_ns = created_ns + i64::from(context.spec.match_timeout_s) * SECOND_NS;
    if waiting && enough {
        context.report(Report::Matched { endpoint, matched_ns: now_ns() });
    } else if waiting && now_ns() > give_up_ns {
        context.report(Report::Unmatched(match_status(context, matching)?));
    } else {
        return Ok(waiting);
    }
    Ok(false)
}

fn match_status(context: &Context, matching: &mut dyn Matched) -> Result<MatchStatus, String> {
    let endpoint = context.plan.endpoint;
    let (matched, expected) = (matching.matched()?, context.plan.expected as usize);
    Ok(MatchStatus { endpoint, matched, expected, mismatches: matching.mismatches() })
}
