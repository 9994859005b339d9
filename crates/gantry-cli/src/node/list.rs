//! `gantry node list`.

use crate::{cli::Session, error::Result};
use clap::Args;
use serde::Serialize;
use std::fmt;

#[derive(Debug, Args)]
pub struct Arguments {
    /// Also show hidden nodes, whose names begin with an underscore
    #[arg(short, long)]
    all: bool,
    /// Print only the number of nodes
    #[arg(short, long)]
    count_nodes: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum List {
    Count(usize),
    Names(Vec<String>),
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let names = session.join()?.nodes(self.all)?;
        if self.count_nodes {
            return session.output.print(&List::Count(names.len()));
        }
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            eprintln!(
                "WARNING: Be aware that there are nodes in the graph that share an exact name, which can have unintended \
                 side effects."
            );
        }
        session.output.print(&List::Names(names))
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            List::Count(count) => writeln!(f, "{count}"),
            List::Names(names) => names.iter().try_for_each(|name| writeln!(f, "{name}")),
        }
    }
}
