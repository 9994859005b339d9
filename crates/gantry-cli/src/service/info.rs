//! `gantry service info`.

use crate::{names::types_text, session::Session};
use clap::Args;
use gantry_command::Result;
use serde::Serialize;
use std::fmt;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The service, such as /add_two_ints
    service_name: String,
}

#[derive(Serialize)]
struct Info {
    service: String,
    types: Vec<String>,
    clients_count: usize,
    services_count: usize,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let (service, types) = domain.service(&self.service_name)?;
        session.output.print(&Info {
            clients_count: domain.node.count_clients(&service)?,
            services_count: domain.node.count_services(&service)?,
            service,
            types,
        })
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Type: {}", types_text(&self.types))?;
        writeln!(f, "Clients count: {}", self.clients_count)?;
        writeln!(f, "Services count: {}", self.services_count)
    }
}
