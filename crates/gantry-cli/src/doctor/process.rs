//! A process in the report: its nodes, publishers with their memory and readers, and subscriptions.

use super::{Detail, bytes_text};
use crate::{
    names::count,
    qos::QosReport,
    service::{is_of_gone_client, is_of_service, parameter_node},
};
use gantry::Durability;
use gantry_shm::{EndpointDescription, Holder, ProcessReport, PublisherReport, ReaderReport};
use serde::Serialize;
use std::fmt;

/// One process.
#[derive(Serialize)]
pub struct Process {
    process: String,
    pid: u32,
    is_alive: bool,
    nodes: Vec<String>,
    publishers: Vec<Publisher>,
    subscriptions: Vec<Endpoint>,
    #[serde(skip)]
    detail: Detail,
}

#[derive(Serialize)]
struct Endpoint {
    node: String,
    topic: String,
    topic_type: String,
    qos_profile: QosReport,
}

#[derive(Serialize)]
struct Publisher {
    #[serde(flatten)]
    endpoint: Endpoint,
    /// `None` if the publisher's file cannot be read.
    state: Option<State>,
    readers: Vec<Reader>,
    holders: Vec<Held>,
}

#[derive(Serialize)]
struct State {
    /// The number of messages so far.
    newest_sequence: u64,
    /// The number of messages that the publisher keeps for subscriptions.
    kept_messages: u64,
    used_bytes: u64,
    is_blocked: bool,
}

#[derive(Serialize)]
struct Reader {
    process: String,
    /// The number of the next message that the reader takes; 0 means that it gets the whole history.
    next_sequence: u64,
    depth: u32,
    is_gating: bool,
}

#[derive(Serialize)]
struct Held {
    process: String,
    samples: usize,
    bytes: usize,
}

impl Process {
    pub fn new(report: &ProcessReport, detail: Detail) -> Process {
        Process {
            process: report.process.clone(),
            pid: report.pid,
            is_alive: report.is_alive,
            nodes: report.nodes.clone(),
            publishers: report
                .publishers
                .iter()
                .map(Publisher::from)
                .filter(|publisher| !publisher.is_over())
                .collect(),
            subscriptions: report.subscriptions.iter().map(|report| Endpoint::from(&report.description)).collect(),
            detail,
        }
    }

    /// Writes a line for each node with the number of its endpoints, or one line for a process without nodes.
    fn write_nodes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let process = format!("{}{}", self.process, if self.is_alive { "" } else { ", ended" });
        if self.nodes.is_empty() {
            return writeln!(f, "  {process}: no node");
        }
        self.nodes.iter().try_for_each(|node| writeln!(f, "  {node} in {process}: {}", self.counts(node)))
    }

    /// The number of endpoints and services of a node.
    fn counts(&self, node: &str) -> String {
        let publishers = || self.publishers.iter().map(|publisher| &publisher.endpoint).filter(|end| end.node == node);
        let subscriptions = || self.subscriptions.iter().filter(|end| end.node == node);
        let (is_topic, is_request) =
            (|end: &&Endpoint| !is_of_service(&end.topic), |end: &&Endpoint| end.topic.starts_with("rq/"));
        let parameters = subscriptions().filter(|end| end.is_of_parameter_server()).count();
        let counts = [
            (publishers().filter(is_topic).count(), "publisher"),
            (subscriptions().filter(is_topic).count(), "subscription"),
            (subscriptions().filter(is_request).count() - parameters, "service"),
            (publishers().filter(is_request).count(), "client"),
            (parameters, "parameter service"),
        ];
        let some: Vec<String> = counts
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, noun)| count(number, noun, "s"))
            .collect();
        if some.is_empty() { "no endpoints".to_owned() } else { some.join(", ") }
    }

    fn is_shown(&self, endpoint: &Endpoint) -> bool {
        self.detail == Detail::All || !endpoint.is_of_parameter_server()
    }
}

