//! A client that several tasks share.
//!
//! The engine wakes one waker; that one wakes all tasks that wait, and each looks whether its request ended.

use super::{Client, Outcome, Response};
use crate::{error::Result, topic::Loan, wait::lock};
use gantry_cdr::{FixedSize, Kind, Service as ServiceType};
use gantry_shm::RequestId;
use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Wake, Waker},
};

/// A client of a service for several tasks or threads: [`Client::into_shared`]. Clones are the same client, so its requests
/// in flight are bounded together.
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
/// Control path: each call takes a lock.
pub struct SharedClient<S: ServiceType>(Arc<Inner<S>>);

struct Inner<S: ServiceType> {
    state: Mutex<State<S>>,
    tasks: Arc<Tasks>,
}

struct State<S: ServiceType> {
    client: Client<S>,
    /// The outcomes that their tasks have not taken.
    outcomes: BTreeMap<u64, Outcome>,
}

/// The tasks that wait. Its lock is taken after that of the state.
#[derive(Default)]
struct Tasks(Mutex<Vec<Waker>>);

/// The response to one request. Dropping the future gives up the request.
struct SharedResponse<S: ServiceType> {
    inner: Arc<Inner<S>>,
    sequence: u64,
}

impl<S: ServiceType> SharedClient<S> {
    pub(super) fn new(client: Client<S>) -> SharedClient<S> {
        let state = Mutex::new(State { client, outcomes: BTreeMap::new() });
        SharedClient(Arc::new(Inner { state, tasks: Arc::default() }))
    }

    /// As [`Client::loan_request_with`].
    ///
    /// # Errors
    /// As there.
    pub fn loan_request_with(&self, shape: <S::Request as Kind>::Shape<'_>) -> Result<Loan<S::Request>> {
        self.state().client.loan_request_with(shape)
    }

    /// Sends a request and awaits its response, on any async runtime. Dropping the future gives up the request, as the
    /// runtime's time-out does.
    ///
    /// # Errors
    /// As [`Client::call_async`].
    pub async fn call_async(&self, request: Loan<S::Request>) -> Result<Response<S>> {
        let id = self.state().client.send_request(request)?;
        self.response(id).await
    }

    /// As [`SharedClient::call_async`], with a copy of `request`; the response is in place.
    ///
    /// # Errors
    /// As [`Client::call_copy_async`].
    pub async fn call_copy_async(&self, request: &S::Request) -> Result<Response<S>> {
        let id = self.state().client.send_request_copy(request)?;
        self.response(id).await
    }

    /// Waits until a server is matched, on any async runtime.
    ///
    /// # Errors
    /// As [`Client::service_is_ready`].
    pub async fn wait_for_service_async(&self) -> Result<()> {
        std::future::poll_fn(|context| {
            let waker = self.0.tasks.add(context.waker());
            let mut state = self.state();
            let (requests, tracker) = state.client.parts();
            let polled = tracker.poll_service(requests, &waker);
            let has_others = state.keep_outcomes();
            drop(state);
            if has_others {
                waker.wake();
            }
            polled
        })
        .await
    }

    /// As [`Client::service_is_ready`].
    ///
    /// # Errors
    /// As there.
    pub fn service_is_ready(&self) -> Result<bool> {
        self.state().client.service_is_ready()
    }

    /// The number of requests of all tasks that are neither answered nor given up.
    #[must_use]
    pub fn pending_requests(&self) -> usize {
        self.state().client.pending_requests()
    }

    fn state(&self) -> MutexGuard<'_, State<S>> {
        lock(&self.0.state)
    }

    fn response(&self, request: RequestId) -> SharedResponse<S> {
        SharedResponse { inner: self.0.clone(), sequence: request.sequence }
    }
}

impl<S: ServiceType> SharedClient<S>
where
    S::Request: FixedSize,
{
    /// As [`Client::loan_request`].
    ///
    /// # Errors
    /// As there.
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
        f.debug_tuple("SharedClient").field(&self.state().client).finish()
    }
}

impl Tasks {
    /// Adds a task that waits, and returns the waker of all.
    fn add(self: &Arc<Self>, task: &Waker) -> Waker {
        let mut tasks = lock(&self.0);
        if !tasks.iter().any(|other| other.will_wake(task)) {
            tasks.push(task.clone());
        }
        Waker::from(self.clone())
    }
}

impl Wake for Tasks {
    fn wake(self: Arc<Self>) {
        let tasks = std::mem::take(&mut *lock(&self.0));
        tasks.into_iter().for_each(Waker::wake); // unlocked: a task may be polled here
    }
}

impl<S: ServiceType> Future for SharedResponse<S> {
    type Output = Result<Response<S>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let waker = self.inner.tasks.add(context.waker());
        let mut state = lock(&self.inner.state);
        let mut ended = state.outcomes.remove(&self.sequence);
        if ended.is_none()
            && let Poll::Ready(outcome) = state.client.tracker.poll_outcome(self.sequence, &waker)
        {
            ended = Some(outcome?);
        }
        let has_others = state.keep_outcomes();
        let response = ended.map(|outcome| state.client.response(outcome));
        drop(state);
        if has_others || response.is_some() {
            waker.wake(); // the others' outcomes are there, or one of them has to set the engine's waker
        }
        response.map_or(Poll::Pending, Poll::Ready)
    }
}

impl<S: ServiceType> State<S> {
    /// Keeps the outcomes of other tasks that came; returns whether there were any.
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
        let mut state = lock(&self.inner.state);
        state.client.tracker.give_up(self.sequence);
        state.outcomes.remove(&self.sequence);
    }
}
