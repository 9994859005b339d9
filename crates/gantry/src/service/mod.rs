//! The server's end of a service: takes requests in place, builds responses in place.
//!
//! A service is two topics, as ROS 2 maps it to DDS: clients publish requests on one, servers responses on the other. Requests are
//! RELIABLE and KEEP_ALL, so none is lost: a client whose server does not keep up waits when it sends. Responses never make a
//! server wait: they are kept for the deepest client, up to a cap. `client` is the other end.

mod client;

pub use client::{Client, Response};

use crate::{
    callback::CallbackHandle,
    error::{Error, Result},
    node::{
        Node,
        names::{reply_topic, request_topic},
    },
    topic::{Loan, PublishError, Publisher, Sample, Subscription, type_description},
    wait::{TakeFuture, TakeSource, WaitSource, Waitable},
};
use gantry_cdr::{Kind, Service as ServiceType};
use gantry_shm::{PublisherOptions, Qos, RequestId};
use std::{ops::Deref, time::Duration};

/// Answers the requests of a service's clients; belongs to one thread at a time.
///
/// Several servers of one service are no error: each gets every request, and a client believes the first that answers.
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
///     let mut response = service.loan_response()?; // shared memory
///     response.sum = request.a + request.b;
///     service.send_response(request.id(), response)?;
/// }
/// # assert!(client.wait(std::time::Duration::from_secs(10))?);
/// # assert_eq!(client.take_response()?.unwrap().sum, 3);
/// # Ok(()) }
/// ```
///
/// # Real-time
/// Making and dropping it is control path; of each method it is said apart.
#[derive(Debug)]
pub struct Service<S: ServiceType> {
    name: String,
    requests: Subscription<S::Request>,
    responses: Publisher<S::Response>,
}

/// A taken request, in place: it derefs to the message's view. It owns its loan: keep it, send it to another thread, drop it in
/// any order; answer it when you can.
///
/// # Real-time
/// Reading and dropping it neither allocates, blocks nor makes system calls, while its service exists.
pub struct Request<S: ServiceType> {
    sample: Sample<S::Request>,
}

impl Node {
    /// A server of `S` under `name` (`/absolute`, `relative` to the namespace, or `~/private`).
    ///
    /// # Errors
    /// A name that ROS 2 does not allow, no room in shared memory.
    pub fn create_service<S: ServiceType>(&self, name: &str) -> Result<Service<S>> {
        let name = self.resolve_service_name(name)?;
        // First, so that the control thread finds out what responses a new client wants kept before it lets that client ask.
        // The cap of what is kept for clients bounds its memory.
        let (qos, options) = (Qos::default().reliable().keep_last(1), PublisherOptions::default());
        let responses = self.publisher_on(&reply_topic(&name), type_description::<S::Response>(), qos, options)?;
        let (topic, message_type) = (request_topic(&name), type_description::<S::Request>());
        let requests = self.subscription_on(&topic, message_type, request_qos())?;
        Ok(Service { name, requests: Subscription::new(requests), responses: Publisher::new(responses) })
    }

    /// A server whose requests an executor that has this node gives to `callback`, one at a time, with the server to answer them.
    ///
    /// # Errors
    /// As [`Node::create_service`].
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

impl<S: ServiceType> Service<S> {
    /// The next request, in place; `None` if there is none now. Clients take turns.
    ///
    /// # Errors
    /// Bytes that are no such request: they are passed over; a client whose memory makes no sense (it is then left out for
    /// good); the process forked.
    ///
    /// # Real-time
    /// As [`Subscription::take`]; one system call if its client waits because this service did not keep up.
    #[inline]
    pub fn take_request(&mut self) -> Result<Option<Request<S>>> {
        Ok(self.requests.take()?.map(|sample| Request { sample }))
    }

    /// The next request, in place, when there is one: for async runtimes, of any kind.
    ///
    /// # Errors
    /// As [`Service::take_request`].
    ///
    /// # Real-time
    /// Not for real-time threads: each wait costs locks, system calls and a hop over the control thread.
    pub fn take_request_async(&mut self) -> TakeFuture<'_, Service<S>> {
        TakeFuture::new(self)
    }

