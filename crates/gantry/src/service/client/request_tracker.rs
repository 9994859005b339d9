//! What a client does between a request and its end: who can answer, what came, what will not come.
//!
//! All clients of a service hear all its responses; each looks at the request id first and leaves others' alone, unseen. Who can
//! answer is known by publishers of responses: a server that is gone stays among them until what it said was taken, so "gone"
//! comes after its last response. Invariant: each request that was sent ends once, in a response, in an error that names it, or by
//! its sender giving it up.

use super::{
    Client, RESPONSES_DEPTH, Response,
    pending_requests::{PendingRequest, State},
    remaining,
};
use crate::{
    error::{Error, Result},
    topic::Sample,
};
use gantry_cdr::{Message, Service as ServiceType};
use gantry_shm::{Gid, RequestId};
use std::time::{Duration, Instant};

/// How a request ended, by its sequence. Nobody looked at the response yet.
pub(super) type Outcome = (u64, Result<gantry_shm::Sample>);

impl<S: ServiceType> Client<S> {
    /// Finds out who would get a request.
    pub(super) fn prepare_to_send(&mut self) -> Result<()> {
        self.drop_stale()?;
        self.update_servers();
        if !self.servers.is_empty() {
            return Ok(());
        }
        if self.service_is_ready()? {
            return self.drop_stale(); // again: what was lost before the server knew us is not our response
        }
        let why: String = self.mismatches()?.iter().map(|why| format!(" ({why})")).collect();
        Err(Error::NoServer { service: self.name.clone(), type_name: S::TYPE_NAME, why })
    }

    /// Responses that came while nothing was asked are others', or too late. What of them was overwritten is no loss.
    fn drop_stale(&mut self) -> Result<()> {
        if !self.pending.is_empty() {
            return Ok(());
        }
        let most = RESPONSES_DEPTH as usize * self.servers.len().max(1);
        for _ in 0..most {
            let Some(sample) = self.responses.take()? else { break };
            self.dropped_responses += u64::from(self.own(sample.info().request).is_some());
        }
        self.told_losses = self.losses();
        Ok(())
    }

    /// The servers that a request reaches, and that can answer. A process that has both a subscription that is matched and a
    /// publisher that is matched is one.
    pub(super) fn update_servers(&mut self) {
        let requests = self.requests.engine();
        let versions = Some((requests.readers_version(), self.responses.publishers_version()));
        if versions != self.servers_of {
            self.servers_of = versions;
            self.servers = self.responses.publishers().filter(|&server| requests.reaches_process_of(server)).collect();
        }
    }

    /// Enters a request in the books.
    pub(super) fn sent(&mut self, sequence: u64) -> RequestId {
        if self.pending.is_empty() {
            self.responses.poll_liveness(true);
        }
        self.pending.add(sequence, self.servers.clone());
        RequestId { client_gid: self.gid, sequence }
    }

    /// To be called when there may be no request any more.
    fn requests_ended(&self) {
        if self.pending.is_empty() {
            self.responses.poll_liveness(false);
        }
    }

    /// What came while another was waited for, then what comes.
    pub(super) fn take_outcome(&mut self) -> Result<Option<Outcome>> {
        match self.arrived.pop_front() {
            Some(outcome) => Ok(Some(outcome)),
            None => self.next_outcome(),
        }
    }

    /// The next response to a request of ours; if there is none, the next request that will not be answered any more.
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

    /// What a user gets.
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

    /// If responses were overwritten since the last take, which gave one of `server`, those to all requests that it had may have
    /// been among them, unless they are still there.
    #[inline]
    fn note_losses(&mut self, server: Option<Gid>) {
        let losses = self.losses();
        if losses != self.told_losses {
            self.told_losses = losses;
            self.pending.mark(State::Lost, |servers| server.is_none_or(|server| servers.contains(&server)));
        }
    }

    fn note_gone_servers(&mut self) {
        let version = self.responses.publishers_version();
        if version != self.checked_publishers {
            self.checked_publishers = version;
            let responses = &self.responses;
            let is_there = |server| responses.publishers().any(|publisher| publisher == server);
            self.pending.mark(State::ServerGone, |servers| !servers.iter().copied().any(is_there));
        }
    }

    #[cold]
    fn failure(&self, request: &PendingRequest) -> Error {
        let (service, sequence) = (self.name.clone(), request.sequence);
        match request.state {
            State::Lost => Error::ResponseLost { service, sequence, overwritten: self.told_losses },
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

    /// What [`Client::call`] says; the time began at `begin`.
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
                Ok(false) => break self.timed_out(sequence, timeout),
                Err(error) => break error.into(),
            }
        };
        self.give_up(sequence);
        Err(waited)
    }

    /// Whether the request had not ended.
    pub(super) fn give_up(&mut self, sequence: u64) -> bool {
        let was_pending = self.pending.remove(sequence).is_some();
        self.requests_ended();
        was_pending
    }

    /// How that request ended, if it did; how others did is kept for who asks for them.
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
        let slow_readers = self.requests.engine().slow_readers(sequence).join(", ");
        Error::CallTimeout {
            service: self.name.clone(),
            sequence,
            waited_ms: timeout.as_millis() as u64,
            progress: match &slow_readers[..] {
                "" => "it was taken".to_owned(),
                slow_readers => format!("not taken yet by {slow_readers}"),
            },
        }
    }
}
