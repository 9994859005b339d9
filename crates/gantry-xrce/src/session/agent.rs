//! The agent's end of a session with one client.

use super::{Incoming, Link, Loss, Peer, data::data_header, greeting::agent_info};
use crate::{
    stream::{Refused, Storage},
    time::Instant,
    wire::{
        ByteOrder, Create, DataFormat, Delete, Error, Flags, GetInfo, Header, Info, InfoMask, ObjectId, ObjectReply,
        ObjectRequest, ReadData, RequestId, Result, ResultStatus, Status, StreamId, Submessage, SubmessageId, Time,
        Timestamp, TimestampReply, WriteData, parse,
    },
};

/// The number of consecutive unanswered questions after which the client counts as gone.
const MAX_UNANSWERED: u8 = 3;
/// The length of a STATUS in bytes: its submessage header, the identifiers of the request and the object, and the
/// result.
const STATUS_BYTES: usize = 10;
const PING: RequestId = RequestId(3);
/// The largest number of data bytes in one DATA submessage.
const MAX_DATA_BYTES: usize = u16::MAX as usize - ObjectRequest::BYTES;

/// An event of the agent's session. Most events are requests of the client.
#[derive(Clone, Debug)]
pub enum AgentEvent<'a> {
    /// A request to create an object. The agent answers with [`AgentSession::status`].
    Create {
        /// The stream of the request. The agent must answer in this stream.
        stream: StreamId,
        /// The rule for an object that exists already: REUSE, REPLACE or neither.
        flags: Flags,
        /// The object.
        create: Create<'a>,
    },
    /// A request to create an object whose description could not be read. The agent answers with
    /// [`AgentSession::status`].
    Unreadable {
        /// The stream of the request. The agent must answer in this stream.
        stream: StreamId,
        /// The identifiers of the request and of the object.
        request: ObjectRequest,
        /// The defect.
        error: Error,
    },
    /// A request to delete an object. The agent answers with [`AgentSession::status`].
    Delete {
        /// The stream of the request. The agent must answer in this stream.
        stream: StreamId,
        /// The identifiers of the request and of the object.
        request: ObjectRequest,
    },
    /// A request to write data.
    Write {
        /// The stream of the request. If the object is unknown, the agent sends a STATUS in this stream.
        stream: StreamId,
        /// The identifiers of the request and of the object.
        request: ObjectRequest,
        /// The byte order of the data.
        order: ByteOrder,
        /// The data: a message in CDR without an encapsulation header. If the object is a replier, the identity of the
        /// answered request precedes the message.
        data: &'a [u8],
    },
    /// A request to get data of an object.
    Read {
        /// The stream in which the client wants the data. If the object is unknown, the agent sends a STATUS in this
        /// stream.
        stream: StreamId,
        /// The object, and the amount and rate of data that the client wants.
        read: ReadData<'a>,
    },
    /// A request to end the session. The agent answers with [`farewell`](super::farewell).
    Close {
        /// The request.
        request: ObjectRequest,
    },
    /// A message was dropped because it came in a stream that the session does not have. A session has one reliable and
    /// one best-effort stream. The sender repeats the message if it is reliable.
    UnknownStream {
        /// The stream of the message. [`AgentSession::status`] answers in the session's own reliable or best-effort
        /// stream.
        stream: StreamId,
        /// The first request in the message, if the message has one.
        request: Option<ObjectRequest>,
    },
    /// Something was lost.
    Loss(Loss),
    /// A message could not be read and is dropped.
    Malformed(Error),
}

/// The agent's session with one client. The streams are in the memory of a `Link`.
#[derive(Debug)]
pub struct AgentSession<O, I, A, B> {
    link: Link<O, I, A, B>,
    core: Core,
}

impl<O: Storage, I: Storage, A: AsMut<[u8]>, B: Storage> AgentSession<O, I, A, B> {
    /// Makes a session that begins at `now`.
    pub fn new(peer: Peer, mut link: Link<O, I, A, B>, now: Instant) -> Self {
        link.reset(peer.is_extended);
        let mut core = Core { peer, ask_at: now, unanswered: 0, is_asking: false, answer: None, stamp: None };
        core.heard(now);
        Self { link, core }
    }

    /// The client.
    pub fn peer(&self) -> &Peer {
        &self.core.peer
    }

    /// The streams, for their counters.
    pub fn link(&self) -> &Link<O, I, A, B> {
        &self.link
    }

