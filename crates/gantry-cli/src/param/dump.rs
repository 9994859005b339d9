//! `gantry param dump`: a parameter file.

use super::remote::{ParameterValue, RemoteNode, messages};
use crate::{cli::Session, error::Result};
use clap::Args;
use gantry_dynamic::Yaml;
use serde::{Serialize, Serializer};
use std::{collections::BTreeMap, fmt};

#[derive(Debug, Args)]
pub struct Arguments {
    /// The full name of the node, as /talker
    node_name: String,
}

struct Dump<'a> {
    node: String,
    parameters: BTreeMap<String, Tree<'a>>,
}

/// A parameter, or the parameters that have a prefix.
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
            insert(&mut parameters, name, value);
        }
        session.output.print(&Dump { node: node.name, parameters })
    }
}

/// Puts a value below the parts of its name. A name that is also a prefix of others keeps its dots.
fn insert<'a>(tree: &mut BTreeMap<String, Tree<'a>>, name: &str, value: ParameterValue<'a>) {
    match name.split_once('.') {
        Some((prefix, rest)) if !matches!(tree.get(prefix), Some(Tree::Value(_))) => {
            let inner = tree.entry(prefix.to_owned()).or_insert_with(|| Tree::Inner(BTreeMap::new()));
            if let Tree::Inner(inner) = inner {
                insert(inner, rest, value);
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
        write!(f, "{:indent$}{name}:", "")?;
        match value {
            Tree::Inner(inner) => {
                writeln!(f)?;
                write_tree(inner, indent + 2, f)?;
            }
            Tree::Value(value) => match value.value() {
                Some(value) => Yaml::FULL_LENGTH.write_value(value, indent, f)?,
                None => writeln!(f, " null")?,
            },
        }
    }
    Ok(())
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
