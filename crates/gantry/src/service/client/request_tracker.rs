//! The tracking of requests from sending to their end: which servers can answer, which responses came, which will not
//! come.
//!
//! All clients of a service receive all its responses; each client checks the request id first and skips the others
//! without reading them. A server is known by its publisher of responses: a server that is gone stays among the
//! publishers until its responses were taken, so its end is seen after its last response. Invariant: each request that
//! was sent ends once, in a response, in an error that names it, or by its sender giving it up.

use super::{
    Client, RESPONSES_DEPTH, Response,
    pending_requests::{PendingRequest, State},
    remaining,
};
use crate::{
    context,
    error::{Error, Result},
    topic::Sample,
};
use gantry_cdr::{Message, Service as ServiceType};
use gantry_shm::{Gid, RequestId};
use std::time::{Duration, Instant};

/// The end of a request, with its sequence. The response is not checked yet.
pub(super) type Outcome = (u64, Result<gantry_shm::Sample>);

impl<S: ServiceType> Client<S> {
    /// Finds the servers that would get a request.
    pub(super) fn prepare_to_send(&mut self) -> Result<()> {
        self.drop_stale()?;
        self.update_servers();
        if !self.servers.is_empty() {
            return Ok(());
        }
        if self.service_is_ready()? {
            return self.drop_stale(); // again: responses that were lost before the server was matched are not ours
        }
        let why: String = self.mismatches()?.iter().map(|why| format!(" ({why})")).collect();
        Err(Error::NoServer { service: self.name.clone(), type_name: S::TYPE_NAME, why })
    }

    /// Without a pending request, responses belong to other clients or are late: drops them, and does not count
    /// overwritten ones as losses.
    fn drop_stale(&mut self) -> Result<()> {
        if !self.pending.is_empty() {
            return Ok(());
        }
        let most = RESPONSES_DEPTH as usize * self.servers.len().max(1);
        for _ in 0..most {
            let Some(sample) = self.responses.take()? else { break };
            self.dropped_responses += u64::from(self.own(sample.info().request).is_some());
        }
        self.noted_losses = self.losses();
        Ok(())
    }

    /// Finds the servers that a request reaches and that can answer: processes with both a matched subscription and a
    /// matched publisher.
    pub(super) fn update_servers(&mut self) {
        let requests = &self.requests.engine;
        let versions = Some((requests.readers_version(), self.responses.publishers_version()));
        if versions != self.servers_of {
            self.servers_of = versions;
            self.servers = self.responses.publishers().filter(|&server| requests.reaches_process_of(server)).collect();
        }
    }

    /// Adds a request that was sent.
    pub(super) fn track(&mut self, sequence: u64) -> RequestId {
        if self.pending.is_empty() {
            self.responses.poll_liveness(true);
        }
        self.pending.add(sequence, self.servers.clone());
        RequestId { client_gid: self.gid, sequence }
    }

    /// Ends the polling of servers if no request is pending.
    fn requests_ended(&self) {
        if self.pending.is_empty() {
            self.responses.poll_liveness(false);
        }
    }

    /// The next outcome, of those that came while another one was waited for first.
    pub(super) fn take_outcome(&mut self) -> Result<Option<Outcome>> {
        match self.arrived.pop_front() {
            Some(outcome) => Ok(Some(outcome)),
            None => self.next_outcome(),
        }
    }

    /// The next response to a request of this client; if there is none, the next request that will not be answered.
    pub(super) fn next_outcome(&mut self) -> Result<Option<Outcome>> {
        while let Some(sample) = self.responses.take()? {
            self.note_losses(Some(sample.info().publisher_gid));
            let Some(id) = self.own(sample.info().request) else { continue };
            if self.pending.remove(id.sequence).is_none() {
                self.dropped_responses += 1;
                continue;
            }
            self.requests_ended();
            return Ok(Some((id.sequence, Ok(sample))));
        }
        self.note_losses(None);
        self.note_gone_servers();
        let failed = self.pending.take_failed();
        if failed.is_some() {
            self.requests_ended();
        }
        Ok(failed.map(|request| (request.sequence, Err(self.failure(&request)))))
    }

