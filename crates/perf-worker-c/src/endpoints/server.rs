//! A server in an executor. It consists of the end that receives requests and the end that sends responses.

use std::sync::{Arc, Mutex, PoisonError};

use perf_worker::backend::{Matched, Matching, OtherClock, Received};

use super::publisher::CPublisher;
use super::subscription::CListener;

/// A server of a node in an executor.
pub struct CServer {
    requests: CListener,
    responses: Arc<Mutex<CPublisher>>,
}

impl CServer {
    /// Creates a server from its two ends.
    pub fn new(requests: CListener, responses: Arc<Mutex<CPublisher>>) -> CServer {
        CServer { requests, responses }
    }

    fn with_responses<T>(&self, work: impl FnOnce(&mut CPublisher) -> T) -> T {
        work(&mut self.responses.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Matched for CServer {
    /// The matching of the end that has fewer matched endpoints.
    fn matched(&mut self) -> Result<Matching, String> {
        let (requests, responses) = (self.requests.matched()?, self.with_responses(Matched::matched)?);
        Ok(match (requests, responses) {
            (Matching::Count(requests), Matching::Count(responses)) => Matching::Count(requests.min(responses)),
            _ => requests,
        })
    }

    fn mismatches(&mut self) -> Vec<String> {
        [self.requests.mismatches(), self.with_responses(Matched::mismatches)].concat()
    }

    fn clock(&self) -> Option<OtherClock> {
        self.requests.clock()
    }
}

impl Received for CServer {
    fn overwritten(&self) -> u64 {
        Received::overwritten(&self.requests)
    }
}
