//! What an inspection finds, as plain values that print themselves.
//!
//! Made by `inspect`, for tools; errors word who holds what with the same [`Holder`].

use crate::{describe::description::EndpointDescription, domain::holder::Holder};
use std::{fmt, path::PathBuf};

/// One domain.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DomainReport {
    /// Where its files lie.
    pub directory: PathBuf,
    /// What the files take of the file system's memory.
    pub used_bytes: u64,
    /// Who holds the registry lock just now: its pid, as far as it said so.
    pub registry_holder: Option<u32>,
    /// Its processes, in the order of their files' names; the dead that nobody removed yet among them.
    pub processes: Vec<ProcessReport>,
    /// Its topics, by name.
    pub topics: Vec<TopicReport>,
    /// What should not be, a sentence each.
    pub problems: Vec<String>,
}

/// One process of a domain.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProcessReport {
    /// Program and pid, as errors name them.
    pub process: String,
    /// In its own pid namespace.
    pub pid: u32,
    /// It holds its lock.
    pub is_alive: bool,
    /// How many waiter lines of the board it has: one for its control thread, and for each subscription, wait set and publisher
    /// that ever slept.
    pub waiters: usize,
    /// Full names of its nodes.
    pub nodes: Vec<String>,
    /// Its publishers.
    pub publishers: Vec<PublisherReport>,
    /// Its subscriptions.
    pub subscriptions: Vec<EndpointDescription>,
}

/// One publisher.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PublisherReport {
    /// What it says about itself.
    pub description: EndpointDescription,
    /// What its file says; `None` if that cannot be read, about which there is a problem.
    pub state: Option<PublisherState>,
    /// Its matched subscriptions.
    pub readers: Vec<ReaderReport>,
    /// Who holds samples of it.
    pub holders: Vec<Holder>,
}

/// What a publisher's file says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublisherState {
    /// What the file takes of the file system's memory.
    pub used_bytes: u64,
    /// Sequence of its newest sample, 0 = none yet.
    pub newest_sequence: u64,
    /// How many samples it keeps for readers that have not taken them.
    pub granted_depth: u64,
    /// It waits for RELIABLE KEEP_ALL subscriptions to take.
    pub is_blocked: bool,
    /// How many joins and leaves of readers it has not looked at yet: it does when it publishes.
    pub unseen_changes: u64,
}

/// A subscription as its publisher sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReaderReport {
    /// Its process, as errors name it.
    pub process: String,
    /// The next sequence that it will take, 0 = it wants everything.
    pub next_sequence: u64,
    /// How many samples it wants kept.
    pub depth: u32,
    /// The publisher waits for it if it does not take.
    pub is_gating: bool,
}

/// One topic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicReport {
    /// Its name.
    pub name: String,
    /// How many publish it.
    pub publishers: usize,
    /// How many subscribe to it.
    pub subscriptions: usize,
    /// The processes of those who sleep until there is a sample, as errors name them.
    pub sleepers: Vec<String>,
}

impl fmt::Display for DomainReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directory = self.directory.display();
        let (processes, topics) =
            (count(self.processes.len(), "process", "es"), count(self.topics.len(), "topic", "s"));
        writeln!(f, "{directory}: {processes}, {topics}, {} bytes", self.used_bytes)?;
        if let Some(pid) = self.registry_holder {
            writeln!(f, "  the registry is locked by process {pid}")?;
        }
        self.processes.iter().try_for_each(|process| write!(f, "{process}"))?;
        for topic in &self.topics {
            let TopicReport { name, publishers, subscriptions, sleepers } = topic;
            let publishers = count(*publishers, "publisher", "s");
            write!(f, "  {name}: {publishers}, {}", count(*subscriptions, "subscription", "s"))?;
            sleepers.iter().try_for_each(|sleeper| write!(f, ", {sleeper} sleeps"))?;
            writeln!(f)?;
        }
        self.problems.iter().try_for_each(|problem| writeln!(f, "  PROBLEM: {problem}"))
    }
}

impl fmt::Display for ProcessReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_alive { "" } else { ", dead" };
        writeln!(f, "  {}{state}", self.process)?;
        self.nodes.iter().try_for_each(|node| writeln!(f, "    node {node}"))?;
        self.publishers.iter().try_for_each(|publisher| write!(f, "{publisher}"))?;
        for EndpointDescription { node, topic, message_type, .. } in &self.subscriptions {
            writeln!(f, "    {node} subscribes to {topic} ({})", message_type.name)?;
        }
        Ok(())
    }
}

impl fmt::Display for PublisherReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EndpointDescription { node, topic, message_type, .. } = &self.description;
        write!(f, "    {node} publishes {topic} ({})", message_type.name)?;
        if let Some(PublisherState { used_bytes, newest_sequence, granted_depth, is_blocked, .. }) = &self.state {
            let waits = if *is_blocked { ", waits for gating readers" } else { "" };
            write!(f, ": newest {newest_sequence}, keeps {granted_depth}, {used_bytes} bytes{waits}")?;
        }
        writeln!(f)?;
        for reader in &self.readers {
            let gating = if reader.is_gating { ", gating" } else { "" };
            writeln!(
                f,
                "      read by {}: next {}, depth {}{gating}",
                reader.process, reader.next_sequence, reader.depth
            )?;
        }
        self.holders.iter().try_for_each(|holder| writeln!(f, "      {holder}"))
    }
}

/// A number of things, in words.
fn count(number: usize, what: &str, plural: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { plural })
}
