//! The books of a client: which of its requests are not answered yet, who could answer them, and which never will be.
//!
//! Owned by `client`. Each request ends once: answered, failed, or given up by its sender.

use gantry_shm::Gid;
use std::{collections::VecDeque, sync::Arc};

/// Requests that were sent and not answered.
#[derive(Debug)]
pub(crate) struct PendingRequests {
    /// By sequence.
    requests: VecDeque<PendingRequest>,
    /// How many of them are not `Waiting`.
    failed: usize,
}

/// A request that was not answered.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    pub(crate) sequence: u64,
    /// The publishers of responses that it went to.
    pub(crate) servers: Arc<[Gid]>,
    pub(crate) state: State,
}

/// What is known of its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It may come.
    Waiting,
    /// It may have been overwritten; if not, it is among those that can be taken now.
    Lost,
    /// Nobody is there to answer.
    ServerGone,
}

impl PendingRequests {
    /// None yet.
    pub(crate) fn new() -> PendingRequests {
        PendingRequests { requests: VecDeque::new(), failed: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    /// A request was sent; sequences ascend.
    #[inline]
    pub(crate) fn add(&mut self, sequence: u64, servers: Arc<[Gid]>) {
        self.requests.push_back(PendingRequest { sequence, servers, state: State::Waiting });
    }

    /// It was answered or given up; `None` if it was so before.
    #[inline]
    pub(crate) fn remove(&mut self, sequence: u64) -> Option<PendingRequest> {
        let place = self.requests.binary_search_by_key(&sequence, |request| request.sequence).ok()?;
        self.remove_at(place)
    }

    fn remove_at(&mut self, place: usize) -> Option<PendingRequest> {
        let request = self.requests.remove(place)?;
        self.failed -= usize::from(request.state != State::Waiting);
        Some(request)
    }

    /// Of those that still wait, what `fails` says comes to `state`.
    #[cold]
    pub(crate) fn mark(&mut self, state: State, fails: impl Fn(&[Gid]) -> bool) {
        let waiting = self.requests.iter_mut().filter(|request| request.state == State::Waiting);
        for request in waiting.filter(|request| fails(&request.servers)) {
            request.state = state;
            self.failed += 1;
        }
    }

    /// The oldest that failed. To be asked when there is no response to take.
    #[inline]
    pub(crate) fn take_failed(&mut self) -> Option<PendingRequest> {
        if self.failed == 0 {
            return None;
        }
        let place = self.requests.iter().position(|request| request.state != State::Waiting)?;
        self.remove_at(place)
    }
}
