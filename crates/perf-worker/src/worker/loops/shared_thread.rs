//! The loop of a thread that several endpoints share: a publisher and its subscriptions, or the two ends of a client of
//! a service.
//!
//! After each message the thread takes the samples that have arrived. While no message is due, a client waits for
//! responses, so it takes each response when it arrives. A publisher's thread does not wait for samples; it sleeps
//! until the next message is due. With INTRA_THREAD the subscriptions take the messages of this publisher. No thread
//! has to be woken, so the latency is only the cost of the middleware's calls.

use std::time::Duration;

use super::publisher::{PublisherLoop, sleep, sleep_precisely};
use super::subscriber::SubscriberLoop;
use crate::backend::{Client, Publisher, Session, Subscription};
use crate::clock::now_ns;
use crate::endpoint::Endpoint;
use crate::worker::context::Context;
use crate::worker::matching::probe::End;
use crate::worker::matching::wait_for_start;

/// The longest wait for samples of one subscription while other subscriptions on the thread may have samples.
const MAX_WAIT: Duration = Duration::from_millis(1);

/// Creates the endpoints, waits for the start, publishes and takes alternately, and returns when the run is over.
pub fn run(contexts: &[Context], session: &dyn Session) -> Result<(), String> {
    let (context, others) = members(contexts)?;
    sleep_precisely();
    let (mut publisher, mut subscriptions) = create(context, &others, session)?;
    let mut endpoints = vec![(context, End::Publisher(&mut *publisher))];
    for (other, subscription) in others.iter().zip(&mut subscriptions) {
        endpoints.push((*other, End::Subscription(&mut **subscription)));
    }
    let Some(mut start) = wait_for_start(&mut endpoints)? else { return Ok(()) };
    let mut early = std::mem::take(&mut start.early).into_iter();
    // The first entry belongs to the publisher, which takes no messages.
    early.next();
    let subscriptions = others.iter().copied().zip(subscriptions).zip(early);
    let subscriber = |((other, subscription), early)| SubscriberLoop::new(other, subscription, &start, early);
    let mut subscribers: Vec<SubscriberLoop<'_>> = subscriptions.map(subscriber).collect();
    let mut publisher_loop = PublisherLoop::new(context, publisher, start.start_ns);
    publisher_loop.publish_all(&mut |now_ns, until_ns| {
        subscribers.iter_mut().try_for_each(|subscriber| subscriber.take_available(now_ns))?;
        match subscribers.first_mut() {
            Some(client) if context.plan.service && until_ns > now_ns => client.wait_until(until_ns),
            _ => sleep(now_ns, until_ns),
        }
    })?;
    context.finish(publisher_loop.report());
    take_all(others.iter().copied().zip(&mut subscribers).collect())?;
    context.wait_for_end();
    Ok(())
}

/// Takes the last samples of all subscriptions after publishing has ended. The subscriptions take turns, so that no
/// sample waits until another subscription has finished.
fn take_all(mut open: Vec<(&Context, &mut SubscriberLoop<'_>)>) -> Result<(), String> {
    while !open.is_empty() {
        let mut waiting = Vec::with_capacity(open.len());
        for (context, subscriber) in open {
            match subscriber.take_rest()? {
                Some(_) => waiting.push((context, subscriber)),
                None => context.finish(subscriber.report()),
            }
        }
        let longest = if waiting.len() > 1 { MAX_WAIT } else { Duration::MAX };
        if let Some((_, subscriber)) = waiting.first_mut() {
            subscriber.wait(now_ns(), longest)?;
        }
        open = waiting;
    }
    Ok(())
}

/// The publisher and the subscriptions among the endpoints of the thread.
fn members(contexts: &[Context]) -> Result<(&Context, Vec<&Context>), String> {
    let is_publisher = |context: &&Context| matches!(context.plan.endpoint, Endpoint::Publisher(_));
    let is_subscription = |context: &&Context| matches!(context.plan.endpoint, Endpoint::Subscription(_));
    let (publishers, others): (Vec<&Context>, Vec<&Context>) = contexts.iter().partition(is_publisher);
    let services = contexts.iter().filter(|context| context.plan.service).count();
    match (&publishers[..], others.iter().all(is_subscription)) {
        ([publisher], true) if services == 0 || (services == 2 && others.len() == 1) => Ok((publisher, others)),
        _ => {
            let names: Vec<String> = contexts.iter().map(|context| context.plan.endpoint.to_string()).collect();
            Err(format!(
                "{} cannot be on one thread: a thread has one endpoint, one publisher and its subscriptions, or one publisher \
                 and one subscription of a service, which are a client",
                names.join(", ")
            ))
        }
    }
}

type Created = (Box<dyn Publisher>, Vec<Box<dyn Subscription>>);

fn create(context: &Context, others: &[&Context], session: &dyn Session) -> Result<Created, String> {
    if context.plan.service {
        let Client { requests, responses } = session.client(&context.spec, &context.plan)?;
        return Ok((requests, vec![responses]));
    }
    let publisher = session.publisher(&context.spec, &context.plan)?;
    let subscription = |other: &&Context| session.subscription(&other.spec, &other.plan)?.pull("a publisher\'s thread");
    Ok((publisher, others.iter().map(subscription).collect::<Result<_, _>>()?))
}
