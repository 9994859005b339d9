//! Subscriptions.

use crate::{
    error::CreateError,
    qos::Qos,
    session::{Client, Endpoint, Entity, EntityCounts, EntityState, Queue, SampleBytes, Session, TypeName, objects},
    transport::Transport,
};
use core::marker::PhantomData;
use gantry_cdr::{Message, Result};
use gantry_xrce::{session::WriteError, wire::ObjectKind};

/// A subscription to messages `M`, with a queue of the last `DEPTH` messages of at most `SIZE` bytes. The application
/// places the subscription in a static or on the stack, and registers it with `Client::create_subscription`.
pub struct Subscription<'a, M, const DEPTH: usize = 4, const SIZE: usize = 512> {
    entity: Entity<'a>,
    queue: Queue<DEPTH, SIZE>,
    message: PhantomData<fn() -> M>,
}

impl<M: Message, const DEPTH: usize, const SIZE: usize> Subscription<'_, M, DEPTH, SIZE> {
    /// Makes a subscription that is not registered with a client yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { entity: Entity::new(), queue: Queue::new(), message: PhantomData }
    }

    /// Takes the oldest message, without a copy. Its slot in the queue is in use until the returned view is dropped.
    ///
    /// # Errors
    /// The bytes are not a message of this type; the message is dropped and counted as invalid.
    pub fn take(&self) -> Result<Option<M::View<SampleBytes<'_>>>> {
        let Some(bytes) = self.queue.take() else { return Ok(None) };
        self.entity.checked(M::view(bytes)).map(Some)
    }

    /// The subscription's state in the agent.
    pub fn state(&self) -> EntityState {
        self.entity.state()
    }

    /// The counters of this subscription.
    pub fn counts(&self) -> EntityCounts {
        self.entity.counts()
    }
}

impl<M: Message, const DEPTH: usize, const SIZE: usize> Default for Subscription<'_, M, DEPTH, SIZE> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, M: Message, const DEPTH: usize, const SIZE: usize> Endpoint<'a> for Subscription<'a, M, DEPTH, SIZE> {
    fn entity(&self) -> &Entity<'a> {
        &self.entity
    }

    fn kind(&self) -> ObjectKind {
        ObjectKind::DATA_READER
    }

    fn create(&self, session: &mut Session<'_>) -> core::result::Result<bool, WriteError> {
        objects::create_reader(&self.entity, const { &TypeName::new(M::TYPE_NAME) }, session)
    }

    fn deliver(&self, data: &[u8]) {
        self.entity.count_received(self.queue.push(&[], data));
    }
}

impl<'a, T: Transport> Client<'a, T> {
    /// Creates a subscription to the topic `name`.
    ///
    /// # Errors
    /// [`CreateError`].
    pub fn create_subscription<M: Message, const DEPTH: usize, const SIZE: usize>(
        &mut self,
        subscription: &'a Subscription<'a, M, DEPTH, SIZE>,
        name: &'a str,
        qos: Qos,
    ) -> core::result::Result<(), CreateError> {
        let has_room = objects::has_room_for_topic(const { &TypeName::new(M::TYPE_NAME) }, name);
        self.registry().add(subscription, name, qos, has_room)
    }
}