    /// Handles a received message of this session, whose `header` the caller has parsed. `time` is the current time of
    /// day at the agent, for replies to time-stamp requests.
    pub fn receive(
        &mut self,
        header: &Header,
        message: &[u8],
        now: Instant,
        time: Time,
        handle: &mut dyn FnMut(AgentEvent<'_>),
    ) {
        let Self { link, core } = self;
        core.heard(now);
        link.receive(header, message, now, &mut |incoming| match incoming {
            Incoming::Submessage { stream, submessage } => {
                if let Err(error) = core.submessage(stream, &submessage, time, handle) {
                    handle(AgentEvent::Malformed(error));
                }
            }
            Incoming::Loss(loss) => handle(AgentEvent::Loss(loss)),
            Incoming::Malformed(error) => handle(AgentEvent::Malformed(error)),
        });
        let stream = header.stream;
        if ![StreamId::NONE, StreamId::BEST_EFFORT, StreamId::RELIABLE].contains(&stream) {
            handle(AgentEvent::UnknownStream { stream, request: first_request(message) });
        }
    }

    /// Answers a request. eProsima's clients wait for one status at a time and ignore other statuses in the same
    /// message, so each status is sent in a separate message. Statuses share a message only if both ends of the session
    /// have Gantry's extensions.
    ///
    /// # Errors
    /// [`Refused`]: the stream is full.
    pub fn status(
        &mut self,
        stream: StreamId,
        related: ObjectRequest,
        result: ResultStatus,
    ) -> core::result::Result<(), Refused> {
        let stream = if stream.is_reliable() { StreamId::RELIABLE } else { StreamId::BEST_EFFORT };
        let reply = ObjectReply { related, result };
        self.link.add(stream, Flags::NONE, &Status { reply }, STATUS_BYTES)?;
        if !self.link.is_extended() {
            self.link.end_message(stream);
        }
        Ok(())
    }

    /// Sends data of an object to the client: `identity`, which is empty except for requesters and repliers, and then a
    /// message in CDR without its encapsulation header. In a reliable stream, data that is longer than a slot is sent
    /// in fragments.
    ///
    /// # Errors
    /// [`Refused`]: the stream is full, or the message is too long for it.
    pub fn send(
        &mut self,
        stream: StreamId,
        request: ObjectRequest,
        identity: &[u8],
        message: &[u8],
    ) -> core::result::Result<(), Refused> {
        let length = identity.len() + message.len();
        check_length(length)?;
        let header = data_header(SubmessageId::DATA, request, length);
        self.link.write(stream, &[&header, identity, message])
    }

    /// Sends data that is longer than all slots of the reliable stream together. Each call copies as much data as the
    /// stream has room for. Pass the same data in each call. `sent` is 0 in the first call, and the last result in each
    /// later call. Returns `None` when all data is in the stream; until then the stream accepts no other message.
    ///
    /// # Errors
    /// [`Refused`]: other long data is not yet completely in the stream, or the data is longer than 65531 bytes.
    pub fn send_part(
        &mut self,
        request: ObjectRequest,
        identity: &[u8],
        message: &[u8],
        sent: usize,
    ) -> core::result::Result<Option<usize>, Refused> {
        let length = identity.len() + message.len();
        check_length(length)?;
        let header = data_header(SubmessageId::DATA, request, length);
        let sent = self.link.write_part(&[&header, identity, message], sent)?;
        Ok(Some(sent).filter(|&sent| sent < header.len() + length))
    }

    /// Makes [`Self::transmit`] ask the client whether it is alive.
    pub fn ask(&mut self) {
        self.core.is_asking = true;
    }

    /// Whether the client was silent for too long and counts as gone.
    pub fn is_gone(&self, now: Instant) -> bool {
        self.core.unanswered >= MAX_UNANSWERED && now >= self.core.ask_at
    }

    /// The next message to send; `None` if there is none. The caller repeats the call until the result is `None`.
    pub fn transmit(&mut self, now: Instant, time: Time) -> Option<&[u8]> {
        let Self { link, core } = self;
        let header = Header { key: core.peer.key, ..Header::streamless(core.peer.session) };
        if let Some((receive, originate)) = core.stamp.take() {
            return link.control(&header, &TimestampReply { transmit: time, receive, originate }).ok();
        }
        if let Some(related) = core.answer.take() {
            // For eProsima's clients, the implementation status 1 means that the agent has the session.
            let result = ResultStatus { implementation: 1, ..ResultStatus::OK };
            let reply = ObjectReply { related, result };
            return link.control(&header, &Info { reply, info: agent_info() }).ok();
        }
        let is_due = now >= core.ask_at && core.unanswered < MAX_UNANSWERED;
        if core::mem::take(&mut core.is_asking) || is_due {
            if is_due {
                core.ask(now);
            }
            let request = ObjectRequest { request: PING, object: ObjectId::CLIENT };
            return link.control(&header, &GetInfo { request, mask: InfoMask::ACTIVITY }).ok();
        }
        link.transmit(&header, now)
    }

    /// The time at which the caller has to call [`Self::is_gone`] and [`Self::transmit`], unless a message arrives or
    /// data is written earlier.
    pub fn deadline(&self) -> Instant {
        self.link.deadline().map_or(self.core.ask_at, |at| at.min(self.core.ask_at))
    }
}

/// The first request in a message that concerns an object.
fn first_request(message: &[u8]) -> Option<ObjectRequest> {
    const REQUESTS: [SubmessageId; 4] =
        [SubmessageId::CREATE, SubmessageId::DELETE, SubmessageId::WRITE_DATA, SubmessageId::READ_DATA];
    let (_, submessages) = parse(message).ok()?;
    let mut requests = submessages.map_while(Result::ok).filter(|submessage| REQUESTS.contains(&submessage.id));
    requests.next()?.object_request().ok()
}

/// Refuses data whose length does not fit in the length field of DATA. In WRITE_DATA, a length of 0 means the rest of
/// the message; DATA has no such rule.
fn check_length(length: usize) -> core::result::Result<(), Refused> {
    if length <= MAX_DATA_BYTES { Ok(()) } else { Err(Refused::TooLong { length, max: MAX_DATA_BYTES }) }
}

/// The part of the session that does not depend on the slot sizes, so that its code is compiled only once.
#[derive(Debug)]
struct Core {
    peer: Peer,
    /// The time at which the agent asks the client whether it is alive, unless a message arrives earlier.
    ask_at: Instant,
    unanswered: u8,
    /// Whether the next [`AgentSession::transmit`] asks the client if it is alive. An unanswered question is not
    /// counted.
    is_asking: bool,
    /// The client's question whether the agent is alive, if it is not answered yet.
    answer: Option<ObjectRequest>,
    /// The arrival time of a time-stamp request by the agent's clock, and its transmit time by the client's clock.
    stamp: Option<(Time, Time)>,
}

impl Core {
    fn heard(&mut self, now: Instant) {
        (self.ask_at, self.unanswered) = (now.after_us(self.peer.silence_us), 0);
    }

