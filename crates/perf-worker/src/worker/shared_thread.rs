//! A thread that several endpoints share: a publisher and its subscriptions, or a client of a service.
//!
//! After each message the thread takes what has come. While no message is due a client waits for responses, so that it takes each when
//! it arrives; the subscriptions of another publisher wait for the next message. With INTRA_THREAD the subscriptions take what this
//! publisher sent: no thread has to be woken, so the latency is the cost of the middleware's calls alone.

use super::Context;
use super::matching::wait_for_start;
use super::probe::{Early, End};
use super::publisher::{PublisherLoop, sleep, sleep_precisely};
use super::subscriber::SubscriberLoop;
use crate::backend::{Client, Publisher, Session, Subscription};
use crate::clock::now_ns;
use crate::endpoint::Endpoint;

/// Creates the endpoints, waits for the start, publishes and takes in turn, and stays until the run is over.
pub fn run(contexts: &[Context], session: &dyn Session) -> Result<(), String> {
    let (context, others) = members(contexts)?;
    sleep_precisely();
    let (mut publisher, mut subscriptions) = create(context, &others, session)?;
    let mut endpoints = vec![(context, End::Publisher(&mut *publisher))];
    for (other, subscription) in others.iter().zip(&mut subscriptions) {
        endpoints.push((*other, End::Subscription(&mut **subscription)));
    }
    let Some(start) = wait_for_start(&mut endpoints)? else { return Ok(()) };
    // Its own publisher sends no message before the start.
    let subscriber = |(other, subscription)| SubscriberLoop::new(other, subscription, &start, Early::default());
    let mut subscribers: Vec<SubscriberLoop<'_>> = others.iter().copied().zip(subscriptions).map(subscriber).collect();
    let mut publisher_loop = PublisherLoop::new(context, publisher, start.start_ns);
    publisher_loop.publish_all(&mut |now_ns, until_ns| {
        subscribers.iter_mut().try_for_each(|subscriber| subscriber.take_available(now_ns))?;
        match subscribers.first_mut() {
            Some(client) if context.plan.service && until_ns > now_ns => client.wait_until(until_ns),
            _ => sleep(now_ns, until_ns),
        }
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

/// The publisher and the subscriptions.
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
