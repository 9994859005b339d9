//! Publishers.

use crate::{
    error::{CreateError, PublishError},
    qos::Qos,
    session::{Client, Endpoint, Entity, EntityCounts, EntityState, Session, TypeName, Writing, objects},
    transport::Transport,
};
use core::marker::PhantomData;
use gantry_cdr::{Message, Shape};
use gantry_xrce::{session::WriteError, wire::ObjectKind};

/// A publisher of messages `M`. The application places it in a static or on the stack, and registers it with
/// `Client::create_publisher`.
///
/// A publish copies or builds the message in the client's memory, from which `spin_once` sends it. A publish does not
/// block: if there is no room, it fails.
pub struct Publisher<'a, M> {
    entity: Entity<'a>,
    message: PhantomData<fn(M)>,
}

impl<'a, M: Message> Publisher<'a, M> {
    /// Makes a publisher that is not registered with a client yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { entity: Entity::new(), message: PhantomData }
    }

    /// Publishes a message by serialising it into the client's memory. The message must fit in one message of the
    /// transport.
    ///
    /// # Errors
    /// [`PublishError`].
    pub fn publish<T: Transport>(&self, client: &mut Client<'a, T>, message: &M) -> Result<(), PublishError> {
        Writing::new(&self.entity, self.kind(), client.session(), &[]).message(message).map(drop)
    }

    /// Publishes a message that `fill` writes directly into the client's memory. `shape` has the message's strings and
    /// the lengths of its sequences; it is `()` if the type has neither. All other fields start with their default
    /// values.
    ///
    /// # Errors
    /// [`PublishError`].
    pub fn publish_with<T: Transport>(
        &self,
        client: &mut Client<'a, T>,
        shape: impl Shape<M>,
        fill: impl FnOnce(&mut M::View<&mut [u8]>),
    ) -> Result<(), PublishError> {
        Writing::new(&self.entity, self.kind(), client.session(), &[]).in_place::<M>(shape, fill).map(drop)
    }

    /// Publishes a message that the caller has serialised: `body` is little-endian CDR without an encapsulation header.
    /// If the publisher is reliable, a body that is too long for one message of the transport is sent in fragments.
    ///
    /// # Errors
    /// [`PublishError`].
    pub fn publish_bytes<T: Transport>(&self, client: &mut Client<'a, T>, body: &[u8]) -> Result<(), PublishError> {
        Writing::new(&self.entity, self.kind(), client.session(), &[]).bytes(body).map(drop)
    }

    /// The publisher's state in the agent.
    pub fn state(&self) -> EntityState {
        self.entity.state()
    }

    /// The counters of this publisher.
    pub fn counts(&self) -> EntityCounts {
        self.entity.counts()
    }
}

impl<M: Message> Default for Publisher<'_, M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, M: Message> Endpoint<'a> for Publisher<'a, M> {
    fn entity(&self) -> &Entity<'a> {
        &self.entity
    }

    fn kind(&self) -> ObjectKind {
        ObjectKind::DATA_WRITER
    }

    fn create(&self, session: &mut Session<'_>) -> Result<bool, WriteError> {
        objects::create_writer(&self.entity, const { &TypeName::new(M::TYPE_NAME) }, session)
    }

    fn deliver(&self, _: &[u8]) {}
}

impl<'a, T: Transport> Client<'a, T> {
    /// Creates a publisher on the topic `name`. `chatter` and `/chatter` are the same topic.
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
        self.registry().add(publisher, name, qos, has_room)
    }
}
