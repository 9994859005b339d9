//! Remapping rules: other names for a node and for its topics and services.
//!
//! The rules and their arguments follow the ROS 2 design articles "Remapping Names" and "ROS Command Line Arguments" as
//! rcl implements them (`rcl_remap.c`, `arguments.c`). The first rule that matches is applied, once. As in rcl, there
//! are no wildcards and back references.

use super::names;
use crate::error::{Error, Result};

/// The kind of a name; a rule may apply to one kind only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    Topic,
    Service,
}

impl NameKind {
    fn word(self) -> &'static str {
        match self {
            NameKind::Topic => "topic",
            NameKind::Service => "service",
        }
    }
}

/// A parsed remapping rule.
#[derive(Debug)]
pub(super) struct Rule<'a> {
    text: &'a str,
    /// The only node to which the rule applies; `None` if it applies to all nodes.
    node: Option<&'a str>,
    from: Match<'a>,
    to: &'a str,
}

/// The name that a rule replaces.
#[derive(Debug, PartialEq, Eq)]
enum Match<'a> {
    NodeName,
    Namespace,
    Name { name: &'a str, kind: Option<NameKind> },
}

/// A node's name and namespace after remapping, and the rules for its topics and services.
#[derive(Debug)]
pub(crate) struct Remapped {
    pub(crate) node: String,
    /// The node's namespace in its full form, with the leading slash.
    pub(crate) namespace: String,
    /// The rules for names: the kind (`None`: both kinds), the old full name, and the new full name.
    names: Vec<(Option<NameKind>, String, String)>,
}

impl Remapped {
    /// Applies `rules` to a node with this name and namespace.
    pub(crate) fn new(node: &str, namespace: &str, rules: &[String]) -> Result<Remapped> {
        names::check_node(node)?;
        names::full_namespace(namespace)?;
        let rules: Vec<Rule<'_>> = rules.iter().map(|rule| parse(rule)).collect::<Result<_>>()?;
        let first = |name: &str, from: Match<'_>| {
            rules.iter().find(|rule| rule.from == from && rule.is_for(name)).map(|rule| rule.to)
        };
        // As in rcl: a rule that selects the node by its old name can change only the node's name.
        let node = first(node, Match::NodeName).unwrap_or(node);
        let namespace = names::full_namespace(first(node, Match::Namespace).unwrap_or(namespace))?;
        names::check_node(node)?;
        let mut replaced = Vec::new();
        for rule in &rules {
            let Match::Name { name, kind } = rule.from else { continue };
            let expand = |name| {
                names::expand("remapped", name, node, &namespace).map_err(|e| misunderstood(rule.text, &e.to_string()))
            };
            let (from, to) = (expand(name)?, expand(rule.to)?);
            if rule.is_for(node) {
                replaced.push((kind, from, to));
            }
        }
        Ok(Remapped { node: node.to_owned(), namespace, names: replaced })
    }

    /// The node's name, with the namespace.
    pub(crate) fn fully_qualified_name(&self) -> String {
        format!("{}/{}", self.namespace.trim_end_matches('/'), self.node)
    }

    /// The full name of the topic or service `name` of the node: expanded, then remapped.
    pub(crate) fn resolve(&self, kind: NameKind, name: &str) -> Result<String> {
        let full = names::expand(kind.word(), name, &self.node, &self.namespace)?;
        let fits =
            |(of, from, _): &&(Option<NameKind>, String, String)| of.is_none_or(|of| of == kind) && *from == full;
        Ok(self.names.iter().find(fits).map_or(full.clone(), |(_, _, to)| to.clone()))
    }
}

impl Rule<'_> {
    fn is_for(&self, node: &str) -> bool {
        self.node.is_none_or(|only| only == node)
    }
}

/// Parses a rule. rcl's lexer must accept the names in the rule: they have no substitutions and no repeated
/// underscores.
pub(super) fn parse(text: &str) -> Result<Rule<'_>> {
    let broken = |why: &str| misunderstood(text, why);
    let Some((from, to)) = text.split_once(":=") else {
        return Err(broken("a rule is from:=to, node:from:=to, __node:=name or __ns:=/namespace"));
    };
    if from.contains('*') || to.contains('\\') {
        return Err(broken("wildcards and back references are not implemented (nor in rcl)"));
    }
    let (node, from) = match from.split_once(':') {
        Some((node, from)) if !from.starts_with("//") => (Some(node), from),
        _ => (None, from),
    };
    if node.is_some_and(|node| !is_rule_word(node)) {
        return Err(broken("the text before the colon must be the name of a node, without a namespace"));
    }
    let from = match from {
        "__node" | "__name" => Match::NodeName,
        "__ns" => Match::Namespace,
        name => match (name.strip_prefix("rostopic://"), name.strip_prefix("rosservice://")) {
            (Some(name), _) => Match::Name { name, kind: Some(NameKind::Topic) },
            (_, Some(name)) => Match::Name { name, kind: Some(NameKind::Service) },
            _ => Match::Name { name, kind: None },
        },
    };
    match from {
        Match::NodeName if !is_rule_word(to) => Err(broken(&format!("a node's name has {WORD}"))),
        Match::Namespace if !(to == "/" || to.starts_with('/') && is_rule_name(to)) => {
            Err(broken(&format!("a namespace begins with a slash, and has {WORD}, and slashes between them")))
        }
        Match::Name { name, .. } if !(is_rule_name(name) && is_rule_name(to)) => Err(broken(&format!(
            "a name in a rule begins with / or ~/ or neither, and has {WORD}, and slashes between them"
        ))),
        from => Ok(Rule { text, node, from, to }),
    }
}

