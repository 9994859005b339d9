//! INTRA_THREAD: one publisher and its subscriptions on one thread, which publishes a message and then takes it.
//!
//! Used by the worker. No thread has to be woken, so what remains is the cost of the middleware's calls alone.

use super::Context;
use super::matching::wait_for_start;
use super::publisher::{self, Publishing};
use super::subscriber::Taking;
use crate::backend::{Backend, Matched};

/// As the loops of both, in turn.
pub fn run(context: &Context, others: &[Context], backend: &dyn Backend) -> Result<(), String> {
    let mut publisher = publisher::create(context, backend)?;
    let mut subscriptions = Vec::new();
    for other in others {
        subscriptions.push(backend.subscription(&other.spec, &other.plan)?);
    }
    let mut endpoints: Vec<(&Context, &mut dyn Matched)> = vec![(context, &mut *publisher)];
    for (other, subscription) in others.iter().zip(&mut subscriptions) {
        endpoints.push((other, &mut **subscription));
    }
    let Some(start_ns) = wait_for_start(&mut endpoints)? else { return Ok(()) };
    let taking = |(other, subscription)| Taking::new(other, subscription, start_ns);
    let mut takings: Vec<Taking<'_>> = others.iter().zip(subscriptions).map(taking).collect();
    let mut publishing = Publishing::new(context, publisher, start_ns);
    publishing.publish_all(&mut |now_ns| takings.iter_mut().try_for_each(|taking| taking.take_available(now_ns)))?;
    context.finish(publishing.closing());
    for (other, taking) in others.iter().zip(&mut takings) {
        taking.take_all()?;
        other.finish(taking.closing());
    }
    context.stay_until_the_end();
    Ok(())
}
