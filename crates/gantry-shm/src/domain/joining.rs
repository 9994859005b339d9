//! The order in which subscriptions join publishers: a subscription makes connections with their reader records, then
//! the generation of the topic's readers is raised, then the subscription joins. All subscriptions of a process that
//! join together share one generation.

use crate::{
    domain::{Domain, board::TopicIndex},
    error::{Error, Result},
    protocol::sleep::Side,
};
use std::sync::atomic::Ordering::Relaxed;

/// The ordinal number of a batch of connections that one subscription made together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct JoinBatch(pub(crate) u64);

/// A generation of a topic's readers that was raised after connections were made. A publisher that sees the generation
/// sees the reader records of these connections.
#[derive(Clone, Copy)]
pub(crate) struct JoinGeneration {
    pub(crate) number: u64,
    /// Whether the file of this process still had its name after the generation was raised (`protocol::listing`).
    has_name: bool,
}

impl Domain {
    /// Raises the generation of the topic's readers, which wakes the control thread of every process with an endpoint
    /// of the topic.
    pub(crate) fn raise_for_joins(&self, topic: TopicIndex) -> JoinGeneration {
        self.process.count_taken();
        let number = self.board.topic_changed(topic, Side::Readers);
        let has_name = self.process.has_name(&self.directory);
        if !has_name {
            self.lost_name.store(true, Relaxed);
        }
        JoinGeneration { number, has_name }
    }

    /// Returns an error if the file of this process had lost its name, so that publishers could not see the process.
    pub(crate) fn check_visible(&self, generation: JoinGeneration, topic: &str) -> Result<()> {
        if generation.has_name { Ok(()) } else { Err(self.has_no_name(topic)) }
    }

    /// Returns an error if an earlier join failed because the process file had lost its name: a lost name does not come
    /// back.
    pub(crate) fn check_named(&self, topic: &str) -> Result<()> {
        // Relaxed: the flag only saves useless attempts to connect.
        if self.lost_name.load(Relaxed) { Err(self.has_no_name(topic)) } else { Ok(()) }
    }

    fn has_no_name(&self, topic: &str) -> Error {
        let what = format!("joining a publisher of {topic}");
        Error::Removed { file: self.directory.path().join(self.process.file_name()), what }
    }
}
