//! The client's end of a session: it connects, notices that the agent is gone, and connects again.

use super::{
    AgentClock, EXTENSIONS, Exchange, Incoming, Link, Loss, TIMESTAMP_PADDING_BYTES,
    data::{DATA_HEADER_BYTES, DataSlot, WriteError, data_header},
};
use crate::{
    stream::{Refused, Storage},
    time::Instant,
    wire::{
        ByteOrder, ClientKey, ClientRepresentation, CreateClient, Data, DataFormat, Delete, Error, Flags, GetInfo,
        Header, Info, InfoMask, List, MessageBuilder, ObjectId, ObjectInfo, ObjectReply, ObjectRequest, Payload,
        Property, RequestId, ResultStatus, SessionId, StatusAgent, StreamId, Submessage, SubmessageId, Time, Timestamp,
        TimestampReply, VENDOR_EPROSIMA, VERSION, parse,
    },
};
use core::num::NonZeroU32;

/// The first interval between two CREATE_CLIENT messages. The interval doubles up to `MAX_RETRY_US`.
const FIRST_RETRY_US: u32 = 50_000;
/// The longest interval between two CREATE_CLIENT messages.
const MAX_RETRY_US: u32 = 400_000;
/// The silence of the agent after which the client asks whether the agent is alive.
const SILENCE_US: u32 = 250_000;
/// The number of consecutive unanswered questions after which the agent counts as gone.
const MAX_UNANSWERED: u8 = 3;
/// The number of unanswered probes of the reliable stream (about two seconds) after which the client ends the session.
/// Such silence means that the agent has reset its streams, for example because of a late CREATE_CLIENT. The sequence
/// numbers of both ends then differ.
const MAX_STALLED: u8 = 20;
/// The reserved request number of the DELETE that ends the session.
const LOGOUT: RequestId = RequestId(2);
const PING: RequestId = RequestId(3);

/// The properties that a client states in its CREATE_CLIENT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// The key that distinguishes this client from the agent's other clients.
    pub key: ClientKey,
    /// The largest length of a message that the transport carries, in bytes.
    pub mtu_bytes: u16,
    /// A random number that the client draws when it boots; `None` if the client has no entropy.
    pub boot_nonce: Option<NonZeroU32>,
}

/// The reason why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disconnected {
    /// The agent does not answer any more.
    Silent,
    /// The agent is alive, but acknowledges none of the messages of the reliable stream.
    Stalled,
    /// The agent does not know the session: the agent was restarted, or has dropped the client.
    Unknown,
    /// The client closed the session.
    Closed,
}

/// The events of a session.
#[derive(Clone, Debug)]
pub enum ClientEvent<'a> {
    /// A new session began. The agent has no objects of this client.
    Connected,
    /// The agent refuses the client. The client continues to send CREATE_CLIENT.
    Refused(ResultStatus),
    /// The session has ended. The client connects again, unless it closed the session itself.
    Disconnected {
        /// The reason.
        reason: Disconnected,
        /// The number of discarded messages, which were not sent or not acknowledged.
        forgotten: u16,
    },
    /// The answer to a request.
    Status {
        /// The identifiers of the request and of the object.
        request: ObjectRequest,
        /// The result.
        result: ResultStatus,
    },
    /// Data of a data reader, requester or replier.
    Data {
        /// The READ_DATA that asked for the data.
        request: ObjectRequest,
        /// The byte order of the data.
        order: ByteOrder,
        /// The data: a message in CDR without an encapsulation header. For requesters and repliers, an identity
        /// precedes the message.
        data: &'a [u8],
    },
    /// The estimate of the agent's clock changed.
    Clock(AgentClock),
    /// Something was lost.
    Loss(Loss),
    /// A message could not be read and is dropped.
    Malformed(Error),
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed,
    Connecting {
        ask_at: Instant,
        retry_us: u32,
    },
    Connected,
    /// The client has sent a DELETE of itself. It waits for the answer, or until the agent counts as gone.
    Closing,
}

