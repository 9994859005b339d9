//! The state of a client's session.

use super::{ClientConfig, ClientEvent, Disconnected};
use crate::{
    session::{AgentClock, EXTENSIONS, Exchange, data::WriteError},
    time::Instant,
    wire::{
        ClientRepresentation, CreateClient, Data, DataFormat, List, ObjectId, ObjectReply, ObjectRequest, Payload,
        Property, RequestId, SessionId, StatusAgent, Submessage, SubmessageId, Time, TimestampReply, VENDOR_EPROSIMA,
        VERSION,
    },
};

/// The first interval between two CREATE_CLIENT messages. The interval doubles up to `MAX_RETRY_US`.
const FIRST_RETRY_US: u32 = 50_000;
/// The silence of the agent after which the client asks whether the agent is alive.
const SILENCE_US: u32 = 250_000;
/// The reserved request number of the DELETE that ends the session.
pub(super) const LOGOUT: RequestId = RequestId(2);

#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    Closed,
    Connecting {
        ask_at: Instant,
        retry_us: u32,
    },
    Connected,
    /// The client has sent a DELETE of itself. It waits for the answer, or until the agent counts as gone.
    Closing,
}

/// A change of the streams that a received message causes. The change waits until the whole message is read, because
/// the message may lie in the memory of these streams.
#[derive(Debug)]
pub(super) enum Change {
    Connected { is_extended: bool },
    Disconnected(Disconnected),
}

/// The part of the session that does not depend on the slot sizes, so that its code is compiled only once.
#[derive(Debug)]
pub(super) struct State {
    pub(super) config: ClientConfig,
    pub(super) phase: Phase,
    pub(super) session: SessionId,
    pub(super) last_request: RequestId,
    /// The time at which the client asks whether the agent is alive, unless a message arrives before.
    pub(super) ask_at: Instant,
    pub(super) unanswered: u8,
    /// The agent's question whether the client is alive, which has not been answered yet.
    pub(super) answer: Option<ObjectRequest>,
    pub(super) is_stamp_due: bool,
    /// The time at which the client sent its last request for a time stamp; `None` after the reply.
    pub(super) stamped_at: Option<Instant>,
    pub(super) clock: Option<AgentClock>,
    pub(super) change: Option<Change>,
}

impl State {
    pub(super) const fn new(config: ClientConfig) -> Self {
        Self {
            config,
            phase: Phase::Closed,
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
    pub(super) fn connect(&mut self, now: Instant) {
        self.session = SessionId(self.session.0.wrapping_add(1).max(SessionId::CLIENT.0));
        self.phase = Phase::Connecting { ask_at: now, retry_us: FIRST_RETRY_US };
    }

    pub(super) fn connected(&mut self, now: Instant) {
        self.phase = Phase::Connected;
        (self.answer, self.stamped_at) = (None, None);
        self.heard(now);
    }

    pub(super) fn heard(&mut self, now: Instant) {
        (self.ask_at, self.unanswered) = (now.after_us(SILENCE_US), 0);
    }

    pub(super) fn ask(&mut self, now: Instant) {
        (self.ask_at, self.unanswered) = (now.after_us(SILENCE_US), self.unanswered.saturating_add(1));
    }

    pub(super) fn next_request(&self) -> Result<RequestId, WriteError> {
        if matches!(self.phase, Phase::Connected) {
            Ok(self.last_request.next())
        } else {
            Err(WriteError::NotConnected)
        }
    }

    pub(super) fn create_client<'a>(&self, properties: &'a [Property<'a>]) -> CreateClient<'a> {
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

    pub(super) fn submessage(
        &mut self,
        submessage: &Submessage<'_>,
        now: Instant,
        handle: &mut dyn FnMut(ClientEvent<'_>),
    ) -> crate::wire::Result<()> {
        // All payloads are read with one reader, because `Submessage::read` would copy the reader for each payload.
        let mut payload = submessage.payload;
        let is_connecting = matches!(self.phase, Phase::Connecting { .. });
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
                if matches!(self.phase, Phase::Closing) && related.request == LOGOUT {
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
                    self.change = Some(Change::Disconnected(match self.phase {
                        Phase::Closing => Disconnected::Closed,
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

pub(super) fn time_of(instant: Instant) -> Time {
    Time::from_ns((instant.as_us() as i64).wrapping_mul(1000))
}
