//! The client's end of a session: it connects, notices that the agent is gone, and connects again.

mod event;
mod state;

pub use event::{ClientEvent, Disconnected};

use super::{
    AgentClock, EXTENSIONS, Incoming, Link, TIMESTAMP_PADDING_BYTES,
    data::{DATA_HEADER_BYTES, DataSlot, WriteError, data_header},
};
use crate::{
    stream::{Refused, Storage},
    time::Instant,
    wire::{
        ByteOrder, ClientKey, Delete, Flags, GetInfo, Header, Info, InfoMask, MessageBuilder, ObjectId, ObjectInfo,
        ObjectReply, ObjectRequest, Payload, Property, RequestId, ResultStatus, SessionId, StreamId, SubmessageId,
        Timestamp, parse,
    },
};
use core::num::NonZeroU32;
use state::{Change, LOGOUT, Phase, State, time_of};

/// The longest interval between two CREATE_CLIENT messages.
const MAX_RETRY_US: u32 = 400_000;
/// The number of consecutive unanswered questions after which the agent counts as gone.
const MAX_UNANSWERED: u8 = 3;
/// The number of unanswered probes of the reliable stream (about two seconds) after which the client ends the session.
/// Such silence means that the agent has reset its streams, for example because of a late CREATE_CLIENT. The sequence
/// numbers of both ends then differ.
const MAX_STALLED: u8 = 20;
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

/// A client's session. The streams are in the memory of a `Link`.
#[derive(Debug)]
pub struct ClientSession<O, I, A, B> {
    link: Link<O, I, A, B>,
    state: State,
}

impl<O: Storage, I: Storage, A: AsMut<[u8]>, B: Storage> ClientSession<O, I, A, B> {
    /// Makes a closed session.
    pub const fn new(config: ClientConfig, link: Link<O, I, A, B>) -> Self {
        Self { link, state: State::new(config) }
    }

    /// Begins to connect. Has no effect while the client connects or is connected.
    pub fn open(&mut self, now: Instant) {
        if matches!(self.state.phase, Phase::Closed | Phase::Closing) {
            self.state.connect(now);
        }
    }

    /// Begins to end the session: the agent deletes the client's objects.
    pub fn close(&mut self, now: Instant) {
        match self.state.phase {
            Phase::Connected => {
                (self.state.phase, self.state.unanswered, self.state.ask_at) = (Phase::Closing, 0, now);
            }
            Phase::Connecting { .. } => self.state.phase = Phase::Closed,
            Phase::Closed | Phase::Closing => {}
        }
    }

    /// Whether there is a session. In a session, objects can be created and data can be written.
    pub fn is_connected(&self) -> bool {
        matches!(self.state.phase, Phase::Connected)
    }

    /// The streams, for their counters.
    pub fn link(&self) -> &Link<O, I, A, B> {
        &self.link
    }

    /// The estimate of the agent's clock, if it was measured in this session.
    pub fn clock(&self) -> Option<&AgentClock> {
        self.state.clock.as_ref()
    }

    /// Asks for the agent's time. The event [`ClientEvent::Clock`] follows.
    pub fn synchronise(&mut self) {
        self.state.is_stamp_due = true;
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
        let request = self.state.next_request()?;
        self.link.add(stream, flags, &payload(request), max_bytes)?;
        self.state.last_request = request;
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
        let request = self.state.next_request()?;
        let max = scratch.len();
        let mut builder = MessageBuilder::resume(scratch, 0, 0, ByteOrder::Little);
        if builder.add(flags, &payload(request)).is_err() {
            return Err(Refused::TooLong { length: max + 1, max }.into());
        }
        let length = builder.bytes();
        self.link.write(StreamId::RELIABLE, &[scratch.get(..length).unwrap_or_default()])?;
        self.state.last_request = request;
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
        let request = self.state.next_request()?;
        let length = identity.len() + message.len();
        let header = data_header(SubmessageId::WRITE_DATA, ObjectRequest { request, object }, length);
        self.link.write(stream, &[&header, identity, message])?;
        self.state.last_request = request;
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
        let request = self.state.next_request()?;
        let slot = self.link.begin(stream, DATA_HEADER_BYTES + length)?;
        self.state.last_request = request;
        Ok(DataSlot::new(slot, SubmessageId::WRITE_DATA, ObjectRequest { request, object }))
    }

