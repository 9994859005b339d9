//! `gantry service find`.

use crate::{
    names::{self, Names},
    session::Session,
};
use clap::Args;
use gantry_command::Result;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The type, such as std_srvs/srv/Trigger
    service_type: String,
    /// Print only the number of services
    #[arg(short, long)]
    count_services: bool,
    /// Show hidden services, too: a part of their names begins with an underscore
    #[arg(long)]
    include_hidden_services: bool,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let wanted = names::long_type(&self.service_type, "srv");
        let mut services = session.join()?.services(self.include_hidden_services)?;
        services.retain(|_, types| types.contains(&wanted));
        session.output.print(&Names::new(services.into_keys().collect(), self.count_services))
    }
}
