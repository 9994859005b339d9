//! The client: a node on a microcontroller, and its session with an agent.

use crate::{
    error::CreateError,
    event::Event,
    memory::{Memory, Parts, Session},
    names::TypeName,
    objects,
    publisher::Publisher,
    qos::Qos,
    registry::Registry,
    service::Service,
    service_client::ServiceClient,
    subscription::Subscription,
    transport::Transport,
};
use core::num::NonZeroU32;
use gantry_cdr::Message;
use gantry_xrce::{
    session::{AgentClock, ClientConfig, LinkCounts},
    time::Instant,
    wire::{ClientKey, Time},
};

/// The largest number of messages that a `spin_once` takes, so that it ends on a line that is never empty.
const MAX_INCOMING: u8 = 16;

/// A node, as the agent's host sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Its name.
    pub name: &'a str,
    /// The domain, `ROS_DOMAIN_ID`.
    pub domain_id: u16,
    /// The number that tells this microcontroller from others of the same agent; not zero.
    pub key: ClientKey,
    /// A number that is drawn at each boot, as from a noise source or a counter in flash memory: by it the agent sees
    /// at once that the board was reset. `None`: a board that asks again within 100 ms of its last login is taken for a
    /// copy of it, and its first messages are lost.
    pub boot_nonce: Option<NonZeroU32>,
}

/// A node on a microcontroller. It connects to an agent, and again after the agent was gone, and then asks for its
/// publishers, subscriptions and services.
pub struct Client<'a, T> {
    transport: T,
    session: Session<'a>,
    registry: Registry<'a>,
    incoming: &'a mut [u8],
    /// The message that the line has not taken as a whole.
    outgoing: &'a mut [u8],
    outgoing_bytes: usize,
    /// The last `spin_once` took as many messages as it may, so there may be more.
    may_have_more: bool,
    is_closed: bool,
}

impl<'a, T: Transport> Client<'a, T> {
    /// A client that begins to connect with the first [`Self::spin_once`].
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

    /// Creates a publisher of the topic `name`: `chatter` and `/chatter` are the same.
    ///
    /// # Errors
    /// [`CreateError`].
    pub fn create_publisher<M: Message>(
        &mut self,
        publisher: &'a Publisher<'a, M>,
        name: &'a str,
        qos: Qos,
    ) -> Result<(), CreateError> {
        let has_room = objects::has_room_for_topic(const { &TypeName::new(M::TYPE_NAME) }, name);
        self.registry.add(publisher, name, qos, has_room)
    }

    /// Creates a subscription to the topic `name`.
    ///
    /// # Errors
    /// [`CreateError`].
    pub fn create_subscription<M: Message, const DEPTH: usize, const SIZE: usize>(
        &mut self,
        subscription: &'a Subscription<'a, M, DEPTH, SIZE>,
        name: &'a str,
        qos: Qos,
    ) -> Result<(), CreateError> {
        let has_room = objects::has_room_for_topic(const { &TypeName::new(M::TYPE_NAME) }, name);
        self.registry.add(subscription, name, qos, has_room)
    }

    /// Creates a service, which takes requests.
    ///
    /// # Errors
    /// [`CreateError`].
    pub fn create_service<S: gantry_cdr::Service, const DEPTH: usize, const SIZE: usize>(
        &mut self,
        service: &'a Service<'a, S, DEPTH, SIZE>,
        name: &'a str,
    ) -> Result<(), CreateError> {
        let has_room = objects::has_room_for_service(const { &TypeName::new(S::TYPE_NAME) }, name);
        self.registry.add(service, name, Qos::DEFAULT, has_room)
    }

    /// Creates a client of the service `name`.
    ///
    /// # Errors
    /// [`CreateError`].
    pub fn create_service_client<S: gantry_cdr::Service, const DEPTH: usize, const SIZE: usize>(
        &mut self,
        client: &'a ServiceClient<'a, S, DEPTH, SIZE>,
        name: &'a str,
    ) -> Result<(), CreateError> {
        let has_room = objects::has_room_for_service(const { &TypeName::new(S::TYPE_NAME) }, name);
        self.registry.add(client, name, Qos::DEFAULT, has_room)
    }

    /// Takes what the line has, connects, asks for what the agent has not created yet, and gives the line what it
    /// takes. Messages go to the queues of subscriptions, services and service clients, everything else to `handle`. To
    /// be called when something comes, by [`Self::deadline`], and after publishing.
    ///
    /// # Errors
    /// The first error of the transport. The session goes on; it takes what was lost as lost on the line.
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

    // Inlined, the parts of `spin_once` would lie on the stack together.
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

    /// The time by which [`Self::spin_once`] is to be called if nothing comes and nothing is published before. It is
    /// past while the line has not taken a message as a whole, and if more messages may have come than the last call
    /// took.
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

    /// Asks for the agent's time with the next [`Self::spin_once`]; [`Event::Clock`] follows. The best of several
    /// exchanges counts.
    pub fn synchronise(&mut self) {
        self.session.synchronise();
    }

    /// The agent's time, which is the host's, if it was asked for in this session.
    pub fn time(&self, now: Instant) -> Option<Time> {
        self.session.clock().map(|clock| clock.time_at(now))
    }

    /// The estimate of the agent's clock, with its error bound.
    pub fn clock(&self) -> Option<&AgentClock> {
        self.session.clock()
    }

    /// The counts of the session's streams, over all sessions.
    pub fn counts(&self) -> LinkCounts {
        self.session.link().counts()
    }

    /// The transport.
    pub fn transport(&mut self) -> &mut T {
        &mut self.transport
    }

    pub(crate) fn session(&mut self) -> &mut Session<'a> {
        &mut self.session
    }
}
