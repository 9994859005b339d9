//! `gantry interface package`.

use super::{Kinds, is_service};
use crate::{
    known_types::KnownTypes,
    names::{self, Names},
    session::Session,
};
use clap::Args;
use gantry_command::Result;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The package, such as std_msgs
    package_name: String,
    #[command(flatten)]
    kinds: Kinds,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let known = KnownTypes::new(&session.join()?)?;
        let package = |name: &&str| name.split('/').next().unwrap_or_default().to_owned();
        let mut types = known.interfaces();
        types.retain(|name| package(name) == self.package_name);
        if types.is_empty() {
            let packages: Vec<String> = known.interfaces().iter().map(package).collect();
            let hint = names::hint(&self.package_name, packages.iter().map(String::as_str), &[]);
            return Err(format!("Unknown package '{}'{hint}", self.package_name).into());
        }
        let [with_messages, with_services, _] = self.kinds.shown();
        types.retain(|name| if is_service(name) { with_services } else { with_messages });
        session.output.print(&Names::List(types.into_iter().map(str::to_owned).collect()))
    }
}
