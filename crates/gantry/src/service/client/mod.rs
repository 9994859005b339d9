//! The client's end of a service: builds requests in place, takes responses in place.
//!
//! `service` is the other end and says which topics there are. What happens between a request and its end is in `request_tracker`,
//! with its books in `pending_requests`.

mod pending_requests;
mod request_tracker;
mod response;
mod response_future;

pub use response::Response;

use super::request_qos;
use crate::{
    error::Result,
    node::{
        Node,
        names::{reply_topic, request_topic},
    },
    topic::{Loan, PublishError, Publisher, type_description},
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use gantry_cdr::{Kind, Service as ServiceType};
use gantry_shm::{Gid, PublisherOptions, Qos, RequestId};
use pending_requests::PendingRequests;
use request_tracker::Outcome;
use response_future::Awaited;
use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

/// So many responses, of any client, a client may be late.
const RESPONSES_DEPTH: u32 = 1000;
/// So often it is looked again whether a service is there while only one of its halves is.
const HALF_READY_PAUSE: Duration = Duration::from_millis(5);

/// Asks the servers of a service; belongs to one thread at a time. There are three ways: [`Client::call`] blocks,
/// [`Client::call_async`] is awaited, and after [`Client::send_request`], [`Client::take_response`] gives what came, in any order.
///
/// Of several servers, the first that answers counts. If all servers that were there when a request was sent end before they
/// answered, that is an error at once.
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
/// Making and dropping it is control path; of each method it is said apart.
pub struct Client<S: ServiceType> {
    name: String,
    gid: Gid,
    requests: Publisher<S::Request>,
    responses: gantry_shm::Subscription,
    pending: PendingRequests,
    /// Came while another was waited for.
    arrived: VecDeque<Outcome>,
    /// Who gets a request now, and the versions of both ends for which that is true.
    servers: Arc<[Gid]>,
    servers_of: Option<(u64, u64)>,
    /// The publishers of responses for which `pending` was looked through.
    checked_publishers: u64,
    /// Of the responses' losses, what `pending` was told of.
    told_losses: u64,
    dropped_responses: u64,
}

impl Node {
    /// A client of `S` under `name` (`/absolute`, `relative` to the namespace, or `~/private`).
    ///
    /// # Errors
    /// A name that ROS 2 does not allow, no room in shared memory.
    pub fn create_client<S: ServiceType>(&self, name: &str) -> Result<Client<S>> {
        let name = self.resolve_service_name(name)?;
        let qos = Qos::default().reliable().keep_last(RESPONSES_DEPTH);
        let responses = self.subscription_on(&reply_topic(&name), type_description::<S::Response>(), qos)?;
        let (topic, message_type) = (request_topic(&name), type_description::<S::Request>());
        let requests = self.publisher_on(&topic, message_type, request_qos(), PublisherOptions::default())?;
        Ok(Client {
            name,
            gid: requests.engine().description().gid,
            requests: Publisher::new(requests),
            responses: responses.into_engine(),
            pending: PendingRequests::new(),
            arrived: VecDeque::new(),
            servers: Arc::new([]),
            servers_of: None,
            checked_publishers: 0,
            told_losses: 0,
            dropped_responses: 0,
        })
    }
}

impl<S: ServiceType> Client<S> {
    /// Memory for a request of that shape, as [`Publisher::loan_with`] says.
    ///
    /// # Errors
    /// A length above its bound; all slots are in use and there is no room for more; the process forked.
    ///
    /// # Real-time
    /// As [`Publisher::loan`].
    pub fn loan_request_with(&mut self, shape: <S::Request as Kind>::Shape<'_>) -> Result<Loan<S::Request>> {
        self.requests.loan_with(shape)
    }

    /// Sends a request, where it is, to all servers that are there; its response can be taken when it is there. If servers do not
    /// keep up, waits up to 100 ms until they took more.
    ///
    /// # Errors
    /// [`Error::NoServer`](crate::Error::NoServer); that time is over; the loan came from elsewhere; the process forked. The request comes back with the
    /// error.
    ///
    /// # Real-time
    /// No allocation but for more pending requests than ever before, and no lock; one system call for each server that sleeps,
    /// and one if this process sent no request for a second. When servers came or went since the last call, lists grow or
    /// shrink here. Looks at the responses to others that came since it waited for one, [`Client`]s may be 1000 behind.
    pub fn send_request(
        &mut self,
        request: Loan<S::Request>,
    ) -> std::result::Result<RequestId, PublishError<Loan<S::Request>>> {
        if let Err(error) = self.prepare_to_send() {
            return Err(PublishError { loan: request, error: Box::new(error) });
        }
        let sequence = self.requests.publish(request)?;
        Ok(self.sent(sequence))
    }

    /// As [`Client::send_request`], with a copy of `request`. The copy path.
    ///
    /// # Errors
    /// As [`Client::loan_request_with`] and [`Client::send_request`].
    ///
    /// # Real-time
    /// As [`Publisher::loan`] and [`Client::send_request`]; takes time in the number of bytes.
    pub fn send_request_copy(&mut self, request: &S::Request) -> Result<RequestId> {
        self.prepare_to_send()?;
        let sequence = self.requests.publish_copy(request)?;
        Ok(self.sent(sequence))
    }

    /// The next response to a request of this client, in place; `None` if there is none now. [`Response::id`] says to which.
    ///
    /// # Errors
    /// A request that will not be answered any more, which the error names: [`Error::ServerGone`](crate::Error::ServerGone), [`Error::ResponseLost`](crate::Error::ResponseLost), or a
    /// response that is no such message. A server whose memory makes no sense (it is then left out for good); the process
    /// forked.
    ///
    /// # Real-time
    /// As [`Subscription::take`](crate::Subscription::take), for each response to another client that came before.
    pub fn take_response(&mut self) -> Result<Option<Response<S>>> {
        let outcome = self.take_outcome()?;
        outcome.map(|outcome| self.response(outcome)).transpose()
    }

    /// Sends a request and waits for its response. Others that come meanwhile are kept for [`Client::take_response`].
    ///
    /// # Errors
    /// [`Error::CallTimeout`](crate::Error::CallTimeout): its response is then dropped when it comes; as [`Client::send_request`] and
    /// [`Client::take_response`].
    ///
    /// # Real-time
    /// Not for real-time threads: it sleeps (a bounded spin, then a futex).
    pub fn call(&mut self, request: Loan<S::Request>, timeout: Duration) -> Result<Response<S>> {
        let begin = Instant::now();
        let id = self.send_request(request)?;
        self.wait_for_response(id.sequence, begin, timeout)
    }

    /// As [`Client::call`], with a copy of `request`; the response is in place.
    ///
    /// # Errors
    /// As [`Client::send_request_copy`] and [`Client::call`].
    ///
    /// # Real-time
    /// As [`Client::call`].
    pub fn call_copy(&mut self, request: &S::Request, timeout: Duration) -> Result<Response<S>> {
        let begin = Instant::now();
        let id = self.send_request_copy(request)?;
        self.wait_for_response(id.sequence, begin, timeout)
    }

    /// Sends a request and awaits its response, on any async runtime. Others that come meanwhile are kept for
    /// [`Client::take_response`]. Dropping the future gives up the request, so a runtime's time-out does, too.
    ///
    /// # Errors
    /// As [`Client::send_request`] and [`Client::take_response`].
    ///
    /// # Real-time
    /// Not for real-time threads: each wait costs locks, system calls and a hop over the control thread.
    pub async fn call_async(&mut self, request: Loan<S::Request>) -> Result<Response<S>> {
        let RequestId { sequence, .. } = self.send_request(request)?;
        Awaited { client: self, sequence }.await
    }

    /// As [`Client::call_async`], with a copy of `request`; the response is in place.
    ///
    /// # Errors
    /// As [`Client::send_request_copy`] and [`Client::take_response`].
    ///
    /// # Real-time
    /// As [`Client::call_async`].
    pub async fn call_copy_async(&mut self, request: &S::Request) -> Result<Response<S>> {
        let RequestId { sequence, .. } = self.send_request_copy(request)?;
        Awaited { client: self, sequence }.await
    }

    /// The next response when there is one, as [`Client::take_response`] gives it; for ever if no request is pending.
    ///
    /// # Errors
    /// As [`Client::take_response`].
    ///
    /// # Real-time
    /// As [`Client::call_async`].
    pub async fn take_response_async(&mut self) -> Result<Response<S>> {
        TakeFuture::new(self).await?
    }

    /// Waits until [`Client::take_response`] has something to say; `false` if it had nothing within `timeout`.
    ///
    /// # Errors
    /// As [`Client::take_response`], but for requests that will not be answered.
    ///
    /// # Real-time
    /// Not for real-time threads: it sleeps (a bounded spin, then a futex).
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        let deadline = Instant::now().checked_add(timeout);
        while !self.is_ready()? {
            if !self.responses.wait_for_change(remaining(deadline))? {
                return self.is_ready();
            }
        }
        Ok(true)
    }

    /// Gives up a request: its response is dropped when it comes. `false` if it ended before.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    pub fn remove_pending_request(&mut self, request: RequestId) -> bool {
        request.client_gid == self.gid && self.give_up(request.sequence)
    }

    /// How many requests were sent and are neither answered nor given up.
    ///
    /// # Real-time
    /// A look.
    #[must_use]
    pub fn pending_requests(&self) -> usize {
        self.pending.len()
    }

    /// Whether a server would get a request now. Control path.
    ///
    /// # Errors
    /// A server's memory cannot be mapped; the process forked.
    ///
    /// # Real-time
    /// Not for real-time threads: it takes locks and makes system calls.
    pub fn service_is_ready(&mut self) -> Result<bool> {
        Ok(self.server_count()? > 0)
    }

    /// How many servers would get a request now. Control path.
    ///
    /// # Errors
    /// As [`Client::service_is_ready`].
    ///
    /// # Real-time
    /// Not for real-time threads: it takes locks and makes system calls.
    pub fn server_count(&mut self) -> Result<usize> {
        self.requests.subscription_count()?;
        self.responses.publisher_count()?;
        self.servers_of = None;
        self.update_servers();
        Ok(self.servers.len())
    }

    /// Waits until a server is there; `false` if none was within `timeout` ([`Client::mismatches`] may say why). Control path.
    ///
    /// # Errors
    /// The time is over and there is a server with another type of request
    /// ([`EngineError::TypeMismatch`](crate::EngineError::TypeMismatch)); as [`Client::service_is_ready`].
    ///
    /// # Real-time
    /// Not for real-time threads: it sleeps.
    pub fn wait_for_service(&mut self, timeout: Duration) -> Result<bool> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            if self.service_is_ready()? {
                return Ok(true);
            }
            let remaining = remaining(deadline);
            if !self.requests.wait_for_subscriptions(1, remaining)? || remaining.is_zero() {
                return Ok(false);
            }
            // A server subscribes before it publishes.
            std::thread::sleep(remaining.min(HALF_READY_PAUSE));
        }
    }

    /// Why servers under this name are not matched (another type), a sentence each. Control path.
    ///
    /// # Errors
    /// As [`Client::service_is_ready`].
    ///
    /// # Real-time
    /// Not for real-time threads: it allocates and takes locks.
    pub fn mismatches(&self) -> Result<Vec<String>> {
        let mut sentences = self.requests.mismatches()?;
        sentences.extend(self.responses.mismatches());
        Ok(sentences)
    }

    /// Responses to this client that no request waited for: those of further servers, and those that came too late.
    ///
    /// # Real-time
    /// A look.
    #[must_use]
    pub fn dropped_responses(&self) -> u64 {
        self.dropped_responses
    }

    /// The service's full name.
    ///
    /// # Real-time
    /// A look.
    #[must_use]
    pub fn service_name(&self) -> &str {
        &self.name
    }
}

