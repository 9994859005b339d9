//! A client that several tasks share.
//!
//! The engine wakes a single waker, which wakes all waiting tasks; each task then checks whether its request has ended.
//! A waker may poll or drop its task at once, so wakers are called and dropped only while no lock is held.

use super::{
    Client, Outcome, Response,
    tasks::{Deferral, Task, Tasks},
};
use crate::{context::ShutdownWaker, error::Result, topic::Loan, wait::lock};
use gantry_cdr::{FixedSize, Service as ServiceType, Shape};
use gantry_shm::RequestId;
use std::{
    collections::BTreeMap,
    ops::{Deref, DerefMut},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll},
};

/// A client of a service for several tasks or threads, made by [`Client::into_shared`]. Clones are handles to the same
/// client, so all tasks share one limit of requests in flight.
///
/// ```
/// # use gantry::SharedClient;
/// # use gantry_msgs::example_interfaces::srv::{AddTwoInts, AddTwoInts_Request};
/// async fn sum(client: SharedClient<AddTwoInts>, a: i64, b: i64) -> gantry::Result<i64> {
///     client.wait_for_service_async().await?;
///     Ok(client.call_copy_async(&AddTwoInts_Request { a, b }).await?.sum)
/// }
/// # fn main() -> gantry::Result<()> {
/// let client = gantry::Node::new("shared_client_doc_example")?.create_client("add_two_ints")?.into_shared();
/// let tasks = [sum(client.clone(), 1, 2), sum(client.clone(), 3, 4)]; // to be spawned on any runtime
/// # drop(tasks);
/// # Ok(()) }
/// ```
///
/// # Real-time
/// The client is on the control path: each call takes a lock.
pub struct SharedClient<S: ServiceType>(Arc<Inner<S>>);

struct Inner<S: ServiceType> {
    state: Mutex<State<S>>,
    tasks: Arc<Tasks>,
}

struct State<S: ServiceType> {
    client: Client<S>,
    /// The outcomes that the waiting tasks have not taken yet, by request number.
    outcomes: BTreeMap<u64, Outcome>,
}

/// The locked state. The fields drop in this order, so that tasks are woken only after the state is unlocked.
struct LockedState<'a, S: ServiceType> {
    state: MutexGuard<'a, State<S>>,
    _deferral: Deferral<'a>,
}

/// A future of the response to one request. Dropping it gives up the request.
struct SharedResponse<S: ServiceType> {
    inner: Arc<Inner<S>>,
    sequence: u64,
    task: Task,
    at_shutdown: ShutdownWaker,
}

impl<S: ServiceType> SharedClient<S> {
    pub(super) fn new(client: Client<S>) -> SharedClient<S> {
        let state = Mutex::new(State { client, outcomes: BTreeMap::new() });
        SharedClient(Arc::new(Inner { state, tasks: Arc::default() }))
    }

    /// Loans memory for a request of this shape, as [`Client::loan_request_with`] does.
    ///
    /// # Errors
    /// As that method.
    pub fn loan_request_with(&self, shape: impl Shape<S::Request>) -> Result<Loan<S::Request>> {
        self.0.state().client.loan_request_with(shape)
    }

    /// Sends a request and awaits its response, on any async runtime. Dropping the future, as a time-out of the runtime
    /// does, gives up the request.
    ///
    /// # Errors
    /// The errors of [`Client::call_async`].
    pub async fn call_async(&self, request: Loan<S::Request>) -> Result<Response<S>> {
        let id = self.0.state().client.send_request(request)?;
        self.response(id).await
    }

    /// Calls the service with a copy of `request`, as [`SharedClient::call_async`] does with a loan. The response is
    /// read in place.
    ///
    /// # Errors
    /// The errors of [`Client::call_copy_async`].
    pub async fn call_copy_async(&self, request: &S::Request) -> Result<Response<S>> {
        let id = self.0.state().client.send_request_copy(request)?;
        self.response(id).await
    }

