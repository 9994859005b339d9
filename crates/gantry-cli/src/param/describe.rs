//! `gantry param describe`.

use super::remote::{RemoteNode, messages, type_name};
use crate::session::Session;
use clap::Args;
use gantry_command::{
    Result,
    message::{Repr, json_of},
};
use gantry_dynamic::{DynamicMessage, Value};
use serde::{Serialize, Serializer};
use std::fmt;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The full name of the node, such as /talker
    node_name: String,
    /// The names of the parameters
    #[arg(required = true)]
    parameter_names: Vec<String>,
}

/// An `rcl_interfaces/msg/ParameterDescriptor`.
struct Descriptor<'a>(DynamicMessage<'a>);

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let node = RemoteNode::new(&domain, &self.node_name)?;
        let answer = node.call("describe_parameters", &serde_json::json!({ "names": self.parameter_names }))?;
        let message = answer.message()?;
        let mut count = 0;
        for descriptor in messages(&message, "descriptors") {
            session.output.print(&Descriptor(descriptor))?;
            count += 1;
        }
        match count {
            0 => {
                let hints: Vec<String> =
                    self.parameter_names.iter().map(|name| node.hint(name)).collect::<Result<_>>()?;
                Err(format!("node {} does not have these parameters{}", node.name, hints.concat()).into())
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Descriptor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |path: &str| self.0.get(path).and_then(|text| text.as_str()).unwrap_or_default().to_owned();
        let number = self.0.get("type").and_then(|number| number.as_integer());
        writeln!(f, "Parameter name: {}", text("name"))?;
        writeln!(f, "  Type: {}", type_name(number.unwrap_or_default()))?;
        if !text("description").is_empty() {
            writeln!(f, "  Description: {}", text("description"))?;
        }
        writeln!(f, "  Constraints:")?;
        if matches!(self.0.get("read_only"), Some(Value::Bool(true))) {
            writeln!(f, "    Read only: true")?;
        }
        let mut ranges = messages(&self.0, "floating_point_range").chain(messages(&self.0, "integer_range"));
        if let Some(range) = ranges.next() {
            let bound = |name: &str| range.get(name).map(|value| Repr(value).to_string()).unwrap_or_default();
            writeln!(f, "    Min value: {}", bound("from_value"))?;
            writeln!(f, "    Max value: {}", bound("to_value"))?;
            if !matches!(bound("step").as_str(), "0" | "0.0") {
                writeln!(f, "    Step: {}", bound("step"))?;
            }
        }
        if !text("additional_constraints").is_empty() {
            writeln!(f, "    Additional constraints: {}", text("additional_constraints"))?;
        }
        Ok(())
    }
}

impl Serialize for Descriptor<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        json_of(Value::Message(self.0)).serialize(serializer)
    }
}
