//! `gantry service type`.

use crate::{error::Result, output::Names, session::Session};
use clap::Args;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The service, as /add_two_ints
    service_name: String,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let (_, types) = session.join()?.service(&self.service_name)?;
        session.output.print(&Names::List(types))
    }
}
