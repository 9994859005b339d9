//! The sampler: it inspects the domain, and computes rates from the difference to the previous inspection.

use crate::sample::{Held, Node, Publisher, Sample, Subscription, Topic};
use gantry::printable;
use gantry_command::Result;
use gantry_shm::{
    DomainReport, EndpointDescription, Gid, History, Inspector, MAX_DEPTH, ProcessReport, PublisherReport,
    SubscriptionReport,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::{Instant, SystemTime, UNIX_EPOCH},
};

/// Inspects a domain repeatedly.
pub struct Sampler {
    inspector: Inspector,
    domain_id: u32,
    before: Counters,
}

/// The counters from one inspection, by endpoint. The counter of a publisher is its newest sequence number; the counter
/// of a subscription is its number of lost messages.
#[derive(Default)]
struct Counters {
    at: Option<Instant>,
    by_gid: HashMap<Gid, u64>,
}

/// The intermediate state while a report is converted to a [`Sample`].
struct Look<'a> {
    before: &'a Counters,
    now: Counters,
    seconds: Option<f64>,
    topics: BTreeMap<String, Topic>,
    types: BTreeMap<String, BTreeSet<String>>,
    nodes: Vec<Node>,
}

impl Sampler {
    /// Makes a sampler that has not inspected the domain yet.
    #[must_use]
    pub fn new(inspector: Inspector, domain_id: u32) -> Sampler {
        Sampler { inspector, domain_id, before: Counters::default() }
    }

    /// Inspects the domain; `at` is the present time. If the domain has no processes, the sample is empty.
    ///
    /// # Errors
    /// The domain's directory cannot be read, or other users could write to it.
    pub fn look(&mut self, at: Instant) -> Result<Sample> {
        let report = self.inspector.inspect()?;
        let seconds = self.before.at.map(|before| at.saturating_duration_since(before).as_secs_f64());
        let mut look = Look {
            before: &self.before,
            now: Counters { at: Some(at), by_gid: HashMap::new() },
            seconds: seconds.filter(|seconds| *seconds > 0.0),
            topics: BTreeMap::new(),
            types: BTreeMap::new(),
            nodes: Vec::new(),
        };
        if let Some(report) = &report {
            report.processes.iter().filter(|process| process.is_alive).for_each(|process| look.add_process(process));
            look.add_readers(report);
        }
        let time_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        let (processes, used_bytes, problems) = report.map_or((0, 0, Vec::new()), |report| {
            let processes = report.processes.iter().filter(|process| process.is_alive).count();
            (processes, report.used_bytes, report.problems.iter().map(|line| shown(line)).collect())
        });
        let Look { now, topics, types, mut nodes, .. } = look;
        let mut topics: Vec<Topic> = topics.into_values().collect();
        for topic in &mut topics {
            topic.finish(types.get(&topic.name));
        }
        nodes.sort_by(|one, other| one.name.cmp(&other.name));
        self.before = now;
        Ok(Sample { domain_id: self.domain_id, time_ns, processes, used_bytes, topics, nodes, problems })
    }
}

