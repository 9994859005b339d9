//! The generic server and its requests: bytes of types that are known only at run time.

use super::{super::DEFAULT_DEPTH, ReplyPublishers, ServiceTypeDescription};
use crate::{
    error::{Error, Result},
    node::Node,
    topic::{GenericLoan, GenericPublisher, GenericSample, GenericSubscription, PublishError},
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use gantry_shm::{Error as EngineError, Qos, RequestId, SampleInfo, SourceTime};
use std::{fmt::Display, os::fd::BorrowedFd, time::Duration};

/// A server that answers requests as bytes, where [`Service`](crate::Service) uses typed messages. A server belongs to
/// one thread at a time.
///
/// Requests and responses are CDR bodies without the encapsulation header, as for a
/// [`GenericPublisher`](crate::GenericPublisher). Gantry does not check that the bytes are messages of the described
/// types.
///
/// # Real-time
/// The same as for [`Service`](crate::Service).
pub struct GenericService {
    name: String,
    requests: GenericSubscription,
    replies: ReplyPublishers,
}

/// A request that is read in place. A request owns the pin (hazard pointer) that protects its memory: it can be kept,
/// sent to another thread, dropped in any order, and answered now or later.
///
/// # Real-time
/// The use of a request is on the data path while its service exists.
#[derive(Debug)]
pub struct GenericRequest {
    sample: GenericSample,
}

impl Node {
    /// Creates a server of the service `name`, whose type is known only at run time.
    ///
    /// # Errors
    /// The errors of [`Node::create_service`]; a type description has more than 1 MiB.
    pub fn create_generic_service(&self, name: &str, service_type: ServiceTypeDescription) -> Result<GenericService> {
        self.create_generic_service_with_qos(name, service_type, DEFAULT_DEPTH)
    }

    /// Creates a server as [`Node::create_generic_service`] does, with a QoS. [`Node::create_service_with_qos`]
    /// describes the effects of the QoS.
    ///
    /// # Errors
    /// The errors of [`Node::create_generic_service`] and [`Node::create_service_with_qos`].
    pub fn create_generic_service_with_qos(
        &self,
        name: &str,
        service_type: ServiceTypeDescription,
        qos: impl Into<Qos>,
    ) -> Result<GenericService> {
        let (name, requests, replies) = self.server_on(name, service_type, qos.into())?;
        Ok(GenericService { name, requests, replies })
    }
}

impl GenericService {
    /// Takes the next request, as [`Service::take_request`](crate::Service::take_request) does.
    ///
    /// # Errors
    /// A client's memory is invalid, so that the client is excluded for good; the process forked.
    #[inline]
    pub fn take_request(&mut self) -> Result<Option<GenericRequest>> {
        self.replies.update();
        Ok(self.requests.take()?.map(|sample| GenericRequest { sample }))
    }

    /// Loans memory for the response to this request, as [`GenericPublisher::loan`](crate::GenericPublisher::loan)
    /// does. The loan is in the memory from which the client reads its responses.
    ///
    /// # Errors
    /// As that method.
    #[inline]
    pub fn loan_response(&mut self, request: RequestId, length_bytes: usize) -> Result<GenericLoan> {
        self.replies.publisher_for(request.client_gid)?.loan(length_bytes)
    }

    /// The bytes of shared memory for the responses to all clients. The memory grows as needed; the memory for a client
    /// that left is freed.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.replies.memory_bytes()
    }

    /// Answers a request, as [`Service::send_response`](crate::Service::send_response) does.
    ///
    /// # Errors
    /// As that method.
    #[inline]
    pub fn send_response(
        &mut self,
        request: RequestId,
        response: GenericLoan,
    ) -> std::result::Result<(), PublishError<GenericLoan>> {
        self.replies.send(request, response)
    }

    /// Answers a request as [`GenericService::send_response`] does, with the caller's time instead of a reading of the
    /// clock (see [`GenericPublisher::publish_at`]). It is meant for a binding that needs to know the time, for example
    /// for tracing.
    ///
    /// # Errors
    /// The errors of [`GenericService::send_response`].
    pub fn send_response_at(
        &mut self,
        request: RequestId,
        response: GenericLoan,
        time: SourceTime,
    ) -> std::result::Result<(), PublishError<GenericLoan>> {
        self.replies.send_with(request, response, |publisher, response| publisher.publish_at(response, time))
    }

    /// Answers a request with a copy of `response`.
    ///
    /// # Errors
    /// The errors of [`GenericService::loan_response`] and [`GenericService::send_response`].
    pub fn send_response_copy(&mut self, request: RequestId, response: &[u8]) -> Result<()> {
        self.send_response_copy_with(request, response.len(), |body| gantry_cdr::copy(body, response))
    }

    /// Answers a request with a response that `write` serialises into shared memory. `write` must write all
    /// `length_bytes` bytes, as in [`GenericPublisher::publish_copy_with`](crate::GenericPublisher::publish_copy_with).
    /// `write` is not called if the client is gone.
    ///
    /// # Errors
    /// The errors of [`GenericService::send_response_copy`].
    pub fn send_response_copy_with(
        &mut self,
        request: RequestId,
        length_bytes: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        let publish =
            |publisher: &mut GenericPublisher| publisher.publish_copy_for(request, length_bytes, write).map(drop);
        self.replies.publish(request.client_gid, publish).unwrap_or(Ok(()))
    }

    /// Counts a response that could not be sent as a [lost response](GenericService::lost_responses), and logs the
    /// first, the tenth, the hundredth such response and so on. It is meant for a binding whose programs would end at
    /// an error, when [`loan_response`](GenericService::loan_response) has found no memory.
    pub fn lose_response(&mut self, request: RequestId) {
        self.replies.count_lost(request.client_gid, 1);
    }

    /// Counts a taken request as malformed, and logs the first, the tenth, the hundredth such request and so on, as
    /// [`GenericSubscription::skip_malformed`] does. The client of this request gets no answer.
    ///
    /// # Real-time
    /// As that method.
    pub fn skip_malformed(&mut self, request: &GenericRequest, why: impl Display) {
        self.requests.skip_malformed(&request.sample, why);
    }

    /// The number of requests that have arrived so far, counted as in [`GenericSubscription::received`].
    ///
    /// # Errors
    /// As that method.
    pub fn received(&mut self) -> Result<u64> {
        self.requests.received()
    }

    /// A file descriptor that is readable while there is a request, as [`GenericSubscription::descriptor`].
    ///
    /// # Errors
    /// As that method.
    pub fn descriptor(&mut self) -> Result<BorrowedFd<'_>> {
        self.requests.descriptor()
    }

    common_methods!(GenericService);
}

