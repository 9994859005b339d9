//! A client: its session, its objects, and the way between both.

mod counts;
mod objects;
mod outlet;
mod plan;
mod reading;

pub(crate) use counts::KeyText;
pub use counts::{ClientStatistics, Counts};

use crate::{
    clock::time_of_day,
    config::Config,
    context::{ClientCell, Context},
    log::{Level, Limiter},
    slots::HeapSlots,
    transport::Line,
};
use gantry::{Attachment, Collector, RequestId};
use gantry_xrce::{
    session::{AgentEvent, AgentSession, Link, Peer},
    stream::{HEADER_BYTES, MAX_SLOTS},
    time::Instant,
    wire::{
        ByteOrder, Flags, Header, ObjectId, ObjectRequest, ReadData, ResultStatus, StatusValue, StreamId, split_request,
    },
};
use objects::{Entity, Objects, Site};
use outlet::{Delivered, Source};
use plan::Refusal;
use reading::Reading;
use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Weak},
};

pub type Session = AgentSession<HeapSlots, HeapSlots, Vec<u8>, HeapSlots>;

/// The slots of the best-effort stream: it is emptied at once unless the transport is slow.
const BEST_EFFORT_SLOTS: usize = 2;
/// The answers that wait for room in the session. A client that asks so much more than it acknowledges is broken.
const MAX_ANSWERS: usize = 256;
/// So often the streams are filled and emptied before others have their turn.
const MAX_ROUNDS: usize = 64;

/// A client that has a session.
pub struct Client {
    this: Weak<ClientCell>,
    session: Session,
    line: Line,
    objects: Objects,
    answers: VecDeque<Answer>,
    /// The outlet that was served last.
    last_served: ObjectId,
    counts: Counts,
    limiter: Limiter,
    /// The client ended its session.
    is_closed: Option<ObjectRequest>,
}

/// A status that is to be sent.
struct Answer {
    stream: StreamId,
    request: ObjectRequest,
    status: StatusValue,
}

fn new_session(peer: Peer, config: &Config, now: Instant) -> Session {
    // A header with the key takes 4 more of the bytes that the transport carries.
    let key_bytes = if peer.session.has_key() { 4 } else { 0 };
    let slot_bytes = usize::from(peer.mtu_bytes).saturating_sub(key_bytes) + HEADER_BYTES;
    let slots = |count| HeapSlots::new(count, slot_bytes);
    let assembly = vec![0; config.limits.message_bytes];
    let link = Link::new(slots(MAX_SLOTS), slots(MAX_SLOTS), assembly, slots(BEST_EFFORT_SLOTS));
    AgentSession::new(peer, link, now)
}

impl Client {
    pub fn new(this: Weak<ClientCell>, peer: Peer, line: Line, context: &Context) -> Self {
        let session = new_session(peer, &context.config, context.clock.now());
        Self {
            this,
            session,
            line,
            objects: Objects::default(),
            answers: VecDeque::new(),
            last_served: ObjectId::INVALID,
            counts: Counts::default(),
            limiter: Limiter::new(),
            is_closed: None,
        }
    }

    /// The same client has begun its session again, perhaps at another address. Its objects stay, what it wanted to read does not.
    pub fn restart(&mut self, peer: Peer, line: Line, context: &Context) {
        self.session = new_session(peer, &context.config, context.clock.now());
        self.line = line;
        self.answers.clear();
        for (_, outlet) in self.objects.outlets_after(ObjectId::INVALID) {
            outlet.reading = None;
        }
    }

    pub fn peer(&self) -> &Peer {
        self.session.peer()
    }

    /// The client has moved to another address.
    pub fn move_to(&mut self, line: Line) {
        self.line = line;
    }

    /// Takes a message of the session. Returns the request by which the client ended it.
    pub fn receive(&mut self, header: &Header, message: &[u8], context: &Arc<Context>) -> Option<ObjectRequest> {
        let now = context.clock.now();
        let Self { this, session, line, objects, answers, counts, limiter, is_closed, .. } = self;
        let key = session.peer().key;
        let mut requests = Requests { this, objects, answers, counts, limiter, line, is_closed, context, key, now };
        session.receive(header, message, now, time_of_day(), &mut |event| requests.handle(event));
        if self.is_closed.is_none() {
            self.pump(context);
        }
        self.is_closed
    }

    /// Attaches an outlet to the listener; `None` if it is gone.
    pub fn attach(&mut self, number: u64, collector: &mut Collector) -> Option<Option<Attachment>> {
        let outlet = self.objects.outlet(number)?;
        outlet.source.attach(collector).ok() // it fails if the process forked, and then there is no such thread
    }

