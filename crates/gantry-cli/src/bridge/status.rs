//! `gantry bridge status`.

use crate::session::Session;
use clap::Args;
use gantry::{BRIDGE_NODE, Node, Qos};
use gantry_bridge::{RoundTrip, Status, TopicStatus};
use gantry_command::{Failure, Result};
use gantry_msgs::std_msgs::msg::String as Text;
use serde::Serialize;
use std::{fmt, time::Duration};

/// The time to wait for the status of a bridge. A bridge publishes its status once a second, and its last status is
/// latched (TRANSIENT_LOCAL).
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug, Args)]
pub struct Arguments {
    /// Show topics of which no message was carried yet, too
    #[arg(short, long)]
    all: bool,
}

#[derive(Serialize)]
#[serde(transparent)]
struct Report(Vec<Status>);

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let is_status = |name: &&String| name.starts_with(BRIDGE_NODE) && name.ends_with("/status");
        let topics: Vec<String> = domain.topics(true)?.keys().filter(is_status).cloned().collect();
        if topics.is_empty() {
            let domain_id = domain.node.domain_id();
            return Err(Failure::new(format!("domain {domain_id} has no bridge; `gantry bridge zenoh` starts one")));
        }
        let mut statuses = Vec::new();
        for topic in topics {
            let mut status = read(&domain.node, &topic)?;
            status.topics.retain(|topic| self.all || topic.counts != Default::default() || topic.waiting > 0);
            statuses.push(status);
        }
        session.output.print(&Report(statuses))
    }
}

fn read(node: &Node, topic: &str) -> Result<Status> {
    let qos = Qos::default().keep_last(1).transient_local();
    let message = node.wait_for_message::<Text>(topic, qos, PATIENCE)?;
    let message = message.ok_or_else(|| {
        Failure::new(format!("the bridge of {topic} publishes no status; check that the bridge is not stopped"))
    })?;
    let failed = |error| Failure::new(format!("{topic} is not the status of a bridge of this version: {error}"));
    serde_json::from_str(message.data()).map_err(failed)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for status in &self.0 {
            let Status { network, domain_id, session, local_nodes, far_nodes, malformed, .. } = status;
            writeln!(
                f,
                "{network}: domain {domain_id} is session {session}; it shows {local_nodes} nodes and sees {far_nodes}"
            )?;
            for link in &status.links {
                writeln!(f, "  connected with {} at {}", link.session, link.address)?;
            }
            for RoundTrip { session, time_ns } in &status.round_trips {
                writeln!(f, "  round trip to bridge {session}: {:.3} ms", *time_ns as f64 / 1e6)?;
            }
            if *malformed > 0 {
                writeln!(
                    f,
                    "  {malformed} texts from the network were not valid liveliness tokens of nodes or endpoints"
                )?;
            }
            status.topics.iter().try_for_each(|topic| writeln!(f, "  {}", line(topic)))?;
            status.mismatches.iter().try_for_each(|mismatch| writeln!(f, "  {mismatch}"))?;
        }
        Ok(())
    }
}

/// The output line of a topic, with a reason for each kind of message that was not carried.
fn line(topic: &TopicStatus) -> String {
    let counts = topic.counts;
    let mut line =
        format!("{:3} {}: {} messages, {} bytes", topic.direction, topic.name, counts.carried, counts.carried_bytes);
    if topic.rate_hz > 0.0 {
        line += &format!("; now {:.1} Hz, {:.0} bytes/s", topic.rate_hz, topic.bytes_per_s);
    }
    for (count, what) in [
        (topic.waiting as u64, "wait for the network"),
        (counts.overwritten, "overwritten by newer ones, because the link is slower"),
        (counts.missed, "left the history before the bridge took them"),
        (counts.rate_limited, "above the rate of the policy"),
        (counts.duplicates, "came already"),
        (counts.expired, "older than their lifespan"),
        (counts.malformed, "malformed"),
        (counts.unclaimed, "of publishers that are not in the graph"),
        (counts.failed, "refused"),
    ] {
        if count > 0 {
            line += &format!("; {count} {what}");
        }
    }
    line
}
