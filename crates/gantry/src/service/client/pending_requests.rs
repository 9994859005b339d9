//! The pending requests of a client, with the servers that can answer them.
//!
//! Each request ends once: answered, failed, or given up by its sender.

use gantry_shm::Gid;
use std::{collections::VecDeque, sync::Arc};

/// The requests that were sent and have not ended.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests {
    /// Sorted by sequence.
    requests: VecDeque<PendingRequest>,
    /// The number of requests that are not `Waiting`.
    failed: usize,
}

/// A request that has not ended.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    pub(crate) sequence: u64,
    /// The servers that received it, by their publishers of responses.
    pub(crate) servers: Arc<[Gid]>,
    pub(crate) state: State,
}

/// The state of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The response may come.
    Waiting,
    /// The response may have been overwritten; if not, it is among those that can be taken now.
    Lost,
    /// All servers that received the request are gone.
    ServerGone,
}

impl PendingRequests {
    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Adds a request that was sent; sequences ascend.
    #[inline]
    pub(crate) fn add(&mut self, sequence: u64, servers: Arc<[Gid]>) {
        self.requests.push_back(PendingRequest { sequence, servers, state: State::Waiting });
    }

    /// Removes a request that was answered or given up; `None` if it ended before.
    #[inline]
    pub(crate) fn remove(&mut self, sequence: u64) -> Option<PendingRequest> {
        let index = self.requests.binary_search_by_key(&sequence, |request| request.sequence).ok()?;
        self.remove_at(index)
    }

    fn remove_at(&mut self, index: usize) -> Option<PendingRequest> {
        let request = self.requests.remove(index)?;
        self.failed -= usize::from(request.state != State::Waiting);
        Some(request)
    }

    /// Moves the waiting requests for whose servers `fails` holds to `state`.
    #[cold]
    pub(crate) fn fail(&mut self, state: State, fails: impl Fn(&[Gid]) -> bool) {
        let waiting = self.requests.iter_mut().filter(|request| request.state == State::Waiting);
        for request in waiting.filter(|request| fails(&request.servers)) {
            request.state = state;
            self.failed += 1;
        }
    }

    /// Removes the oldest request that failed. To be called when there is no response to take.
    #[inline]
    pub(crate) fn take_failed(&mut self) -> Option<PendingRequest> {
        if self.failed == 0 {
            return None;
        }
        let index = self.requests.iter().position(|request| request.state != State::Waiting)?;
        self.remove_at(index)
    }
}
