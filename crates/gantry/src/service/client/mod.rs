//! The client of a service: builds requests in place, takes responses in place.
//!
//! `request_tracker` follows each request to its end; `pending_requests` is the list of requests without a response.

mod pending_requests;
mod request_tracker;
mod response;
mod response_future;

pub use response::Response;

use super::request_qos;
use crate::{
    context,
    error::Result,
    node::{Node, reply_topic, request_topic},
    time::remaining,
    topic::{Loan, PublishError, Publisher, type_description},
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use gantry_cdr::{FixedSize, Kind, Service as ServiceType};
use gantry_shm::{Gid, PublisherOptions, Qos, RequestId};
use pending_requests::PendingRequests;
use request_tracker::Outcome;
use response_future::ResponseFuture;
use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

/// The number of responses, to any client, that a client may be behind.
const RESPONSES_DEPTH: u32 = 1000;
/// The pause between two looks for a server while only one of its two endpoints is there.
const HALF_READY_PAUSE: Duration = Duration::from_millis(5);

/// Calls a service; belongs to one thread at a time. There are three ways to call: [`Client::call`] blocks,
/// [`Client::call_async`] is awaited, and after [`Client::send_request`], [`Client::take_response`] returns the
/// responses in the order in which they come.
///
/// Of several servers, the first response counts. If all servers that received a request end before they answer, the
/// request fails at once.
///
/// ```
/// # use gantry_msgs::example_interfaces::srv::AddTwoInts;
/// # use std::time::Duration;
/// # fn main() -> gantry::Result<()> {
/// # let node = gantry::Node::new("client_doc_example")?;
/// # std::thread::spawn(|| -> gantry::Result<()> {
/// #     let mut service = gantry::Node::new("server")?.create_service::<AddTwoInts>("client_doc_example")?;
/// #     service.wait(Duration::from_secs(10))?;
/// #     let request = service.take_request()?.unwrap();
/// #     let mut response = service.loan_response()?;
/// #     response.sum = request.a + request.b;
/// #     Ok(service.send_response(request.id(), response)?)
/// # });
/// let mut client = node.create_client::<AddTwoInts>("client_doc_example")?;
/// client.wait_for_service(Duration::from_secs(10))?;
/// let mut request = client.loan_request()?; // shared memory
/// (request.a, request.b) = (40, 2);
/// let response = client.call(request, Duration::from_secs(1))?;
/// assert_eq!(response.sum, 42);
/// # Ok(()) }
/// ```
///
/// # Real-time
/// Data path: [`loan_request`](Client::loan_request), [`send_request`](Client::send_request),
/// [`take_response`](Client::take_response), their variants, [`remove_pending_request`](Client::remove_pending_request)
/// and the getters, with the exceptions that they and the methods of the same kind of
/// [`GenericPublisher`](crate::GenericPublisher) and [`GenericSubscription`](crate::GenericSubscription) name. The
/// other methods, `call` among them, are control path.
pub struct Client<S: ServiceType> {
    name: String,
    gid: Gid,
    requests: Publisher<S::Request>,
    responses: gantry_shm::Subscription,
    pending: PendingRequests,
    /// Outcomes that came while another one was waited for.
    arrived: VecDeque<Outcome>,
    /// The servers that get a request now, and the versions of both endpoints for which `servers` is valid.
    servers: Arc<[Gid]>,
    servers_of: Option<(u64, u64)>,
    /// The version of the publishers of responses at the last check of `pending`.
    checked_publishers: u64,
    /// The losses of responses that `pending` has accounted for.
    noted_losses: u64,
    dropped_responses: u64,
}

impl Node {
    /// A client of `S` under `name` (`/absolute`, `relative` to the namespace, or `~/private`).
    ///
    /// # Errors
    /// A name that ROS 2 does not allow; no room in shared memory.
    pub fn create_client<S: ServiceType>(&self, name: &str) -> Result<Client<S>> {
        let name = self.resolve_service_name(name)?;
        let qos = Qos::default().reliable().keep_last(RESPONSES_DEPTH);
        let responses = self.subscription_on(&reply_topic(&name), type_description::<S::Response>(), qos)?;
        let (topic, message_type) = (request_topic(&name), type_description::<S::Request>());
        let requests = self.publisher_on(&topic, message_type, request_qos(), PublisherOptions::default())?;
        Ok(Client {
            name,
            gid: requests.engine.description().gid,
            requests: Publisher::new(requests),
            responses: responses.engine,
            pending: PendingRequests::default(),
            arrived: VecDeque::new(),
            servers: Arc::new([]),
            servers_of: None,
            checked_publishers: 0,
            noted_losses: 0,
            dropped_responses: 0,
        })
    }
}

impl<S: ServiceType> Client<S> {
    /// Memory for a request of that shape, as [`Publisher::loan_with`].
    ///
    /// # Errors
    /// As there.
    pub fn loan_request_with(&mut self, shape: <S::Request as Kind>::Shape<'_>) -> Result<Loan<S::Request>> {
        self.requests.loan_with(shape)
    }

    /// Sends a request, in place, to all matched servers. If servers do not keep up, it waits up to 100 ms until they
    /// have taken more.
    ///
    /// # Errors
    /// [`Error::NoServer`](crate::Error::NoServer); that time is over; the loan is another publisher's; the process
    /// forked. The error returns the request.
    ///
    /// # Real-time
    /// It allocates for more pending requests than ever before, and if servers came or went since the last call. It
    /// makes one system call for each server that sleeps, and one if this process sent no request for a second. While
    /// no request is pending it first drops the responses to other clients that came meanwhile, at most 1000 for each
    /// server.
    pub fn send_request(
        &mut self,
        request: Loan<S::Request>,
    ) -> std::result::Result<RequestId, PublishError<Loan<S::Request>>> {
        if let Err(error) = self.prepare_to_send() {
            return Err(PublishError { loan: request, error: Box::new(error) });
        }
        let sequence = self.requests.publish(request)?;
        Ok(self.track(sequence))
    }

    /// The copy path: as [`Client::send_request`], with a copy of `request`.
    ///
    /// # Errors
    /// As [`Client::loan_request_with`] and [`Client::send_request`].
    pub fn send_request_copy(&mut self, request: &S::Request) -> Result<RequestId> {
        self.prepare_to_send()?;
        let sequence = self.requests.publish_copy(request)?;
        Ok(self.track(sequence))
    }

    /// The next response to a request of this client, in place; `None` if there is none now. [`Response::id`] is the
    /// request's id.
    ///
    /// # Errors
    /// A request that will not be answered, which the error names: [`Error::ServerGone`](crate::Error::ServerGone),
    /// [`Error::ResponseLost`](crate::Error::ResponseLost), or a response that is no such message. A server whose
    /// memory is invalid, which is then excluded for good; the process forked.
    ///
    /// # Real-time
    /// It also takes each response to another client that came before.
    pub fn take_response(&mut self) -> Result<Option<Response<S>>> {
        let outcome = self.take_outcome()?;
        outcome.map(|outcome| self.response(outcome)).transpose()
    }

    /// Sends a request and waits for its response. Responses to other requests are kept for [`Client::take_response`].
    ///
    /// # Errors
    /// [`Error::CallTimeout`](crate::Error::CallTimeout), after which a late response is dropped; as
    /// [`Client::send_request`] and [`Client::take_response`].
    pub fn call(&mut self, request: Loan<S::Request>, timeout: Duration) -> Result<Response<S>> {
        let begin = Instant::now();
        let id = self.send_request(request)?;
        self.wait_for_response(id.sequence, begin, timeout)
    }

    /// As [`Client::call`], with a copy of `request`; the response is in place.
    ///
    /// # Errors
    /// As [`Client::send_request_copy`] and [`Client::call`].
    pub fn call_copy(&mut self, request: &S::Request, timeout: Duration) -> Result<Response<S>> {
        let begin = Instant::now();
        let id = self.send_request_copy(request)?;
        self.wait_for_response(id.sequence, begin, timeout)
    }

    /// Sends a request and awaits its response, on any async runtime. Responses to other requests are kept for
    /// [`Client::take_response`]. Dropping the future gives up the request, as the runtime's time-out does.
    ///
    /// # Errors
    /// As [`Client::send_request`] and [`Client::take_response`].
    pub async fn call_async(&mut self, request: Loan<S::Request>) -> Result<Response<S>> {
        let RequestId { sequence, .. } = self.send_request(request)?;
        ResponseFuture { client: self, sequence }.await
    }

    /// As [`Client::call_async`], with a copy of `request`; the response is in place.
    ///
    /// # Errors
    /// As [`Client::send_request_copy`] and [`Client::take_response`].
    pub async fn call_copy_async(&mut self, request: &S::Request) -> Result<Response<S>> {
        let RequestId { sequence, .. } = self.send_request_copy(request)?;
        ResponseFuture { client: self, sequence }.await
    }

    /// The next response when there is one, as [`Client::take_response`]. The future never ends if no request is
    /// pending.
    ///
    /// # Errors
    /// As [`Client::take_response`].
    pub async fn take_response_async(&mut self) -> Result<Response<S>> {
        TakeFuture::new(self).await?
    }

    /// Waits until [`Client::take_response`] has a response or an error; `false` after `timeout`.
    ///
    /// # Errors
    /// As [`Client::take_response`], except for requests that will not be answered.
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        let deadline = Instant::now().checked_add(timeout);
        while !self.is_ready()? {
            if !self.responses.wait_for_change(remaining(deadline))? {
                return self.is_ready();
            }
        }
        Ok(true)
    }

    /// Gives up a request: its response is dropped when it comes. `false` if the request ended before.
    pub fn remove_pending_request(&mut self, request: RequestId) -> bool {
        request.client_gid == self.gid && self.give_up(request.sequence)
    }

    /// The number of requests that are neither answered nor given up.
    #[must_use]
    pub fn pending_requests(&self) -> usize {
        self.pending.len()
    }

    /// Whether a server would get a request now.
    ///
    /// # Errors
    /// A server's memory cannot be mapped; the process forked.
    pub fn service_is_ready(&mut self) -> Result<bool> {
        Ok(self.server_count()? > 0)
    }

    /// The number of servers that would get a request now.
    ///
    /// # Errors
    /// As [`Client::service_is_ready`].
    pub fn server_count(&mut self) -> Result<usize> {
        self.requests.subscription_count()?;
        self.responses.publisher_count()?;
        self.servers_of = None;
        self.update_servers();
        Ok(self.servers.len())
    }

    /// Waits until a server is matched; `false` after `timeout` ([`Client::mismatches`] may say why).
    ///
    /// # Errors
    /// The time is over and there is a server with another type of request
    /// ([`EngineError::TypeMismatch`](crate::EngineError::TypeMismatch)); as [`Client::service_is_ready`].
    pub fn wait_for_service(&mut self, timeout: Duration) -> Result<bool> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            if self.service_is_ready()? {
                return Ok(true);
            }
            let remaining = remaining(deadline);
            let is_matched = self.requests.wait_for_subscriptions(1, remaining)?;
            if !is_matched || remaining.is_zero() || context::is_shut_down() {
                return Ok(false);
            }
            // A server subscribes before it publishes.
            std::thread::sleep(remaining.min(HALF_READY_PAUSE));
        }
    }

    /// A sentence for each server under this name that is not matched because its type differs.
    ///
    /// # Errors
    /// As [`Client::service_is_ready`].
    pub fn mismatches(&self) -> Result<Vec<String>> {
        let mut sentences = self.requests.mismatches()?;
        sentences.extend(self.responses.mismatches());
        sentences.sort_unstable();
        sentences.dedup(); // both topics of a service have one sentence
        Ok(sentences)
    }

    /// The number of responses to this client that no request waited for: those of further servers, and late ones.
    #[must_use]
    pub fn dropped_responses(&self) -> u64 {
        self.dropped_responses
    }

    /// The service's full name.
    #[must_use]
    pub fn service_name(&self) -> &str {
        &self.name
    }
}