    /// Waits until a server is matched, on any async runtime.
    ///
    /// # Errors
    /// The errors of [`Client::wait_for_service_async`].
    pub async fn wait_for_service_async(&self) -> Result<()> {
        let (task, mut at_shutdown) = (Task::new(&self.0.tasks), ShutdownWaker::default());
        std::future::poll_fn(|context| {
            let waker = task.wait(context.waker());
            let is_over = at_shutdown.ends(context.waker()); // before the lock: it drops a waker
            let mut state = self.0.state();
            let (requests, tracker) = state.client.parts();
            let polled = tracker.poll_service(requests, &waker);
            if state.keep_outcomes() {
                waker.wake();
            }
            if polled.is_pending() && is_over {
                return Poll::Ready(Err(state.client.tracker.wait_shut_down()));
            }
            polled
        })
        .await
    }

    /// Whether a request that is sent now would reach a server, as [`Client::service_is_ready`].
    ///
    /// # Errors
    /// As that method.
    pub fn service_is_ready(&self) -> Result<bool> {
        self.0.state().client.service_is_ready()
    }

    /// The number of requests of all tasks that are neither answered nor given up.
    #[must_use]
    pub fn pending_requests(&self) -> usize {
        self.0.state().client.pending_requests()
    }

    fn response(&self, request: RequestId) -> SharedResponse<S> {
        let (sequence, task) = (request.sequence, Task::new(&self.0.tasks));
        SharedResponse { inner: self.0.clone(), sequence, task, at_shutdown: ShutdownWaker::default() }
    }
}

impl<S: ServiceType> SharedClient<S>
where
    S::Request: FixedSize,
{
    /// Loans memory for a request, as [`Client::loan_request`] does.
    ///
    /// # Errors
    /// As that method.
    pub fn loan_request(&self) -> Result<Loan<S::Request>> {
        self.loan_request_with(())
    }
}

impl<S: ServiceType> Clone for SharedClient<S> {
    fn clone(&self) -> Self {
        SharedClient(self.0.clone())
    }
}

impl<S: ServiceType> std::fmt::Debug for SharedClient<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SharedClient").field(&self.0.state().client).finish()
    }
}

impl<S: ServiceType> Inner<S> {
    fn state(&self) -> LockedState<'_, S> {
        LockedState { state: lock(&self.state), _deferral: Deferral::new(&self.tasks) }
    }
}

impl<S: ServiceType> Deref for LockedState<'_, S> {
    type Target = State<S>;

    fn deref(&self) -> &State<S> {
        &self.state
    }
}

impl<S: ServiceType> DerefMut for LockedState<'_, S> {
    fn deref_mut(&mut self) -> &mut State<S> {
        &mut self.state
    }
}

impl<S: ServiceType> Future for SharedResponse<S> {
    type Output = Result<Response<S>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let SharedResponse { inner, sequence, task, at_shutdown } = &mut *self;
        let waker = task.wait(context.waker());
        let is_over = at_shutdown.ends(context.waker()); // before the lock: may run user code
        let mut state = inner.state();
        let mut ended = match state.outcomes.remove(sequence) {
            Some(outcome) => Poll::Ready(Ok(outcome)),
            None => state.client.tracker.poll_outcome(*sequence, &waker),
        };
        if ended.is_pending() && is_over {
            ended = Poll::Ready(Err(state.client.tracker.shut_down(*sequence)));
        }
        if state.keep_outcomes() || ended.is_ready() {
            waker.wake(); // wakes all tasks: their outcomes are here, or one of them must set the engine's waker
        }
        ended.map(|outcome| state.client.response(outcome?))
    }
}

impl<S: ServiceType> State<S> {
    /// Stores the outcomes that belong to other tasks. Returns whether there were any.
    fn keep_outcomes(&mut self) -> bool {
        let before = self.outcomes.len();
        while let Some(outcome) = self.client.tracker.take_arrived() {
            self.outcomes.insert(outcome.0, outcome);
        }
        self.outcomes.len() > before
    }
}

impl<S: ServiceType> Drop for SharedResponse<S> {
    fn drop(&mut self) {
        let mut state = self.inner.state();
        state.client.tracker.give_up(self.sequence);
        state.outcomes.remove(&self.sequence);
    }
}