/// A client's session. The streams are in the memory of a `Link`.
#[derive(Debug)]
pub struct ClientSession<O, I, A, B> {
    link: Link<O, I, A, B>,
    core: Core,
}

impl<O: Storage, I: Storage, A: AsMut<[u8]>, B: Storage> ClientSession<O, I, A, B> {
    /// Makes a closed session.
    pub const fn new(config: ClientConfig, link: Link<O, I, A, B>) -> Self {
        Self { link, core: Core::new(config) }
    }

    /// Begins to connect. Has no effect while the client connects or is connected.
    pub fn open(&mut self, now: Instant) {
        if matches!(self.core.state, State::Closed | State::Closing) {
            self.core.connect(now);
        }
    }

    /// Begins to end the session: the agent deletes the client's objects.
    pub fn close(&mut self, now: Instant) {
        match self.core.state {
            State::Connected => {
                (self.core.state, self.core.unanswered, self.core.ask_at) = (State::Closing, 0, now);
            }
            State::Connecting { .. } => self.core.state = State::Closed,
            State::Closed | State::Closing => {}
        }
    }

    /// Whether there is a session. In a session, objects can be created and data can be written.
    pub fn is_connected(&self) -> bool {
        matches!(self.core.state, State::Connected)
    }

    /// The streams, for their counters.
    pub fn link(&self) -> &Link<O, I, A, B> {
        &self.link
    }

    /// The estimate of the agent's clock, if it was measured in this session.
    pub fn clock(&self) -> Option<&AgentClock> {
        self.core.clock.as_ref()
    }

    /// Asks for the agent's time. The event [`ClientEvent::Clock`] follows.
    pub fn synchronise(&mut self) {
        self.core.is_stamp_due = true;
    }

