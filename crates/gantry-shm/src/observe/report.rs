//! The report of an inspection: plain values that print themselves.

use crate::{describe::description::EndpointDescription, domain::holder::Holder};
use std::{fmt, path::PathBuf};

/// One domain.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DomainReport {
    /// The directory of its files.
    pub directory: PathBuf,
    /// The memory that its files take.
    pub used_bytes: u64,
    /// The pid of the process that holds the registry lock now, as far as it wrote it down.
    pub registry_holder: Option<u32>,
    /// Its processes, in the order of their files' names, including dead ones that were not removed yet.
    pub processes: Vec<ProcessReport>,
    /// Its topics, by name.
    pub topics: Vec<TopicReport>,
    /// Problems, a sentence each.
    pub problems: Vec<String>,
}

/// One process of a domain.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProcessReport {
    /// Program and pid, as errors name them.
    pub process: String,
    /// Its pid in its own pid namespace.
    pub pid: u32,
    /// Whether it holds its lock.
    pub is_alive: bool,
    /// The number of its waiter lines on the board: one for its control thread, and one for each subscription, wait set and
    /// publisher that ever slept.
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
    /// Its description.
    pub description: EndpointDescription,
    /// The state in its file; `None` if that cannot be read, which is a problem.
    pub state: Option<PublisherState>,
    /// Its matched subscriptions.
    pub readers: Vec<ReaderReport>,
    /// The processes that hold samples of it.
    pub holders: Vec<Holder>,
}

/// The state of a publisher in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublisherState {
    /// The memory that the file takes.
    pub used_bytes: u64,
    /// The sequence of its newest sample, 0 = none yet.
    pub newest_sequence: u64,
    /// The number of samples that it keeps for readers that have not taken them.
    pub granted_depth: u64,
    /// Whether it waits for RELIABLE KEEP_ALL subscriptions to take.
    pub is_blocked: bool,
    /// The number of joins and leaves of readers that it has not processed yet; it does when it publishes.
    pub unseen_changes: u64,
}

/// A subscription as its publisher sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReaderReport {
    /// Its process, as errors name it.
    pub process: String,
    /// The next sequence that it will take, 0 = the whole history.
    pub next_sequence: u64,
    /// The number of samples that are to be kept for it.
    pub depth: u32,
    /// Whether the publisher waits for it when it does not take.
    pub is_gating: bool,
}

/// One topic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicReport {
    /// Its name.
    pub name: String,
    /// The number of its publishers.
    pub publishers: usize,
    /// The number of its subscriptions.
    pub subscriptions: usize,
    /// The processes that sleep until there is a sample, as errors name them.
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

/// A number with its noun in the singular or plural.
fn count(number: usize, what: &str, plural: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { plural })
}
