//! The code that carries out the requests of a client on the client's objects.

use super::{
    Answer, ClientCell, Rate,
    counts::{Counts, KeyText},
    jobs::{Job, Jobs, Work, message},
    objects::{Creation, Entity, Object, Objects, Site},
    outlet::Source,
    reading::Reading,
    refusal::Refusal,
};
use crate::{
    context::{Context, WriterMemory, checked},
    link::ClientLink,
    log::{Level, Limiter},
};
use gantry::{Gid, RequestId};
use gantry_xrce::{
    session::AgentEvent,
    time::Instant,
    wire::{
        ByteOrder, ClientKey, Create, Flags, ObjectId, ObjectKind, ObjectRequest, ReadData, StatusValue, StreamId,
        split_request,
    },
};
use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Weak},
};

/// The largest number of answers that wait for room in the session. Only a defective client leaves more answers
/// unacknowledged.
const MAX_ANSWERS: usize = 256;

/// The largest number of requests in one message that are carried out. Valid messages have fewer. A hostile datagram of
/// 64 KiB could have thousands of WRITE_DATA. Each of them may wake readers, while the messages of all other clients
/// wait.
pub const MAX_REQUESTS: u32 = 512;

/// The parts of a client that carry out its requests. The session is not among them, because the session calls
/// [`Self::handle`] while it reads a message.
pub struct Requests<'a> {
    pub this: &'a Weak<ClientCell>,
    pub objects: &'a mut Objects,
    pub answers: &'a mut VecDeque<Answer>,
    pub jobs: &'a mut Jobs,
    pub creations: &'a mut Rate,
    pub counts: &'a mut Counts,
    pub limiter: &'a mut Limiter,
    pub line: &'a ClientLink,
    pub is_closed: &'a mut Option<ObjectRequest>,
    pub context: &'a Arc<Context>,
    pub key: ClientKey,
    pub now: Instant,
    /// The number of requests of the current message that may still be carried out.
    pub left: u32,
}