impl<S: ServiceType> Client<S>
where
    S::Request: for<'a> Kind<Shape<'a> = ()>,
{
    /// Memory for a request of a type whose messages are all of the same length; for others see [`Client::loan_request_with`].
    ///
    /// # Errors
    /// As [`Client::loan_request_with`].
    ///
    /// # Real-time
    /// As [`Publisher::loan`].
    #[inline]
    pub fn loan_request(&mut self) -> Result<Loan<S::Request>> {
        self.loan_request_with(())
    }
}

impl<S: ServiceType> WaitSource for Client<S> {
    fn subscription(&mut self) -> Option<&mut gantry_shm::Subscription> {
        Some(&mut self.responses)
    }
}

impl<S: ServiceType> Waitable for Client<S> {
    fn is_ready(&mut self) -> Result<bool> {
        if self.arrived.is_empty() {
            self.responses.is_ready()?; // joins servers that came, and lets go of those that went
            let outcome = self.next_outcome()?;
            self.arrived.extend(outcome);
        }
        Ok(!self.arrived.is_empty())
    }
}

impl<S: ServiceType> TakeSource for Client<S> {
    /// A response, or why a request will not be answered.
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

/// What is left of the time; `Duration::MAX` without a deadline.
fn remaining(deadline: Option<Instant>) -> Duration {
    deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
}
