//! `gantry node info`.

use crate::{
    domain::{Domain, NamesAndTypes},
    names,
    session::Session,
};
use clap::Args;
use gantry_command::{Result, say};
use serde::Serialize;
use std::fmt;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The full name of the node, such as /talker
    node_name: String,
    /// Show hidden topics and services, too
    #[arg(long)]
    include_hidden: bool,
}

/// The topics and services of a node. Gantry has no actions.
#[derive(Serialize)]
struct Info {
    node: String,
    subscribers: NamesAndTypes,
    publishers: NamesAndTypes,
    service_servers: NamesAndTypes,
    service_clients: NamesAndTypes,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let (name, count) = domain.node_named(&self.node_name)?;
        if count > 1 {
            say(format_args!(
                "There are {count} nodes in the graph with the exact name \"{name}\". You are seeing information about all \
                 of them."
            ));
        }
        session.output.print(&Info::new(&domain, name, self.include_hidden)?)
    }
}

impl Info {
    fn new(domain: &Domain, node: String, with_hidden: bool) -> Result<Info> {
        let shown = |mut found: NamesAndTypes| {
            found.retain(|name, _| with_hidden || !names::is_hidden(name));
            found
        };
        let own = &domain.node;
        Ok(Info {
            subscribers: shown(own.subscriber_names_and_types_by_node(&node)?),
            publishers: shown(own.publisher_names_and_types_by_node(&node)?),
            service_servers: shown(own.service_names_and_types_by_node(&node)?),
            service_clients: shown(own.client_names_and_types_by_node(&node)?),
            node,
        })
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.node)?;
        let nothing = NamesAndTypes::new();
        for (title, found) in [
            ("Subscribers", &self.subscribers),
            ("Publishers", &self.publishers),
            ("Service Servers", &self.service_servers),
            ("Service Clients", &self.service_clients),
            ("Action Servers", &nothing),
            ("Action Clients", &nothing),
        ] {
            writeln!(f, "  {title}:")?;
            found.iter().try_for_each(|(name, types)| writeln!(f, "    {name}: {}", types.join(", ")))?;
            if found.is_empty() {
                writeln!(f)?; // an empty line, as in `ros2`
            }
        }
        Ok(())
    }
}