    /// Processes a message that the transport received. A malformed message is reported as an event.
    pub fn receive(&mut self, message: &[u8], now: Instant, handle: &mut dyn FnMut(ClientEvent<'_>)) {
        let header = match parse(message) {
            Ok((header, _)) => header,
            Err(error) => return handle(ClientEvent::Malformed(error)),
        };
        let Self { link, state } = self;
        if header.session != state.session || matches!(state.phase, Phase::Closed) {
            return; // a late message of an earlier session
        }
        if matches!(state.phase, Phase::Connected) {
            // Any message is a sign of life, even a fragment or a duplicate. A session that is closing ends on time,
            // even if messages arrive.
            state.heard(now);
        }
        link.receive(&header, message, now, &mut |incoming| match incoming {
            Incoming::Submessage { submessage, .. } => {
                if let Err(error) = state.submessage(&submessage, now, handle) {
                    handle(ClientEvent::Malformed(error));
                }
            }
            Incoming::Loss(loss) => handle(ClientEvent::Loss(loss)),
            Incoming::Malformed(error) => handle(ClientEvent::Malformed(error)),
        });
        match state.change.take() {
            Some(Change::Connected { is_extended }) => {
                link.reset(is_extended);
                state.connected(now);
                handle(ClientEvent::Connected);
            }
            Some(Change::Disconnected(reason)) => self.disconnect(reason, now, handle),
            None => {}
        }
    }

    /// Ends the session if the agent was silent for too long. The caller calls this before [`Self::transmit`].
    pub fn check(&mut self, now: Instant, handle: &mut dyn FnMut(ClientEvent<'_>)) {
        let is_over = self.state.unanswered >= MAX_UNANSWERED && now >= self.state.ask_at;
        match self.state.phase {
            Phase::Connected if is_over => self.disconnect(Disconnected::Silent, now, handle),
            Phase::Connected if self.link.unanswered() >= MAX_STALLED => {
                self.disconnect(Disconnected::Stalled, now, handle);
            }
            Phase::Closing if is_over => self.disconnect(Disconnected::Closed, now, handle),
            _ => {}
        }
    }

    fn disconnect(&mut self, reason: Disconnected, now: Instant, handle: &mut dyn FnMut(ClientEvent<'_>)) {
        let forgotten = self.link.reset(false);
        self.state.clock = None;
        if reason == Disconnected::Closed {
            self.state.phase = Phase::Closed;
        } else {
            self.state.connect(now);
        }
        handle(ClientEvent::Disconnected { reason, forgotten });
    }

    /// The next message to send; `None` if there is none. The caller repeats the call until the result is `None`.
    pub fn transmit(&mut self, now: Instant) -> Option<&[u8]> {
        let Self { link, state } = self;
        let header = Header { key: state.config.key, ..Header::streamless(state.session) };
        match state.phase {
            Phase::Closed => None,
            Phase::Connecting { ask_at, retry_us } => {
                if now < ask_at {
                    return None;
                }
                state.phase =
                    Phase::Connecting { ask_at: now.after_us(retry_us), retry_us: (2 * retry_us).min(MAX_RETRY_US) };
                let none = if state.session.has_key() { SessionId::NONE_WITH_KEY } else { SessionId::NONE };
                let header = Header { key: state.config.key, ..Header::streamless(none) };
                let [Property { name, value: version }] = EXTENSIONS;
                let [n0, n1, n2, n3] = state.config.boot_nonce.map_or(0, NonZeroU32::get).to_le_bytes();
                let value = [version[0], n0, n1, n2, n3];
                link.control(&header, &state.create_client(&[Property { name, value: &value }])).ok()
            }
            Phase::Closing => {
                if now < state.ask_at {
                    return None;
                }
                state.ask(now);
                let request = ObjectRequest { request: LOGOUT, object: ObjectId::CLIENT };
                link.control(&header, &Delete { request }).ok()
            }
            Phase::Connected => {
                if let Some(related) = state.answer.take() {
                    let reply = ObjectReply { related, result: ResultStatus::OK };
                    return link.control(&header, &Info { reply, info: ObjectInfo::default() }).ok();
                }
                if core::mem::take(&mut state.is_stamp_due) {
                    state.stamped_at = Some(now);
                    let padding_bytes = if link.is_extended() { TIMESTAMP_PADDING_BYTES } else { 0 };
                    return link.control(&header, &Timestamp { transmit: time_of(now), padding_bytes }).ok();
                }
                if now >= state.ask_at {
                    state.ask(now);
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
        match self.state.phase {
            Phase::Closed => None,
            Phase::Connecting { ask_at, .. } => Some(ask_at),
            Phase::Closing => Some(self.state.ask_at),
            Phase::Connected => Some(self.link.deadline().map_or(self.state.ask_at, |at| at.min(self.state.ask_at))),
        }
    }
}
