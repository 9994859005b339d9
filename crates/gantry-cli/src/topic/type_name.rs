//! `gantry topic type`.

use crate::{error::Result, output::Names, session::Session};
use clap::Args;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The topic, as /chatter
    topic_name: String,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let (_, types) = session.join()?.topic(&self.topic_name)?;
        session.output.print(&Names::List(types))
    }
}
