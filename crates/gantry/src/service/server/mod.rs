//! The server of a service: it takes requests and builds responses in place.
//!
//! `reply_publishers` holds the memory for the responses to each client; `reply_watcher` makes and frees this memory.

#[macro_use]
mod common_methods;
mod generic_service;
mod reply_publishers;
mod reply_watcher;

pub use generic_service::{GenericRequest, GenericService};

use super::{DEFAULT_DEPTH, depth_of, request_qos, service_type::ServiceTypeDescription};
use crate::{
    callback::CallbackHandle,
    error::{Error, Result},
    node::{CallbackGroup, Node, request_topic},
    topic::{GenericPublisher, GenericSubscription, Loan, PublishError, Sample, Subscription},
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use gantry_cdr::{FixedSize, Service as ServiceType, Shape};
use gantry_shm::{Error as EngineError, Qos, RequestId};
use reply_publishers::ReplyPublishers;
use std::{ops::Deref, time::Duration};

/// A server of a service, which answers the clients' requests. A server belongs to one thread at a time.
///
/// A service may have several servers: each server gets every request, and the client uses the first response.
///
/// ```
/// # use gantry_msgs::example_interfaces::srv::AddTwoInts;
/// # fn main() -> gantry::Result<()> {
/// # let node = gantry::Node::new("service_doc_example")?;
/// let mut service = node.create_service::<AddTwoInts>("add_two_ints_doc_example")?;
/// # let mut client = node.create_client::<AddTwoInts>("add_two_ints_doc_example")?;
/// # assert!(client.wait_for_service(std::time::Duration::from_secs(10))?);
/// # let mut question = client.loan_request()?;
/// # (question.a, question.b) = (1, 2);
/// # client.send_request(question)?;
/// # assert!(service.wait(std::time::Duration::from_secs(10))?);
/// while let Some(request) = service.take_request()? {
///     let mut response = service.loan_response(request.id())?; // shared memory
///     response.sum = request.a + request.b;
///     service.send_response(request.id(), response)?;
/// }
/// # assert!(client.wait(std::time::Duration::from_secs(10))?);
/// # assert_eq!(client.take_response()?.unwrap().sum, 3);
/// # Ok(()) }
/// ```
///
/// A server has separate memory for the replies to each client, from which [`loan_response`](Service::loan_response)
/// loans. The control thread makes this memory when the client joins. It frees the memory after the client has left and
/// the server has taken another request.
///
/// # Real-time
/// On the data path are [`take_request`](Service::take_request), [`loan_response`](Service::loan_response),
/// [`send_response`](Service::send_response), their variants and [`service_name`](Service::service_name). These methods
/// document their exceptions, as do the corresponding methods of [`GenericPublisher`](crate::GenericPublisher) and
/// [`GenericSubscription`](crate::GenericSubscription). The other methods are on the control path.
///
/// There are two more exceptions. If clients came or left since the last call, each of the methods takes a lock and
/// allocates. While the control thread makes the memory for a new client, a response to this client waits for the
/// memory, and a response to any other client without memory takes a lock.
pub struct Service<S: ServiceType> {
    name: String,
    requests: Subscription<S::Request>,
    replies: ReplyPublishers,
}

/// A request that is read in place; it dereferences to the view of the message. A request owns the pin (hazard pointer)
/// that protects its memory: it can be kept, sent to another thread, dropped in any order, and answered now or later.
///
/// # Real-time
/// The use of a request is on the data path while its service exists.
pub struct Request<S: ServiceType> {
    sample: Sample<S::Request>,
}

impl Node {
    /// Creates a server of `S` under `name` (`/absolute`, `relative` to the namespace, or `~/private`).
    ///
    /// # Errors
    /// ROS 2 does not allow the name; shared memory has no room.
    pub fn create_service<S: ServiceType>(&self, name: &str) -> Result<Service<S>> {
        self.create_service_with_qos(name, DEFAULT_DEPTH)
    }

    /// Creates a server as [`Node::create_service`] does, with a QoS, which must be RELIABLE. The depth limits nothing,
    /// because requests wait in their clients' memory. The depth of each client ([`Node::create_client_with_qos`])
    /// limits its requests and the responses that are kept for it. The other policies are ignored, because all services
    /// have the same policies.
    ///
    /// # Errors
    /// The errors of [`Node::create_service`]; the QoS is BEST_EFFORT; its depth is 0 or above 10,000.
    pub fn create_service_with_qos<S: ServiceType>(&self, name: &str, qos: impl Into<Qos>) -> Result<Service<S>> {
        let service_type = ServiceTypeDescription::for_service::<S>();
        let (name, requests, replies) = self.server_on(name, service_type, qos.into())?;
        Ok(Service { name, requests: Subscription::new(requests), replies })
    }

    /// Makes the endpoints of a server, and returns them with the service's full name.
    fn server_on(
        &self,
        name: &str,
        service_type: ServiceTypeDescription,
        qos: Qos,
    ) -> Result<(String, GenericSubscription, ReplyPublishers)> {
        let (name, qos) = (self.resolve_service_name(name)?, request_qos(depth_of(&qos)?));
        let requests = self.subscription_on(&request_topic(&name), service_type.request.clone(), qos)?;
        let replies = ReplyPublishers::new(self, &name, service_type, &requests.engine)?;
        Ok((name, requests, replies))
    }

    /// Creates a server with a callback. This node's executor calls the callback with each request, and with the server
    /// to answer it. For another QoS, use [`Node::add_callback`].
    ///
    /// # Errors
    /// The errors of [`Node::create_service`].
    pub fn create_service_with_callback<S: ServiceType>(
        &self,
        name: &str,
        callback: impl FnMut(&mut Service<S>, Request<S>) + Send + 'static,
    ) -> Result<CallbackHandle>
    where
        Request<S>: Send,
    {
        let service = self.create_service::<S>(name)?;
        Ok(self.add_callback(service, callback))
    }
}

impl CallbackGroup {
    /// Creates a server as [`Node::create_service_with_callback`] does, with the callback in this group.
    ///
    /// # Errors
    /// As that method.
    pub fn create_service_with_callback<S: ServiceType>(
        &self,
        name: &str,
        callback: impl FnMut(&mut Service<S>, Request<S>) + Send + 'static,
    ) -> Result<CallbackHandle>
    where
        Request<S>: Send,
    {
        let service = self.node().create_service::<S>(name)?;
        Ok(self.add_callback(service, callback))
    }
}

impl<S: ServiceType> Service<S> {
    /// Takes the next request, to be read in place; `None` if there is no request. If several clients have requests,
    /// the oldest request comes first. A sample that is not a valid request is skipped and gets no answer:
    /// [`Service::malformed_requests`] counts it, and the log has the first, the tenth, the hundredth such sample and
    /// so on.
    ///
    /// # Errors
    /// A client's memory is invalid, so that the client is excluded for good; the process forked.
    ///
    /// # Real-time
    /// Makes one system call if the client waits because this server was too slow.
    #[inline]
    pub fn take_request(&mut self) -> Result<Option<Request<S>>> {
        self.replies.update();
        Ok(self.requests.take_valid()?.map(|sample| Request { sample }))
    }

    /// The number of requests whose bytes were not a message of the service's type.
    #[must_use]
    pub fn malformed_requests(&self) -> u64 {
        self.requests.malformed()
    }

    /// Loans memory for the response to this request, with this shape, as
    /// [`Publisher::loan_with`](crate::Publisher::loan_with) does. The loan is in the memory from which the client
    /// reads its responses.
    ///
    /// # Errors
    /// The errors of [`Publisher::loan_with`](crate::Publisher::loan_with). A client that holds too many responses uses
    /// up only the memory for its own responses. A client that does not take its responses loses the oldest ones
    /// ([`Service::lost_responses`]).
    pub fn loan_response_with(
        &mut self,
        request: RequestId,
        shape: impl Shape<S::Response>,
    ) -> Result<Loan<S::Response>> {
        self.replies.publisher_for(request.client_gid)?.loan_message(shape)
    }

    /// Answers a request, now or later, with a loan from [`Service::loan_response`], which is not copied. If the client
    /// is gone, this is no error.
    ///
    /// # Errors
    /// The loan belongs to another client or another server; the process forked. The error returns the response.
    #[inline]
    pub fn send_response(
        &mut self,
        request: RequestId,
        response: Loan<S::Response>,
    ) -> std::result::Result<(), PublishError<Loan<S::Response>>> {
        response.publish_with(|response| self.replies.send(request, response))
    }

    /// Answers a request with a copy of `response`.
    ///
    /// # Errors
    /// The errors of [`Service::loan_response_with`] and [`Service::send_response`].
    pub fn send_response_copy(&mut self, request: RequestId, response: &S::Response) -> Result<()> {
        let publish = |publisher: &mut GenericPublisher| {
            let response = publisher.copy_message(response)?;
            publisher.publish_copied(response.answering(request)).map(drop)
        };
        self.replies.publish(request.client_gid, publish).unwrap_or(Ok(()))
    }

    common_methods!(Service);
}

impl<S: ServiceType> Service<S>
where
    S::Response: FixedSize,
{
    /// Loans memory for the response to this request, if all responses of the type have the same length. For other
    /// types, see [`Service::loan_response_with`].
    ///
    /// # Errors
    /// The errors of [`Service::loan_response_with`].
    #[inline]
    pub fn loan_response(&mut self, request: RequestId) -> Result<Loan<S::Response>> {
        self.loan_response_with(request, ())
    }
}

impl<S: ServiceType> WaitSource for Service<S> {
    fn describe(&mut self) -> String {
        format!("service {}", self.name)
    }

    fn subscription(&mut self) -> Option<&mut gantry_shm::Subscription> {
        self.requests.subscription()
    }
}

impl<S: ServiceType> Waitable for Service<S> {}

impl<S: ServiceType> TakeSource for Service<S> {
    type Taken = Request<S>;

    fn take_next(&mut self) -> Result<Option<Request<S>>> {
        self.take_request()
    }
}

impl<S: ServiceType> std::fmt::Debug for Service<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Service({})", self.name)
    }
}

impl<S: ServiceType> Request<S> {
    /// The request's id, for [`Service::loan_response`] and [`Service::send_response`].
    #[inline]
    #[must_use]
    pub fn id(&self) -> RequestId {
        let info = self.sample.message_info();
        RequestId { client_gid: info.publisher_gid, sequence: info.sequence }
    }

    /// The request's message, with its times and the client's gid.
    #[inline]
    #[must_use]
    pub fn sample(&self) -> &Sample<S::Request> {
        &self.sample
    }
}

impl<S: ServiceType> Deref for Request<S> {
    type Target = <Sample<S::Request> as Deref>::Target;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.sample
    }
}

impl<S: ServiceType> std::fmt::Debug for Request<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.sample.fmt(f)
    }
}