    /// An outlet may have something to take.
    pub fn has_news(&mut self, number: u64, context: &Context) {
        if let Some(outlet) = self.objects.outlet(number) {
            outlet.has_news = true;
            self.pump(context);
        }
    }

    /// Whether the client was silent for too long.
    pub fn is_gone(&self, now: Instant) -> bool {
        self.session.is_gone(now)
    }

    /// Sends everything that can be sent now.
    pub fn pump(&mut self, context: &Context) {
        let now = context.clock.now();
        let mut has_more = true;
        for _ in 0..MAX_ROUNDS {
            self.answer();
            has_more = self.line.has_room() && self.deliver(now, context);
            self.transmit(now, context);
            if !has_more {
                break;
            }
        }
        let deadline = if has_more { now } else { self.deadline(now) };
        context.ticker.set_due(context.clock.to_std(deadline));
    }

    fn deadline(&self, now: Instant) -> Instant {
        let outlets = self.objects.outlets().filter_map(|outlet| outlet.deadline(now));
        outlets.chain([self.session.deadline()]).min().unwrap_or(now)
    }

    fn answer(&mut self) {
        while let Some(Answer { stream, request, status }) = self.answers.front() {
            let result = ResultStatus { status: *status, implementation: 0 };
            if self.session.status(*stream, *request, result).is_err() {
                return;
            }
            self.answers.pop_front();
        }
    }

    /// Gives the session one message of each outlet. Returns whether there may be more.
    fn deliver(&mut self, now: Instant, context: &Context) -> bool {
        let mut has_more = false;
        let mut last_served = None;
        let Self { session, objects, counts, limiter, line, .. } = self;
        let key = session.peer().key;
        for (id, outlet) in objects.outlets_after(self.last_served) {
            match outlet.deliver(id, session, now, counts) {
                Delivered::Nothing => continue,
                Delivered::One => last_served = last_served.or(Some(id)),
                Delivered::Lost(why) => {
                    let log = format_args!("{} at {line}: data of object {:#06x} is lost: {why}", KeyText(key), id.0);
                    limiter.log(&*context.config.log, Level::Warning, log);
                }
            }
            has_more = true;
        }
        self.last_served = last_served.unwrap_or(self.last_served);
        has_more
    }

    fn transmit(&mut self, now: Instant, context: &Context) {
        while self.line.has_room() {
            let Some(message) = self.session.transmit(now, time_of_day()) else { return };
            if let Err(error) = self.line.send(message) {
                self.counts.unsent += 1;
                let (key, line) = (KeyText(self.session.peer().key), &self.line);
                let log = format_args!("{key} at {line}: a message could not be sent: {error}");
                self.limiter.log(&*context.config.log, Level::Warning, log);
            }
        }
    }

    /// The client's objects are deleted.
    pub fn close(&mut self, context: &Context) {
        self.objects.clear(context);
    }

    pub fn statistics(&self) -> ClientStatistics {
        let overwritten = self.objects.outlets().map(|outlet| outlet.source.overwritten()).sum();
        ClientStatistics {
            key: self.peer().key,
            address: self.line.to_string(),
            objects: self.objects.len(),
            counts: Counts { overwritten, ..self.counts },
            link: self.session.link().counts(),
        }
    }
}

/// A client without its session, which hands over its requests.
struct Requests<'a> {
    this: &'a Weak<ClientCell>,
    objects: &'a mut Objects,
    answers: &'a mut VecDeque<Answer>,
    counts: &'a mut Counts,
    limiter: &'a mut Limiter,
    line: &'a Line,
    is_closed: &'a mut Option<ObjectRequest>,
    context: &'a Arc<Context>,
    key: gantry_xrce::wire::ClientKey,
    now: Instant,
}

