//! Clients of services.

use crate::{
    error::{CreateError, PublishError},
    qos::Qos,
    session::{
        Client, Endpoint, Entity, EntityCounts, EntityState, Queue, SampleBytes, Session, TypeName, Writing, objects,
    },
    transport::Transport,
};
use core::marker::PhantomData;
use gantry_cdr::{Message, Result, Shape};
use gantry_xrce::{
    session::WriteError,
    wire::{ObjectKind, ObjectRequest, RequestId, split_reply},
};

/// A response that was taken from the queue.
pub struct Response<'q, S: gantry_cdr::Service> {
    /// The number of the request that this response answers.
    pub request: RequestId,
    /// The response message, in the memory of the queue.
    pub message: <S::Response as Message>::View<SampleBytes<'q>>,
}

/// A client of a service, with a queue of `DEPTH` responses of at most `SIZE` bytes, including the number of the
/// request (8 bytes). The application places the service client in a static or on the stack, and registers it with
/// `Client::create_service_client`.
pub struct ServiceClient<'a, S, const DEPTH: usize = 1, const SIZE: usize = 128> {
    entity: Entity<'a>,
    queue: Queue<DEPTH, SIZE>,
    service: PhantomData<fn() -> S>,
}

impl<'a, S: gantry_cdr::Service, const DEPTH: usize, const SIZE: usize> ServiceClient<'a, S, DEPTH, SIZE> {
    /// Makes a service client that is not registered with an XRCE client yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { entity: Entity::new(), queue: Queue::new(), service: PhantomData }
    }

    /// Sends a request by serialising it into the client's memory. Does not block. The response will have the returned
    /// number.
    ///
    /// # Errors
    /// [`PublishError`].
    pub fn send_request<T: Transport>(
        &self,
        client: &mut Client<'a, T>,
        request: &S::Request,
    ) -> core::result::Result<RequestId, PublishError> {
        Writing::new(&self.entity, self.kind(), client.session(), &[]).message(request)
    }

    /// Sends a request that `fill` writes directly into the client's memory, as in
    /// [`Publisher::publish_with`](crate::Publisher::publish_with).
    ///
    /// # Errors
    /// [`PublishError`].
    pub fn send_request_with<T: Transport>(
        &self,
        client: &mut Client<'a, T>,
        shape: impl Shape<S::Request>,
        fill: impl FnOnce(&mut <S::Request as Message>::View<&mut [u8]>),
    ) -> core::result::Result<RequestId, PublishError> {
        Writing::new(&self.entity, self.kind(), client.session(), &[]).in_place::<S::Request>(shape, fill)
    }

    /// Takes the oldest response from the queue.
    ///
    /// # Errors
    /// The bytes are not a response of this type; the response is dropped and counted as invalid.
    pub fn take_response(&self) -> Result<Option<Response<'_, S>>> {
        let Some(bytes) = self.queue.take() else { return Ok(None) };
        let request = bytes.as_ref().first_chunk().map_or(RequestId::INVALID, |id| RequestId(u16::from_be_bytes(*id)));
        let message = self.entity.checked(S::Response::view(bytes.after(PREFIX_BYTES)))?;
        Ok(Some(Response { request, message }))
    }

    /// The service client's state in the agent.
    pub fn state(&self) -> EntityState {
        self.entity.state()
    }

    /// The counters of this service client.
    pub fn counts(&self) -> EntityCounts {
        self.entity.counts()
    }
}

/// The number of bytes before a response in the queue: the number of the request, padded to 8 bytes, so that the
/// response stays aligned.
const PREFIX_BYTES: usize = 8;

impl<S: gantry_cdr::Service, const DEPTH: usize, const SIZE: usize> Default for ServiceClient<'_, S, DEPTH, SIZE> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, S: gantry_cdr::Service, const DEPTH: usize, const SIZE: usize> Endpoint<'a>
    for ServiceClient<'a, S, DEPTH, SIZE>
{
    fn entity(&self) -> &Entity<'a> {
        &self.entity
    }

    fn kind(&self) -> ObjectKind {
        ObjectKind::REQUESTER
    }

    fn create(&self, session: &mut Session<'_>) -> core::result::Result<bool, WriteError> {
        objects::create_service(&self.entity, const { &TypeName::new(S::TYPE_NAME) }, self.kind(), session)
    }

    fn deliver(&self, data: &[u8]) {
        let Ok((ObjectRequest { request, .. }, response)) = split_reply(data) else {
            return self.entity.count(|counts| &mut counts.invalid);
        };
        let [high, low] = request.0.to_be_bytes();
        self.entity.count_received(self.queue.push(&[high, low, 0, 0, 0, 0, 0, 0], response));
    }
}

impl<'a, T: Transport> Client<'a, T> {
    /// Creates a client of the service `name`.
    ///
    /// # Errors
    /// [`CreateError`].
    pub fn create_service_client<S: gantry_cdr::Service, const DEPTH: usize, const SIZE: usize>(
        &mut self,
        client: &'a ServiceClient<'a, S, DEPTH, SIZE>,
        name: &'a str,
    ) -> core::result::Result<(), CreateError> {
        let has_room = objects::has_room_for_service(const { &TypeName::new(S::TYPE_NAME) }, name);
        self.registry().add(client, name, Qos::DEFAULT, has_room)
    }
}
