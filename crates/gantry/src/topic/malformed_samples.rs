//! The malformed samples of a subscription (their bytes are not a message of its type): their count, and their log
//! lines.

use crate::{
    error::Error,
    log::{self, Nth, is_logged},
};
use gantry_shm::{EndpointDescription, Gid, Participant, Role};
use std::fmt::Display;

/// The count of malformed samples, and the name of the newest such sample's publisher. The name is stored, because the
/// search for it reads the graph.
#[derive(Debug, Default)]
pub(crate) struct MalformedSamples {
    pub(crate) count: u64,
    publisher: Option<Box<(Gid, String)>>,
}

impl MalformedSamples {
    /// Counts a sample that no error reports to a caller, and logs the first, the tenth, the hundredth such sample and
    /// so on.
    pub(crate) fn skip(
        &mut self,
        participant: &Participant,
        subscription: &EndpointDescription,
        publisher: Gid,
        why: &dyn Display,
    ) {
        self.count += 1;
        if is_logged(self.count) {
            let EndpointDescription { topic, message_type, node, .. } = subscription;
            let (publisher, type_name) = (publisher_name(participant, topic, publisher), &message_type.name);
            let sentence =
                format!("a sample of {publisher} on {topic} is not a valid {type_name}: {why}; the sample was skipped");
            log::warn(node, format_args!("{sentence}{}", Nth(self.count)));
        }
    }

    /// Counts a sample and makes the error for the caller.
    #[cold]
    pub(crate) fn error(
        &mut self,
        participant: &Participant,
        topic: &str,
        publisher: Gid,
        (type_name, error): (&'static str, gantry_cdr::Error),
    ) -> Error {
        self.count += 1;
        let known = self.publisher.take().filter(|known| known.0 == publisher);
        let known = known.unwrap_or_else(|| Box::new((publisher, publisher_name(participant, topic, publisher))));
        let (topic, publisher) = (topic.to_owned(), known.1.clone());
        self.publisher = Some(known);
        Error::Malformed { topic, publisher, type_name, error }
    }
}

/// Describes a publisher's node and process in a sentence: "/talker in talker (pid 7)". Reads the graph.
pub(crate) fn publisher_name(participant: &Participant, topic: &str, publisher: Gid) -> String {
    let mut entries = participant.endpoints_of(topic).unwrap_or_default().into_iter();
    let is_it = |description: &EndpointDescription| description.role == Role::Publisher && description.gid == publisher;
    match entries.find(|entry| is_it(&entry.description)) {
        Some(entry) => format!("{} in {}", entry.description.node, entry.process),
        None => "a publisher that has left".to_owned(),
    }
}
