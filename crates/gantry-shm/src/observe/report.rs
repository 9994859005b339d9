//! The report of an inspection: plain values. The command `gantry doctor` prints them.

use crate::{describe::description::EndpointDescription, domain::peer::holder::Holder};
use std::{collections::BTreeMap, path::PathBuf};

/// The report of one domain.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DomainReport {
    /// The directory of the domain's files.
    pub directory: PathBuf,
    /// The memory of the domain's files.
    pub used_bytes: u64,
    /// The pid of the process that holds the registry lock now, if the process has written its pid.
    pub registry_holder: Option<u32>,
    /// The number of lines of the domain's board that are in use for topics, of 4096: one for each topic that has
    /// endpoints or is watched, and one for the replies of each service.
    pub topic_lines: usize,
    /// The domain's processes, in the order of their files' names, including dead ones that were not removed yet.
    pub processes: Vec<ProcessReport>,
    /// The topics of the domain's endpoints, each with the processes that sleep until there is a sample of the topic.
    /// The processes have the names that error messages use.
    pub topics: BTreeMap<String, Vec<String>>,
    /// Files of processes that ended without removing them, for example by a signal; one sentence describes each
    /// process. Other processes of the domain remove the files within about a second; if the domain has no other
    /// process, the next process that joins any domain removes them.
    pub leftovers: Vec<String>,
    /// The problems that the inspection found, a sentence for each problem. A process that leaves during the
    /// inspection may appear as a problem, so repeat the inspection.
    pub problems: Vec<String>,
}

/// The report of one process of a domain.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProcessReport {
    /// The process's program and pid, as in error messages.
    pub process: String,
    /// The process's pid in its own pid namespace.
    pub pid: u32,
    /// Whether the process holds its lock.
    pub is_alive: bool,
    /// The number of the process's waiter lines on the board: one for its control thread, and one for each
    /// subscription, wait set and publisher that ever slept.
    pub waiters: usize,
    /// The full names of the process's nodes.
    pub nodes: Vec<String>,
    /// The process's publishers.
    pub publishers: Vec<PublisherReport>,
    /// The process's subscriptions.
    pub subscriptions: Vec<SubscriptionReport>,
}

/// The report of one subscription.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionReport {
    /// The subscription's description.
    pub description: EndpointDescription,
    /// The number of samples that the subscription lost or skipped since it matched their publishers, as in
    /// [`Losses::overwritten`](crate::Losses::overwritten).
    pub lost_samples: u64,
}

/// The report of one publisher.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PublisherReport {
    /// The publisher's description.
    pub description: EndpointDescription,
    /// The publisher's state, read from its file. `None` if the file cannot be read; the report then lists a problem.
    pub state: Option<PublisherState>,
    /// The publisher's matched subscriptions.
    pub readers: Vec<ReaderReport>,
    /// The processes that hold samples of the publisher.
    pub holders: Vec<Holder>,
}

/// The state of a publisher, read from its file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublisherState {
    /// The memory that the publisher's file takes.
    pub used_bytes: u64,
    /// The sequence of the publisher's newest sample; 0 if there is none yet.
    pub newest_sequence: u64,
    /// The mean length of the publisher's newest samples (16 at most); 0 if there are no samples.
    pub recent_sample_bytes: u64,
    /// The number of samples that the publisher keeps for readers that have not taken them.
    pub granted_depth: u64,
    /// Whether the publisher waits for RELIABLE KEEP_ALL subscriptions to take.
    pub is_blocked: bool,
    /// The number of joins and leaves of readers that the publisher has not processed yet; it processes them when it
    /// publishes.
    pub unseen_changes: u64,
}

/// A report of a subscription, from its reader record for the publisher.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReaderReport {
    /// The subscription's process, as in error messages.
    pub process: String,
    /// The next sequence that the reader will take, 0 if the reader wants the whole history.
    pub next_sequence: u64,
    /// The number of samples that the reader wants the publisher to keep.
    pub depth: u32,
    /// Whether this reader blocks the publisher while it has not taken the oldest samples (RELIABLE KEEP_ALL on both
    /// sides).
    pub is_gating: bool,
}
