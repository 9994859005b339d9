//! A client and an agent in one process, with a line between them and simulated time.

use gantry_xrce::{
    session::{
        AgentEvent, AgentSession, ClientConfig, ClientEvent, ClientSession, Disconnected, Link, Peer, farewell, info,
        welcome,
    },
    stream::ArraySlots,
    time::Instant,
    wire::{
        ClientKey, CreateClient, ObjectId, ObjectRequest, RequestId, ResultStatus, StreamId, SubmessageId, Time, parse,
    },
};
use std::collections::VecDeque;
use test_support::xrce::streams::{Faults, HeapSlots, Line};

pub const KEY: ClientKey = ClientKey([0xaa, 0xaa, 0xbb, 0xbb]);
/// The time by which the agent's clock is ahead of the client's.
pub const AHEAD_NS: i64 = 1_700_000_000_123_456_789;
pub const SLOT_BYTES: usize = 128;

pub type Client =
    ClientSession<ArraySlots<SLOT_BYTES, 4>, ArraySlots<SLOT_BYTES, 4>, [u8; 2048], ArraySlots<SLOT_BYTES, 2>>;
pub type Agent = AgentSession<HeapSlots, HeapSlots, Vec<u8>, HeapSlots>;

/// An event of a client, without borrowed data.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Connected,
    Refused,
    Disconnected(Disconnected, u16),
    Status(ObjectRequest),
    Data(Vec<u8>),
    Clock { offset_ns: i64, error_ns: u64 },
    Loss,
    Malformed,
}

pub struct Bench {
    pub client: Client,
    pub agent: Option<Agent>,
    /// Whether the agent accepts clients.
    pub is_up: bool,
    /// Whether the agent behaves as eProsima's agent, which ignores Gantry's extensions.
    pub is_plain: bool,
    pub there: Line<Vec<u8>>,
    pub back: Line<Vec<u8>>,
    pub now_us: u64,
    pub events: Vec<Event>,
    /// The data that the agent received.
    pub written: Vec<Vec<u8>>,
    /// Whether the agent sends all received data back.
    pub echoes: bool,
    waiting: VecDeque<(StreamId, ObjectRequest, Vec<u8>)>,
}

impl Bench {
    pub fn new(one_way_us: u64, faults: Faults, seed: u64) -> Self {
        let config = ClientConfig { key: KEY, mtu_bytes: SLOT_BYTES as u16, boot_nonce: None };
        let link = Link::new(ArraySlots::new(), ArraySlots::new(), [0; 2048], ArraySlots::new());
        let mut client = ClientSession::new(config, link);
        client.open(Instant::from_us(0));
        Self {
            client,
            agent: None,
            is_up: true,
            is_plain: false,
            there: Line::new(one_way_us, faults, seed),
            back: Line::new(one_way_us, faults, seed + 1),
            now_us: 0,
            events: Vec::new(),
            written: Vec::new(),
            echoes: false,
            waiting: VecDeque::new(),
        }
    }

    pub fn now(&self) -> Instant {
        Instant::from_us(self.now_us)
    }

    fn time(&self) -> Time {
        Time::from_ns(AHEAD_NS + (self.now_us * 1000) as i64)
    }

    /// Runs the simulation until `is_done` returns true, at most until the time `limit_us`. Returns whether `is_done`
    /// did.
    pub fn run(&mut self, limit_us: u64, mut is_done: impl FnMut(&mut Self) -> bool) -> bool {
        loop {
            self.exchange();
            if is_done(self) {
                self.exchange();
                return true;
            }
            let deadlines = [
                self.there.next_arrival_us(),
                self.back.next_arrival_us(),
                self.client.deadline().map(Instant::as_us),
                self.agent.as_ref().map(|agent| agent.deadline().as_us()),
            ];
            let next_us = deadlines.into_iter().flatten().min().unwrap_or(u64::MAX);
            if next_us > limit_us {
                self.now_us = limit_us;
                return false;
            }
            assert!(next_us > self.now_us, "a deadline of {next_us} µs has passed at {} µs", self.now_us);
            self.now_us = next_us;
        }
    }

    /// Lets both ends exchange messages until no message is left for the present time.
    fn exchange(&mut self) {
        let now = self.now();
        while let Some(message) = self.there.receive(self.now_us) {
            self.agent_receives(&message);
        }
        while let Some(message) = self.back.receive(self.now_us) {
            let events = &mut self.events;
            self.client.receive(&message, now, &mut |event| events.push(Event::from(event, now)));
        }
        let events = &mut self.events;
        self.client.check(now, &mut |event| events.push(Event::from(event, now)));
        while let Some(message) = self.client.transmit(now) {
            self.there.send(self.now_us, message.len(), message.to_vec());
        }
        let time = self.time();
        if let Some(agent) = &mut self.agent {
            while let Some((stream, request, data)) = self.waiting.front() {
                if agent.send(*stream, *request, &[], data).is_err() {
                    break; // the stream is full until the client acknowledges
                }
                self.waiting.pop_front();
            }
            while let Some(message) = agent.transmit(now, time) {
                self.back.send(self.now_us, message.len(), message.to_vec());
            }
            if agent.is_gone(now) {
                self.agent = None;
            }
        }
    }