    fn ask(&mut self, now: Instant) {
        (self.ask_at, self.unanswered) = (now.after_us(self.peer.silence_us), self.unanswered.saturating_add(1));
    }

    fn submessage(
        &mut self,
        stream: StreamId,
        submessage: &Submessage<'_>,
        time: Time,
        handle: &mut dyn FnMut(AgentEvent<'_>),
    ) -> Result<()> {
        match submessage.id {
            SubmessageId::CREATE => {
                let request = submessage.object_request()?;
                handle(match submessage.read() {
                    Ok(create) => AgentEvent::Create { stream, flags: submessage.flags, create },
                    Err(error) => AgentEvent::Unreadable { stream, request, error },
                });
            }
            SubmessageId::DELETE => {
                let Delete { request } = submessage.read()?;
                handle(match request.object {
                    ObjectId::CLIENT => AgentEvent::Close { request },
                    _ => AgentEvent::Delete { stream, request },
                });
            }
            SubmessageId::WRITE_DATA if submessage.flags.data_format() == DataFormat::DATA => {
                let order = submessage.payload.order();
                let WriteData { request, data } = submessage.read()?;
                handle(AgentEvent::Write { stream, request, order, data });
            }
            SubmessageId::READ_DATA => handle(AgentEvent::Read { stream, read: submessage.read()? }),
            SubmessageId::GET_INFO => self.answer = Some(submessage.object_request()?),
            SubmessageId::TIMESTAMP => {
                let Timestamp { transmit, .. } = submessage.read()?;
                self.stamp = Some((time, transmit));
            }
            _ => {}
        }
        Ok(())
    }
}
