//! The pending requests of a client, with the servers that can answer them.
//!
//! Each request ends exactly once: it is answered, it fails, or its sender gives it up.

use gantry_shm::Gid;
use std::{collections::VecDeque, sync::Arc};

/// The requests that were sent and have not ended.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests {
    /// The pending requests, sorted by sequence number.
    requests: VecDeque<PendingRequest>,
    /// The number of pending requests whose state is not `Waiting`, because they failed.
    failed: usize,
}

/// A request that has not ended.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    pub(crate) sequence: u64,
    /// The servers that received the request and can answer, each identified by its publisher of responses.
    servers: Arc<[Gid]>,
    /// The number of servers that received the request.
    pub(crate) server_count: usize,
    pub(crate) state: State,
}

/// The state of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The response may come.
    Waiting,
    /// The response may be lost, because every living server has overwritten responses. If it is not lost, it can be
    /// taken now.
    Lost,
    /// All servers that can answer are gone.
    ServerGone,
}

impl PendingRequests {
    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Adds a request that was sent. Its sequence number is greater than all earlier ones.
    #[inline]
    pub(crate) fn add(&mut self, sequence: u64, servers: Arc<[Gid]>) {
        let server_count = servers.len();
        self.requests.push_back(PendingRequest { sequence, servers, server_count, state: State::Waiting });
    }

    /// Removes a request that was answered or given up. Returns `None` if the request had already ended.
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

    /// Records that responses of a server were overwritten: the requests no longer wait for this server.
    #[cold]
    pub(crate) fn lose(&mut self, server: Gid) {
        for request in self.requests.iter_mut().filter(|request| request.servers.contains(&server)) {
            request.servers = request.servers.iter().copied().filter(|&other| other != server).collect();
            if request.servers.is_empty() && request.state == State::Waiting {
                request.state = State::Lost;
                self.failed += 1;
            }
        }
    }

    /// Fails the waiting requests that have no server left, with [`State::Lost`] if a server has overwritten responses,
    /// otherwise with [`State::ServerGone`].
    #[cold]
    pub(crate) fn fail_without_server(&mut self, is_there: impl Fn(Gid) -> bool) {
        let waiting = self.requests.iter_mut().filter(|request| request.state == State::Waiting);
        for request in waiting.filter(|request| !request.servers.iter().any(|&server| is_there(server))) {
            let has_lost = request.servers.len() < request.server_count;
            request.state = if has_lost { State::Lost } else { State::ServerGone };
            self.failed += 1;
        }
    }

    /// Removes the oldest request that failed. Call this when there is no response to take.
    #[inline]
    pub(crate) fn take_failed(&mut self) -> Option<PendingRequest> {
        if self.failed == 0 {
            return None;
        }
        let index = self.requests.iter().position(|request| request.state != State::Waiting)?;
        self.remove_at(index)
    }
}