    /// Replaces the agent's session by a new one with the same session number.
    pub fn restart_agent(&mut self) {
        let peer = *self.agent.as_ref().unwrap().peer();
        self.agent = Some(new_agent(peer, self.now()));
    }

    fn agent_receives(&mut self, message: &[u8]) {
        let Ok((header, mut submessages)) = parse(message) else { return };
        if !self.is_up {
            return;
        }
        let mut memory = [0; 64];
        let (now, time) = (self.now(), self.time());
        let is_of_session = self.agent.as_ref().is_some_and(|agent| agent.peer().session == header.session);
        if is_of_session {
            let Self { agent, written, .. } = self;
            let mut answers = Vec::new();
            let mut closes = None;
            let agent = agent.as_mut().unwrap();
            agent.receive(&header, message, now, time, &mut |event| match event {
                AgentEvent::Write { request, data, stream, .. } => {
                    written.push(data.to_vec());
                    answers.push((stream, request, data.to_vec()));
                }
                AgentEvent::Create { stream, create, .. } => answers.push((stream, create.request, Vec::new())),
                AgentEvent::Close { request } => closes = Some(request),
                _ => {}
            });
            for (stream, request, data) in answers {
                if data.is_empty() {
                    agent.status(stream, request, ResultStatus::OK).unwrap();
                } else if self.echoes {
                    self.waiting.push_back((stream, request, data));
                }
            }
            if let Some(request) = closes {
                self.agent = None;
                let reply = farewell(&mut memory, &header, request).unwrap();
                self.back.send(self.now_us, reply.len(), reply.to_vec());
            }
            return;
        }
        let Some(Ok(submessage)) = submessages.next() else { return };
        if submessage.id == SubmessageId::CREATE_CLIENT {
            let Ok(CreateClient { client }) = submessage.read() else { return };
            let mut peer = Peer::new(&client);
            peer.is_extended &= !self.is_plain;
            self.agent = Some(new_agent(peer, now));
            let reply = welcome(&mut memory, &peer, ResultStatus::OK).unwrap();
            self.back.send(self.now_us, reply.len(), reply.to_vec());
        } else if !self.is_plain || submessage.id == SubmessageId::GET_INFO {
            let request = submessage
                .object_request()
                .unwrap_or(ObjectRequest { request: RequestId::INVALID, object: ObjectId::AGENT });
            let request = ObjectRequest { object: ObjectId::AGENT, ..request };
            let reply = info(&mut memory, &header, request, false).unwrap();
            self.back.send(self.now_us, reply.len(), reply.to_vec());
        }
    }

    /// Connects the client. This takes less than two seconds of simulated time.
    pub fn connect(&mut self) {
        let limit_us = self.now_us + 2_000_000;
        assert!(self.run(limit_us, |bench| bench.client.is_connected() && bench.agent.is_some()), "{:?}", self.events);
    }

    /// Writes a message into a stream of the client, as soon as the stream has room.
    pub fn write(&mut self, stream: StreamId, data: &[u8]) {
        let object = ObjectId(0x0015);
        let limit_us = self.now_us + 60_000_000;
        let is_written = self.run(limit_us, |bench| bench.client.write(stream, object, &[], data).is_ok());
        assert!(is_written, "the stream takes nothing for a minute");
    }
}

pub fn new_agent(peer: Peer, now: Instant) -> Agent {
    let slots = |count| HeapSlots::new(count, usize::from(peer.mtu_bytes) + 4);
    AgentSession::new(peer, Link::new(slots(16), slots(16), vec![0; 4096], slots(4)), now)
}

impl Event {
    fn from(event: ClientEvent<'_>, now: Instant) -> Self {
        match event {
            ClientEvent::Connected => Self::Connected,
            ClientEvent::Refused(_) => Self::Refused,
            ClientEvent::Disconnected { reason, forgotten } => Self::Disconnected(reason, forgotten),
            ClientEvent::Status { request, .. } => Self::Status(request),
            ClientEvent::Data { data, .. } => Self::Data(data.to_vec()),
            ClientEvent::Clock(clock) => Self::Clock { offset_ns: clock.offset_ns(), error_ns: clock.error_ns(now) },
            ClientEvent::Loss(_) => Self::Loss,
            ClientEvent::Malformed(_) => Self::Malformed,
        }
    }
}
