//! The client: a node on a microcontroller, with its session with an agent.

use super::{
    memory::{Memory, Parts, Session},
    node::Node,
    registry::Registry,
};
use crate::{event::Event, transport::Transport};
use gantry_xrce::{
    session::{AgentClock, ClientConfig, LinkCounts},
    time::Instant,
    wire::Time,
};

/// The largest number of messages that one `spin_once` reads. The limit ends the call even if messages arrive
/// without end.
const MAX_INCOMING: u8 = 16;

/// A node on a microcontroller. It connects to an agent, connects again after the agent was gone, and asks for its
/// publishers, subscriptions and services in each new session.
pub struct Client<'a, T> {
    transport: T,
    session: Session<'a>,
    registry: Registry<'a>,
    incoming: &'a mut [u8],
    /// The message that is being sent, of which the line has not accepted all bytes yet.
    outgoing: &'a mut [u8],
    outgoing_bytes: usize,
    /// Whether the last `spin_once` reached its limit of messages, so that more may be waiting.
    may_have_more: bool,
    is_closed: bool,
}

impl<'a, T: Transport> Client<'a, T> {
    /// Makes a client, which begins to connect with the first [`Self::spin_once`].
    pub fn new<const MTU: usize, const HISTORY: usize>(
        transport: T,
        memory: &'a mut Memory<MTU, HISTORY>,
        node: Node<'a>,
    ) -> Self {
        let Parts { link, incoming, outgoing, mtu_bytes } = memory.parts();
        Self {
            transport,
            session: Session::new(ClientConfig { key: node.key, mtu_bytes, boot_nonce: node.boot_nonce }, link),
            registry: Registry::new(node),
            incoming,
            outgoing,
            outgoing_bytes: 0,
            may_have_more: false,
            is_closed: false,
        }
    }

    /// Reads the bytes that have arrived, connects if there is no session, requests the objects that the agent has
    /// not created yet, and writes the bytes that the line accepts without blocking. Messages go to the queues of
    /// subscriptions, services and service clients, and all other events to `handle`. Call `spin_once` when bytes
    /// arrive, at [`Self::deadline`] at the latest, and after publishing.
    ///
    /// # Errors
    /// The first error of the transport. The session continues: bytes that the error lost are sent again as after a
    /// loss on the line.
    pub fn spin_once(&mut self, now: Instant, mut handle: impl FnMut(Event<'_>)) -> Result<(), T::Error> {
        if !self.is_closed {
            self.session.open(now);
        }
        let received = self.receive(now, &mut handle);
        let Self { session, registry, .. } = self;
        session.check(now, &mut |event| registry.handle(event, &mut handle));
        registry.create(session, &mut handle);
        received.and(self.transmit(now))
    }

    // The function is not inlined: otherwise all parts of `spin_once` would use the stack at the same time.
    #[inline(never)]
    fn receive(&mut self, now: Instant, handle: &mut dyn FnMut(Event<'_>)) -> Result<(), T::Error> {
        let Self { transport, session, registry, incoming, may_have_more, .. } = self;
        *may_have_more = false;
        for _ in 0..MAX_INCOMING {
            let Some(length) = transport.receive(incoming)? else { return Ok(()) };
            let message = incoming.get(..length).unwrap_or_default();
            session.receive(message, now, &mut |event| registry.handle(event, handle));
        }
        *may_have_more = true;
        Ok(())
    }

    #[inline(never)]
    fn transmit(&mut self, now: Instant) -> Result<(), T::Error> {
        let Self { transport, session, outgoing, outgoing_bytes, .. } = self;
        loop {
            if let Some(rest) = outgoing.get(..*outgoing_bytes).filter(|rest| !rest.is_empty()) {
                let is_sent = transport.send(rest);
                if let Ok(false) = is_sent {
                    return Ok(());
                }
                *outgoing_bytes = 0;
                is_sent?;
            }
            let Some(message) = session.transmit(now) else { return Ok(()) };
            if !transport.send(message)? {
                if let Some(room) = outgoing.get_mut(..message.len()) {
                    room.copy_from_slice(message);
                    *outgoing_bytes = message.len();
                }
                return Ok(());
            }
        }
    }

    /// The latest time at which [`Self::spin_once`] must be called, if no bytes arrive and nothing is published
    /// before. The time lies in the past if the line has accepted only a part of a message, or if the last call did
    /// not read all messages that may be waiting.
    pub fn deadline(&self) -> Option<Instant> {
        let is_busy = self.may_have_more || self.outgoing_bytes > 0;
        if is_busy { Some(Instant::default()) } else { self.session.deadline() }
    }

    /// Whether there is a session.
    pub fn is_connected(&self) -> bool {
        self.session.is_connected()
    }

    /// Begins to end the session: the agent deletes the objects. The client connects again after [`Self::open`].
    pub fn close(&mut self, now: Instant) {
        self.is_closed = true;
        self.session.close(now);
    }

    /// Lets a closed client connect again.
    pub fn open(&mut self) {
        self.is_closed = false;
    }

    /// Asks for the agent's time with the next [`Self::spin_once`]; the event [`Event::Clock`] follows. The client
    /// exchanges several pairs of time stamps, and uses the one with the smallest error.
    pub fn synchronise(&mut self) {
        self.session.synchronise();
    }

    /// The time of the agent's host; `None` if it was not asked for in this session.
    pub fn time(&self, now: Instant) -> Option<Time> {
        self.session.clock().map(|clock| clock.time_at(now))
    }

    /// The estimate of the agent's clock, with its error bound.
    pub fn clock(&self) -> Option<&AgentClock> {
        self.session.clock()
    }

    /// The counters of the session's streams, over all sessions.
    pub fn counts(&self) -> LinkCounts {
        self.session.link().counts()
    }

    /// The transport.
    pub fn transport(&mut self) -> &mut T {
        &mut self.transport
    }

    pub(crate) fn registry(&mut self) -> &mut Registry<'a> {
        &mut self.registry
    }

    pub(crate) fn session(&mut self) -> &mut Session<'a> {
        &mut self.session
    }
}
