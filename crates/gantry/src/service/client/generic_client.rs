//! The generic client, which sends and takes bytes of types that are known only at run time.

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

/// A client that calls a service with bytes, where [`Client`](crate::Client) uses typed messages. A client belongs to
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
/// The same as for [`Client`](crate::Client).
pub struct GenericClient {
    requests: GenericPublisher,
    tracker: RequestTracker,
    /// The number of requests that were lost because a slow server left no room for them.
    lost_requests: u64,
    /// Whether the last request was lost.
    is_full: bool,
}

impl Node {
    /// Creates a client of the service `name`, whose type is known only at run time. [`Node::service_types`] returns
    /// the types of the servers.
    ///
    /// # Errors
    /// The errors of [`Node::create_client`]; a type description has more than 1 MiB.
    pub fn create_generic_client(&self, name: &str, service_type: ServiceTypeDescription) -> Result<GenericClient> {
        self.create_generic_client_with_qos(name, service_type, DEFAULT_DEPTH)
    }

    /// Creates a client as [`Node::create_generic_client`] does, with a QoS. [`Node::create_client_with_qos`] describes
    /// the effects of the QoS.
    ///
    /// # Errors
    /// The errors of [`Node::create_generic_client`] and [`Node::create_client_with_qos`].
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
    /// Sets whether sending a request fails if there is no server (the default, `true`). `false` is ROS 2's rule, for a
    /// binding that keeps its own list of pending requests. Call this method before the first request. With `false`:
    /// - A request without a server reaches no process and is lost.
    /// - The client does not track pending requests: their number has no limit, and no error reports a request that
    ///   will not be answered.
    /// - [`GenericClient::take_response`] returns each response to this client, also if several servers answer one
    ///   request.
    /// - The methods that wait for one response must not be used.
    /// - The QoS depth limits only the number of kept messages ([`Node::create_client_with_qos`]). If a server has not
    ///   taken four times `depth` requests (at least 960), a send waits 100 ms and then fails. If this client has not
    ///   taken six times `depth` responses (at least 962), older responses are overwritten.
    ///
    /// Besides the messages, each matched pair of a client and a server uses shared memory: 136 KiB with depth 10, 0.8
    /// MiB with depth 1000, 8 MiB with depth 10,000.
    pub fn set_requires_server(&mut self, on: bool) {
        self.tracker.is_tracking = on;
    }

    /// Sets the longest time for which a send waits for slow servers before it fails; the default is 100 ms. A program
    /// that must serve other requests meanwhile sets zero.
    pub fn set_max_blocking_time(&mut self, limit: Duration) {
        self.requests.engine.set_max_blocking_time(limit);
    }

    /// Loans memory for a request of this length, as [`GenericPublisher::loan`] does.
    ///
    /// # Errors
    /// As that method.
    pub fn loan_request(&mut self, length_bytes: usize) -> Result<GenericLoan> {
        self.requests.loan(length_bytes)
    }