impl Requests<'_> {
    fn handle(&mut self, event: AgentEvent<'_>) {
        match event {
            AgentEvent::Create { stream, flags, create } => self.create(stream, flags, &create),
            AgentEvent::Unreadable { stream, request, error } => {
                let why = format!("its description cannot be read: {error}");
                self.refuse(stream, request, Refusal::new(StatusValue::INVALID_DATA, why));
            }
            AgentEvent::Delete { stream, request } => {
                if self.objects.delete(request.object, self.context) {
                    self.answer(stream, request, StatusValue::OK);
                } else {
                    self.refuse(stream, request, Refusal::unknown("object", request.object));
                }
            }
            AgentEvent::Write { stream, request, order, data } => match self.write(request, order, data) {
                Ok(()) => {
                    self.counts.published += 1;
                    self.counts.published_bytes += data.len() as u64;
                }
                Err(refusal) => {
                    self.counts.refused += 1;
                    self.refuse(stream, request, refusal);
                }
            },
            AgentEvent::Read { stream, read } => self.read(stream, &read),
            AgentEvent::Close { request } => *self.is_closed = Some(request),
            AgentEvent::Loss(loss) => {
                let sentence = self.counts.lost(loss);
                self.log(Level::Warning, format_args!("{sentence}"));
            }
            AgentEvent::Malformed(error) => {
                self.log(Level::Warning, format_args!("a message cannot be read: {error}"));
            }
        }
    }

    fn log(&mut self, level: Level, line: fmt::Arguments<'_>) {
        let log = format_args!("{} at {}: {line}", KeyText(self.key), self.line);
        self.limiter.log(&*self.context.config.log, level, log);
    }

    fn answer(&mut self, stream: StreamId, request: ObjectRequest, status: StatusValue) {
        if self.answers.len() < MAX_ANSWERS {
            self.answers.push_back(Answer { stream, request, status });
        } else {
            self.log(Level::Warning, format_args!("an answer is lost: {MAX_ANSWERS} others wait for acknowledgements"));
        }
    }

    fn refuse(&mut self, stream: StreamId, request: ObjectRequest, Refusal { status, why }: Refusal) {
        let object = request.object.0;
        self.log(
            Level::Warning,
            format_args!("a request for object {object:#06x} is refused ({}): {why}", status.name()),
        );
        self.answer(stream, request, status);
    }

    fn create(&mut self, stream: StreamId, flags: Flags, create: &gantry_xrce::wire::Create<'_>) {
        let site = Site { context: self.context, client: self.this, key: self.key };
        match self.objects.create(flags, create, &site) {
            Ok((status, sentence)) => {
                self.answer(stream, create.request, status);
                if let Some(sentence) = sentence {
                    self.log(Level::Info, format_args!("{sentence}"));
                }
            }
            Err(refusal) => self.refuse(stream, create.request, refusal),
        }
    }

    /// Publishes data of the client: it is copied once, into the memory that readers read.
    fn write(&mut self, request: ObjectRequest, order: ByteOrder, data: &[u8]) -> Result<(), Refusal> {
        let Some(object) = self.objects.get_mut(request.object) else {
            return Err(Refusal::unknown("object", request.object));
        };
        if order == ByteOrder::Big {
            let why = "the data is big endian; send it little endian";
            return Err(Refusal::new(StatusValue::INCOMPATIBLE, why));
        }
        let refused = |error: gantry::Error| Refusal::new(StatusValue::DDS_ERROR, error.to_string());
        let outlet = match &mut object.entity {
            Entity::Publisher(publisher) => {
                let mut loan = publisher.loan(data.len()).map_err(refused)?;
                loan.bytes_mut().copy_from_slice(data);
                return publisher.publish(loan).map(drop).map_err(|error| refused(error.into()));
            }
            Entity::Outlet(outlet) => outlet,
            Entity::Node(_) | Entity::None => {
                return Err(Refusal::new(StatusValue::MISMATCH, "an object of this kind takes no data"));
            }
        };
        match &mut outlet.source {
            Source::Subscription(_) => {
                Err(Refusal::new(StatusValue::MISMATCH, "a data reader takes no data; write to a data writer"))
            }
            Source::Requester(requester) => {
                let mut loan = requester.library.loan_request(data.len()).map_err(refused)?;
                loan.bytes_mut().copy_from_slice(data);
                let id = requester.library.send_request(loan).map_err(|error| refused(error.into()))?;
                if requester.sent(id.sequence, request.request, self.context.config.limits.requests) {
                    self.counts.given_up += 1;
                }
                Ok(())
            }
            Source::Service(service) => {
                let (identity, reply) = split_request(data, order)
                    .map_err(|error| Refusal::new(StatusValue::INVALID_DATA, error.to_string()))?;
                let id = RequestId { client_gid: gantry::Gid(identity.writer), sequence: identity.sequence as u64 };
                let mut loan = service.loan_response(id, reply.len()).map_err(refused)?;
                loan.bytes_mut().copy_from_slice(reply);
                service.send_response(id, loan).map_err(|error| refused(error.into()))
            }
        }
    }

    fn read(&mut self, stream: StreamId, read: &ReadData<'_>) {
        match self.objects.get_mut(read.request.object).map(|object| &mut object.entity) {
            Some(Entity::Outlet(outlet)) => outlet.reading = Reading::new(read, self.now),
            Some(_) => {
                let why = "an object of this kind has no data";
                self.refuse(stream, read.request, Refusal::new(StatusValue::MISMATCH, why));
            }
            None => self.refuse(stream, read.request, Refusal::unknown("object", read.request.object)),
        }
    }
}
