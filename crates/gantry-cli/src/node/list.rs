//! `gantry node list`.

use crate::{names::Names, session::Session};
use clap::Args;
use gantry_command::{Result, say};

#[derive(Debug, Args)]
pub struct Arguments {
    /// Show hidden nodes, too: their names begin with an underscore
    #[arg(short, long)]
    all: bool,
    /// Print only the number of nodes
    #[arg(short, long)]
    count_nodes: bool,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let names = session.join()?.nodes(self.all)?;
        if !self.count_nodes && names.windows(2).any(|pair| pair[0] == pair[1]) {
            say(
                "WARNING: Be aware that there are nodes in the graph that share an exact name, which can have unintended \
                 side effects.",
            );
        }
        session.output.print(&Names::new(names, self.count_nodes))
    }
}
