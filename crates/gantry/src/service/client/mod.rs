//! The client of a service: it builds requests and takes responses in place.
//!
//! `request_tracker` follows each request to its end; `pending_requests` is the list of requests without a response.

#[macro_use]
mod common_methods;
mod futures;
mod generic_client;
mod pending_requests;
mod request_errors;
mod request_tracker;
mod response;
mod shared_client;
mod tasks;

pub use generic_client::GenericClient;
pub use response::{GenericResponse, Response};
pub use shared_client::SharedClient;

use super::{DEFAULT_DEPTH, service_type::ServiceTypeDescription};
use crate::{
    context::ShutdownWaker,
    error::{Error, Result},
    node::Node,
    time::remaining,
    topic::{GenericPublisher, Loan, PublishError, Publisher, Sample},
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use futures::ServiceFuture;
use gantry_cdr::{FixedSize, Message, Service as ServiceType, Shape};
use gantry_shm::{Gid, Qos, RequestId};
use request_tracker::{Outcome, RequestTracker};
use std::time::{Duration, Instant};

/// A client of a service. A client belongs to one thread at a time ([`Client::into_shared`] makes a client for several
/// tasks). There are three ways to call. [`Client::call`] blocks. [`Client::call_async`] is awaited. After
/// [`Client::send_request`], [`Client::take_response`] returns the responses in the order of their arrival.
///
/// The first response counts if several servers answer. If all servers that received a request end before they answer,
/// the request fails at once.
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
/// #     let mut response = service.loan_response(request.id())?;
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
/// On the data path are [`loan_request`](Client::loan_request), [`send_request`](Client::send_request),
/// [`take_response`](Client::take_response), their variants, [`remove_pending_request`](Client::remove_pending_request)
/// and the getters. These methods document their exceptions, as do the corresponding methods of
/// [`GenericPublisher`](crate::GenericPublisher) and [`GenericSubscription`](crate::GenericSubscription). The other
/// methods, also `call`, are on the control path.
pub struct Client<S: ServiceType> {
    requests: Publisher<S::Request>,
    tracker: RequestTracker,
}

impl Node {
    /// Creates a client of `S` under `name` (`/absolute`, `relative` to the namespace, or `~/private`), with up to
    /// 100 requests in flight.
    ///
    /// # Errors
    /// ROS 2 does not allow the name; shared memory has no room.
    pub fn create_client<S: ServiceType>(&self, name: &str) -> Result<Client<S>> {
        self.create_client_with_qos(name, DEFAULT_DEPTH)
    }

    /// Creates a client as [`Node::create_client`] does, with a QoS. The QoS must be RELIABLE. Its depth is the largest
    /// number of requests in flight (KEEP_ALL: 10,000). The other policies are ignored, because all services have the
    /// same policies: no request is lost, and no response to a request in flight.
    ///
    /// The client keeps four times `depth` requests (at least 960) for servers that have not taken them. For the
    /// client, each server keeps the same number of responses plus twice `depth`.
    ///
    /// # Errors
    /// The errors of [`Node::create_client`]; the QoS is BEST_EFFORT; its depth is 0 or above 10,000.
    pub fn create_client_with_qos<S: ServiceType>(&self, name: &str, qos: impl Into<Qos>) -> Result<Client<S>> {
        let (requests, tracker) =
            RequestTracker::new(self, name, ServiceTypeDescription::for_service::<S>(), qos.into())?;
        Ok(Client { requests: Publisher::new(requests), tracker })
    }
}

impl<S: ServiceType> Client<S> {
    /// Loans memory for a request of this shape, as [`Publisher::loan_with`] does.
    ///
    /// # Errors
    /// As that method.
    pub fn loan_request_with(&mut self, shape: impl Shape<S::Request>) -> Result<Loan<S::Request>> {
        self.requests.loan_with(shape)
    }

    /// Sends a request to all matched servers without copying it. If a server is too slow, the method waits up to 100
    /// ms until the server has taken more requests.
    ///
    /// # Errors
    /// [`Error::NoServer`](crate::Error::NoServer); the client has reached its limit of requests in flight
    /// ([`Error::TooManyRequests`](crate::Error::TooManyRequests)); the 100 ms have passed; the loan belongs to another
    /// publisher; the process forked. The error returns the request.
    ///
    /// # Real-time
    /// Allocates if more requests are pending than ever before, and if servers came or went since the last call.
    /// Makes one system call for each server that sleeps, and one more if this process sent no request for a second.
    /// While no request is pending, the method first drops late responses.
    pub fn send_request(
        &mut self,
        request: Loan<S::Request>,
    ) -> std::result::Result<RequestId, PublishError<Loan<S::Request>>> {
        request.publish_with(|request| self.tracker.send(self.requests.generic_mut(), request))
    }

    /// Sends a copy of `request`, as [`Client::send_request`] sends a loan.
    ///
    /// # Errors
    /// The errors of [`Client::loan_request_with`] and [`Client::send_request`].
    pub fn send_request_copy(&mut self, request: &S::Request) -> Result<RequestId> {
        self.tracker.prepare_to_send(self.requests.generic_mut())?;
        let sequence = self.requests.publish_copy(request)?;
        Ok(self.tracker.track(sequence))
    }

    /// Takes the next response to a request of this client, to be read in place; `None` if there is no response.
    /// [`Response::id`] is the request's id.
    ///
    /// # Errors
    /// A request will not be answered; the error contains its number ([`Error::ServerGone`](crate::Error::ServerGone),
    /// [`Error::ResponseLost`](crate::Error::ResponseLost), or a malformed response). A server's memory is invalid, so
    /// that the server is excluded for good. The process forked.
    pub fn take_response(&mut self) -> Result<Option<Response<S>>> {
        let outcome = self.tracker.take_outcome()?;
        outcome.map(|outcome| self.response(outcome)).transpose()
    }

    /// Sends a request and waits for its response. Responses to other requests are kept for [`Client::take_response`].
    ///
    /// # Errors
    /// [`Error::CallTimeout`](crate::Error::CallTimeout), after which a late response is dropped; the errors of
    /// [`Client::send_request`] and [`Client::take_response`].
    pub fn call(&mut self, request: Loan<S::Request>, timeout: Duration) -> Result<Response<S>> {
        let begin = Instant::now();
        let id = self.send_request(request)?;
        self.wait_for_response(id.sequence, begin, timeout)
    }

    /// Calls the service with a copy of `request`, as [`Client::call`] does with a loan. The response is read in place.
    ///
    /// # Errors
    /// The errors of [`Client::send_request_copy`] and [`Client::call`].
    pub fn call_copy(&mut self, request: &S::Request, timeout: Duration) -> Result<Response<S>> {
        let begin = Instant::now();
        let id = self.send_request_copy(request)?;
        self.wait_for_response(id.sequence, begin, timeout)
    }

    /// Sends a request and awaits its response, on any async runtime. Responses to other requests are kept for
    /// [`Client::take_response`]. Dropping the future, as a time-out of the runtime does, gives up the request.
    ///
    /// # Errors
    /// [`Error::ShutDown`](crate::Error::ShutDown), which gives up the request; the errors of [`Client::send_request`]
    /// and [`Client::take_response`].
    pub async fn call_async(&mut self, request: Loan<S::Request>) -> Result<Response<S>> {
        let RequestId { sequence, .. } = self.send_request(request)?;
        let outcome = self.tracker.outcome(sequence).await?;
        self.response(outcome)
    }

    /// Calls the service with a copy of `request`, as [`Client::call_async`] does with a loan. The response is read in
    /// place.
    ///
    /// # Errors
    /// The errors of [`Client::send_request_copy`] and [`Client::call_async`].
    pub async fn call_copy_async(&mut self, request: &S::Request) -> Result<Response<S>> {
        let RequestId { sequence, .. } = self.send_request_copy(request)?;
        let outcome = self.tracker.outcome(sequence).await?;
        self.response(outcome)
    }

    /// Awaits the next response and takes it as [`Client::take_response`] does. The future never ends if no request is
    /// pending.
    ///
    /// # Errors
    /// [`Error::ShutDown`](crate::Error::ShutDown); the errors of [`Client::take_response`].
    pub async fn take_response_async(&mut self) -> Result<Response<S>> {
        TakeFuture::new(self).await?
    }

    common_methods!(Client);

    /// Makes a client that several tasks or threads can share.
    #[must_use]
    pub fn into_shared(self) -> SharedClient<S> {
        SharedClient::new(self)
    }

    fn parts(&mut self) -> (&mut GenericPublisher, &mut RequestTracker) {
        (self.requests.generic_mut(), &mut self.tracker)
    }

    fn wait_for_response(&mut self, sequence: u64, begin: Instant, timeout: Duration) -> Result<Response<S>> {
        let outcome = self.tracker.wait_for_outcome(&self.requests, sequence, (begin, timeout))?;
        self.response(outcome)
    }

    fn response(&self, (sequence, outcome): Outcome) -> Result<Response<S>> {
        let sample = outcome?;
        let server = sample.info().publisher_gid;
        let sample = Sample::new(sample.into()).map_err(|error| self.malformed(server, error))?;
        Ok(Response::new(sample, RequestId { client_gid: self.tracker.gid, sequence }))
    }

    #[cold]
    fn malformed(&self, server: Gid, error: gantry_cdr::Error) -> Error {
        let (topic, publisher) = (self.tracker.name.clone(), self.tracker.server_name(server));
        Error::Malformed { topic, publisher, type_name: S::Response::TYPE_NAME, error }
    }
}

impl<S: ServiceType> Client<S>
where
    S::Request: FixedSize,
{
    /// Loans memory for a request of a type whose requests all have the same length. For other types, see
    /// [`Client::loan_request_with`].
    ///
    /// # Errors
    /// The errors of [`Publisher::loan`].
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
        Some(&mut self.tracker.responses)
    }
}

impl<S: ServiceType> Waitable for Client<S> {
    fn is_ready(&mut self) -> Result<bool> {
        self.tracker.is_ready()
    }
}

impl<S: ServiceType> TakeSource for Client<S> {
    /// The result of a take: a response, or the error of a request that will not be answered.
    type Taken = Result<Response<S>>;

    fn take_next(&mut self) -> Result<Option<Result<Response<S>>>> {
        let outcome = self.tracker.take_outcome()?;
        Ok(outcome.map(|outcome| self.response(outcome)))
    }
}

impl<S: ServiceType> std::fmt::Debug for Client<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Client({}, {} pending)", self.tracker.name, self.tracker.pending())
    }
}
