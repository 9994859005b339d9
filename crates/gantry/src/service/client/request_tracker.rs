//! The tracking of requests until they end: the servers that can answer, the responses that arrived, and the responses
//! that will not arrive.
//!
//! A server is identified by its publisher of responses for this client. A server that has left stays in the list of
//! publishers until its responses were taken, so the client detects its end after its last response.
//!
//! Invariant: each request ends once: by a response, by an error (`request_errors`), or because its sender gives it up.
//! A client may switch the tracking off.

use super::{
    super::{
        MAX_INLINE_REQUEST_BYTES, depth_of, kept_replies, kept_requests, request_qos,
        service_type::ServiceTypeDescription,
    },
    pending_requests::PendingRequests,
};
use crate::{
    context,
    error::{Error, Result},
    log,
    node::{Node, Presence, client_reply_topic, request_topic},
    time::remaining,
    topic::{GenericLoan, GenericPublisher, MalformedSamples, PublishError},
};
use gantry_shm::{Gid, PublisherOptions, Qos, RequestId};
use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

/// The pause between two checks for a server while only one of the server's two endpoints exists.
const HALF_READY_PAUSE: Duration = Duration::from_millis(5);

/// The outcome of a request: its sequence number, and an error or its response, which is not checked yet.
pub(super) type Outcome = (u64, Result<gantry_shm::Sample>);

/// The requests of one client. The client's publisher of requests is an argument of the methods, because its type
/// depends on the client.
pub(super) struct RequestTracker {
    pub(super) name: String,
    pub(super) service_type: ServiceTypeDescription,
    pub(super) presence: Arc<Presence>,
    pub(super) gid: Gid,
    /// The largest number of requests in flight.
    depth: usize,
    /// Whether requests are followed to their end. If not, no request is ever pending, and each response to this client
    /// is an outcome.
    pub(super) is_tracking: bool,
    pub(super) responses: gantry_shm::Subscription,
    pending: PendingRequests,
    /// The outcomes that came while the client waited for another outcome.
    arrived: VecDeque<Outcome>,
    /// The servers that a request would reach now.
    servers: Arc<[Gid]>,
    /// The versions of the two endpoints' lists of matches from which `servers` was made.
    servers_of: Option<(u64, u64)>,
    /// The version of the list of response publishers at the last check for servers that have left.
    checked_publishers: u64,
    /// The number of lost responses that `pending` has accounted for.
    pub(super) noted_losses: u64,
    /// The numbers of these lost responses by server.
    noted_losses_of: Vec<(Gid, u64)>,
    pub(super) dropped_responses: u64,
    /// The malformed responses (their bytes are not a message of their type), which a binding reports.
    pub(super) malformed: MalformedSamples,
}

impl RequestTracker {
    /// Makes the endpoints of a client: the publisher of its requests, and the tracker with the subscription to
    /// its responses.
    pub(super) fn new(
        node: &Node,
        name: &str,
        service_type: ServiceTypeDescription,
        qos: Qos,
    ) -> Result<(GenericPublisher, RequestTracker)> {
        let name = node.resolve_service_name(name)?;
        let depth = depth_of(&qos)?;
        let options = PublisherOptions {
            max_kept_samples: kept_requests(depth) as usize,
            max_inline_bytes: MAX_INLINE_REQUEST_BYTES,
            ..PublisherOptions::default()
        };
        let (topic, request_type) = (request_topic(&name), service_type.request.clone());
        let requests = node.publisher_on(&topic, request_type, request_qos(depth), options)?;
        let gid = requests.engine.description().gid;
        // Each server keeps `kept_replies` responses for this client. With a KEEP_LAST depth, the responses of all
        // servers would count together, so one server's responses could displace another's.
        let (topic, qos) = (client_reply_topic(&name, gid), Qos::default().reliable().keep_all());
        let responses = node.subscription_on(&topic, service_type.response.clone(), qos)?.engine;
        let tracker = RequestTracker {
            name,
            service_type,
            presence: node.presence().clone(),
            gid,
            depth: depth as usize,
            is_tracking: true,
            responses,
            pending: PendingRequests::default(),
            arrived: VecDeque::new(),
            servers: Arc::new([]),
            servers_of: None,
            checked_publishers: 0,
            noted_losses: 0,
            noted_losses_of: Vec::new(),
            dropped_responses: 0,
            malformed: MalformedSamples::default(),
        };
        Ok((requests, tracker))
    }

