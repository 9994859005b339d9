//! INTRA_THREAD: one publisher and its subscriptions on one thread, which publishes a message and then takes it.
//!
//! No thread has to be woken, so the latency is the cost of the middleware's calls alone.

use super::Context;
use super::matching::wait_for_start;
use super::probe::{Early, End};
use super::publisher::{self, PublisherLoop};
use super::subscriber::SubscriberLoop;
use crate::backend::Session;
use crate::clock::now_ns;

/// Creates the endpoints, waits for the start, publishes and takes in turn, and stays until the run is over.
pub fn run(context: &Context, others: &[Context], session: &dyn Session) -> Result<(), String> {
    let mut publisher = publisher::create(context, session)?;
    let mut subscriptions = Vec::new();
    for other in others {
        let delivery = session.subscription(&other.spec, &other.plan)?;
        subscriptions.push(delivery.pull("INTRA_THREAD")?);
    }
    let mut endpoints = vec![(context, End::Publisher(&mut *publisher))];
    for (other, subscription) in others.iter().zip(&mut subscriptions) {
        endpoints.push((other, End::Subscription(&mut **subscription)));
    }
    let Some(start) = wait_for_start(&mut endpoints)? else { return Ok(()) };
    // No message is sent before the start, which this thread begins.
    let subscriber = |(other, subscription)| SubscriberLoop::new(other, subscription, &start, Early::default());
    let mut subscribers: Vec<SubscriberLoop<'_>> = others.iter().zip(subscriptions).map(subscriber).collect();
    let mut publisher_loop = PublisherLoop::new(context, publisher, start.start_ns);
    publisher_loop.publish_all(&mut |now_ns| {
        subscribers.iter_mut().try_for_each(|subscriber| subscriber.take_available(now_ns))
    })?;
    context.finish(publisher_loop.report());
    for subscriber in &mut subscribers {
        let now_ns = now_ns();
        subscriber.take_available(now_ns)?;
        subscriber.hand_over_rows(now_ns);
    }
    for (other, subscriber) in others.iter().zip(&mut subscribers) {
        subscriber.take_all()?;
        other.finish(subscriber.report());
    }
    context.wait_for_end();
    Ok(())
}
