//! A domain for a command: the command's hidden node in the domain, and look-ups of names in its graph.

use crate::names;
use gantry::{LogLevel, Node, printable};
use gantry_command::{Failure, Result, hidden_node, say};
use gantry_shm::{DomainReport, EndpointDescription, Participant, Role};
use std::{collections::BTreeMap, sync::Arc, time::Instant};

/// Names of topics or services, each with its types.
pub type NamesAndTypes = BTreeMap<String, Vec<String>>;

/// A domain that the command has joined.
pub struct Domain {
    /// The command's own node. Its name begins with an underscore, so that lists hide it, as they hide the
    /// nodes of `ros2`.
    pub node: Node,
    participant: Arc<Participant>,
}

impl Domain {
    /// Joins a domain; `None` means the domain in `ROS_DOMAIN_ID`. From then on, Ctrl-C ends waits, and the command
    /// ends normally.
    pub fn join(domain_id: Option<u32>) -> Result<Domain> {
        let node = hidden_node("cli", domain_id)?;
        // The command itself prints the relevant events of its own endpoints, so the library does not log them.
        if std::env::var_os("GANTRY_LOG").is_none() {
            gantry::set_logger_level(node.name(), LogLevel::Error);
        }
        let participant = Participant::join(node.domain_id())?;
        Ok(Domain { node, participant })
    }

    /// The full names of the nodes, sorted, without this command's own node.
    pub fn nodes(&self, with_hidden: bool) -> Result<Vec<String>> {
        let own = self.node.fully_qualified_name();
        let mut names = self.node.node_names()?;
        names.retain(|name| *name != own && (with_hidden || !names::is_hidden(name)));
        Ok(names)
    }

    pub fn topics(&self, with_hidden: bool) -> Result<NamesAndTypes> {
        Ok(shown(self.node.topic_names_and_types()?, with_hidden))
    }

    /// The topics with valid ROS 2 names. A warning on standard error lists topics with other names, which a node's
    /// methods do not accept.
    pub fn ros_topics(&self) -> Result<Vec<String>> {
        let is_ros = |name: &String| self.node.resolve_topic_name(name).is_ok_and(|full| full == *name);
        let (topics, others): (Vec<_>, Vec<_>) = self.topics(true)?.into_keys().partition(is_ros);
        for name in others {
            let name = printable(&name, &[]);
            say(format_args!("WARNING: topic [{name}] is left out: its name does not follow ROS 2's rules"));
        }
        Ok(topics)
    }

    pub fn services(&self, with_hidden: bool) -> Result<NamesAndTypes> {
        Ok(shown(self.node.service_names_and_types()?, with_hidden))
    }

    /// The full name of an existing topic, with its types.
    pub fn topic(&self, name: &str) -> Result<(String, Vec<String>)> {
        let full = self.node.resolve_topic_name(name)?;
        match self.node.topic_names_and_types()?.remove(&full) {
            Some(types) => Ok((full, types)),
            None => Err(self.unknown("topic", &full, &self.topic_hint(&full)?)),
        }
    }

    /// The hint at the end of the error about a topic that does not exist.
    pub fn topic_hint(&self, full: &str) -> Result<String> {
        let topics = self.node.topic_names_and_types()?;
        let known = topics.keys().map(String::as_str).filter(|known| *known != full);
        Ok(names::hint(full, known, &self.elsewhere(|report| report.topics.contains_key(full))))
    }

    /// The full name of an existing service, with its types.
    pub fn service(&self, name: &str) -> Result<(String, Vec<String>)> {
        let full = self.node.resolve_service_name(name)?;
        match self.node.service_names_and_types()?.remove(&full) {
            Some(types) => Ok((full, types)),
            None => Err(self.unknown("service", &full, &self.service_hint(&full)?)),
        }
    }

    /// The hint at the end of the error about a service that does not exist.
    pub fn service_hint(&self, full: &str) -> Result<String> {
        let services = self.node.service_names_and_types()?;
        let known = services.keys().map(String::as_str).filter(|known| *known != full);
        let requests = format!("rq{full}Request");
        Ok(names::hint(full, known, &self.elsewhere(|report| report.topics.contains_key(&requests))))
    }

    /// The full name of an existing node, and the number of nodes with this name.
    pub fn node_named(&self, name: &str) -> Result<(String, usize)> {
        let full = if name.starts_with('/') { name.to_owned() } else { format!("/{name}") };
        let names = self.nodes(true)?;
        match names.iter().filter(|other| **other == full).count() {
            0 => {
                let elsewhere = self.elsewhere(|report| {
                    report.processes.iter().any(|process| process.is_alive && process.nodes.contains(&full))
                });
                let hint = names::hint(&full, names.iter().map(String::as_str), &elsewhere);
                Err(self.unknown("node", &full, &hint))
            }
            count => Ok((full, count)),
        }
    }

    fn unknown(&self, kind: &str, full: &str, hint: &str) -> Failure {
        Failure::new(format!("Unknown {kind} '{full}' in domain {}{hint}", self.node.domain_id()))
    }

    /// The other domains of this user for which `is_there` holds. Domains that cannot be read are skipped.
    fn elsewhere(&self, is_there: impl Fn(&DomainReport) -> bool) -> Vec<u32> {
        let mut domains = gantry_shm::domains().unwrap_or_default();
        domains.retain(|id| *id != self.node.domain_id());
        domains.retain(|id| gantry_shm::inspect(*id).ok().flatten().is_some_and(|report| is_there(&report)));
        domains
    }

    /// Sleeps until this time. Returns `false` if the program shuts down earlier.
    pub fn sleep_until(&self, due: Instant) -> Result<bool> {
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() || !gantry::ok() {
                return Ok(gantry::ok());
            }
            // A shutdown ends this wait.
            self.node.wait_for_graph_change(left)?;
        }
    }

    /// The endpoints of one topic, or of all topics, with their types.
    pub fn endpoints(&self, topic: Option<&str>) -> Result<Vec<EndpointDescription>> {
        let entries = match topic {
            Some(topic) => self.participant.endpoints_of(topic),
            None => self.participant.graph(),
        }?;
        let endpoints = entries.into_iter().map(|entry| entry.description);
        Ok(endpoints.filter(|endpoint| endpoint.role != Role::Node).map(Arc::unwrap_or_clone).collect())
    }
}

fn shown(mut names: NamesAndTypes, with_hidden: bool) -> NamesAndTypes {
    names.retain(|name, _| with_hidden || !names::is_hidden(name));
    names
}