    /// Memory for a response of that shape, as [`Publisher::loan_with`] says.
    ///
    /// # Errors
    /// A length above its bound; all slots are in use and there is no room for more; the process forked.
    ///
    /// # Real-time
    /// As [`Publisher::loan`].
    pub fn loan_response_with(&mut self, shape: <S::Response as Kind>::Shape<'_>) -> Result<Loan<S::Response>> {
        self.responses.loan_with(shape)
    }

    /// Answers a request, now or later, with a loan, where it is. If the client is gone, nobody takes it.
    ///
    /// # Errors
    /// The loan came from elsewhere; the process forked. The response comes back with the error.
    ///
    /// # Real-time
    /// No allocation and no lock; one system call for each client that sleeps. When more clients came since the last call,
    /// memory may be added here (system calls, allocation).
    #[inline]
    pub fn send_response(
        &mut self,
        request: RequestId,
        response: Loan<S::Response>,
    ) -> std::result::Result<(), PublishError<Loan<S::Response>>> {
        self.responses.publish(response.answering(request)).map(drop)
    }

    /// Answers a request with a copy of `response`. The copy path.
    ///
    /// # Errors
    /// As [`Service::loan_response_with`] and [`Service::send_response`].
    ///
    /// # Real-time
    /// As [`Publisher::loan`] and [`Service::send_response`]; takes time in the number of bytes.
    pub fn send_response_copy(&mut self, request: RequestId, response: &S::Response) -> Result<()> {
        self.responses.publish_copy_for(request, response).map(drop)
    }

    /// Waits until there is a request to take; `false` if there was none within `timeout`. A client of another type is told so
    /// itself, and shows in [`Service::mismatches`]; it is no error here.
    ///
    /// # Errors
    /// As [`Service::take_request`].
    ///
    /// # Real-time
    /// Not for real-time threads: it sleeps (a bounded spin, then a futex).
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        match self.requests.wait(timeout) {
            Err(Error::Engine(gantry_shm::Error::TypeMismatch { .. })) => Ok(false),
            waited => waited,
        }
    }

    /// How many clients can ask now. Control path.
    ///
    /// # Errors
    /// As [`Service::take_request`].
    ///
    /// # Real-time
    /// Not for real-time threads: it takes locks and makes system calls.
    pub fn client_count(&mut self) -> Result<usize> {
        self.requests.publisher_count()
    }

    /// Why clients of this service are not matched (another type), a sentence each.
    ///
    /// # Real-time
    /// Not for real-time threads: it allocates and takes a lock.
    #[must_use]
    pub fn mismatches(&self) -> Vec<String> {
        self.requests.mismatches()
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

impl<S: ServiceType> Service<S>
where
    S::Response: for<'a> Kind<Shape<'a> = ()>,
{
    /// Memory for a response of a type whose messages are all of the same length; for others see
    /// [`Service::loan_response_with`].
    ///
    /// # Errors
    /// As [`Service::loan_response_with`].
    ///
    /// # Real-time
    /// As [`Publisher::loan`].
    #[inline]
    pub fn loan_response(&mut self) -> Result<Loan<S::Response>> {
        self.loan_response_with(())
    }
}

impl<S: ServiceType> WaitSource for Service<S> {
    fn subscription(&mut self) -> Option<&mut gantry_shm::Subscription> {
        self.requests.subscription()
    }
}

impl<S: ServiceType> Waitable for Service<S> {
    fn is_ready(&mut self) -> Result<bool> {
        self.requests.is_ready()
    }
}

impl<S: ServiceType> TakeSource for Service<S> {
    type Taken = Request<S>;

    fn take_next(&mut self) -> Result<Option<Request<S>>> {
        self.take_request()
    }
}

impl<S: ServiceType> Request<S> {
    /// Which request it is: what its response must say.
    ///
    /// # Real-time
    /// A look.
    #[inline]
    #[must_use]
    pub fn id(&self) -> RequestId {
        let info = self.sample.message_info();
        RequestId { client_gid: info.publisher_gid, sequence: info.sequence }
    }

    /// The message, with its times and the client's gid.
    ///
    /// # Real-time
    /// A look.
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

/// Of both ends: nothing is lost, and who sends waits.
pub(crate) fn request_qos() -> Qos {
    Qos::default().reliable().keep_all()
}
