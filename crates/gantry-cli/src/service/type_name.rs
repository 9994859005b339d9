//! `gantry service type`.

use crate::{names::Names, session::Session};
use clap::Args;
use gantry_command::Result;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The service, such as /add_two_ints
    service_name: String,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let (_, types) = session.join()?.service(&self.service_name)?;
        session.output.print(&Names::List(types))
    }
}
