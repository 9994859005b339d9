//! `gantry topic info`.

use super::endpoint::Endpoint;
use crate::{names::types_text, session::Session};
use clap::Args;
use gantry_command::Result;
use serde::Serialize;
use std::fmt;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The topic, such as /chatter
    topic_name: String,
    /// Show node, type hash, GID and QoS of each publisher and subscription, too
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Serialize)]
struct Info {
    topic: String,
    types: Vec<String>,
    publisher_count: usize,
    subscription_count: usize,
    /// The publishers; `None` without `--verbose`.
    #[serde(skip_serializing_if = "Option::is_none")]
    publishers: Option<Vec<Endpoint>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subscriptions: Option<Vec<Endpoint>>,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let (topic, types) = domain.topic(&self.topic_name)?;
        let publishers = domain.node.publishers_info_by_topic(&topic)?;
        let subscriptions = domain.node.subscriptions_info_by_topic(&topic)?;
        session.output.print(&Info {
            topic,
            types,
            publisher_count: publishers.len(),
            subscription_count: subscriptions.len(),
            publishers: self.verbose.then(|| publishers.into_iter().map(Endpoint::from).collect()),
            subscriptions: self.verbose.then(|| subscriptions.into_iter().map(Endpoint::from).collect()),
        })
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.publishers.is_some() { "\n\n" } else { "\n" };
        write!(f, "Type: {}{end}", types_text(&self.types))?;
        write!(f, "Publisher count: {}{end}", self.publisher_count)?;
        self.publishers.iter().flatten().try_for_each(|endpoint| writeln!(f, "{endpoint}"))?;
        write!(f, "Subscription count: {}{end}", self.subscription_count)?;
        self.subscriptions.iter().flatten().try_for_each(|endpoint| writeln!(f, "{endpoint}"))
    }
}