impl Look<'_> {
    fn add_process(&mut self, process: &ProcessReport) {
        let program = shown(&process.process);
        let names: BTreeSet<&String> = process.nodes.iter().collect();
        let mut nodes: BTreeMap<&String, Node> = names
            .into_iter()
            .map(|name| (name, Node { name: shown(name), process: program.clone(), ..Node::default() }))
            .collect();
        for publisher in &process.publishers {
            let row = self.publisher(&program, publisher);
            if let Some(node) = nodes.get_mut(&publisher.description.node) {
                match publisher.description.topic.as_str() {
                    topic if topic.starts_with("rq/") => node.clients += 1,
                    topic if topic.starts_with("rr/") => {}
                    _ => node.publishers += 1,
                }
                node.rate_hz = sum(node.rate_hz, row.rate_hz);
                node.bytes_per_s = sum(node.bytes_per_s, row.bytes_per_s);
                node.used_bytes += row.used_bytes;
            }
            self.topic(&publisher.description).publishers.push(row);
        }
        for subscription in &process.subscriptions {
            let row = self.subscription(&program, subscription);
            if let Some(node) = nodes.get_mut(&subscription.description.node) {
                match subscription.description.topic.as_str() {
                    topic if topic.starts_with("rq/") => node.services += 1,
                    topic if topic.starts_with("rr/") => {}
                    _ => node.subscriptions += 1,
                }
                node.lost = node.lost.saturating_add(row.lost);
            }
            self.topic(&subscription.description).subscriptions.push(row);
        }
        self.nodes.extend(nodes.into_values());
    }

    fn topic(&mut self, endpoint: &EndpointDescription) -> &mut Topic {
        let name = shown(&endpoint.topic);
        self.types.entry(name.clone()).or_default().insert(shown(&endpoint.message_type.name));
        self.topics.entry(name.clone()).or_insert_with(|| Topic { name, ..Topic::default() })
    }

    /// The rate of an endpoint's counter, per second. `None` if the previous inspection did not find the counter, for
    /// example because the process's file could not be read: the difference would then cover a longer time.
    fn rate(&mut self, gid: Gid, count: u64) -> Option<f64> {
        self.now.by_gid.insert(gid, count);
        let before = self.before.by_gid.get(&gid)?;
        self.seconds.map(|seconds| count.saturating_sub(*before) as f64 / seconds)
    }

    fn publisher(&mut self, process: &str, report: &PublisherReport) -> Publisher {
        let newest = report.state.as_ref().map_or(0, |state| state.newest_sequence);
        // There is no counter and therefore no rate if the publisher's file cannot be read.
        let rate_hz = report.state.as_ref().and_then(|state| self.rate(report.description.gid, state.newest_sequence));
        let message_bytes = report.state.as_ref().map_or(0, |state| state.recent_sample_bytes);
        Publisher {
            node: shown(&report.description.node),
            process: process.to_owned(),
            rate_hz,
            bytes_per_s: rate_hz.map(|rate| rate * message_bytes as f64),
            message_bytes,
            newest,
            kept: report.state.as_ref().map_or(0, |state| state.granted_depth.min(newest)),
            matched: report.readers.len(),
            used_bytes: report.state.as_ref().map_or(0, |state| state.used_bytes),
            is_blocked: report.state.as_ref().is_some_and(|state| state.is_blocked),
        }
    }

    fn subscription(&mut self, process: &str, report: &SubscriptionReport) -> Subscription {
        let SubscriptionReport { description, lost_samples, .. } = report;
        Subscription {
            node: shown(&description.node),
            process: process.to_owned(),
            lag: None,
            depth: (description.qos.history == History::KeepLast).then_some(description.qos.depth),
            is_gating: false,
            lost: *lost_samples,
            lost_per_s: self.rate(description.gid, *lost_samples),
        }
    }

    /// Adds the lags of subscriptions and the messages that processes hold. Both come from the reports on publishers.
    fn add_readers(&mut self, report: &DomainReport) {
        let living = report.processes.iter().filter(|process| process.is_alive);
        for publisher in living.flat_map(|process| &process.publishers) {
            let newest = publisher.state.as_ref().map_or(0, |state| state.newest_sequence);
            let kept = publisher.state.as_ref().map_or(0, |state| state.granted_depth);
            let topic = self.topic(&publisher.description);
            for reader in &publisher.readers {
                let lag = match reader.next_sequence {
                    0 => newest.min(kept), // the reader has just joined, and has not chosen its first sample yet
                    next => (newest + 1).saturating_sub(next),
                };
                topic.lag = topic.lag.max(lag);
                let depth = |depth: Option<u32>| depth.unwrap_or(MAX_DEPTH) == reader.depth;
                let process = shown(&reader.process);
                let rows = topic.subscriptions.iter_mut();
                for row in rows.filter(|row| row.process == process && depth(row.depth)) {
                    row.lag = Some(row.lag.unwrap_or(0).max(lag));
                    row.is_gating |= reader.is_gating;
                }
            }
            for holder in &publisher.holders {
                let process = shown(&holder.process);
                match topic.held.iter_mut().find(|held| held.process == process) {
                    Some(held) => {
                        held.messages += holder.samples;
                        held.bytes += holder.bytes as u64;
                    }
                    None => topic.held.push(Held { process, messages: holder.samples, bytes: holder.bytes as u64 }),
                }
            }
        }
    }
}

impl Topic {
    /// Sums up the figures of the topic's endpoints.
    fn finish(&mut self, types: Option<&BTreeSet<String>>) {
        let names: Vec<&str> = types.into_iter().flatten().map(String::as_str).collect();
        self.type_name = names.join(", ");
        for publisher in &self.publishers {
            self.rate_hz = sum(self.rate_hz, publisher.rate_hz);
            self.bytes_per_s = sum(self.bytes_per_s, publisher.bytes_per_s);
            self.used_bytes += publisher.used_bytes;
        }
        for subscription in &self.subscriptions {
            self.lost = self.lost.saturating_add(subscription.lost);
            self.lost_per_s = sum(self.lost_per_s, subscription.lost_per_s);
        }
        self.held.sort_by_key(|held| std::cmp::Reverse(held.bytes));
    }
}

fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

/// Escapes control characters in a text that comes from another program, because they could change the terminal.
fn shown(text: &str) -> String {
    printable(text, &[]).into_owned()
}
