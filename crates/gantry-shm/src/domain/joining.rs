//! The order in which subscriptions join publishers: first the connections with their records, then a new generation of the topic's
//! readers, then the joins. One generation is for all subscriptions of a process that join together.

use crate::{
    domain::{Domain, board::TopicIndex},
    error::{Error, Result},
    protocol::sleep::Side,
};

/// A number of connections that one subscription made together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct JoinBatch(pub(crate) u64);

/// A generation of a topic's readers that was raised after connections were made. A publisher that sees it sees their records.
#[derive(Clone, Copy)]
pub(crate) struct JoinGeneration {
    pub(crate) number: u64,
    /// The file of this process had its name after that: a publisher that lists the processes after this look finds this one, or
    /// finds that one is unlisted.
    has_name: bool,
}

impl Domain {
    /// Raises the generation of the topic's readers, which wakes the control thread of every process with an endpoint of the topic.
    pub(crate) fn raise_for_joins(&self, topic: TopicIndex) -> JoinGeneration {
        let number = self.board.topic_changed(topic, Side::Readers);
        JoinGeneration { number, has_name: self.process.has_name(&self.directory) }
    }

    /// An error if publishers could not see this process: its file has no name any more.
    pub(crate) fn check_visible(&self, generation: JoinGeneration, topic: &str) -> Result<()> {
        if generation.has_name {
            return Ok(());
        }
        let what = format!("joining a publisher of {topic}");
        Err(Error::Removed { file: self.directory.path().join(self.process.file_name()), what })
    }
}
