//! A topology as lines of text: nodes with their endpoints, counts, and notes.

use super::{
    Counts, Topology,
    process::{Liveliness, Node, NodeQos, Payload, Process, Trigger},
};
use crate::common::units::several;
use perf_worker::{choice::Choice, pacing::Pace};

impl Topology {
    /// The lines about the nodes of all processes, then the counts and the notes.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.processes.iter().flat_map(Process::lines).collect();
        lines.push(self.counts().sentence());
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        lines
    }
}

impl Process {
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("process {}:", self.name)];
        lines.extend(self.nodes.iter().flat_map(Node::lines));
        lines.extend(
            self.chains
                .iter()
                .map(|chain| format!("  chain {}: from {} to {}", chain.name, chain.from.join(" and "), chain.to)),
        );
        lines.push(String::new());
        lines
    }
}

impl Node {
    fn lines(&self) -> Vec<String> {
        let line = |verb: &str, name: &str, payload: &Payload, rest: String| {
            let Payload { message, payload_bytes } = payload;
            let message = format!("{} ({payload_bytes} B)", message.name);
            format!("    {verb:<11}{name:<28}{message:<28}{rest}")
        };
        let mut lines = vec![format!("  {}, executor {}", self.name, self.executor)];
        lines.extend(self.publishers.iter().map(|of| {
            let when = match &of.trigger {
                Trigger::Timer(pace) => every(pace),
                Trigger::Topics(topics) => format!("after {} ({:.1} Hz)", topics.join(" and "), of.rate_hz),
            };
            let rest = format!("{when}, {}, {}{}", of.pass_by.name(), of.qos, works(of.work_us));
            line("publishes", &of.topic, &of.payload, rest)
        }));
        lines.extend(self.subscriptions.iter().map(|of| {
            let rest = format!("{}, {}{}", of.pass_by.name(), of.qos, works(of.work_us));
            line("subscribes", &of.topic, &of.payload, rest)
        }));
        lines.extend(
            self.clients
                .iter()
                .map(|of| line("calls", &of.service, &of.payload, format!("{}, {}", every(&of.pace), of.qos))),
        );
        lines.extend(
            self.servers
                .iter()
                .map(|of| line("serves", &of.service, &of.payload, format!("{}{}", of.qos, works(of.work_us)))),
        );
        lines
    }
}

impl std::fmt::Display for NodeQos {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.liveliness {
            Liveliness::Automatic => self.qos.fmt(f),
            Liveliness::ManualByTopic => write!(f, "{}, MANUAL_BY_TOPIC", self.qos),
        }
    }
}

impl Counts {
    /// The counts in one line of text.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Counts { processes, executors, nodes, topics, publishers, subscriptions, services, clients, .. } = self;
        let mut parts = vec![
            several(*processes, "process", "processes"),
            several(*executors, "executor", "executors"),
            several(*nodes, "node", "nodes"),
            several(*topics, "topic", "topics"),
            several(*publishers, "publisher", "publishers"),
            several(*subscriptions, "subscription", "subscriptions"),
        ];
        if *services > 0 {
            parts.push(several(*services, "service", "services"));
            parts.push(several(*clients, "client", "clients"));
        }
        let mut rates = format!("{:.0} messages/s sent, {:.0} received", self.sent_hz, self.received_hz);
        if *clients > 0 {
            rates.push_str(&format!(", {:.0} requests/s", self.requests_hz));
        }
        format!("{}; {rates}", parts.join(", "))
    }
}

/// The CPU time of a callback as the end of a line; empty if it is 0.
fn works(work_us: u32) -> String {
    if work_us == 0 { String::new() } else { format!(", works {work_us} µs") }
}

/// The period of a timer with one message per period, as text.
fn every(pace: &Pace) -> String {
    format!("every {} ms", pace.per_ns as f64 / 1e6)
}