/// The characters that a part of a name in a rule may have.
const WORD: &str = "letters, digits and single underscores, no digit first";

fn is_rule_name(name: &str) -> bool {
    let relative = name.strip_prefix('/').or_else(|| name.strip_prefix("~/")).unwrap_or(name);
    relative.split('/').all(is_rule_word)
}

/// Whether rcl's lexer reads the text as a single token.
pub(super) fn is_rule_word(text: &str) -> bool {
    names::is_word(text) && !text.contains("__")
}

pub(super) fn misunderstood(argument: &str, why: &str) -> Error {
    Error::InvalidRosArgument { argument: argument.to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remapped(rules: &[&str]) -> Result<Remapped> {
        Remapped::new("talker", "/ns", &rules.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_replaced_as_in_rcl() {
        for (rule, name, full) in [
            ("chatter:=news", "chatter", "/ns/news"),
            ("chatter:=news", "/ns/chatter", "/ns/news"),
            ("chatter:=news", "/chatter", "/chatter"),
            ("/ns/chatter:=/news", "chatter", "/news"),
            ("/ns/bar:=/ns/foo", "barista", "/ns/barista"),
            ("~/scan:=scan", "~/scan", "/ns/scan"),
            ("scan:=~/scan", "scan", "/ns/talker/scan"),
            ("talker:chatter:=news", "chatter", "/ns/news"),
            ("other:chatter:=news", "chatter", "/ns/chatter"),
            ("rostopic://chatter:=news", "chatter", "/ns/news"),
            ("rosservice://chatter:=news", "chatter", "/ns/chatter"),
            ("talker:rostopic://chatter:=news", "chatter", "/ns/news"),
        ] {
            assert_eq!(remapped(&[rule]).unwrap().resolve(NameKind::Topic, name).unwrap(), full, "{rule}");
        }
        let service = |rule, name| remapped(&[rule]).unwrap().resolve(NameKind::Service, name).unwrap();
        assert_eq!(service("rosservice://map:=other", "map"), "/ns/other");
        assert_eq!(service("rostopic://map:=other", "map"), "/ns/map");
        // The first rule that matches is applied, and only once.
        let both = remapped(&["a:=b", "a:=c", "b:=d"]).unwrap();
        assert_eq!(both.resolve(NameKind::Topic, "a").unwrap(), "/ns/b");
    }

    #[test]
    fn nodes_and_namespaces_are_replaced_first() {
        let remapped = |rules: &[&str]| {
            let remapped = remapped(rules).unwrap();
            (remapped.resolve(NameKind::Topic, "~/x").unwrap(), remapped.resolve(NameKind::Topic, "y").unwrap())
        };
        let names = |private: &str, relative: &str| (private.to_owned(), relative.to_owned());
        assert_eq!(remapped(&["__node:=eye", "__ns:=/left"]), names("/left/eye/x", "/left/y"));
        assert_eq!(remapped(&["__name:=eye"]), names("/ns/eye/x", "/ns/y"));
        assert_eq!(remapped(&["__ns:=/"]), names("/talker/x", "/y"));
        assert_eq!(remapped(&["other:__node:=eye", "other:__ns:=/left"]), names("/ns/talker/x", "/ns/y"));
        // All rules after the rule that renames the node must use the node's new name.
        assert_eq!(remapped(&["talker:__node:=eye", "talker:__ns:=/left", "talker:y:=z"]), names("/ns/eye/x", "/ns/y"));
        assert_eq!(remapped(&["talker:__node:=eye", "eye:__ns:=/left", "eye:y:=z"]), names("/left/eye/x", "/left/z"));
    }

    #[test]
    fn rules_that_are_not_understood_are_refused_with_a_sentence() {
        for (rule, why) in [
            ("chatter", "a rule is from:=to"),
            ("a/*:=b", "not implemented"),
            ("a:=b/\\1", "not implemented"),
            ("2:a:=b", "the name of a node"),
            ("__node:=/a", "a node's name has letters"),
            ("__ns:=left", "begins with a slash"),
            ("a:=b c", "a name in a rule"),
            ("__other:=b", "single underscores"),
        ] {
            let sentence = remapped(&[rule]).unwrap_err().to_string();
            assert!(sentence.contains(why) && sentence.contains(&format!("\"{rule}\"")), "{sentence}");
        }
    }
}
