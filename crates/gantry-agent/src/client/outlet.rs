//! Outlets: the objects from which a client gets data, which are data readers, requesters and repliers.

use super::{
    ClientCell, Session,
    counts::Counts,
    parcel::{Begun, Parcel},
    reading::Reading,
    refusal::Refusal,
    taken::{Body, Taken},
};
use crate::{
    context::{Context, WriterMemory},
    lock::lock,
};
use gantry::{Attachment, Collector, GenericClient, GenericService, GenericSubscription, ListenerSource};
use gantry_xrce::{
    stream::Refused,
    time::Instant,
    wire::{ObjectId, ObjectRequest, RequestId, SampleIdentity, StreamId},
};
use std::{
    collections::VecDeque,
    sync::{
        Weak,
        atomic::{AtomicU64, Ordering::*},
    },
};

/// An object that has data for the client.
pub struct Outlet {
    /// The number of the outlet, unique in the agent. The listener identifies the outlet by this number.
    pub number: u64,
    pub source: Source,
    pub reading: Option<Reading>,
    /// Whether the source may have a message.
    pub has_news: bool,
    /// A message that was taken from Gantry and waits for room in the client's session.
    held: Option<Taken>,
}

/// An outlet and its client, registered with the listener of the domain. The listener's thread takes each message and
/// also sends it to the client, so no other thread has to be woken.
pub struct ListenedOutlet {
    pub number: u64,
    pub client: Weak<ClientCell>,
    pub context: Weak<Context>,
}

/// The endpoint of Gantry from which an outlet takes its data.
pub enum Source {
    Subscription(GenericSubscription),
    Requester(Box<Requester>, WriterMemory),
    Service(GenericService, WriterMemory),
}

/// A client of a service, and the requests that wait for their responses, oldest first.
pub struct Requester {
    pub library: GenericClient,
    pending: VecDeque<(u64, RequestId)>,
}

/// The result of an attempt to deliver a message.
pub enum Delivered {
    /// One message of `length` bytes is in the session, as a whole or in part. If only its first fragments are there,
    /// `rest` has the remaining ones, and later messages wait.
    Message { length: usize, rest: Option<Box<Parcel>> },
    /// Nothing was delivered: no message is available, the client has not requested data, or the session has no room.
    Nothing,
    /// One message is lost; the text states the reason.
    Lost(String),
}

impl Requester {
    pub fn new(library: GenericClient) -> Self {
        Self { library, pending: VecDeque::new() }
    }

    /// Sends a request and remembers it until its response arrives. Returns whether an older request was given up to
    /// make room.
    pub fn send(&mut self, request: RequestId, data: &[u8], max_pending: usize) -> Result<bool, Refusal> {
        let mut loan = self.library.loan_request(data.len())?;
        loan.bytes_mut().copy_from_slice(data);
        let id = self.library.send_request(loan).map_err(gantry::Error::from)?;
        let is_full = self.pending.len() >= max_pending;
        if is_full {
            self.pending.pop_front();
        }
        self.pending.push_back((id.sequence, request));
        Ok(is_full)
    }

    fn answered(&mut self, sequence: u64) -> Option<RequestId> {
        let index = self.pending.iter().position(|(pending, _)| *pending == sequence)?;
        self.pending.remove(index).map(|(_, request)| request)
    }
}

impl Source {
    pub fn attach(&mut self, collector: &mut Collector) -> gantry::Result<Option<Attachment>> {
        match self {
            Self::Subscription(subscription) => collector.attach(subscription),
            Self::Requester(requester, _) => collector.attach(&mut requester.library),
            Self::Service(service, _) => collector.attach(service),
        }
    }

    /// The number of samples that left the history of their publisher before the agent took them.
    pub fn overwritten(&self) -> u64 {
        match self {
            Self::Subscription(subscription) => subscription.overwritten(),
            Self::Requester(..) | Self::Service(..) => 0,
        }
    }

