//! A YAML document as a tree of texts, lists and mappings. The tree does not decide whether a text is a number, because
//! this depends on the type of the field.

use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::BTreeSet;

/// The largest depth of nested nodes. It limits the recursion over a tree.
const DEPTH_LIMIT: usize = 64;

/// A part of a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// A single value. `plain` means that it has no quotes, so that it may be a number or null.
    Text {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    /// Pairs of key and value, in the order of the document. Each key occurs once.
    Mapping(Vec<(String, Node)>),
}

/// A list or mapping that is being read.
enum Open {
    List(Vec<Node>),
    /// The pairs so far, their keys, and the last key if its value has not been read yet.
    Mapping(Vec<(String, Node)>, BTreeSet<String>, Option<String>),
}

impl Node {
    /// Reads a text that has one document. An empty text is null.
    ///
    /// # Errors
    /// A sentence with the line and the column of the error.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (mut open, mut root, mut documents) = (Vec::new(), None, 0);
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| format!("the YAML cannot be read: {error}"))?;
            let broken = |why: &str| format!("the YAML cannot be read: {why}, in line {}", span.start.line());
            let node = match event {
                Event::DocumentStart(_) => {
                    documents += 1;
                    match documents {
                        1 => continue,
                        _ => return Err(broken("a second document begins")),
                    }
                }
                Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => continue,
                Event::Alias(_) => return Err(broken("anchors and aliases are not supported")),
                Event::SequenceStart(..) | Event::MappingStart(..) if open.len() == DEPTH_LIMIT => {
                    return Err(broken("it is nested too deeply"));
                }
                Event::SequenceStart(..) => {
                    open.push(Open::List(Vec::new()));
                    continue;
                }
                Event::MappingStart(..) => {
                    open.push(Open::Mapping(Vec::new(), BTreeSet::new(), None));
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                    Some(Open::List(items)) => Self::List(items),
                    Some(Open::Mapping(entries, ..)) => Self::Mapping(entries),
                    None => continue,
                },
                Event::Scalar(text, style, ..) => {
                    Self::Text { text: text.into_owned(), plain: style == ScalarStyle::Plain }
                }
            };
            match open.last_mut() {
                None => root = Some(node),
                Some(Open::List(items)) => items.push(node),
                Some(Open::Mapping(entries, keys, key)) => match (key.take(), node) {
                    (Some(key), node) => entries.push((key, node)),
                    (None, Self::Text { text, .. }) if keys.insert(text.clone()) => *key = Some(text),
                    (None, Self::Text { text, .. }) => return Err(broken(&format!("`{text}` occurs twice"))),
                    (None, _) => return Err(broken("a list or a mapping cannot be the name of a field")),
                },
            }
        }
        Ok(root.unwrap_or_else(Self::null))
    }

    fn null() -> Self {
        Self::Text { text: String::new(), plain: true }
    }

    /// Whether the value counts as missing: an empty text, `~` or `null`, without quotes.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Text { text, plain: true } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The kind of the node, for an error.
    pub(crate) fn kind(&self) -> String {
        match self {
            Self::Text { text, .. } => {
                let shown: String = text.chars().take(60).collect();
                format!("{shown:?}")
            }
            Self::List(items) => format!("a list of {} elements", items.len()),
            Self::Mapping(entries) => format!("a mapping of {} fields", entries.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str, plain: bool) -> Node {
        Node::Text { text: text.to_owned(), plain }
    }

    #[test]
    fn block_and_flow_style_give_one_tree() {
        let tree = Node::Mapping(vec![
            ("a".to_owned(), text("1", true)),
            ("b".to_owned(), Node::List(vec![text("x", false), text("", true)])),
        ]);
        assert_eq!(Node::parse("a: 1\nb:\n- 'x'\n-\n").unwrap(), tree);
        assert_eq!(Node::parse("{a: 1, b: [\"x\", ]}").unwrap().kind(), "a mapping of 2 fields");
        assert!(Node::parse("").unwrap().is_null() && Node::parse("~").unwrap().is_null());
        assert!(!Node::parse("'~'").unwrap().is_null());
    }

    #[test]
    fn what_is_no_tree_is_refused_with_its_line() {
        for (yaml, why) in [
            ("a: 1\na: 2", "`a` occurs twice, in line 2"),
            ("a: &x 1\nb: *x", "anchors and aliases are not supported, in line 2"),
            ("a: 1\n---\nb: 2", "a second document begins"),
            ("{a: ", "cannot be read"),
            ("? [1]\n: 2", "cannot be the name of a field"),
        ] {
            let error = Node::parse(yaml).unwrap_err();
            assert!(error.contains(why), "{yaml}: {error}");
        }
        let depth = if cfg!(miri) { 1_000 } else { 100_000 };
        assert!(Node::parse(&"[".repeat(depth)).is_err(), "deep nesting neither crashes nor is read");
        assert!(Node::parse(&format!("{}{}", "[".repeat(100), "]".repeat(100))).unwrap_err().contains("too deeply"));
    }
}