impl WaitSource for GenericService {
    fn describe(&mut self) -> String {
        format!("service {}", self.name)
    }

    fn subscription(&mut self) -> Option<&mut gantry_shm::Subscription> {
        self.requests.subscription()
    }
}

impl Waitable for GenericService {}

impl TakeSource for GenericService {
    type Taken = GenericRequest;

    fn take_next(&mut self) -> Result<Option<GenericRequest>> {
        self.take_request()
    }
}

impl std::fmt::Debug for GenericService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GenericService({})", self.name)
    }
}

impl GenericRequest {
    /// The request's id, for [`GenericService::loan_response`] and [`GenericService::send_response`].
    #[inline]
    #[must_use]
    pub fn id(&self) -> RequestId {
        let info = self.sample.message_info();
        RequestId { client_gid: info.publisher_gid, sequence: info.sequence }
    }

    /// The request's message, with its times and the client's gid.
    #[inline]
    #[must_use]
    pub fn sample(&self) -> &GenericSample {
        &self.sample
    }

    /// The bytes of the message, in the client's shared memory.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.sample.bytes()
    }

    /// The times of the request's message, and the client's gid.
    #[inline]
    #[must_use]
    pub fn message_info(&self) -> SampleInfo {
        self.sample.message_info()
    }
}
