//! `gantry param get`.

use super::remote::{ParameterValue, RemoteNode, messages};
use crate::session::Session;
use clap::Args;
use gantry_command::Result;
use serde::{Serialize, Serializer};
use std::fmt;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The full name of the node, such as /talker
    node_name: String,
    /// The name of the parameter
    parameter_name: String,
    /// Print only the value
    #[arg(long)]
    hide_type: bool,
}

struct Shown<'a> {
    value: ParameterValue<'a>,
    hide_type: bool,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let node = RemoteNode::new(&domain, &self.node_name)?;
        let answer = node.call("get_parameters", &serde_json::json!({ "names": [self.parameter_name] }))?;
        let message = answer.message()?;
        match messages(&message, "values").next().map(ParameterValue) {
            Some(value) => session.output.print(&Shown { value, hide_type: self.hide_type }),
            None => {
                let (node, name, hint) = (&node.name, &self.parameter_name, node.hint(&self.parameter_name)?);
                Err(format!("Parameter not set: node {node} has no '{name}'{hint}").into())
            }
        }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value.value() {
            _ if self.hide_type => writeln!(f, "{}", self.value.text()),
            None => writeln!(f, "{}", self.value.label()),
            Some(_) => writeln!(f, "{} {}", self.value.label(), self.value.text()),
        }
    }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.value.json().serialize(serializer)
    }
}
