//! `gantry service explain`: prints a sentence for each pair of a client and a server.

use crate::{
    domain::Domain,
    names::{count, write_pairs},
    session::Session,
};
use clap::Args;
use gantry::{ConnectionState, ServiceConnection};
use gantry_command::Result;
use serde::Serialize;
use std::fmt;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The service, such as /add_two_ints [default: all services]
    service_name: Option<String>,
}

/// The answer for one service.
#[derive(Serialize)]
struct Explanation {
    name: String,
    pairs: Vec<Pair>,
    /// The reason why there is no pair; `None` if there is a pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_pair: Option<String>,
}

#[derive(Serialize)]
struct Pair {
    is_connected: bool,
    client_node: String,
    client_process: String,
    server_node: String,
    server_process: String,
    sentence: String,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let services = match &self.service_name {
            Some(name) => vec![domain.service(name)?.0],
            None => domain.services(true)?.into_keys().collect(),
        };
        services.iter().try_for_each(|service| session.output.print(&Explanation::new(&domain, service)?))
    }
}

impl Explanation {
    fn new(domain: &Domain, service: &str) -> Result<Explanation> {
        let pairs: Vec<Pair> = domain.node.explain_service(service)?.into_iter().map(Pair::from).collect();
        let no_pair = match (pairs.len(), domain.node.count_services(service)?) {
            (0, 0) => Some(format!("{service} has no server: start it, or compare names and domains")),
            (0, servers) => Some(format!("{service} has no client, and {}", count(servers, "server", "s"))),
            _ => None,
        };
        Ok(Explanation { name: service.to_owned(), pairs, no_pair })
    }
}

impl From<ServiceConnection> for Pair {
    fn from(connection: ServiceConnection) -> Pair {
        let sentence = connection.to_string();
        let ServiceConnection { client, server, state, .. } = connection;
        Pair {
            is_connected: state == ConnectionState::ZeroCopy,
            client_node: client.0,
            client_process: client.1,
            server_node: server.0,
            server_process: server.1,
            sentence,
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_pairs(f, &self.name, self.pairs.iter().map(|pair| &pair.sentence), self.no_pair.as_deref())
    }
}