    fn take(&mut self, object: ObjectId) -> gantry::Result<Option<Taken>> {
        match self {
            Self::Subscription(subscription) => Ok(subscription.take()?.map(|sample| Taken::new(Body::Sample(sample)))),
            Self::Requester(requester, _) => {
                while let Some(response) = requester.library.take_response()? {
                    // Other responses are dropped: their request was given up, or another server has already answered
                    // it.
                    if let Some(request) = requester.answered(response.id().sequence) {
                        let request = ObjectRequest { request, object };
                        return Ok(Some(Taken::new(Body::Response(response)).answering(request)));
                    }
                }
                Ok(None)
            }
            Self::Service(service, _) => Ok(service.take_request()?.map(|request| {
                let (id, taken) = (request.id(), Taken::new(Body::Request(request)));
                taken.identified(SampleIdentity { writer: id.client_gid.0, sequence: id.sequence as i64 })
            })),
        }
    }
}

impl ListenerSource for ListenedOutlet {
    fn attach(&self, collector: &mut Collector) -> gantry::Result<Option<Attachment>> {
        let Some(client) = self.client.upgrade() else { return Ok(None) };
        lock(&client).attach(self.number, collector)
    }

    fn on_news(&self) {
        if let Some((client, context)) = self.client.upgrade().zip(self.context.upgrade()) {
            lock(&client).has_news(self.number, &context);
        }
    }
}

impl Outlet {
    /// Makes an outlet with a new number.
    pub fn new(source: Source) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Relaxed) + 1; // Relaxed: the numbers only have to be unique
        Self { number, source, reading: None, has_news: true, held: None }
    }

    /// Delivers one message to the session, if a message is available, the client wants it, and the session has room.
    /// The message is copied once, from the memory of its publisher into a slot of the stream.
    pub fn deliver(&mut self, object: ObjectId, session: &mut Session, now: Instant, counts: &mut Counts) -> Delivered {
        let Some(reading) = self.reading.as_mut().filter(|reading| !reading.is_over(now)) else {
            self.reading = None; // a held message waits for the client's next READ_DATA
            return Delivered::Nothing;
        };
        if now < reading.next_at() || !(self.has_news || self.held.is_some()) {
            return Delivered::Nothing;
        }
        let taken = match self.held.take().map_or_else(|| self.source.take(object), |held| Ok(Some(held))) {
            Ok(Some(taken)) => taken,
            Ok(None) => {
                self.has_news = false;
                return Delivered::Nothing;
            }
            Err(error) => {
                self.has_news = false;
                return Delivered::Lost(error.to_string());
            }
        };
        let (length, stream) = (taken.bytes().len(), reading.stream);
        let mut rest = None;
        let refused = match session.send(stream, reading.request, taken.identity(), taken.bytes()) {
            Ok(()) => None,
            // In the reliable stream, this error means that the message is longer than all slots together, so it
            // becomes a parcel.
            Err(Refused::TooLong { .. }) if stream.is_reliable() => {
                match Parcel::begin(session, reading.request, taken) {
                    Begun::Part(parcel) => {
                        rest = Some(Box::new(parcel));
                        None
                    }
                    Begun::Refused(taken, refused) => Some((taken, refused)),
                }
            }
            Err(refused) => Some((taken, refused)),
        };
        match refused {
            None => {
                reading.sent(length, now);
                counts.delivered += 1;
                counts.delivered_bytes += length as u64;
                Delivered::Message { length, rest }
            }
            Some((taken, Refused::Full { .. } | Refused::Fragmenting)) => {
                self.held = Some(taken);
                Delivered::Nothing
            }
            Some((_, Refused::TooLong { max, .. })) => {
                counts.too_long += 1;
                Delivered::Lost(too_long(stream, length, max))
            }
        }
    }

    /// The time before which the client's READ_DATA allows no further message; `None` if a message is allowed now.
    pub fn deadline(&self, now: Instant) -> Option<Instant> {
        let reading = self.reading.as_ref().filter(|_| self.has_news || self.held.is_some())?;
        Some(reading.next_at()).filter(|&at| at > now)
    }
}

/// Explains in the log that a message of `length` bytes is too long for the stream. `max` includes a few bytes of
/// headers.
fn too_long(stream: StreamId, length: usize, max: usize) -> String {
    let advice = match stream.is_reliable() {
        true => "publish the data in parts",
        false => "let the client read the data in its reliable stream, or give the client's transport a larger MTU",
    };
    format!(
        "the message has {length} bytes, and the limit for messages in this stream of the client is {max} bytes; \
         {advice}"
    )
}
