//! `gantry param delete`.

use super::{
    remote::RemoteNode,
    set::{Success, set_one},
};
use crate::session::Session;
use clap::Args;
use gantry::ParameterValue;
use gantry_command::Result;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The full name of the node, such as /talker
    node_name: String,
    /// The name of the parameter; only a parameter with dynamic typing can be deleted
    parameter_name: String,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let node = RemoteNode::new(&domain, &self.node_name)?;
        // A parameter is deleted by setting it to a value of the type "not set".
        let reason = set_one(&node, &self.parameter_name, ParameterValue::NotSet, "Deleting parameter failed")?;
        session.output.print(&Success::new("Deleted parameter successfully", &self.parameter_name, &reason))
    }
}
