//! `gantry param dump`: prints the parameters of a node as a parameter file.

use super::remote::{ParameterValue, RemoteNode, messages};
use crate::session::Session;
use clap::Args;
use gantry_command::{Result, say};
use gantry_dynamic::{Value, Yaml};
use serde::{Serialize, Serializer};
use std::{borrow::Cow, collections::BTreeMap, fmt};

/// The largest number of parts of a name that become nested mappings. The limit bounds the recursion, which uses the
/// stack.
const MAX_DEPTH: usize = 50;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The full name of the node, such as /talker
    node_name: String,
}

struct Dump<'a> {
    node: String,
    parameters: BTreeMap<String, Tree<'a>>,
}

/// A parameter, or the parameters that have a common prefix.
enum Tree<'a> {
    Value(ParameterValue<'a>),
    Inner(BTreeMap<String, Tree<'a>>),
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let node = RemoteNode::new(&domain, &self.node_name)?;
        let names = node.names(&[])?;
        let answer = node.call("get_parameters", &serde_json::json!({ "names": names }))?;
        let message = answer.message()?;
        let mut parameters = BTreeMap::new();
        for (name, value) in names.iter().zip(messages(&message, "values").map(ParameterValue)) {
            // Only the parameter file leaves values out; JSON has all parameters.
            match why_left_out(&value) {
                Some(why) if !session.output.json => say(format_args!("{name} is left out: {why}")),
                _ => insert(&mut parameters, name, value, MAX_DEPTH),
            }
        }
        session.output.print(&Dump { node: node.name, parameters })
    }
}

/// The reason why a parameter file cannot contain the value; `None` if it can.
fn why_left_out(value: &ParameterValue<'_>) -> Option<&'static str> {
    let is_subnormal = |value: Value<'_>| matches!(value, Value::Float64(value) if value.is_subnormal());
    match value.value() {
        None => Some("it is not set, and a parameter file has no such value"),
        Some(Value::List(list)) if list.is_empty() => Some("an empty array has no type in a parameter file"),
        Some(Value::List(list)) if matches!(list.iter().next(), Some(Value::Byte(_) | Value::Uint8(_))) => {
            Some("a parameter file has no byte arrays")
        }
        Some(Value::List(list)) if list.iter().any(is_subnormal) => Some("a parameter file has no such small numbers"),
        Some(value) if is_subnormal(value) => Some("a parameter file has no such small numbers"),
        Some(_) => None,
    }
}

/// Puts a value into nested mappings, one for each part of its name. A name is not divided at its dots if it is also a
/// prefix of other names, or has empty parts.
fn insert<'a>(tree: &mut BTreeMap<String, Tree<'a>>, name: &str, value: ParameterValue<'a>, depth: usize) {
    let parts = name.split_once('.').filter(|(prefix, rest)| depth > 0 && !prefix.is_empty() && !rest.is_empty());
    match parts {
        Some((prefix, rest)) if !matches!(tree.get(prefix), Some(Tree::Value(_))) => {
            let inner = tree.entry(prefix.to_owned()).or_insert_with(|| Tree::Inner(BTreeMap::new()));
            if let Tree::Inner(inner) = inner {
                insert(inner, rest, value, depth - 1);
            }
        }
        _ => {
            tree.insert(name.to_owned(), Tree::Value(value));
        }
    }
}

impl fmt::Display for Dump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parameters.is_empty() {
            return writeln!(f, "{}:\n  ros__parameters: {{}}\n", self.node);
        }
        writeln!(f, "{}:\n  ros__parameters:", self.node)?;
        write_tree(&self.parameters, 4, f)?;
        writeln!(f)
    }
}

fn write_tree(tree: &BTreeMap<String, Tree<'_>>, indent: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (name, value) in tree {
        write!(f, "{:indent$}{}:", "", scalar(name))?;
        match value {
            Tree::Inner(inner) => {
                writeln!(f)?;
                write_tree(inner, indent + 2, f)?;
            }
            Tree::Value(value) => match value.value() {
                Some(Value::Text(text)) => writeln!(f, " {}", scalar(text))?,
                Some(Value::List(list)) if list.iter().all(|element| element.as_str().is_some()) => {
                    writeln!(f)?;
                    for text in list.iter().filter_map(|element| element.as_str()) {
                        writeln!(f, "{:indent$}- {}", "", scalar(text))?;
                    }
                }
                Some(value) => Yaml::FULL_LENGTH.write_value(value, indent, f)?,
                None => writeln!(f, " null")?,
            },
        }
    }
    Ok(())
}

/// Writes a text on one line, in a form that PyYAML and ROS 2's reader of parameter files both read as this text,
/// although their rules for booleans and numbers differ.
fn scalar(text: &str) -> Cow<'_, str> {
    let mut plain = String::new();
    let is_written = Yaml::FULL_LENGTH.write_value(Value::Text(text), 0, &mut plain).is_ok();
    let is_plain = is_written && plain.trim() == text;
    if is_plain && text.parse().is_ok_and(|value: gantry::ParameterValue| value == text.into()) {
        return text.into();
    }
    let is_escaped = |char: char| char.is_control() || matches!(char, '\u{2028}' | '\u{2029}' | '\u{feff}');
    if !text.contains(is_escaped) {
        return format!("'{}'", text.replace('\'', "''")).into();
    }
    let mut quoted = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\n' => quoted.push_str("\\n"),
            char if is_escaped(char) => quoted.push_str(&format!("\\u{:04x}", u32::from(char))),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted.into()
}

impl Serialize for Dump<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let parameters = serde_json::json!({ "ros__parameters": json_of_tree(&self.parameters) });
        BTreeMap::from([(&self.node, parameters)]).serialize(serializer)
    }
}

fn json_of_tree(tree: &BTreeMap<String, Tree<'_>>) -> serde_json::Value {
    let value = |value: &Tree<'_>| match value {
        Tree::Value(value) => value.json(),
        Tree::Inner(inner) => json_of_tree(inner),
    };
    tree.iter().map(|(name, tree)| (name.clone(), value(tree))).collect::<serde_json::Map<_, _>>().into()
}
