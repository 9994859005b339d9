//! `gantry service list`.

use crate::session::Session;
use clap::Args;
use gantry_command::Result;
use serde::Serialize;
use std::fmt;

#[derive(Debug, Args)]
pub struct Arguments {
    /// Show the types, too
    #[arg(short = 't', long)]
    show_types: bool,
    /// Print only the number of services
    #[arg(short, long)]
    count_services: bool,
    /// Show hidden services, too: a part of their names begins with an underscore
    #[arg(long)]
    include_hidden_services: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum List {
    Count(usize),
    Names(Vec<String>),
    Types(Vec<Service>),
}

#[derive(Serialize)]
struct Service {
    name: String,
    types: Vec<String>,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let services = session.join()?.services(self.include_hidden_services)?;
        session.output.print(&if self.count_services {
            List::Count(services.len())
        } else if self.show_types {
            List::Types(services.into_iter().map(|(name, types)| Service { name, types }).collect())
        } else {
            List::Names(services.into_keys().collect())
        })
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            List::Count(count) => writeln!(f, "{count}"),
            List::Names(names) => names.iter().try_for_each(|name| writeln!(f, "{name}")),
            List::Types(services) => {
                services.iter().try_for_each(|Service { name, types }| writeln!(f, "{name} [{}]", types.join(", ")))
            }
        }
    }
}
