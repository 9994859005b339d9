//! A domain in the report of `gantry doctor`: its processes, and the threads that sleep on its topics.

use super::{Detail, bytes_text, process::Process};
use crate::{
    names::count,
    service::{is_of_gone_client, parameter_node},
};
use gantry_shm::DomainReport;
use serde::Serialize;
use std::fmt;

/// One domain of this user.
#[derive(Serialize)]
pub struct Domain {
    domain_id: u32,
    directory: String,
    used_bytes: u64,
    /// The pid of the process that is joining or leaving the domain now.
    registry_holder: Option<u32>,
    processes: Vec<Process>,
    topics: Vec<Topic>,
    #[serde(skip)]
    detail: Detail,
}

#[derive(Serialize)]
struct Topic {
    name: String,
    publishers: usize,
    subscriptions: usize,
    /// The processes in which a thread sleeps until a message arrives.
    sleepers: Vec<String>,
}

impl Topic {
    /// Whether the topic carries the replies to a client that is gone. The server removes the topic's publisher a
    /// little later.
    fn is_over(&self) -> bool {
        is_of_gone_client(&self.name, self.subscriptions)
    }
}

impl Domain {
    pub fn new(domain_id: u32, report: &DomainReport, detail: Detail) -> Domain {
        let processes = || report.processes.iter();
        let topic = |(name, sleepers): (&String, &Vec<String>)| Topic {
            name: name.clone(),
            publishers: processes()
                .flat_map(|process| &process.publishers)
                .filter(|publisher| publisher.description.topic == *name)
                .count(),
            subscriptions: processes()
                .flat_map(|process| &process.subscriptions)
                .filter(|subscription| subscription.description.topic == *name)
                .count(),
            sleepers: sleepers.clone(),
        };
        Domain {
            domain_id,
            directory: report.directory.display().to_string(),
            used_bytes: report.used_bytes,
            registry_holder: report.registry_holder,
            processes: processes().map(|process| Process::new(process, detail)).collect(),
            topics: report.topics.iter().map(topic).filter(|topic| !topic.is_over()).collect(),
            detail,
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "domain {}: {}, {}, {} in {}",
            self.domain_id,
            count(self.processes.len(), "process", "es"),
            count(self.topics.len(), "topic", "s"),
            bytes_text(self.used_bytes),
            self.directory
        )?;
        if let Some(pid) = self.registry_holder {
            writeln!(f, "  process {pid} joins or leaves now (it holds the registry)")?;
        }
        self.processes.iter().try_for_each(|process| write!(f, "{process}"))?;
        if self.detail == Detail::Nodes {
            return Ok(());
        }
        let is_shown = |topic: &&Topic| self.detail == Detail::All || parameter_node(&topic.name).is_none();
        for Topic { name, publishers, subscriptions, sleepers } in self.topics.iter().filter(is_shown) {
            let publishers = count(*publishers, "publisher", "s");
            write!(f, "  {name}: {publishers}, {}", count(*subscriptions, "subscription", "s"))?;
            sleepers.iter().try_for_each(|sleeper| write!(f, ", {sleeper} sleeps"))?;
            writeln!(f)?;
        }
        match self.topics.len() - self.topics.iter().filter(is_shown).count() {
            0 => Ok(()),
            hidden => {
                let topics = count(hidden, "topic", "s");
                writeln!(f, "  {topics} of parameter services: shown with --include-hidden-services")
            }
        }
    }
}