    /// Sends a request and begins to track it.
    pub(super) fn send(
        &mut self,
        requests: &mut GenericPublisher,
        request: GenericLoan,
    ) -> std::result::Result<RequestId, PublishError<GenericLoan>> {
        if let Err(error) = self.prepare_to_send(requests) {
            return Err(PublishError { loan: request, error: Box::new(error) });
        }
        let sequence = requests.publish(request)?;
        Ok(self.track(sequence))
    }

    /// Finds the servers that would get a request. Fails if there is none, or if too many requests are in flight.
    pub(super) fn prepare_to_send(&mut self, requests: &mut GenericPublisher) -> Result<()> {
        if !self.is_tracking {
            return Ok(());
        }
        if self.pending.len() >= self.depth {
            return Err(Error::TooManyRequests { service: self.name.clone(), pending: self.pending.len() });
        }
        self.drop_stale()?;
        self.update_servers(requests);
        if !self.servers.is_empty() || self.server_count(requests)? > 0 {
            return Ok(());
        }
        Err(self.no_server()?)
    }

    /// Drops all available responses if no request is pending, because they came too late, and does not count
    /// overwritten responses as losses.
    fn drop_stale(&mut self) -> Result<()> {
        if !self.pending.is_empty() {
            return Ok(());
        }
        let most = kept_replies(self.depth as u32) as usize * self.servers.len().max(1);
        for _ in 0..most {
            if self.responses.take()?.is_none() {
                break;
            }
            self.dropped_responses += 1;
        }
        self.note_losses();
        Ok(())
    }

    /// Finds the servers that a request would reach and that can answer: their subscription and their publisher are
    /// matched.
    fn update_servers(&mut self, requests: &GenericPublisher) {
        let requests = &requests.engine;
        let versions = Some((requests.readers_version(), self.responses.publishers_version()));
        if versions != self.servers_of {
            self.servers_of = versions;
            self.servers = self.responses.publishers().filter(|&server| requests.reaches_process_of(server)).collect();
        }
    }

    /// The number of servers that a request would reach now.
    pub(super) fn server_count(&mut self, requests: &mut GenericPublisher) -> Result<usize> {
        requests.subscription_count()?;
        self.responses.publisher_count()?;
        self.servers_of = None;
        self.update_servers(requests);
        Ok(self.servers.len())
    }

    /// Whether a request would now reach a server. First takes all responses: the caller waits for a server, and a late
    /// response of a server that has left would end each of its waits at once.
    pub(super) fn has_server(&mut self, requests: &mut GenericPublisher) -> Result<bool> {
        while let Some(outcome) = self.next_outcome()? {
            self.arrived.push_back(outcome);
        }
        Ok(self.server_count(requests)? > 0)
    }

    /// Waits until a server is matched.
    pub(super) fn wait_for_service(&mut self, requests: &mut GenericPublisher, timeout: Duration) -> Result<bool> {
        let deadline = Instant::now().checked_add(timeout);
        while !self.has_server(requests)? {
            let remaining = remaining(deadline);
            if context::is_shut_down() {
                return Ok(false);
            }
            if remaining.is_zero() {
                return self
                    .type_mismatches()?
                    .pop()
                    .map_or(Ok(false), |mismatch| Err(Error::ServiceTypeMismatch { mismatch }));
            }
            // A server makes its publisher for this client after its subscription has joined, so the publisher is
            // visible last.
            let is_half_ready = self.responses.publishers().next().is_some();
            let pause = if is_half_ready { remaining.min(HALF_READY_PAUSE) } else { remaining };
            self.responses.wait_for_change(pause)?;
        }
        Ok(true)
    }

    /// Adds a request that was sent.
    pub(super) fn track(&mut self, sequence: u64) -> RequestId {
        if self.is_tracking {
            if self.pending.is_empty() {
                self.responses.poll_liveness(true);
            }
            self.pending.add(sequence, self.servers.clone());
        }
        RequestId { client_gid: self.gid, sequence }
    }

    /// Stops the liveness polling of servers if no request is pending.
    fn requests_ended(&self) {
        if self.pending.is_empty() {
            self.responses.poll_liveness(false);
        }
    }

    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Whether an outcome can be taken.
    pub(super) fn is_ready(&mut self) -> Result<bool> {
        if self.arrived.is_empty() {
            self.responses.is_ready()?; // joins new servers and removes those that left
            let outcome = self.next_outcome()?;
            self.arrived.extend(outcome);
        }
        Ok(!self.arrived.is_empty())
    }

    /// Takes the next outcome, first the outcomes that came during a wait for another outcome.
    pub(super) fn take_outcome(&mut self) -> Result<Option<Outcome>> {
        match self.arrived.pop_front() {
            Some(outcome) => Ok(Some(outcome)),
            None => self.next_outcome(),
        }
    }