impl Requests<'_> {
    /// Carries out a request. If the request creates or destroys entities, this request and all requests after it wait
    /// for a worker.
    pub fn handle(&mut self, event: AgentEvent<'_>) {
        if let Some((stream, request)) = request_of(&event) {
            if self.left == 0 {
                self.counts.refused += u64::from(matches!(event, AgentEvent::Write { .. }));
                let why = format!("its message has more than {MAX_REQUESTS} requests; send shorter messages");
                return self.refuse(stream, request, Refusal::new(StatusValue::RESOURCES, why));
            }
            self.left -= 1;
        }
        let is_idle = self.jobs.is_empty();
        match event {
            AgentEvent::Create { stream, flags, create } if !is_idle || is_costly(flags, &create) => {
                self.defer_creation(stream, flags, &create);
            }
            AgentEvent::Delete { stream, request } if !is_idle || self.objects.get(request.object).is_some() => {
                self.defer(stream, request, Some(Job::Delete { stream, request }));
            }
            AgentEvent::Write { stream, request, order, data } if !self.is_settled(request.object) => {
                let is_deferred =
                    self.defer(stream, request, Some(Job::Write { stream, request, order, data: data.to_vec() }));
                self.counts.refused += u64::from(!is_deferred);
            }
            AgentEvent::Read { stream, read } if !self.is_settled(read.request.object) => {
                let job = message(&read).map(|message| Job::Read { stream, message });
                self.defer(stream, read.request, job);
            }
            event => {
                let work = self.carry_out(event);
                debug_assert!(work.is_none(), "a costly request is deferred");
            }
        }
    }

    /// Whether a request need not wait for the waiting requests, because they do not change its object.
    fn is_settled(&self, object: ObjectId) -> bool {
        self.jobs.is_empty() || self.objects.get(object).is_some() && !self.jobs.may_change_objects()
    }

    fn defer_creation(&mut self, stream: StreamId, flags: Flags, create: &Create<'_>) {
        if is_costly(flags, create) && !self.creations.spend(self.now) {
            let why = "the client creates too many objects in a second";
            return self.refuse(stream, create.request, Refusal::new(StatusValue::RESOURCES, why));
        }
        let job = message(create).map(|message| Job::Create { stream, flags, message });
        self.defer(stream, create.request, job);
    }

    /// Queues a request, or refuses it if too many requests wait. Returns whether it was queued.
    fn defer(&mut self, stream: StreamId, request: ObjectRequest, job: Option<Job>) -> bool {
        let is_deferred = job.is_some_and(|job| self.jobs.push(job));
        if !is_deferred {
            let why = "too many requests wait for an object that is being created or deleted";
            self.refuse(stream, request, Refusal::new(StatusValue::RESOURCES, why));
        }
        is_deferred
    }

    /// Carries out a request, except for work that may block until other processes react. Returns this work.
    pub fn carry_out(&mut self, event: AgentEvent<'_>) -> Option<Work> {
        match event {
            AgentEvent::Create { stream, flags, create } => return self.create(stream, flags, &create),
            AgentEvent::Unreadable { stream, request, error } => {
                let why = format!("its description cannot be read: {error}");
                self.refuse(stream, request, Refusal::new(StatusValue::INVALID_DATA, why));
            }
            AgentEvent::Delete { stream, request } => return self.delete(stream, request),
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
            AgentEvent::UnknownStream { stream, request } => {
                let (known, other) = (StreamId::RELIABLE.0, StreamId::BEST_EFFORT.0);
                let (stream_id, why) = (stream.0, format!("use {known:#04x} and {other:#04x}"));
                self.log(
                    Level::Warning,
                    format_args!(
                        "a message is refused, because its stream {stream_id:#04x} does not exist in a session: {why}"
                    ),
                );
                if let Some(request) = request {
                    self.answer(stream, request, StatusValue::RESOURCES);
                }
            }
            AgentEvent::Close { request } => *self.is_closed = Some(request),
            AgentEvent::Loss(loss) => {
                let sentence = self.counts.lost(loss);
                self.log(Level::Warning, format_args!("{sentence}"));
            }
            AgentEvent::Malformed(error) => {
                self.log(Level::Warning, format_args!("a message cannot be read: {error}"));
            }
        }
        None
    }

    fn log(&mut self, level: Level, line: fmt::Arguments<'_>) {
        let log = format_args!("{} at {}: {line}", KeyText(self.key), self.line);
        self.limiter.log(&self.context.config.log, level, log);
    }

    pub fn answer(&mut self, stream: StreamId, request: ObjectRequest, status: StatusValue) {
        if self.answers.len() < MAX_ANSWERS {
            self.answers.push_back(Answer { stream, request, status });
        } else {
            self.log(
                Level::Warning,
                format_args!(
                    "an answer is lost, because {MAX_ANSWERS} other answers wait for acknowledgements of the client"
                ),
            );
        }
    }

    pub fn refuse(&mut self, stream: StreamId, request: ObjectRequest, Refusal { status, why }: Refusal) {
        let object = request.object.0;
        self.log(
            Level::Warning,
            format_args!("a request for object {object:#06x} is refused ({}): {why}", status.name()),
        );
        self.answer(stream, request, status);
    }

    fn create(&mut self, stream: StreamId, flags: Flags, create: &Create<'_>) -> Option<Work> {
        let (request, site) = (create.request, Site { context: self.context, client: self.this, key: self.key });
        match self.objects.create(flags, create, &site) {
            Ok(Creation::There(status, owned)) if owned.is_empty() => self.answer(stream, request, status),
            Ok(Creation::There(_, objects)) => return Some(Work::Destroy { objects, stream, request }),
            Ok(Creation::New(building, replaced)) if building.is_cheap() && replaced.is_empty() => {
                match building.build(&site) {
                    Ok(built) => {
                        let sentence = self.objects.insert(*built);
                        self.created(stream, request, StatusValue::OK, sentence);
                    }
                    Err(refusal) => self.refuse(stream, request, refusal),
                }
            }
            Ok(Creation::New(building, replaced)) => {
                return Some(Work::Build { building, replaced, stream, request });
            }
            Err(refusal) => self.refuse(stream, request, refusal),
        }
        None
    }

    /// Answers a CREATE, and logs the new object.
    pub fn created(&mut self, stream: StreamId, request: ObjectRequest, status: StatusValue, sentence: Option<String>) {
        self.answer(stream, request, status);
        if let Some(sentence) = sentence {
            self.log(Level::Info, format_args!("{sentence}"));
        }
    }

    fn delete(&mut self, stream: StreamId, request: ObjectRequest) -> Option<Work> {
        if self.objects.get(request.object).is_none() {
            self.refuse(stream, request, Refusal::unknown("object", request.object));
            return None;
        }
        let objects = self.objects.take(request.object, self.context);
        if objects.is_empty() {
            self.answer(stream, request, StatusValue::OK);
            return None;
        }
        Some(Work::Destroy { objects, stream, request })
    }

    /// Publishes data of the client. The data is copied once, into the shared memory from which subscriptions read.
    fn write(&mut self, request: ObjectRequest, order: ByteOrder, data: &[u8]) -> Result<(), Refusal> {
        let Some(object) = self.objects.get_mut(request.object) else {
            return Err(Refusal::unknown("object", request.object));
        };
        let Object { written, entity, .. } = object;
        let written = written.as_deref();
        let limits = &self.context.config.limits;
        let allow =
            |memory: &WriterMemory| memory.check(limits).map_err(|why| Refusal::new(StatusValue::RESOURCES, why));
        let check = |data| checked(written, order, data).map_err(|why| Refusal::new(StatusValue::INVALID_DATA, why));
        let outlet = match entity {
            Entity::Publisher(publisher, memory) => {
                let data = check(data)?;
                allow(memory)?;
                let mut loan = publisher.loan(data.len())?;
                memory.set(publisher.memory_bytes());
                loan.bytes_mut().copy_from_slice(&data);
                publisher.publish(loan).map_err(gantry::Error::from)?;
                return Ok(());
            }
            Entity::Outlet(outlet) => outlet,
            Entity::Node(..) | Entity::None => {
                return Err(Refusal::new(StatusValue::MISMATCH, "an object of this kind accepts no data"));
            }
        };
        match &mut outlet.source {
            Source::Subscription(_) => {
                Err(Refusal::new(StatusValue::MISMATCH, "a data reader accepts no data; write to a data writer"))
            }
            Source::Requester(requester, memory) => {
                let data = check(data)?;
                allow(memory)?;
                let sent = requester.send(request.request, &data, limits.requests);
                memory.set(requester.library.memory_bytes());
                let is_given_up = sent?;
                self.counts.given_up += u64::from(is_given_up);
                Ok(())
            }
            Source::Service(service, memory) => {
                let (identity, reply) = split_request(data, order)
                    .map_err(|error| Refusal::new(StatusValue::INVALID_DATA, error.to_string()))?;
                let reply = check(reply)?;
                let id = RequestId { client_gid: Gid(identity.writer), sequence: identity.sequence as u64 };
                memory.set(service.memory_bytes()); // the memory shrinks when clients leave
                allow(memory)?;
                let mut loan = service.loan_response(id, reply.len())?;
                memory.set(service.memory_bytes());
                loan.bytes_mut().copy_from_slice(&reply);
                Ok(service.send_response(id, loan).map_err(gantry::Error::from)?)
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

/// The stream and the identifiers of a request that must be answered by a status or by data.
fn request_of(event: &AgentEvent<'_>) -> Option<(StreamId, ObjectRequest)> {
    match event {
        AgentEvent::Create { stream, create, .. } => Some((*stream, create.request)),
        AgentEvent::Unreadable { stream, request, .. }
        | AgentEvent::Delete { stream, request }
        | AgentEvent::Write { stream, request, .. } => Some((*stream, *request)),
        AgentEvent::Read { stream, read } => Some((*stream, read.request)),
        AgentEvent::Close { .. }
        | AgentEvent::UnknownStream { .. }
        | AgentEvent::Loss(_)
        | AgentEvent::Malformed(_) => None,
    }
}

/// Whether a CREATE creates an entity, or may destroy one.
fn is_costly(flags: Flags, create: &Create<'_>) -> bool {
    let is_group_or_topic =
        matches!(create.object.kind, ObjectKind::TOPIC | ObjectKind::PUBLISHER | ObjectKind::SUBSCRIBER);
    flags.has(Flags::REPLACE) || !is_group_or_topic
}
