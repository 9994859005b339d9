//! `gantry param list`.

use super::remote::{RemoteNode, type_name};
use crate::session::Session;
use clap::Args;
use gantry_command::Result;
use serde::Serialize;
use std::fmt;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The full name of the node, such as /talker [default: all nodes]
    node_name: Option<String>,
    /// Print the types, too
    #[arg(long)]
    param_type: bool,
    /// List only parameters whose names begin with one of these prefixes and a dot
    #[arg(long, value_name = "PREFIX", num_args = 1..)]
    param_prefixes: Vec<String>,
    /// List the parameters of hidden nodes, too
    #[arg(long)]
    include_hidden_nodes: bool,
}

/// The parameters of the nodes.
#[derive(Serialize)]
struct List {
    /// Whether the names of the nodes are also printed.
    #[serde(skip)]
    with_nodes: bool,
    nodes: Vec<Parameters>,
}

#[derive(Serialize)]
struct Parameters {
    node: String,
    parameters: Vec<Parameter>,
}

#[derive(Serialize)]
struct Parameter {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter_type: Option<&'static str>,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let names = match &self.node_name {
            Some(name) => vec![RemoteNode::new(&domain, name)?.name],
            None => domain.nodes(self.include_hidden_nodes)?,
        };
        let mut nodes = Vec::new();
        for name in names {
            let node = RemoteNode::new(&domain, &name)?;
            // The name of a node that the user asked for is printed even if the node has no parameters.
            if self.node_name.is_some() || node.has_parameters()? {
                let parameters = self.parameters(&node)?;
                nodes.push(Parameters { node: name, parameters });
            }
        }
        session.output.print(&List { with_nodes: self.node_name.is_none(), nodes })
    }

    fn parameters(&self, node: &RemoteNode<'_>) -> Result<Vec<Parameter>> {
        let names = node.names(&self.param_prefixes)?;
        if !self.param_type {
            return Ok(names.into_iter().map(|name| Parameter { name, parameter_type: None }).collect());
        }
        let answer = node.call("get_parameter_types", &serde_json::json!({ "names": names }))?;
        let message = answer.message()?;
        let types = message.get("types").and_then(|types| types.as_list()).into_iter().flatten();
        let types = types.map(|number| number.as_integer().map(type_name));
        Ok(names.into_iter().zip(types).map(|(name, parameter_type)| Parameter { name, parameter_type }).collect())
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Parameters { node, parameters } in &self.nodes {
            if self.with_nodes && !parameters.is_empty() {
                writeln!(f, "{node}:")?;
            }
            for Parameter { name, parameter_type } in parameters {
                match parameter_type {
                    Some(parameter_type) => writeln!(f, "  {name} (type: {parameter_type})")?,
                    None => writeln!(f, "  {name}")?,
                }
            }
        }
        Ok(())
    }
}
