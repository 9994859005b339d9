//! A process in the report: its nodes, publishers with their memory and readers, and subscriptions.

use super::bytes_text;
use crate::qos::QosReport;
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
    /// `None` if its file cannot be read.
    state: Option<State>,
    readers: Vec<Reader>,
    holders: Vec<Held>,
}

#[derive(Serialize)]
struct State {
    /// The number of messages so far.
    newest_sequence: u64,
    /// The number of messages that it keeps for subscriptions.
    kept_messages: u64,
    used_bytes: u64,
    is_blocked: bool,
}

#[derive(Serialize)]
struct Reader {
    process: String,
    /// 0: the whole history.
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

impl From<&ProcessReport> for Process {
    fn from(report: &ProcessReport) -> Process {
        Process {
            process: report.process.clone(),
            pid: report.pid,
            is_alive: report.is_alive,
            nodes: report.nodes.clone(),
            publishers: report.publishers.iter().map(Publisher::from).collect(),
            subscriptions: report.subscriptions.iter().map(Endpoint::from).collect(),
        }
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
        // A latched history is kept without readers, too.
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
        writeln!(f, "  {}{}", self.process, if self.is_alive { "" } else { ", ended" })?;
        self.nodes.iter().try_for_each(|node| writeln!(f, "    node {node}"))?;
        self.publishers.iter().try_for_each(|publisher| write!(f, "{publisher}"))?;
        self.subscriptions.iter().try_for_each(|endpoint| {
            writeln!(f, "    {} subscribes to {}{}", endpoint.node, endpoint.topic, endpoint.details())
        })
    }
}

impl Endpoint {
    /// Type and QoS, in brackets.
    fn details(&self) -> String {
        format!(" ({}, {})", self.topic_type, self.qos_profile.short())
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
