//! The generic server and its requests: bytes of types that are known at run time.

use super::{super::DEFAULT_DEPTH, ReplyPublishers, ServiceTypeDescription};
use crate::{
    error::{Error, Result},
    node::Node,
    topic::{GenericLoan, GenericPublisher, GenericSample, GenericSubscription, PublishError},
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use gantry_shm::{Error as EngineError, Qos, RequestId, SampleInfo, SourceTime};
use std::{fmt::Display, os::fd::BorrowedFd, time::Duration};

/// A server that answers requests as bytes, as [`Service`](crate::Service) does with messages. A server belongs to
/// one thread at a time.
///
/// Requests and responses are CDR bodies, as for a [`GenericPublisher`](crate::GenericPublisher). Gantry does not
/// check that the bytes are messages of the described types.
///
/// # Real-time
/// As [`Service`](crate::Service).
pub struct GenericService {
    name: String,
    requests: GenericSubscription,
    replies: ReplyPublishers,
}

/// A taken request, in place. A request owns the pin that protects its memory: it can be kept, sent to another
/// thread, dropped in any order, and answered now or later.
///
/// # Real-time
/// A request is on the data path while its service exists.
#[derive(Debug)]
pub struct GenericRequest {
    sample: GenericSample,
}

impl Node {
    /// Creates a server under `name`, whose type is known at run time.
    ///
    /// # Errors
    /// The errors of [`Node::create_service`]; a description of more than 1 MiB.
    pub fn create_generic_service(&self, name: &str, service_type: ServiceTypeDescription) -> Result<GenericService> {
        self.create_generic_service_with_qos(name, service_type, DEFAULT_DEPTH)
    }

    /// As [`Node::create_generic_service`], with a QoS; its effects are described at [`Node::create_service_with_qos`].
    ///
    /// # Errors
    /// As both methods.
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
    /// Takes the next request, as [`Service::take_request`](crate::Service::take_request).
    ///
    /// # Errors
    /// A client whose memory is invalid, which is then excluded for good; the process forked.
    #[inline]
    pub fn take_request(&mut self) -> Result<Option<GenericRequest>> {
        self.replies.update();
        Ok(self.requests.take()?.map(|sample| GenericRequest { sample }))
    }

    /// Loans memory for the response to this request, as [`GenericPublisher::loan`](crate::GenericPublisher::loan).
    /// The loan lies in the memory from which the client reads its responses.
    ///
    /// # Errors
    /// As that method.
    #[inline]
    pub fn loan_response(&mut self, request: RequestId, length_bytes: usize) -> Result<GenericLoan> {
        self.replies.publisher_for(request.client_gid)?.loan(length_bytes)
    }

    /// The bytes of the shared memory for the responses to all clients. The memory grows as needed; the memory for a
    /// client that left is freed.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.replies.memory_bytes()
    }

    /// Answers a request, as [`Service::send_response`](crate::Service::send_response).
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

    /// As [`GenericService::send_response`], with a time that the caller gives, instead of a reading of the clock
    /// (see [`GenericPublisher::publish_at`]). This is for a binding that needs to know the time, such as a binding
    /// with tracing.
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

    /// The copy path: answers a request with a copy of `response`.
    ///
    /// # Errors
    /// The errors of [`GenericService::loan_response`] and [`GenericService::send_response`].
    pub fn send_response_copy(&mut self, request: RequestId, response: &[u8]) -> Result<()> {
        self.send_response_copy_with(request, response.len(), |body| gantry_cdr::copy(body, response))
    }

    /// As [`GenericService::send_response_copy`], for a response that `write` serialises: `write` writes all
    /// `length_bytes` bytes, as in
    /// [`GenericPublisher::publish_copy_with`](crate::GenericPublisher::publish_copy_with). `write` is not called if
    /// the client is gone.
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

    /// Counts a response that could not be sent among the [lost responses](GenericService::lost_responses), and logs
    /// the first, the tenth, the hundredth such response and so on. This is for a binding whose programs would end at
    /// an error, after [`loan_response`](GenericService::loan_response) has found no memory.
    pub fn lose_response(&mut self, request: RequestId) {
        self.replies.count_lost(request.client_gid, 1);
    }

    /// Counts a taken request as malformed, and logs the first, the tenth, the hundredth such request and so on, as
    /// [`GenericSubscription::skip_malformed`]. The client of this request gets no answer.
    ///
    /// # Real-time
    /// As that method.
    pub fn skip_malformed(&mut self, request: &GenericRequest, why: impl Display) {
        self.requests.skip_malformed(&request.sample, why);
    }

    /// The number of requests that have come so far, as [`GenericSubscription::received`].
    ///
    /// # Errors
    /// As that method.
    pub fn received(&mut self) -> Result<u64> {
        self.requests.received()
    }

    /// A descriptor that is readable while there is a request, as [`GenericSubscription::descriptor`].
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

    /// The message, in its client's memory.
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
