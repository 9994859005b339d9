//! `gantry topic type`.

use crate::{names::Names, session::Session};
use clap::Args;
use gantry_command::Result;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The topic, such as /chatter
    topic_name: String,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let (_, types) = session.join()?.topic(&self.topic_name)?;
        session.output.print(&Names::List(types))
    }
}