    /// The result for the user.
    pub(super) fn response(&self, (sequence, outcome): Outcome) -> Result<Response<S>> {
        let sample = Sample::new(outcome?.into()).map_err(|error| self.malformed(error))?;
        Ok(Response::new(sample, RequestId { client_gid: self.gid, sequence }))
    }

    fn own(&self, request: Option<RequestId>) -> Option<RequestId> {
        request.filter(|request| request.client_gid == self.gid)
    }

    fn losses(&self) -> u64 {
        let losses = self.responses.losses();
        losses.overwritten + losses.before_matched
    }

    /// If responses were overwritten since the last take, which returned one of `server`, the responses to all requests
    /// that `server` received may have been among them, unless they can still be taken.
    #[inline]
    fn note_losses(&mut self, server: Option<Gid>) {
        let losses = self.losses();
        if losses != self.noted_losses {
            self.noted_losses = losses;
            self.pending.fail(State::Lost, |servers| server.is_none_or(|server| servers.contains(&server)));
        }
    }

    fn note_gone_servers(&mut self) {
        let version = self.responses.publishers_version();
        if version != self.checked_publishers {
            self.checked_publishers = version;
            let responses = &self.responses;
            let is_there = |server| responses.publishers().any(|publisher| publisher == server);
            self.pending.fail(State::ServerGone, |servers| !servers.iter().copied().any(is_there));
        }
    }

    #[cold]
    fn failure(&self, request: &PendingRequest) -> Error {
        let (service, sequence) = (self.name.clone(), request.sequence);
        match request.state {
            State::Lost => Error::ResponseLost { service, sequence, overwritten: self.noted_losses },
            State::ServerGone | State::Waiting => {
                Error::ServerGone { service, sequence, servers: request.servers.len() }
            }
        }
    }

    #[cold]
    fn malformed(&self, error: gantry_cdr::Error) -> Error {
        let topic = self.responses.description().topic.clone();
        Error::Malformed { topic, type_name: S::Response::TYPE_NAME, error }
    }

    /// The wait of [`Client::call`]; `timeout` begins at `begin`.
    pub(super) fn wait_for_response(
        &mut self,
        sequence: u64,
        begin: Instant,
        timeout: Duration,
    ) -> Result<Response<S>> {
        let deadline = begin.checked_add(timeout);
        let waited = loop {
            match self.outcome_of(sequence) {
                Ok(None) => {}
                Ok(Some(outcome)) => return self.response(outcome),
                Err(error) => break error,
            }
            match self.responses.wait_for_change(remaining(deadline)) {
                Ok(true) => {}
                Ok(false) if context::is_shut_down() => {
                    break Error::ShutDown { service: self.name.clone(), sequence };
                }
                Ok(false) => break self.timed_out(sequence, timeout),
                Err(error) => break error.into(),
            }
        };
        self.give_up(sequence);
        Err(waited)
    }

    /// Gives up a request; `false` if it ended before.
    pub(super) fn give_up(&mut self, sequence: u64) -> bool {
        let was_pending = self.pending.remove(sequence).is_some();
        self.requests_ended();
        was_pending
    }

    /// The outcome of that request, if it ended. The outcomes of others are kept.
    pub(super) fn outcome_of(&mut self, sequence: u64) -> Result<Option<Outcome>> {
        while let Some(outcome) = self.next_outcome()? {
            if outcome.0 == sequence {
                return Ok(Some(outcome));
            }
            self.arrived.push_back(outcome);
        }
        Ok(None)
    }

    #[cold]
    fn timed_out(&self, sequence: u64, timeout: Duration) -> Error {
        let slow_readers = self.requests.engine.slow_readers(sequence).join(", ");
        Error::CallTimeout {
            service: self.name.clone(),
            sequence,
            waited_ms: timeout.as_millis() as u64,
            progress: match &slow_readers[..] {
                "" => "all servers have taken it".to_owned(),
                slow_readers => format!("not taken yet by {slow_readers}"),
            },
        }
    }
}
