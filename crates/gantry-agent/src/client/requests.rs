//! The requests of a client, which its objects carry out.

use super::{
    Answer,
    counts::{Counts, KeyText},
    objects::{Entity, Object, Objects, Site},
    outlet::Source,
    plan::{Plan, Refusal},
    reading::Reading,
};
use crate::{
    context::{ClientCell, Context},
    log::{Level, Limiter},
    transport::Line,
};
use gantry::{Gid, RequestId};
use gantry_xrce::{
    session::AgentEvent,
    time::Instant,
    wire::{ByteOrder, ClientKey, Create, Flags, ObjectRequest, ReadData, StatusValue, StreamId, split_request},
};
use std::{
    borrow::Cow,
    collections::VecDeque,
    fmt,
    sync::{Arc, Weak},
};

/// The answers that wait for room in the session. A client that asks so much more than it acknowledges is broken.
const MAX_ANSWERS: usize = 256;

/// A client without its session, which hands over its requests.
pub struct Requests<'a> {
    pub this: &'a Weak<ClientCell>,
    pub objects: &'a mut Objects,
    pub answers: &'a mut VecDeque<Answer>,
    pub counts: &'a mut Counts,
    pub limiter: &'a mut Limiter,
    pub line: &'a Line,
    pub is_closed: &'a mut Option<ObjectRequest>,
    pub context: &'a Arc<Context>,
    pub key: ClientKey,
    pub now: Instant,
}

impl Requests<'_> {
    pub fn handle(&mut self, event: AgentEvent<'_>) {
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
            AgentEvent::UnknownStream { stream, request } => {
                let (known, other) = (StreamId::RELIABLE.0, StreamId::BEST_EFFORT.0);
                let (stream_id, why) = (stream.0, format!("use {known:#04x} and {other:#04x}"));
                self.log(
                    Level::Warning,
                    format_args!(
                        "a message in stream {stream_id:#04x} is refused, which a session does not have: {why}"
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

    fn create(&mut self, stream: StreamId, flags: Flags, create: &Create<'_>) {
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
        let Object { plan, entity, .. } = object;
        let in_order = |data| little_endian(self.context, order, plan, data);
        let outlet = match entity {
            Entity::Publisher(publisher) => {
                let data = in_order(data)?;
                let mut loan = publisher.loan(data.len())?;
                loan.bytes_mut().copy_from_slice(&data);
                publisher.publish(loan).map_err(gantry::Error::from)?;
                return Ok(());
            }
            Entity::Outlet(outlet) => outlet,
            Entity::Node(..) | Entity::None => {
                return Err(Refusal::new(StatusValue::MISMATCH, "an object of this kind takes no data"));
            }
        };
        match &mut outlet.source {
            Source::Subscription(_) => {
                Err(Refusal::new(StatusValue::MISMATCH, "a data reader takes no data; write to a data writer"))
            }
            Source::Requester(requester) => {
                let max_pending = self.context.config.limits.requests;
                let data = in_order(data)?;
                let is_given_up = requester.send(request.request, &data, max_pending)?;
                self.counts.given_up += u64::from(is_given_up);
                Ok(())
            }
            Source::Service(service) => {
                let (identity, reply) = split_request(data, order)
                    .map_err(|error| Refusal::new(StatusValue::INVALID_DATA, error.to_string()))?;
                let reply = in_order(reply)?;
                let id = RequestId { client_gid: Gid(identity.writer), sequence: identity.sequence as u64 };
                let mut loan = service.loan_response(id, reply.len())?;
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

/// Data in little-endian CDR.
fn little_endian<'d>(
    context: &Context,
    order: ByteOrder,
    plan: &Plan,
    data: &'d [u8],
) -> Result<Cow<'d, [u8]>, Refusal> {
    let Some(message_type) = plan.written_type().filter(|_| order == ByteOrder::Big) else { return Ok(data.into()) };
    let turned = context.big_endian.to_little_endian(message_type, data);
    turned.map(Cow::Owned).map_err(|why| Refusal::new(StatusValue::INVALID_DATA, why))
}
