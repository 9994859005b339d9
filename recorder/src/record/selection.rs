//! The topics that are recorded, by name.

use crate::error::{Failure, Result};
use clap::Args;
use gantry::Node;
use regex::Regex;
use std::collections::BTreeSet;

/// The options that select topics.
#[derive(Clone, Debug, Default, Args)]
pub struct SelectionOptions {
    /// The topics, as /scan; they may come later
    pub topics: Vec<String>,
    /// All topics, later ones, too, except hidden ones
    #[arg(short, long)]
    pub all: bool,
    /// Also topics whose full name has a match of this regular expression, as '^/camera/'
    #[arg(short = 'e', long, value_name = "REGEX")]
    pub regex: Option<String>,
    /// No topics whose full name has a match of this regular expression; may be repeated
    #[arg(short = 'x', long, value_name = "REGEX", visible_alias = "exclude-regex")]
    pub exclude: Vec<String>,
    /// With --all and --regex: also hidden topics, which have a part that begins with _
    #[arg(long)]
    pub include_hidden_topics: bool,
}

/// The topics that are recorded.
#[derive(Debug)]
pub struct Selection {
    names: BTreeSet<String>,
    is_all: bool,
    regex: Option<Regex>,
    excluded: Vec<Regex>,
    has_hidden: bool,
}

impl SelectionOptions {
    /// The selection, with names that the node expands.
    ///
    /// # Errors
    /// No topics; a name that ROS 2 does not allow; an expression that is none.
    pub fn selection(&self, node: &Node) -> Result<Selection> {
        if self.topics.is_empty() && !self.all && self.regex.is_none() {
            return Err(Failure::new("no topics: give their names, --all or --regex"));
        }
        let names = self.topics.iter().map(|topic| Ok(node.resolve_topic_name(topic)?));
        let regex = |text: &String| {
            Regex::new(text).map_err(|error| Failure::new(format!("'{text}' is no regular expression: {error}")))
        };
        Ok(Selection {
            names: names.collect::<Result<_>>()?,
            is_all: self.all,
            regex: self.regex.as_ref().map(regex).transpose()?,
            excluded: self.exclude.iter().map(regex).collect::<Result<_>>()?,
            has_hidden: self.include_hidden_topics,
        })
    }
}

impl Selection {
    /// Whether the topic of this full name is recorded.
    #[must_use]
    pub fn has(&self, topic: &str) -> bool {
        let is_matched = || self.is_all || self.regex.as_ref().is_some_and(|regex| regex.is_match(topic));
        let is_shown = || self.has_hidden || !topic.split('/').any(|part| part.starts_with('_'));
        (self.names.contains(topic) || is_shown() && is_matched())
            && !self.excluded.iter().any(|regex| regex.is_match(topic))
    }

    /// The topics that the user named.
    #[must_use]
    pub fn names(&self) -> &BTreeSet<String> {
        &self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(options: SelectionOptions) -> Vec<&'static str> {
        let selection = Selection {
            names: options.topics.iter().cloned().collect(),
            is_all: options.all,
            regex: options.regex.map(|text| Regex::new(&text).unwrap()),
            excluded: options.exclude.iter().map(|text| Regex::new(text).unwrap()).collect(),
            has_hidden: options.include_hidden_topics,
        };
        let topics = ["/scan", "/camera/left", "/camera/right", "/walk/_action/status"];
        topics.into_iter().filter(|topic| selection.has(topic)).collect()
    }

    #[test]
    fn names_expressions_and_exclusions_select_together() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let options = SelectionOptions::default;
        assert_eq!(selected(SelectionOptions { topics: texts(&["/scan", "/walk/_action/status"]), ..options() }), [
            "/scan",
            "/walk/_action/status"
        ]);
        assert_eq!(selected(SelectionOptions { all: true, exclude: texts(&["left$"]), ..options() }), [
            "/scan",
            "/camera/right"
        ]);
        let all = SelectionOptions { all: true, include_hidden_topics: true, ..options() };
        assert_eq!(selected(all).len(), 4);
        let regex = SelectionOptions { topics: texts(&["/scan"]), regex: Some("^/camera/".into()), ..options() };
        assert_eq!(selected(regex), ["/scan", "/camera/left", "/camera/right"]);
    }
}
