//! `gantry param set` and `gantry param load`.

use super::remote::{RemoteNode, messages};
use crate::session::Session;
use clap::Args;
use gantry::{Parameter, ParameterValue};
use gantry_command::{Failure, Result, say};
use serde::Serialize;
use serde_json::{Value, json};
use std::{fmt, path::PathBuf};

#[derive(Debug, Args)]
pub struct SetArguments {
    /// The full name of the node, such as /talker
    node_name: String,
    /// The name of the parameter
    parameter_name: String,
    /// The value in YAML, such as 5, 0.5, true, text or [1, 2]
    #[arg(allow_hyphen_values = true)]
    value: String,
}

#[derive(Debug, Args)]
pub struct LoadArguments {
    /// The full name of the node, such as /talker
    node_name: String,
    /// The parameter file; wildcards such as /** also match this node
    parameter_file: PathBuf,
}

/// A parameter that was set or deleted.
#[derive(Serialize)]
pub struct Success<'a> {
    /// The sentence, in the words of `ros2 param`.
    #[serde(skip)]
    sentence: String,
    name: &'a str,
    successful: bool,
    /// The reason in the node's answer; usually empty.
    reason: &'a str,
}

impl SetArguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let node = RemoteNode::new(&domain, &self.node_name)?;
        let value: ParameterValue = self.value.parse().map_err(Failure::new)?;
        let reason = set_one(&node, &self.parameter_name, value, "Setting parameter failed")?;
        session.output.print(&Success::new("Set parameter successful", &self.parameter_name, &reason))
    }
}

impl LoadArguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let node = RemoteNode::new(&domain, &self.node_name)?;
        let parameters = gantry::parameters_from_yaml_file(&self.parameter_file, &node.name)?;
        if parameters.is_empty() {
            let file = self.parameter_file.display();
            return Err(Failure::new(format!("{file} has no parameters for node {}", node.name)));
        }
        let names: Vec<String> = parameters.iter().map(|parameter| parameter.name.clone()).collect();
        let mut failed = 0;
        for (name, result) in names.iter().zip(set(&node, parameters)?) {
            match result {
                Ok(reason) => {
                    let sentence = format!("Set parameter {name} successful");
                    session.output.print(&Success::new(&sentence, name, &reason))?;
                }
                Err(reason) => {
                    say(with(&format!("Set parameter {name} failed"), &reason));
                    failed += 1;
                }
            }
        }
        match failed {
            0 => Ok(()),
            failed => Err(Failure::new(format!("{failed} of {} parameters were not set", names.len()))),
        }
    }
}

impl<'a> Success<'a> {
    pub fn new(sentence: &str, name: &'a str, reason: &'a str) -> Success<'a> {
        Success { sentence: with(sentence, reason), name, successful: true, reason }
    }
}

impl fmt::Display for Success<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.sentence)
    }
}

/// The sentence, followed by the node's reason if there is one.
fn with(sentence: &str, reason: &str) -> String {
    if reason.is_empty() { sentence.to_owned() } else { format!("{sentence}: {reason}") }
}

/// Sets one parameter. Returns the reason in the node's answer. `failure` is the beginning of the error sentence if the
/// node refuses.
pub fn set_one(node: &RemoteNode<'_>, name: &str, value: ParameterValue, failure: &str) -> Result<String> {
    let mut results = set(node, vec![Parameter { name: name.to_owned(), value }])?;
    match (results.pop(), results.len()) {
        (Some(Ok(reason)), 0) => Ok(reason),
        (Some(Err(reason)), 0) => Err(format!("{}{}", with(failure, &reason), node.hint(name)?).into()),
        (_, others) => Err(Failure::new(format!("the node sent {} results for one parameter", others))),
    }
}

/// Sets each parameter independently. Returns the node's reason for each refusal.
fn set(node: &RemoteNode<'_>, parameters: Vec<Parameter>) -> Result<Vec<std::result::Result<String, String>>> {
    let parameters: Vec<Value> = parameters.into_iter().map(request).collect();
    let answer = node.call("set_parameters", &json!({ "parameters": parameters }))?;
    let message = answer.message()?;
    let results = messages(&message, "results").map(|result| {
        let reason = result.get("reason").and_then(|reason| reason.as_str()).unwrap_or_default().to_owned();
        match result.get("successful") {
            Some(gantry_dynamic::Value::Bool(true)) => Ok(reason),
            _ => Err(reason),
        }
    });
    Ok(results.collect())
}

/// Makes an `rcl_interfaces/msg/Parameter` in JSON.
fn request(Parameter { name, value }: Parameter) -> Value {
    let number = value.parameter_type() as u8;
    // JSON has no infinities and no NaN, so they are written as strings, which are read as numbers when the request is
    // encoded.
    let double = |value: &f64| match value.is_finite() {
        true => json!(value),
        false => json!(format!("{value}")),
    };
    let value = match &value {
        ParameterValue::Bool(value) => json!({ "type": number, "bool_value": value }),
        ParameterValue::Integer(value) => json!({ "type": number, "integer_value": value }),
        ParameterValue::Double(value) => json!({ "type": number, "double_value": double(value) }),
        ParameterValue::String(value) => json!({ "type": number, "string_value": value }),
        ParameterValue::ByteArray(values) => json!({ "type": number, "byte_array_value": values }),
        ParameterValue::BoolArray(values) => json!({ "type": number, "bool_array_value": values }),
        ParameterValue::IntegerArray(values) => json!({ "type": number, "integer_array_value": values }),
        ParameterValue::DoubleArray(values) => {
            json!({ "type": number, "double_array_value": values.iter().map(double).collect::<Vec<_>>() })
        }
        ParameterValue::StringArray(values) => json!({ "type": number, "string_array_value": values }),
        _ => json!({ "type": number }),
    };
    json!({ "name": name, "value": value })
}