    /// Takes an outcome that came during a wait for another outcome.
    pub(super) fn take_arrived(&mut self) -> Option<Outcome> {
        self.arrived.pop_front()
    }

    /// Takes the next response to a pending request or, if there is none, the next request that will not be answered.
    /// Drops other responses, at most the number that existed at the first drop, so that a server that sends
    /// continuously cannot keep the call in this loop.
    fn next_outcome(&mut self) -> Result<Option<Outcome>> {
        let mut left = None;
        while left != Some(0)
            && let Some(sample) = self.responses.take()?
        {
            self.note_losses();
            let request = sample.info().request.filter(|request| request.client_gid == self.gid);
            let is_tracking = self.is_tracking;
            let is_awaited = |request: &RequestId| self.pending.remove(request.sequence).is_some() || !is_tracking;
            let Some(id) = request.filter(is_awaited) else {
                self.dropped_responses += 1;
                left = left.map_or_else(|| Some(self.responses.untaken()), |left: u64| Some(left - 1));
                continue;
            };
            self.requests_ended();
            return Ok(Some((id.sequence, Ok(sample))));
        }
        self.note_losses();
        self.note_gone_servers();
        let failed = self.pending.take_failed();
        if failed.is_some() {
            self.requests_ended();
        }
        Ok(failed.map(|request| (request.sequence, Err(self.failure(&request)))))
    }

    fn losses(&self) -> u64 {
        let losses = self.responses.losses();
        losses.overwritten + losses.before_matched
    }

    /// Accounts for lost responses. If a server's responses were overwritten since the last take, its response to any
    /// pending request may be lost, unless that response can still be taken.
    #[inline]
    fn note_losses(&mut self) {
        if self.losses() != self.noted_losses {
            self.note_losses_of_servers();
        }
    }

    #[cold]
    fn note_losses_of_servers(&mut self) {
        let before = self.noted_losses.checked_ilog10();
        self.noted_losses = self.losses();
        if !self.is_tracking && self.noted_losses.checked_ilog10() != before {
            let (node, service, lost) = (&self.responses.description().node, &self.name, self.noted_losses);
            log::warn(
                node,
                format_args!(
                    "{lost} responses of {service} were overwritten before this client took them: take responses sooner"
                ),
            );
        }
        let noted = std::mem::take(&mut self.noted_losses_of);
        self.noted_losses_of = self.responses.lost_by_publisher().filter(|&(_, lost)| lost > 0).collect();
        self.noted_losses_of
            .iter()
            .filter(|&lost| !noted.contains(lost))
            .for_each(|&(server, _)| self.pending.lose(server));
        self.checked_publishers = u64::MAX; // forces a check: a request's remaining servers may have left earlier
    }

    fn note_gone_servers(&mut self) {
        let version = self.responses.publishers_version();
        if version != self.checked_publishers {
            self.checked_publishers = version;
            let responses = &self.responses;
            self.pending.fail_without_server(|server| responses.publishers().any(|publisher| publisher == server));
        }
    }

    /// Waits for the outcome of the request that was sent at `begin`. Returns an error after `timeout`.
    pub(super) fn wait_for_outcome(
        &mut self,
        requests: &GenericPublisher,
        sequence: u64,
        (begin, timeout): (Instant, Duration),
    ) -> Result<Outcome> {
        let deadline = begin.checked_add(timeout);
        let waited = loop {
            match self.outcome_of(sequence) {
                Ok(None) => {}
                Ok(Some(outcome)) => return Ok(outcome),
                Err(error) => break error,
            }
            match self.responses.wait_for_change(remaining(deadline)) {
                Ok(true) => {}
                Ok(false) if context::is_shut_down() => break self.shut_down(sequence),
                Ok(false) => break self.timed_out(requests, sequence, timeout),
                Err(error) => break error.into(),
            }
        };
        self.give_up(sequence);
        Err(waited)
    }

    /// Gives up a request. Returns `false` if the request has already ended.
    pub(super) fn give_up(&mut self, sequence: u64) -> bool {
        let was_pending = self.pending.remove(sequence).is_some();
        self.requests_ended();
        was_pending
    }

    /// The outcome of this request, if it has ended. The outcomes of other requests are kept.
    pub(super) fn outcome_of(&mut self, sequence: u64) -> Result<Option<Outcome>> {
        while let Some(outcome) = self.next_outcome()? {
            if outcome.0 == sequence {
                return Ok(Some(outcome));
            }
            self.arrived.push_back(outcome);
        }
        Ok(None)
    }
}
