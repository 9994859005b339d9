//! Subscriptions that take from a channel.

use std::time::Duration;

use perf_worker::{
    backend::{Matched, Matching, Subscription, Taken},
    clock::now_ns,
    endpoint::EndpointPlan,
    run_spec::{History, RunSpec},
};
use zenoh::{
    Session, Wait,
    handlers::{Callback, FifoChannel, FifoChannelHandler, IntoHandler, RingChannel, RingChannelHandler},
    pubsub::Subscriber,
    sample::Sample,
};

use crate::{
    arrival::{Arrival, Reader},
    memory::buffer,
    names::{failed, key},
    presence::{Presence, Side},
};

/// Creates a subscription.
///
/// # Errors
/// The reason, as a sentence: the session is closed.
pub fn create(session: &Session, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Subscription>, String> {
    let key = key(spec, plan);
    let (push, channel) = Channel::new(plan);
    let marks = spec.phases;
    // `arrive` runs on the thread of zenoh that reads the link.
    let arrive = move |sample: Sample| push.call(Arrival { arrived_ns: marks.then(now_ns), sample });
    let port = session.declare_subscriber(key.clone()).with((Callback::from(arrive), ())).wait();
    let port = port.map_err(|error| failed("declare a subscriber", error))?;
    let presence = Presence::declare(session, &key, Side::Subscription, port.id())?;
    let reader = Reader::new(spec, plan);
    Ok(Box::new(ChannelSubscription { channel, next: None, _port: port, presence, reader }))
}

/// The queue of a subscription.
enum Channel {
    /// KEEP_LAST.
    Ring(RingChannelHandler<Arrival>),
    /// KEEP_ALL.
    Fifo(FifoChannelHandler<Arrival>),
}

impl Channel {
    /// Creates a queue. Returns the callback that pushes messages, and the end from which they are taken.
    fn new(plan: &EndpointPlan) -> (Callback<Arrival>, Channel) {
        match plan.qos.history {
            History::KeepLast => {
                let (push, handler) = RingChannel::new(buffer(plan)).into_handler();
                (push, Channel::Ring(handler))
            }
            History::KeepAll => {
                let (push, handler) = FifoChannel::new(buffer(plan)).into_handler();
                (push, Channel::Fifo(handler))
            }
        }
    }

    /// Takes the next message, if there is one.
    fn take(&self) -> Result<Option<Arrival>, String> {
        let taken = match self {
            Channel::Ring(handler) => handler.try_recv(),
            Channel::Fifo(handler) => handler.try_recv(),
        };
        taken.map_err(|error| failed("receive a message", error))
    }

    /// Waits for the next message, at most `timeout`.
    fn wait(&self, timeout: Duration) -> Result<Option<Arrival>, String> {
        let taken = match self {
            Channel::Ring(handler) => handler.recv_timeout(timeout),
            Channel::Fifo(handler) => handler.recv_timeout(timeout),
        };
        taken.map_err(|error| failed("wait for messages", error))
    }
}

struct ChannelSubscription {
    channel: Channel,
    /// A message that a wait has received and that is not taken yet.
    next: Option<Arrival>,
    _port: Subscriber<()>,
    presence: Presence,
    reader: Reader,
}

impl Matched for ChannelSubscription {
    fn matched(&mut self) -> Result<Matching, String> {
        Ok(Matching::Count(self.presence.others()))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }
}

impl Subscription for ChannelSubscription {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let next = match self.next.take() {
            Some(next) => Some(next),
            None => self.channel.take()?,
        };
        let Some(arrival) = next else { return Ok(false) };
        self.reader.read(&arrival, reader)?;
        Ok(true)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        if self.next.is_none() {
            self.next = self.channel.wait(timeout)?;
        }
        Ok(())
    }

    fn overwritten(&self) -> u64 {
        0
    }
}
