//! The client: a node on a microcontroller, and its session with an agent.

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

/// The largest number of messages that one `spin_once` reads, so that the call ends even if messages arrive all the
/// time.
const MAX_INCOMING: u8 = 16;

/// A node on a microcontroller. It connects to an agent, and connects again when the agent was gone. In each new
/// session, it asks the agent to create its publishers, subscriptions and services.
pub struct Client<'a, T> {
    transport: T,
    session: Session<'a>,
    registry: Registry<'a>,
    incoming: &'a mut [u8],
    /// The message that is being sent. The line has not accepted all of its bytes yet.
    outgoing: &'a mut [u8],
    outgoing_bytes: usize,
    /// Whether the last `spin_once` ended at its limit of messages, so that more messages may be waiting.
    may_have_more: bool,
    is_closed: bool,
}

impl<'a, T: Transport> Client<'a, T> {
    /// Makes a client. It begins to connect in the first [`Self::spin_once`].
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

    /// Reads the bytes that have arrived, connects if there is no session, asks the agent for objects that it has not
    /// created yet, and writes the bytes that the line accepts without blocking. Messages go to the queues of
    /// subscriptions, services and service clients; events go to `handle`. Call `spin_once` when bytes arrive, at the
    /// time [`Self::deadline`], and after each publish.
    ///
    /// # Errors
    /// The first error of the transport. The session continues: lost bytes are sent again, as after a loss on the line.
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

    // Not inlined, to save stack: otherwise all parts of `spin_once` would have their stack space at the same time.
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

    /// The time at which [`Self::spin_once`] must be called, unless bytes arrive or a message is published earlier. If
    /// the line has accepted only a part of a message, or if more messages may be waiting, this time is in the past.
    pub fn deadline(&self) -> Option<Instant> {
        let is_busy = self.may_have_more || self.outgoing_bytes > 0;
        if is_busy { Some(Instant::default()) } else { self.session.deadline() }
    }

    /// Whether there is a session.
    pub fn is_connected(&self) -> bool {
        self.session.is_connected()
    }

    /// Begins to end the session: the agent deletes the client's objects. The client stays disconnected until
    /// [`Self::open`].
    pub fn close(&mut self, now: Instant) {
        self.is_closed = true;
        self.session.close(now);
    }

    /// Lets a closed client connect again.
    pub fn open(&mut self) {
        self.is_closed = false;
    }

    /// Asks for the agent's time in the next [`Self::spin_once`]. The event [`Event::Clock`] follows. Over several
    /// calls, the client uses the exchange of time stamps with the smallest error.
    pub fn synchronise(&mut self) {
        self.session.synchronise();
    }

    /// The time of day at the agent; `None` if the client has not measured it in this session.
    pub fn time(&self, now: Instant) -> Option<Time> {
        self.session.clock().map(|clock| clock.time_at(now))
    }

    /// The estimate of the agent's clock, with its error bound.
    pub fn clock(&self) -> Option<&AgentClock> {
        self.session.clock()
    }

    /// The counters of the streams, summed over all sessions.
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
