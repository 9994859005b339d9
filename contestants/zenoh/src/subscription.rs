//! Subscriptions.

use std::io::Read;
use std::time::Duration;

use perf_worker::{
    backend::{Matched, Matching, Subscription, Taken},
    clock::now_ns,
    endpoint::EndpointPlan,
    raw,
    run_spec::{History, RunSpec},
};
use zenoh::{
    Session, Wait,
    handlers::{Callback, FifoChannel, FifoChannelHandler, IntoHandler, RingChannel, RingChannelHandler},
    pubsub::Subscriber,
    sample::Sample,
};

use crate::{
    memory::{buffer, own_message},
    presence::{Presence, Side},
    publisher::source_of,
    session::{failed, key},
};

/// Creates a subscription.
///
/// # Errors
/// A sentence: the session is closed.
pub fn create(session: &Session, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Subscription>, String> {
    let key = key(spec, plan);
    let (push, channel) = Channel::new(plan);
    let marks = spec.phases;
    // This runs on the thread of zenoh that reads the link.
    let arrive = move |sample: Sample| push.call(Arrival { arrived_ns: marks.then(now_ns), sample });
    let port = session.declare_subscriber(key.clone()).with((Callback::from(arrive), ())).wait();
    let port = port.map_err(|error| failed("declare a subscriber", error))?;
    let presence = Presence::declare(session, &key, Side::Subscription, port.id())?;
    let own = own_message(spec, plan);
    Ok(Box::new(ZenohSubscription { channel, next: None, _port: port, presence, own, marks }))
}

/// A message that has reached this process.
struct Arrival {
    /// The message's time, if the phases are marked.
    arrived_ns: Option<i64>,
    sample: Sample,
}

/// The queue of a subscription.
enum Channel {
    /// KEEP_LAST.
    Ring(RingChannelHandler<Arrival>),
    /// KEEP_ALL.
    Fifo(FifoChannelHandler<Arrival>),
}

impl Channel {
    /// The two ends of a queue.
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

    /// The next message, if there is one.
    fn take(&self) -> Result<Option<Arrival>, String> {
        let taken = match self {
            Channel::Ring(handler) => handler.try_recv(),
            Channel::Fifo(handler) => handler.try_recv(),
        };
        taken.map_err(|error| failed("receive a message", error))
    }

    /// The next message, for which it waits.
    fn wait(&self, timeout: Duration) -> Result<Option<Arrival>, String> {
        let taken = match self {
            Channel::Ring(handler) => handler.recv_timeout(timeout),
            Channel::Fifo(handler) => handler.recv_timeout(timeout),
        };
        taken.map_err(|error| failed("wait for messages", error))
    }
}

struct ZenohSubscription {
    channel: Channel,
    /// The message that ended a wait.
    next: Option<Arrival>,
    _port: Subscriber<()>,
    presence: Presence,
    /// The destination of copies; none with zero copy.
    own: Option<Vec<u8>>,
    /// The beginning of the copy is marked.
    marks: bool,
}

impl Matched for ZenohSubscription {
    fn matched(&mut self) -> Result<Matching, String> {
        Ok(Matching::Count(self.presence.others()))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }
}

impl Subscription for ZenohSubscription {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let next = match self.next.take() {
            Some(next) => Some(next),
            None => self.channel.take()?,
        };
        let Some(Arrival { arrived_ns, sample }) = next else { return Ok(false) };
        let in_hand_ns = (self.marks && self.own.is_some()).then(now_ns);
        let payload = sample.payload();
        let length_bytes = payload.len();
        let mut show = |received_ns, message: &[u8], loaned| {
            let stamped = raw::read_stamp(message).ok_or_else(|| {
                format!("a message of {} bytes is not one of perf_test, whose have a time and an id", message.len())
            })?;
            reader(&Taken {
                source: sample.source_info().map(|info| source_of(info.source_id())).unwrap_or_default(),
                time_ns: stamped.time_ns,
                id: stamped.id,
                received_ns,
                arrived_ns,
                in_hand_ns,
                length_bytes: length_bytes as u64,
                loaned,
                payload: raw::payload(message),
                ..Taken::default()
            });
            Ok(true)
        };
        let Some(own) = &mut self.own else {
            let received_ns = now_ns();
            return match payload.as_shm() {
                Some(message) => show(received_ns, message, true),
                // The message came over the link, so it is no loan.
                None => show(received_ns, &payload.to_bytes(), false),
            };
        };
        if own.len() != length_bytes {
            let expected = own.len();
            return Err(format!(
                "a message has {length_bytes} bytes instead of {expected}: give both programs the same -m"
            ));
        }
        payload.reader().read_exact(own).map_err(|error| failed("read a message", error))?;
        show(now_ns(), own, false)
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