impl From<&EndpointDescription> for Endpoint {
    fn from(description: &EndpointDescription) -> Endpoint {
        Endpoint {
            node: description.node.clone(),
            topic: description.topic.clone(),
            topic_type: description.message_type.name.clone(),
            qos_profile: description.qos.into(),
        }
    }
}

impl From<&PublisherReport> for Publisher {
    fn from(report: &PublisherReport) -> Publisher {
        let qos = report.description.qos;
        // A latched history (TRANSIENT_LOCAL) is kept even without readers.
        let latched = if qos.durability == Durability::TransientLocal { qos.depth.into() } else { 0 };
        let state = report.state.as_ref().map(|state| State {
            newest_sequence: state.newest_sequence,
            kept_messages: state.granted_depth.max(latched).min(state.newest_sequence),
            used_bytes: state.used_bytes,
            is_blocked: state.is_blocked,
        });
        let reader = |reader: &ReaderReport| Reader {
            process: reader.process.clone(),
            next_sequence: reader.next_sequence,
            depth: reader.depth,
            is_gating: reader.is_gating,
        };
        let held = |Holder { process, samples, bytes, .. }: &Holder| Held {
            process: process.clone(),
            samples: *samples,
            bytes: *bytes,
        };
        Publisher {
            endpoint: Endpoint::from(&report.description),
            state,
            readers: report.readers.iter().map(reader).collect(),
            holders: report.holders.iter().map(held).collect(),
        }
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.detail == Detail::Nodes {
            return self.write_nodes(f);
        }
        writeln!(f, "  {}{}", self.process, if self.is_alive { "" } else { ", ended" })?;
        for node in &self.nodes {
            let is_hidden = |endpoint: &&Endpoint| endpoint.node == *node && !self.is_shown(endpoint);
            match self.subscriptions.iter().filter(is_hidden).count() {
                0 => writeln!(f, "    node {node}")?,
                hidden => writeln!(f, "    node {node}, {}", count(hidden, "parameter service", "s"))?,
            }
        }
        let mut publishers = self.publishers.iter().filter(|publisher| self.is_shown(&publisher.endpoint));
        publishers.try_for_each(|publisher| write!(f, "{publisher}"))?;
        self.subscriptions.iter().filter(|endpoint| self.is_shown(endpoint)).try_for_each(|endpoint| {
            writeln!(f, "    {} subscribes to {}{}", endpoint.node, endpoint.topic, endpoint.details())
        })
    }
}

impl Endpoint {
    fn is_of_parameter_server(&self) -> bool {
        parameter_node(&self.topic).is_some_and(|node| node == self.node)
    }

    /// Type and QoS, in brackets.
    fn details(&self) -> String {
        format!(" ({}, {})", self.topic_type, self.qos_profile.short())
    }
}

impl Publisher {
    /// Whether the publisher is for the replies to a client that is gone. The server removes such a publisher a little
    /// later.
    fn is_over(&self) -> bool {
        is_of_gone_client(&self.endpoint.topic, self.readers.len())
    }
}

impl fmt::Display for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint = &self.endpoint;
        write!(f, "    {} publishes {}{}", endpoint.node, endpoint.topic, endpoint.details())?;
        if let Some(State { newest_sequence, kept_messages, used_bytes, is_blocked }) = &self.state {
            let waits = if *is_blocked { ", waits for KEEP_ALL subscriptions" } else { "" };
            write!(f, ": newest {newest_sequence}, keeps {kept_messages}, {}{waits}", bytes_text(*used_bytes))?;
        }
        writeln!(f)?;
        for Reader { process, next_sequence, depth, is_gating } in &self.readers {
            let gating = if *is_gating { ", the publisher waits for it" } else { "" };
            writeln!(f, "      read by {process}: next {next_sequence}, depth {depth}{gating}")?;
        }
        self.holders.iter().try_for_each(|Held { process, samples, bytes }| {
            writeln!(f, "      {samples} messages ({}) held by {process}", bytes_text(*bytes as u64))
        })
    }
}