    /// Adds a request of at most `max_bytes` bytes, including its header. The request gets the next request number,
    /// which this function passes to `payload` and returns. Does not block.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn request<'p, P: Payload<'p>>(
        &mut self,
        stream: StreamId,
        flags: Flags,
        max_bytes: usize,
        payload: impl FnOnce(RequestId) -> P,
    ) -> Result<RequestId, WriteError> {
        let request = self.core.next_request()?;
        self.link.add(stream, flags, &payload(request), max_bytes)?;
        self.core.last_request = request;
        Ok(request)
    }

    /// Adds a request like [`Self::request`], but the request may be longer than a slot. The request is composed in
    /// `scratch`; if it is longer than a slot, it is sent in fragments.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn request_in_fragments<'p, P: Payload<'p>>(
        &mut self,
        flags: Flags,
        scratch: &mut [u8],
        payload: impl FnOnce(RequestId) -> P,
    ) -> Result<RequestId, WriteError> {
        let request = self.core.next_request()?;
        let max = scratch.len();
        let mut builder = MessageBuilder::resume(scratch, 0, 0, ByteOrder::Little);
        if builder.add(flags, &payload(request)).is_err() {
            return Err(Refused::TooLong { length: max + 1, max }.into());
        }
        let length = builder.bytes();
        self.link.write(StreamId::RELIABLE, &[scratch.get(..length).unwrap_or_default()])?;
        self.core.last_request = request;
        Ok(request)
    }

    /// Writes data of an object: `identity`, which is empty except for replies, and then a message in CDR without its
    /// encapsulation header. In a reliable stream, data that is longer than a slot is sent in fragments. Does not
    /// block.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn write(
        &mut self,
        stream: StreamId,
        object: ObjectId,
        identity: &[u8],
        message: &[u8],
    ) -> Result<RequestId, WriteError> {
        let request = self.core.next_request()?;
        let length = identity.len() + message.len();
        let header = data_header(SubmessageId::WRITE_DATA, ObjectRequest { request, object }, length);
        self.link.write(stream, &[&header, identity, message])?;
        self.core.last_request = request;
        Ok(request)
    }

    /// Reserves room for `length` bytes of data, which the caller fills in place. Does not block.
    ///
    /// # Errors
    /// [`WriteError`], also for data that is longer than a slot.
    pub fn begin_write(
        &mut self,
        stream: StreamId,
        object: ObjectId,
        length: usize,
    ) -> Result<DataSlot<'_>, WriteError> {
        let request = self.core.next_request()?;
        let slot = self.link.begin(stream, DATA_HEADER_BYTES + length)?;
        self.core.last_request = request;
        Ok(DataSlot::new(slot, SubmessageId::WRITE_DATA, ObjectRequest { request, object }))
    }

    /// Processes a message that the transport received. A malformed message is reported as an event.
    pub fn receive(&mut self, message: &[u8], now: Instant, handle: &mut dyn FnMut(ClientEvent<'_>)) {
        let header = match parse(message) {
            Ok((header, _)) => header,
            Err(error) => return handle(ClientEvent::Malformed(error)),
        };
        let Self { link, core } = self;
        if header.session != core.session || matches!(core.state, State::Closed) {
            return; // a late message of an earlier session
        }
        if matches!(core.state, State::Connected) {
            // Any message is a sign of life, even a fragment or a duplicate. A session that is closing ends on time,
            // even if messages arrive.
            core.heard(now);
        }
        link.receive(&header, message, now, &mut |incoming| match incoming {
            Incoming::Submessage { submessage, .. } => {
                if let Err(error) = core.submessage(&submessage, now, handle) {
                    handle(ClientEvent::Malformed(error));
                }
            }
            Incoming::Loss(loss) => handle(ClientEvent::Loss(loss)),
            Incoming::Malformed(error) => handle(ClientEvent::Malformed(error)),
        });
        match core.change.take() {
            Some(Change::Connected { is_extended }) => {
                link.reset(is_extended);
                core.connected(now);
                handle(ClientEvent::Connected);
            }
            Some(Change::Disconnected(reason)) => self.disconnect(reason, now, handle),
            None => {}
        }
    }

    /// Ends the session if the agent was silent for too long. The caller calls this before [`Self::transmit`].
    pub fn check(&mut self, now: Instant, handle: &mut dyn FnMut(ClientEvent<'_>)) {
        let is_over = self.core.unanswered >= MAX_UNANSWERED && now >= self.core.ask_at;
        match self.core.state {
            State::Connected if is_over => self.disconnect(Disconnected::Silent, now, handle),
            State::Connected if self.link.unanswered() >= MAX_STALLED => {
                self.disconnect(Disconnected::Stalled, now, handle);
            }
            State::Closing if is_over => self.disconnect(Disconnected::Closed, now, handle),
            _ => {}
        }
    }

    fn disconnect(&mut self, reason: Disconnected, now: Instant, handle: &mut dyn FnMut(ClientEvent<'_>)) {
        let forgotten = self.link.reset(false);
        self.core.clock = None;
        if reason == Disconnected::Closed {
            self.core.state = State::Closed;
        } else {
            self.core.connect(now);
        }
        handle(ClientEvent::Disconnected { reason, forgotten });
    }

    /// The next message to send; `None` if there is none. The caller repeats the call until the result is `None`.
    pub fn transmit(&mut self, now: Instant) -> Option<&[u8]> {
        let Self { link, core } = self;
        let header = Header { key: core.config.key, ..Header::streamless(core.session) };
        match core.state {
            State::Closed => None,
            State::Connecting { ask_at, retry_us } => {
                if now < ask_at {
                    return None;
                }
                core.state =
                    State::Connecting { ask_at: now.after_us(retry_us), retry_us: (2 * retry_us).min(MAX_RETRY_US) };
                let none = if core.session.has_key() { SessionId::NONE_WITH_KEY } else { SessionId::NONE };
                let header = Header { key: core.config.key, ..Header::streamless(none) };
                let [Property { name, value: version }] = EXTENSIONS;
                let [n0, n1, n2, n3] = core.config.boot_nonce.map_or(0, NonZeroU32::get).to_le_bytes();
                let value = [version[0], n0, n1, n2, n3];
                link.control(&header, &core.create_client(&[Property { name, value: &value }])).ok()
            }
            State::Closing => {
                if now < core.ask_at {
                    return None;
                }
                core.ask(now);
                let request = ObjectRequest { request: LOGOUT, object: ObjectId::CLIENT };
                link.control(&header, &Delete { request }).ok()
            }
            State::Connected => {
                if let Some(related) = core.answer.take() {
                    let reply = ObjectReply { related, result: ResultStatus::OK };
                    return link.control(&header, &Info { reply, info: ObjectInfo::default() }).ok();
                }
                if core::mem::take(&mut core.is_stamp_due) {
                    core.stamped_at = Some(now);
                    let padding_bytes = if link.is_extended() { TIMESTAMP_PADDING_BYTES } else { 0 };
                    return link.control(&header, &Timestamp { transmit: time_of(now), padding_bytes }).ok();
                }
                if now >= core.ask_at {
                    core.ask(now);
                    let request = ObjectRequest { request: PING, object: ObjectId::AGENT };
                    return link.control(&header, &GetInfo { request, mask: InfoMask::ACTIVITY }).ok();
                }
                link.transmit(&header, now)
            }
        }
    }

    /// The time at which the caller has to call [`Self::check`] and [`Self::transmit`], unless a message arrives or
    /// data is written earlier.
    pub fn deadline(&self) -> Option<Instant> {
        match self.core.state {
            State::Closed => None,
            State::Connecting { ask_at, .. } => Some(ask_at),
            State::Closing => Some(self.core.ask_at),
            State::Connected => Some(self.link.deadline().map_or(self.core.ask_at, |at| at.min(self.core.ask_at))),
        }
    }
}

/// A change of the streams that a received message causes. The change waits until the whole message is read, because
/// the message may lie in the memory of these streams.
#[derive(Debug)]
enum Change {
    Connected { is_extended: bool },
    Disconnected(Disconnected),
}

/// The part of the session that does not depend on the slot sizes, so that its code is compiled only once.
#[derive(Debug)]
struct Core {
    config: ClientConfig,
    state: State,
    session: SessionId,
    last_request: RequestId,
    /// The time at which the client asks whether the agent is alive, unless a message arrives before.
    ask_at: Instant,
    unanswered: u8,
    /// The agent's question whether the client is alive, which has not been answered yet.
    answer: Option<ObjectRequest>,
    is_stamp_due: bool,
    /// The time at which the client sent its last request for a time stamp; `None` after the reply.
    stamped_at: Option<Instant>,
    clock: Option<AgentClock>,
    change: Option<Change>,
}

impl Core {
    const fn new(config: ClientConfig) -> Self {
        Self {
            config,
            state: State::Closed,
            session: SessionId(SessionId::CLIENT.0 - 1),
            last_request: RequestId::LAST_RESERVED,
            ask_at: Instant::from_us(0),
            unanswered: 0,
            answer: None,
            is_stamp_due: false,
            stamped_at: None,
            clock: None,
            change: None,
        }
    }

    /// Begins to connect. Each session has its own number, so that the client recognises late messages of an earlier
    /// session.
    fn connect(&mut self, now: Instant) {
        self.session = SessionId(self.session.0.wrapping_add(1).max(SessionId::CLIENT.0));
        self.state = State::Connecting { ask_at: now, retry_us: FIRST_RETRY_US };
    }

    fn connected(&mut self, now: Instant) {
        self.state = State::Connected;
        (self.answer, self.stamped_at) = (None, None);
        self.heard(now);
    }

    fn heard(&mut self, now: Instant) {
        (self.ask_at, self.unanswered) = (now.after_us(SILENCE_US), 0);
    }

    fn ask(&mut self, now: Instant) {
        (self.ask_at, self.unanswered) = (now.after_us(SILENCE_US), self.unanswered.saturating_add(1));
    }

    fn next_request(&self) -> Result<RequestId, WriteError> {
        if matches!(self.state, State::Connected) {
            Ok(self.last_request.next())
        } else {
            Err(WriteError::NotConnected)
        }
    }

    fn create_client<'a>(&self, properties: &'a [Property<'a>]) -> CreateClient<'a> {
        CreateClient {
            client: ClientRepresentation {
                version: VERSION,
                vendor: VENDOR_EPROSIMA,
                key: self.config.key,
                session: self.session,
                properties: Some(List::from(properties)),
                // The MTU without the message header, as eProsima's client states it.
                mtu_bytes: self.config.mtu_bytes.saturating_sub(4),
            },
        }
    }

    fn submessage(
        &mut self,
        submessage: &Submessage<'_>,
        now: Instant,
        handle: &mut dyn FnMut(ClientEvent<'_>),
    ) -> crate::wire::Result<()> {
        // All payloads are read with one reader, because `Submessage::read` would copy the reader for each payload.
        let mut payload = submessage.payload;
        let is_connecting = matches!(self.state, State::Connecting { .. });
        if submessage.id == SubmessageId::STATUS_AGENT {
            if is_connecting {
                let status = StatusAgent::read(&mut payload);
                payload.check()?;
                self.agent_answered(&status, handle);
            }
            return Ok(());
        }
        if is_connecting {
            return Ok(()); // only STATUS_AGENT begins the session
        }
        match submessage.id {
            SubmessageId::STATUS => {
                let ObjectReply { related, result } = ObjectReply::read(&mut payload);
                payload.check()?;
                if matches!(self.state, State::Closing) && related.request == LOGOUT {
                    self.change = Some(Change::Disconnected(Disconnected::Closed));
                } else {
                    handle(ClientEvent::Status { request: related, result });
                }
            }
            SubmessageId::DATA if submessage.flags.data_format() == DataFormat::DATA => {
                let order = payload.order();
                let Data { request, data } = Data::read(&mut payload);
                payload.check()?;
                handle(ClientEvent::Data { request, order, data });
            }
            SubmessageId::INFO => {
                // In eProsima's INFO, the implementation status is 0 if the agent has no session with this client.
                let reply = ObjectReply::read(&mut payload);
                payload.check()?;
                if reply.related.object == ObjectId::AGENT && reply.result.implementation == 0 {
                    self.change = Some(Change::Disconnected(match self.state {
                        State::Closing => Disconnected::Closed,
                        _ => Disconnected::Unknown,
                    }));
                }
            }
            SubmessageId::GET_INFO => {
                let request = ObjectRequest::read(&mut payload);
                payload.check()?;
                self.answer = Some(request);
            }
            SubmessageId::TIMESTAMP_REPLY => {
                let reply = TimestampReply::read(&mut payload);
                payload.check()?;
                self.stamped(&reply, now, handle);
            }
            _ => {}
        }
        Ok(())
    }

    fn agent_answered(&mut self, status: &StatusAgent<'_>, handle: &mut dyn FnMut(ClientEvent<'_>)) {
        if status.result.status.is_ok() {
            let properties = status.agent.properties.unwrap_or_default();
            let is_extended = properties.iter().any(|property| EXTENSIONS.contains(&property));
            self.change = Some(Change::Connected { is_extended });
        } else {
            handle(ClientEvent::Refused(status.result));
        }
    }

    /// Handles a reply to a time-stamp request. Replies to earlier requests than the last one are ignored, because they
    /// would give a wrong round trip.
    fn stamped(&mut self, reply: &TimestampReply, now: Instant, handle: &mut dyn FnMut(ClientEvent<'_>)) {
        let Some(sent) = self.stamped_at.take_if(|sent| time_of(*sent) == reply.originate) else { return };
        let exchange = Exchange { sent, agent_received: reply.receive, agent_sent: reply.transmit, received: now };
        let measured = AgentClock::measured(exchange);
        let clock = self.clock.get_or_insert(measured);
        clock.improve(measured);
        handle(ClientEvent::Clock(*clock));
    }
}

fn time_of(instant: Instant) -> Time {
    Time::from_ns((instant.as_us() as i64).wrapping_mul(1000))
}
