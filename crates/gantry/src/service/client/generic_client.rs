//! The generic client: bytes of types that are known at run time.

use super::{
    super::{DEFAULT_DEPTH, service_type::ServiceTypeDescription},
    futures::ServiceFuture,
    request_tracker::{Outcome, RequestTracker},
    response::GenericResponse,
};
use crate::{
    context::ShutdownWaker,
    error::{Error, Result},
    log::{self, is_logged},
    node::Node,
    time::remaining,
    topic::{GenericLoan, GenericPublisher, PublishError},
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use gantry_shm::{Error as EngineError, Gid, Qos, RequestId};
use std::{
    fmt::Display,
    os::fd::BorrowedFd,
    time::{Duration, Instant},
};

/// A client that calls a service with bytes, as [`Client`](crate::Client) does with messages. A client belongs to
/// one thread at a time.
///
/// Requests and responses are CDR bodies, as for a [`GenericPublisher`]. Gantry does not check that the bytes are
/// messages of the described types.
///
/// ```
/// # fn main() -> gantry::Result<()> {
/// # let node = gantry::Node::new("generic_client_doc_example")?;
/// # let mut service = node.create_service::<gantry_msgs::std_srvs::srv::SetBool>("switch_doc_example")?;
/// let Some(service_type) = node.service_types("switch_doc_example")?.pop() else { return Ok(()) };
/// let mut client = node.create_generic_client("switch_doc_example", service_type)?;
/// client.wait_for_service(std::time::Duration::from_secs(10))?;
/// client.send_request_copy(&[1])?; // the body of a SetBool_Request: `bool data`
/// # assert!(service.wait(std::time::Duration::from_secs(10))?);
/// # assert!(service.take_request()?.unwrap().data());
/// # Ok(()) }
/// ```
///
/// # Real-time
/// As [`Client`](crate::Client).
pub struct GenericClient {
    requests: GenericPublisher,
    tracker: RequestTracker,
    /// The number of requests that were lost because a server that does not keep up left no room for them.
    lost_requests: u64,
    /// The last request was lost.
    is_full: bool,
}

impl Node {
    /// Creates a client under `name`, whose type is known at run time. [`Node::service_types`] returns the types of
    /// the servers.
    ///
    /// # Errors
    /// The errors of [`Node::create_client`]; a description of more than 1 MiB.
    pub fn create_generic_client(&self, name: &str, service_type: ServiceTypeDescription) -> Result<GenericClient> {
        self.create_generic_client_with_qos(name, service_type, DEFAULT_DEPTH)
    }

    /// As [`Node::create_generic_client`], with a QoS; its effects are described at [`Node::create_client_with_qos`].
    ///
    /// # Errors
    /// As both methods.
    pub fn create_generic_client_with_qos(
        &self,
        name: &str,
        service_type: ServiceTypeDescription,
        qos: impl Into<Qos>,
    ) -> Result<GenericClient> {
        let (requests, tracker) = RequestTracker::new(self, name, service_type, qos.into())?;
        Ok(GenericClient { requests, tracker, lost_requests: 0, is_full: false })
    }
}

impl GenericClient {
    /// Sets whether a request needs a server when it is sent (the default, `true`). `false` is ROS 2's rule, for a
    /// binding that keeps its own list of pending requests. Call this before the first request. With `false`:
    /// - A request without a server reaches no process and is lost.
    /// - This client has no pending requests: their number has no bound, and no error reports a request that will not
    ///   be answered.
    /// - [`GenericClient::take_response`] returns each response to this client, also if several servers answer one
    ///   request.
    /// - The methods that wait for one response must not be used.
    /// - The QoS depth bounds only the number of kept messages ([`Node::create_client_with_qos`]). A send waits 100 ms,
    ///   then fails, if a server has not taken four times `depth` requests (at least 960). Responses that this client
    ///   has not taken are overwritten beyond six times `depth` (at least 962).
    ///
    /// A client and a server that are matched take shared memory besides the messages: 136 KiB with depth 10, 0.8 MiB
    /// with depth 1000, 8 MiB with depth 10,000.
    pub fn set_requires_server(&mut self, on: bool) {
        self.tracker.is_tracking = on;
    }

    /// The longest time for which a send waits for servers that do not keep up, before it fails; 100 ms by default.
    /// A program that must serve other requests meanwhile sets zero.
    pub fn set_max_blocking_time(&mut self, limit: Duration) {
        self.requests.engine.set_max_blocking_time(limit);
    }

    /// Loans memory for a request of this length, as [`GenericPublisher::loan`].
    ///
    /// # Errors
    /// As that method.
    pub fn loan_request(&mut self, length_bytes: usize) -> Result<GenericLoan> {
        self.requests.loan(length_bytes)
    }

    /// The bytes of the shared memory for requests, as [`GenericPublisher::memory_bytes`].
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.requests.memory_bytes()
    }

    /// Sends a request, as [`Client::send_request`](crate::Client::send_request).
    ///
    /// # Errors
    /// As that method.
    pub fn send_request(&mut self, request: GenericLoan) -> std::result::Result<RequestId, PublishError<GenericLoan>> {
        self.tracker.send(&mut self.requests, request)
    }

    /// As [`GenericClient::send_request`], for a binding whose programs would end at an error: if a server leaves no
    /// room for the request, the request is lost and the method returns `None`. [`GenericClient::lost_requests`]
    /// counts the request, and the log has the first, the tenth, the hundredth lost request and so on. The first lost
    /// request waits for the server; the requests after it do not wait, until one of them can be sent.
    ///
    /// # Errors
    /// The errors of [`GenericClient::send_request`], except for
    /// [`EngineError::PublishTimeout`](crate::EngineError::PublishTimeout).
    pub fn send_or_lose_request(
        &mut self,
        request: GenericLoan,
    ) -> std::result::Result<Option<RequestId>, PublishError<GenericLoan>> {
        let engine = &mut self.requests.engine;
        let limit = engine.max_blocking_time();
        if self.is_full {
            engine.set_max_blocking_time(Duration::ZERO);
        }
        let sent = self.tracker.send(&mut self.requests, request);
        self.requests.engine.set_max_blocking_time(limit);
        self.is_full = matches!(&sent, Err(PublishError { error, .. })
            if matches!(**error, Error::Engine(EngineError::PublishTimeout { .. })));
        match sent {
            Err(PublishError { error, .. }) if self.is_full => {
                self.lose_request(&error);
                Ok(None)
            }
            sent => sent.map(Some),
        }
    }

    /// The number of requests that [`GenericClient::send_or_lose_request`] lost.
    #[must_use]
    pub fn lost_requests(&self) -> u64 {
        self.lost_requests
    }

    #[cold]
    fn lose_request(&mut self, why: &Error) {
        self.lost_requests += 1;
        if is_logged(self.lost_requests) {
            let (node, service) = (&self.tracker.responses.description().node, &self.tracker.name);
            let nth = self.lost_requests;
            log::warn(node, format_args!("request {nth} to {service} that no server has room for is lost: {why}"));
        }
    }

    /// The copy path: as [`GenericClient::send_request`], with a copy of `request`.
    ///
    /// # Errors
    /// The errors of [`GenericClient::loan_request`] and [`GenericClient::send_request`].
    pub fn send_request_copy(&mut self, request: &[u8]) -> Result<RequestId> {
        self.send_request_copy_with(request.len(), |body| gantry_cdr::copy(body, request))
    }

    /// As [`GenericClient::send_request_copy`], for a request that `write` serialises: `write` writes all
    /// `length_bytes` bytes, as in [`GenericPublisher::publish_copy_with`].
    ///
    /// # Errors
    /// The errors of [`GenericClient::send_request_copy`].
    pub fn send_request_copy_with(&mut self, length_bytes: usize, write: impl FnOnce(&mut [u8])) -> Result<RequestId> {
        self.tracker.prepare_to_send(&mut self.requests)?;
        let sequence = self.requests.publish_copy_with(length_bytes, write)?;
        Ok(self.tracker.track(sequence))
    }

    /// Takes the next response, as [`Client::take_response`](crate::Client::take_response).
    ///
    /// # Errors
    /// As that method.
    pub fn take_response(&mut self) -> Result<Option<GenericResponse>> {
        let outcome = self.tracker.take_outcome()?;
        outcome.map(|outcome| self.response(outcome)).transpose()
    }

    /// Sends a request and waits for its response, as [`Client::call`](crate::Client::call).
    ///
    /// # Errors
    /// As that method.
    pub fn call(&mut self, request: GenericLoan, timeout: Duration) -> Result<GenericResponse> {
        let begin = Instant::now();
        let id = self.send_request(request)?;
        self.wait_for_response(id.sequence, begin, timeout)
    }

    /// As [`GenericClient::call`], with a copy of `request`; the response is in place.
    ///
    /// # Errors
    /// As that method.
    pub fn call_copy(&mut self, request: &[u8], timeout: Duration) -> Result<GenericResponse> {
        let begin = Instant::now();
        let id = self.send_request_copy(request)?;
        self.wait_for_response(id.sequence, begin, timeout)
    }

    /// Sends a request and awaits its response, as [`Client::call_async`](crate::Client::call_async).
    ///
    /// # Errors
    /// As that method.
    pub async fn call_async(&mut self, request: GenericLoan) -> Result<GenericResponse> {
        let RequestId { sequence, .. } = self.send_request(request)?;
        let outcome = self.tracker.outcome(sequence).await?;
        self.response(outcome)
    }

    /// As [`GenericClient::call_async`], with a copy of `request`; the response is in place.
    ///
    /// # Errors
    /// As that method.
    pub async fn call_copy_async(&mut self, request: &[u8]) -> Result<GenericResponse> {
        let RequestId { sequence, .. } = self.send_request_copy(request)?;
        let outcome = self.tracker.outcome(sequence).await?;
        self.response(outcome)
    }

    /// Awaits the next response, as [`Client::take_response_async`](crate::Client::take_response_async).
    ///
    /// # Errors
    /// As that method.
    pub async fn take_response_async(&mut self) -> Result<GenericResponse> {
        TakeFuture::new(self).await?
    }

    /// Counts a taken response as malformed, and logs the first, the tenth, the hundredth such response and so on,
    /// as [`GenericSubscription::skip_malformed`](crate::GenericSubscription::skip_malformed). The request of this
    /// response has ended.
    ///
    /// # Real-time
    /// As that method.
    pub fn skip_malformed(&mut self, response: &GenericResponse, why: impl Display) {
        let RequestTracker { presence, responses, malformed, .. } = &mut self.tracker;
        let server = response.message_info().publisher_gid;
        malformed.skip(presence.participant(), responses.description(), server, &why);
    }

    /// The id of this client: the gid of its publisher of requests, which [`RequestId::client_gid`] names. Makes
    /// no system call.
    #[must_use]
    pub fn gid(&self) -> Gid {
        self.tracker.gid
    }

    /// The number of responses that have come so far, including responses that no request waited for; as
    /// [`GenericSubscription::received`](crate::GenericSubscription::received).
    ///
    /// # Errors
    /// As that method.
    pub fn received(&mut self) -> Result<u64> {
        Ok(self.tracker.responses.received()?)
    }

    /// A descriptor that is readable while there is a response, as
    /// [`GenericSubscription::descriptor`](crate::GenericSubscription::descriptor). The descriptor does not become
    /// readable when a request will not be answered because its servers ended: a caller that waits on the descriptor
    /// also calls [`GenericClient::take_response`] now and then.
    ///
    /// # Errors
    /// As that method.
    pub fn descriptor(&mut self) -> Result<BorrowedFd<'_>> {
        Ok(self.tracker.responses.descriptor()?)
    }

    common_methods!(GenericClient);

    fn parts(&mut self) -> (&mut GenericPublisher, &mut RequestTracker) {
        (&mut self.requests, &mut self.tracker)
    }

    fn wait_for_response(&mut self, sequence: u64, begin: Instant, timeout: Duration) -> Result<GenericResponse> {
        let outcome = self.tracker.wait_for_outcome(&self.requests, sequence, (begin, timeout))?;
        self.response(outcome)
    }

    fn response(&self, (sequence, outcome): Outcome) -> Result<GenericResponse> {
        Ok(GenericResponse::new(outcome?.into(), RequestId { client_gid: self.tracker.gid, sequence }))
    }
}

impl WaitSource for GenericClient {
    fn describe(&mut self) -> String {
        format!("a client of service {}", self.service_name())
    }

    fn subscription(&mut self) -> Option<&mut gantry_shm::Subscription> {
        Some(&mut self.tracker.responses)
    }
}

impl Waitable for GenericClient {
    fn is_ready(&mut self) -> Result<bool> {
        self.tracker.is_ready()
    }
}

impl TakeSource for GenericClient {
    /// The result of a take: a response, or the error of a request that will not be answered.
    type Taken = Result<GenericResponse>;

    fn take_next(&mut self) -> Result<Option<Result<GenericResponse>>> {
        let outcome = self.tracker.take_outcome()?;
        Ok(outcome.map(|outcome| self.response(outcome)))
    }
}

impl std::fmt::Debug for GenericClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GenericClient({}, {} pending)", self.tracker.name, self.tracker.pending())
    }
}
