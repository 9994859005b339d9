//! The parameters of a node, accessed through its parameter services.

use crate::{domain::Domain, names};
use gantry_command::{
    Result,
    message::{Answer, Repr, call, json_of},
};
use gantry_dynamic::{DynamicMessage, Value};
use std::time::Duration;

/// The time limit for an answer of the node, the same as in `ros2 param`.
const PATIENCE: Duration = Duration::from_secs(5);

/// A node whose parameters the command reads or sets.
pub struct RemoteNode<'a> {
    domain: &'a Domain,
    /// The full name of the node.
    pub name: String,
}

impl<'a> RemoteNode<'a> {
    /// The node with this name.
    pub fn new(domain: &'a Domain, name: &str) -> Result<RemoteNode<'a>> {
        let (name, _) = domain.node_named(name)?;
        Ok(RemoteNode { domain, name })
    }

    /// Whether the node has parameter services.
    pub fn has_parameters(&self) -> Result<bool> {
        Ok(self.domain.node.count_services(&format!("{}/list_parameters", self.name))? > 0)
    }

    /// Calls a parameter service of the node. The values of the request are written as YAML, of which JSON is a subset.
    pub fn call(&self, service: &str, values: &serde_json::Value) -> Result<Answer> {
        let answer = call(&self.domain.node, &format!("{}/{service}", self.name), values, PATIENCE)?;
        let name = &self.name;
        let why = || format!("node {name} has no parameter services, as a node that declares no parameter").into();
        answer.ok_or_else(why)
    }

    /// The hint at the end of the error about a parameter; empty if the node has the parameter.
    pub fn hint(&self, parameter: &str) -> Result<String> {
        let names = self.names(&[])?;
        match names.iter().any(|name| name == parameter) {
            true => Ok(String::new()),
            false => Ok(names::hint(parameter, names.iter().map(String::as_str), &[])),
        }
    }

    /// The names of the node's parameters, sorted; with prefixes, only the names that begin with one of them.
    pub fn names(&self, prefixes: &[String]) -> Result<Vec<String>> {
        let answer = self.call("list_parameters", &serde_json::json!({ "prefixes": prefixes }))?;
        let message = answer.message()?;
        let names = message.get("result.names").and_then(|names| names.as_list());
        let names = names.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned));
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        Ok(names)
    }
}

/// The messages in the list at `path` in a message.
pub fn messages<'a>(message: &DynamicMessage<'a>, path: &str) -> impl Iterator<Item = DynamicMessage<'a>> {
    let list = message.get(path).and_then(|list| list.as_list());
    list.into_iter().flatten().filter_map(|element| match element {
        Value::Message(message) => Some(message),
        _ => None,
    })
}

/// The types of `rcl_interfaces/msg/ParameterType`, indexed by their numbers. Each element has the type's name in `ros2
/// param describe`, the words in `ros2 param get`, and the field of `ParameterValue` that has the value.
const TYPES: [(&str, &str, &str); 10] = [
    ("not set", "Parameter not set.", ""),
    ("boolean", "Boolean value is:", "bool_value"),
    ("integer", "Integer value is:", "integer_value"),
    ("double", "Double value is:", "double_value"),
    ("string", "String value is:", "string_value"),
    ("byte array", "Byte values are:", "byte_array_value"),
    ("boolean array", "Boolean values are:", "bool_array_value"),
    ("integer array", "Integer values are:", "integer_array_value"),
    ("double array", "Double values are:", "double_array_value"),
    ("string array", "String values are:", "string_array_value"),
];

/// The value of a parameter: an `rcl_interfaces/msg/ParameterValue`.
pub struct ParameterValue<'a>(pub DynamicMessage<'a>);

impl<'a> ParameterValue<'a> {
    fn words(&self) -> (&'static str, &'static str, &'static str) {
        let number = self.0.get("type").and_then(|number| usize::try_from(number.as_integer()?).ok());
        number.and_then(|number| TYPES.get(number).copied()).unwrap_or(TYPES[0])
    }

    /// The words before the value, such as `Integer value is:`.
    pub fn label(&self) -> &'static str {
        self.words().1
    }

    /// The value; `None` if the parameter is not set.
    pub fn value(&self) -> Option<Value<'a>> {
        self.0.get(self.words().2)
    }

    /// The value as Python prints it.
    pub fn text(&self) -> String {
        match self.value() {
            None => "None".to_owned(),
            Some(Value::Text(text)) => text.to_owned(),
            Some(value) => Repr(value).to_string(),
        }
    }

    /// The value as JSON; null if the parameter is not set.
    pub fn json(&self) -> serde_json::Value {
        self.value().map_or(serde_json::Value::Null, json_of)
    }
}

/// The name of a parameter type, by its number.
pub fn type_name(number: i128) -> &'static str {
    usize::try_from(number).ok().and_then(|number| TYPES.get(number)).map_or("unknown", |words| words.0)
}
