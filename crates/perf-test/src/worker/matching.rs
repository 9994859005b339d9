//! Before the start: endpoints wait for those that they are to see, answer questions, and hear when to begin.
//!
//! Used by all loops. Nothing here is measured but the time that matching takes.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use super::Context;
use super::protocol::{Order, Report, Standing};
use crate::backend::Matched;
use crate::clock::{SECOND_NS, now_ns};
use crate::endpoint::Endpoint;
use crate::run_spec::{Roundtrip, RunSpec};

/// How often an endpoint looks for the others: the resolution of the time to match.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// The endpoints of a thread, usually one.
type Endpoints<'a, 'b> = [(&'a Context, &'b mut dyn Matched)];

/// Puts this thread where it belongs, says that its endpoints are there, waits for the others and for the start, which the first
/// one is told. `None`: the run is over before.
///
/// # Errors
/// The middleware's sentence, or the system's about the placement.
pub fn wait_for_start(endpoints: &mut Endpoints<'_, '_>) -> Result<Option<i64>, String> {
    // Now that the middleware is set up: its own threads are to inherit nothing of it.
    if let Some((context, _)) = endpoints.first() {
        context.placement.apply_to_thread(context.plan.place as usize)?;
    }
    let created_ns = now_ns();
    for (context, _) in endpoints.iter() {
        context.report(Report::Ready { endpoint: context.plan.endpoint, created_ns });
    }
    let mut waiting = vec![true; endpoints.len()];
    loop {
        // Also when all are matched: new ones are met only when one looks, and here is the time to map their memory.
        for ((context, matching), waiting) in endpoints.iter_mut().zip(&mut waiting) {
            *waiting = look(context, *matching, *waiting, created_ns)?;
        }
        let Some((context, _)) = endpoints.first() else { return Ok(None) };
        match context.orders.recv_timeout(LOOK_AGAIN) {
            Ok(Order::Go { start_ns }) => return Ok(Some(start_ns)),
            Ok(Order::Explain) => {
                for (context, matching) in endpoints.iter_mut() {
                    context.report(Report::Explained(standing(context, *matching)?));
                }
            }
            Err(RecvTimeoutError::Timeout) if !context.flags.abandoned() => {}
            _ => return Ok(None),
        }
    }
}

/// Whether an endpoint still waits for others; says if that changes.
fn look(context: &Context, matching: &mut dyn Matched, waiting: bool, created_ns: i64) -> Result<bool, String> {
    let endpoint = context.plan.endpoint;
    let enough = matching.matched()? >= expected(&context.spec, endpoint);
    let give_up_ns = created_ns + i64::from(context.spec.match_timeout_s) * SECOND_NS;
    if waiting && enough {
        context.report(Report::Matched { endpoint, matched_ns: now_ns() });
    } else if waiting && now_ns() > give_up_ns {
        context.report(Report::Unmatched(standing(context, matching)?));
    } else {
        return Ok(waiting);
    }
    Ok(false)
}

fn standing(context: &Context, matching: &mut dyn Matched) -> Result<Standing, String> {
    let endpoint = context.plan.endpoint;
    let (matched, expected) = (matching.matched()?, expected(&context.spec, endpoint));
    Ok(Standing { endpoint, matched, expected, mismatches: matching.mismatches() })
}

/// How many of the other side an endpoint waits for.
fn expected(spec: &RunSpec, endpoint: Endpoint) -> usize {
    let count = match endpoint {
        // Each of the two topics of a round trip has one of each.
        Endpoint::Relay(_) => 1,
        _ if spec.roundtrip == Roundtrip::Both => 1,
        Endpoint::Publisher(_) => spec.expected_subscriptions,
        Endpoint::Subscription(_) => spec.expected_publishers,
    };
    count as usize
}