impl<S: ServiceType> Client<S>
where
    S::Request: FixedSize,
{
    /// Memory for a request, if all requests of the type have the same length; else see [`Client::loan_request_with`].
    ///
    /// # Errors
    /// As [`Publisher::loan`].
    #[inline]
    pub fn loan_request(&mut self) -> Result<Loan<S::Request>> {
        self.loan_request_with(())
    }
}

impl<S: ServiceType> WaitSource for Client<S> {
    fn describe(&mut self) -> String {
        format!("a client of service {}", self.service_name())
    }

    fn subscription(&mut self) -> Option<&mut gantry_shm::Subscription> {
        Some(&mut self.responses)
    }
}

impl<S: ServiceType> Waitable for Client<S> {
    fn is_ready(&mut self) -> Result<bool> {
        if self.arrived.is_empty() {
            self.responses.is_ready()?; // joins new servers and removes those that left
            let outcome = self.next_outcome()?;
            self.arrived.extend(outcome);
        }
        Ok(!self.arrived.is_empty())
    }
}

impl<S: ServiceType> TakeSource for Client<S> {
    /// A response, or the error of a request that will not be answered.
    type Taken = Result<Response<S>>;

    fn take_next(&mut self) -> Result<Option<Result<Response<S>>>> {
        let outcome = self.take_outcome()?;
        Ok(outcome.map(|outcome| self.response(outcome)))
    }
}

impl<S: ServiceType> std::fmt::Debug for Client<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Client({}, {} pending)", self.name, self.pending.len())
    }
}
