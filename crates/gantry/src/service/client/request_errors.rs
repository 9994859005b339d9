//! The errors of a client's requests, with reasons found in the graph.

use super::{
    super::service_type::{ServiceTypeDescription, type_mismatch},
    pending_requests::{PendingRequest, State},
    request_tracker::RequestTracker,
};
use crate::{
    error::{Error, Result},
    node::{ServiceTopic, client_reply_topic, request_topic, service_topic},
    topic::{GenericPublisher, publisher_name},
};
use gantry_shm::{Gid, Role};
use std::time::Duration;

/// The largest number of letters in which two similar names may differ.
const MOST_DIFFERENCES: usize = 2;

impl RequestTracker {
    /// Makes the error of a request to a service without a server.
    #[cold]
    pub(super) fn no_server(&self) -> Result<Error> {
        let mut why = self.mismatches()?.join("; ");
        if why.is_empty()
            && let Some(similar) = self.similar_service()?
        {
            why = format!("did you mean {similar}?");
        }
        Ok(Error::NoServer { service: self.name.clone(), type_name: self.service_type.name.clone(), why })
    }

    /// Finds a service that has a server and a similar name, or the same name in another namespace.
    fn similar_service(&self) -> Result<Option<String>> {
        let endpoints = self.presence.participant().graph()?.into_iter().map(|entry| entry.description);
        let servers = endpoints.filter(|endpoint| endpoint.role == Role::Subscription);
        let distance = |name: &str| match name.ends_with(&self.name) {
            true => 0,
            false => strsim::osa_distance(&self.name, name),
        };
        let similar = servers.filter_map(|server| match service_topic(&server.topic)? {
            ServiceTopic::Request(name) if name != self.name => Some((distance(name), name.to_owned())),
            ServiceTopic::Request(_) | ServiceTopic::Reply => None,
        });
        let most = MOST_DIFFERENCES.min(self.name.len() / 3);
        Ok(similar.filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name))
    }

    #[cold]
    pub(super) fn failure(&self, request: &PendingRequest) -> Error {
        let (service, sequence) = (self.name.clone(), request.sequence);
        match request.state {
            State::Lost => Error::ResponseLost { service, sequence, overwritten: self.noted_losses },
            State::ServerGone | State::Waiting => {
                Error::ServerGone { service, sequence, servers: request.server_count }
            }
        }
    }

    /// The node and the process of a server, as text. `server` is the gid of the server's publisher of responses.
    pub(super) fn server_name(&self, server: Gid) -> String {
        publisher_name(self.presence.participant(), &self.responses.description().topic, server)
    }

    /// The error of a request if a shutdown ended the wait for its response.
    pub(super) fn shut_down(&self, sequence: u64) -> Error {
        Error::ShutDown { what: format!("request {sequence} to {}", self.name) }
    }

    /// The error of a wait for the service that a shutdown ended.
    pub(super) fn wait_shut_down(&self) -> Error {
        Error::ShutDown { what: format!("the wait for service {}", self.name) }
    }

    #[cold]
    pub(super) fn timed_out(&self, requests: &GenericPublisher, sequence: u64, timeout: Duration) -> Error {
        let slow_readers = requests.engine.slow_readers(sequence);
        let advice = match slow_readers.iter().any(|reader| reader.starts_with("this process ")) {
            true => ": the executor or thread of this process that serves the service must run while the call waits",
            false => "",
        };
        Error::CallTimeout {
            service: self.name.clone(),
            sequence,
            waited_ms: timeout.as_millis() as u64,
            progress: match &slow_readers[..] {
                [] => "all servers have taken the request".to_owned(),
                slow_readers => format!("the request was not taken yet by {}{advice}", slow_readers.join(", ")),
            },
        }
    }

    /// A sentence for each server that is not matched.
    pub(super) fn mismatches(&self) -> Result<Vec<String>> {
        let sentences = self.type_mismatches()?;
        Ok(if sentences.is_empty() { self.responses.mismatches() } else { sentences })
    }

    /// A sentence for each server with another type.
    pub(super) fn type_mismatches(&self) -> Result<Vec<String>> {
        let participant = self.presence.participant();
        let servers = participant.endpoints_of(&request_topic(&self.name))?.into_iter();
        let servers = servers.filter(|entry| entry.description.role == Role::Subscription);
        let repliers = participant.endpoints_of(&client_reply_topic(&self.name, self.gid))?.into_iter();
        let repliers = repliers.filter(|entry| entry.description.role == Role::Publisher);
        let ServiceTypeDescription { request, response, .. } = &self.service_type;
        let ends = servers.map(|server| (server, request)).chain(repliers.map(|server| (server, response)));
        let mismatch = |(server, asked)| {
            let gantry_shm::GraphEntry { description, .. } = server;
            type_mismatch(&self.name, (&description.node, &description.message_type), ("you ask", asked))
        };
        Ok(ends.filter_map(mismatch).collect())
    }
}