    /// The bytes of the shared memory for requests, counted as in [`GenericPublisher::memory_bytes`].
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.requests.memory_bytes()
    }

    /// Sends a request, as [`Client::send_request`](crate::Client::send_request) does.
    ///
    /// # Errors
    /// As that method.
    pub fn send_request(&mut self, request: GenericLoan) -> std::result::Result<RequestId, PublishError<GenericLoan>> {
        self.tracker.send(&mut self.requests, request)
    }

    /// Sends a request as [`GenericClient::send_request`] does. But if a server leaves no room for the request, the
    /// request is lost, and the method returns `None`. It is meant for a binding whose programs would end at an error.
    ///
    /// [`GenericClient::lost_requests`] counts the lost requests, and the log has the first, the tenth, the hundredth
    /// lost request and so on. A request waits for the server before it is lost, but only if the previous request was
    /// sent.
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
            log::warn(
                node,
                format_args!(
                    "a request to {service} is lost (request {nth} that is lost), because no server has room for the \
                     request: {why}"
                ),
            );
        }
    }

    /// Sends a copy of `request`, as [`GenericClient::send_request`] sends a loan.
    ///
    /// # Errors
    /// The errors of [`GenericClient::loan_request`] and [`GenericClient::send_request`].
    pub fn send_request_copy(&mut self, request: &[u8]) -> Result<RequestId> {
        self.send_request_copy_with(request.len(), |body| gantry_cdr::copy(body, request))
    }

    /// Sends a request that `write` serialises into shared memory. `write` must write all `length_bytes` bytes, as in
    /// [`GenericPublisher::publish_copy_with`].
    ///
    /// # Errors
    /// The errors of [`GenericClient::send_request_copy`].
    pub fn send_request_copy_with(&mut self, length_bytes: usize, write: impl FnOnce(&mut [u8])) -> Result<RequestId> {
        self.tracker.prepare_to_send(&mut self.requests)?;
        let sequence = self.requests.publish_copy_with(length_bytes, write)?;
        Ok(self.tracker.track(sequence))
    }

    /// Takes the next response, as [`Client::take_response`](crate::Client::take_response) does.
    ///
    /// # Errors
    /// As that method.
    pub fn take_response(&mut self) -> Result<Option<GenericResponse>> {
        let outcome = self.tracker.take_outcome()?;
        outcome.map(|outcome| self.response(outcome)).transpose()
    }

    /// Sends a request and waits for its response, as [`Client::call`](crate::Client::call) does.
    ///
    /// # Errors
    /// As that method.
    pub fn call(&mut self, request: GenericLoan, timeout: Duration) -> Result<GenericResponse> {
        let begin = Instant::now();
        let id = self.send_request(request)?;
        self.wait_for_response(id.sequence, begin, timeout)
    }

    /// Calls the service with a copy of `request`, as [`GenericClient::call`] does with a loan. The response is read in
    /// place.
    ///
    /// # Errors
    /// As that method.
    pub fn call_copy(&mut self, request: &[u8], timeout: Duration) -> Result<GenericResponse> {
        let begin = Instant::now();
        let id = self.send_request_copy(request)?;
        self.wait_for_response(id.sequence, begin, timeout)
    }

    /// Sends a request and awaits its response, as [`Client::call_async`](crate::Client::call_async) does.
    ///
    /// # Errors
    /// As that method.
    pub async fn call_async(&mut self, request: GenericLoan) -> Result<GenericResponse> {
        let RequestId { sequence, .. } = self.send_request(request)?;
        let outcome = self.tracker.outcome(sequence).await?;
        self.response(outcome)
    }

    /// Calls the service with a copy of `request`, as [`GenericClient::call_async`] does with a loan. The response is
    /// read in place.
    ///
    /// # Errors
    /// As that method.
    pub async fn call_copy_async(&mut self, request: &[u8]) -> Result<GenericResponse> {
        let RequestId { sequence, .. } = self.send_request_copy(request)?;
        let outcome = self.tracker.outcome(sequence).await?;
        self.response(outcome)
    }

    /// Awaits the next response, as [`Client::take_response_async`](crate::Client::take_response_async) does.
    ///
    /// # Errors
    /// As that method.
    pub async fn take_response_async(&mut self) -> Result<GenericResponse> {
        TakeFuture::new(self).await?
    }

    /// Counts a taken response as malformed, and logs the first, the tenth, the hundredth such response and so on, as
    /// [`GenericSubscription::skip_malformed`](crate::GenericSubscription::skip_malformed) does. The response's request
    /// has already ended.
    ///
    /// # Real-time
    /// As that method.
    pub fn skip_malformed(&mut self, response: &GenericResponse, why: impl Display) {
        let RequestTracker { presence, responses, malformed, .. } = &mut self.tracker;
        let server = response.message_info().publisher_gid;
        malformed.skip(presence.participant(), responses.description(), server, &why);
    }

    /// The id of this client: the gid of its request publisher, which is also [`RequestId::client_gid`] of its
    /// requests. Makes no system call.
    #[must_use]
    pub fn gid(&self) -> Gid {
        self.tracker.gid
    }

    /// The number of responses that have arrived so far, including responses to requests that are no longer pending.
    /// The rules of [`GenericSubscription::received`](crate::GenericSubscription::received) apply.
    ///
    /// # Errors
    /// As that method.
    pub fn received(&mut self) -> Result<u64> {
        Ok(self.tracker.responses.received()?)
    }

    /// A file descriptor that is readable while there is a response, as
    /// [`GenericSubscription::descriptor`](crate::GenericSubscription::descriptor). It does not become readable when a
    /// request will not be answered because its servers ended. So a caller that waits on the descriptor must also call
    /// [`GenericClient::take_response`] from time to time.
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
