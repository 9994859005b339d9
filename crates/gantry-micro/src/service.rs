//! Services.

use crate::{
    error::{CreateError, PublishError},
    qos::Qos,
    session::{
        Client, Endpoint, Entity, EntityCounts, EntityState, Queue, SampleBytes, Session, TypeName, Writing, objects,
    },
    transport::Transport,
};
use core::marker::PhantomData;
use gantry_cdr::{Message, Problem, Result, Shape};
use gantry_xrce::{
    session::WriteError,
    wire::{ByteOrder, ObjectKind, SampleIdentity, Writer, split_request},
};

/// A request that was taken from the queue.
pub struct Request<'q, S: gantry_cdr::Service> {
    /// The identity of the request, which the response repeats.
    pub id: SampleIdentity,
    /// The request message, in the memory of the queue.
    pub message: <S::Request as Message>::View<SampleBytes<'q>>,
}

/// A service, with a queue of `DEPTH` requests of at most `SIZE` bytes, including the identity of the request (24
/// bytes). The application places the service in a static or on the stack, and registers it with
/// `Client::create_service`.
pub struct Service<'a, S, const DEPTH: usize = 1, const SIZE: usize = 128> {
    entity: Entity<'a>,
    queue: Queue<DEPTH, SIZE>,
    service: PhantomData<fn() -> S>,
}

impl<'a, S: gantry_cdr::Service, const DEPTH: usize, const SIZE: usize> Service<'a, S, DEPTH, SIZE> {
    /// Makes a service that is not registered with a client yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { entity: Entity::new(), queue: Queue::new(), service: PhantomData }
    }

    /// Takes the oldest request from the queue.
    ///
    /// # Errors
    /// The bytes are not a request of this type; the request is dropped and counted as invalid.
    pub fn take_request(&self) -> Result<Option<Request<'_, S>>> {
        let Some(bytes) = self.queue.take() else { return Ok(None) };
        let Ok((id, _)) = split_request(bytes.as_ref(), ByteOrder::Little) else {
            let needed = Problem::TooShort { needed_bytes: SampleIdentity::BYTES, left_bytes: bytes.as_ref().len() };
            return self.entity.checked(Err(gantry_cdr::Error::new(needed, 0)));
        };
        let message = self.entity.checked(S::Request::view(bytes.after(SampleIdentity::BYTES)))?;
        Ok(Some(Request { id, message }))
    }

    /// Sends the response to a request by serialising it into the client's memory. Does not block.
    ///
    /// # Errors
    /// [`PublishError`].
    pub fn send_response<T: Transport>(
        &self,
        client: &mut Client<'a, T>,
        id: SampleIdentity,
        response: &S::Response,
    ) -> core::result::Result<(), PublishError> {
        Writing::new(&self.entity, self.kind(), client.session(), &prefix(id)).message(response).map(drop)
    }

    /// Sends the response to a request. `fill` writes it directly into the client's memory, as in
    /// [`Publisher::publish_with`](crate::Publisher::publish_with).
    ///
    /// # Errors
    /// [`PublishError`].
    pub fn send_response_with<T: Transport>(
        &self,
        client: &mut Client<'a, T>,
        id: SampleIdentity,
        shape: impl Shape<S::Response>,
        fill: impl FnOnce(&mut <S::Response as Message>::View<&mut [u8]>),
    ) -> core::result::Result<(), PublishError> {
        Writing::new(&self.entity, self.kind(), client.session(), &prefix(id))
            .in_place::<S::Response>(shape, fill)
            .map(drop)
    }

    /// The service's state in the agent.
    pub fn state(&self) -> EntityState {
        self.entity.state()
    }

    /// The counters of this service.
    pub fn counts(&self) -> EntityCounts {
        self.entity.counts()
    }
}

fn prefix(id: SampleIdentity) -> [u8; SampleIdentity::BYTES] {
    let mut bytes = [0; SampleIdentity::BYTES];
    id.write(&mut Writer::new(&mut bytes, ByteOrder::Little));
    bytes
}

impl<S: gantry_cdr::Service, const DEPTH: usize, const SIZE: usize> Default for Service<'_, S, DEPTH, SIZE> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, S: gantry_cdr::Service, const DEPTH: usize, const SIZE: usize> Endpoint<'a> for Service<'a, S, DEPTH, SIZE> {
    fn entity(&self) -> &Entity<'a> {
        &self.entity
    }

    fn kind(&self) -> ObjectKind {
        ObjectKind::REPLIER
    }

    fn create(&self, session: &mut Session<'_>) -> core::result::Result<bool, WriteError> {
        objects::create_service(&self.entity, const { &TypeName::new(S::TYPE_NAME) }, self.kind(), session)
    }

    fn deliver(&self, data: &[u8]) {
        self.entity.count_received(self.queue.push(&[], data));
    }
}

impl<'a, T: Transport> Client<'a, T> {
    /// Creates a service. From then on, the service receives requests.
    ///
    /// # Errors
    /// [`CreateError`].
    pub fn create_service<S: gantry_cdr::Service, const DEPTH: usize, const SIZE: usize>(
        &mut self,
        service: &'a Service<'a, S, DEPTH, SIZE>,
        name: &'a str,
    ) -> core::result::Result<(), CreateError> {
        let has_room = objects::has_room_for_service(const { &TypeName::new(S::TYPE_NAME) }, name);
        self.registry().add(service, name, Qos::DEFAULT, has_room)
    }
}
