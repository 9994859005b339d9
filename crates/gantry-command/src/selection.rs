//! The selection of a command's topics.

use crate::error::{Failure, Result};
use clap::Args;
use regex::Regex;
use std::collections::BTreeSet;

/// The selected topics of a command.
#[derive(Debug)]
pub struct Selection {
    names: BTreeSet<String>,
    is_all: bool,
    regex: Option<Regex>,
    excluded: Vec<Regex>,
    has_hidden: bool,
}

impl Selection {
    /// Selects the topics with these full names, and the topics that `regex` matches. Topics that an expression of
    /// `excluded` matches are not selected.
    ///
    /// # Errors
    /// A text is not a regular expression.
    pub fn new(names: BTreeSet<String>, regex: Option<&str>, excluded: &[String]) -> Result<Selection> {
        let compile = |text: &str| {
            Regex::new(text).map_err(|error| Failure::new(format!("'{text}' is not a regular expression: {error}")))
        };
        let regex = regex.map(compile).transpose()?;
        let excluded = excluded.iter().map(|text| compile(text)).collect::<Result<_>>()?;
        Ok(Selection { names, is_all: false, regex, excluded, has_hidden: true })
    }

    /// Sets whether all other topics are also selected.
    #[must_use]
    pub fn all(self, is_all: bool) -> Selection {
        Selection { is_all, ..self }
    }

    /// Includes or excludes hidden topics, which have a name part that begins with an underscore. A topic that was
    /// selected by its full name is included even if it is hidden.
    #[must_use]
    pub fn with_hidden(self, has_hidden: bool) -> Selection {
        Selection { has_hidden, ..self }
    }

    /// Whether the topic with this full name is selected.
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

/// The options that select topics of a command.
#[derive(Clone, Debug, Default, Args)]
pub struct TopicOptions {
    /// Select these topics
    #[arg(long, value_name = "TOPIC", num_args = 1..)]
    topics: Vec<String>,
    /// Select topics whose full name contains a match of this regular expression, besides the topics of --topics
    #[arg(short = 'e', long, value_name = "REGEX")]
    regex: Option<String>,
    /// Skip topics whose full name contains a match of this regular expression; may be repeated
    #[arg(short = 'x', long, value_name = "REGEX", visible_alias = "exclude-regex")]
    exclude: Vec<String>,
}

impl TopicOptions {
    /// Returns the selection; all topics if no option selects any.
    ///
    /// # Errors
    /// A text is not a regular expression.
    pub fn selection(&self) -> Result<Selection> {
        let is_all = self.topics.is_empty() && self.regex.is_none();
        let names = self.topics.iter().cloned().collect();
        Ok(Selection::new(names, self.regex.as_deref(), &self.exclude)?.all(is_all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(selection: Selection) -> Vec<&'static str> {
        let topics = ["/scan", "/camera/left", "/camera/right", "/walk/_action/status"];
        topics.into_iter().filter(|topic| selection.has(topic)).collect()
    }

    fn new(names: &[&str], regex: Option<&str>, excluded: &[&str]) -> Selection {
        let excluded: Vec<String> = excluded.iter().map(|text| (*text).to_owned()).collect();
        Selection::new(names.iter().map(|name| (*name).to_owned()).collect(), regex, &excluded).unwrap()
    }

    #[test]
    fn names_expressions_and_exclusions_select_together() {
        let named = new(&["/scan", "/walk/_action/status"], None, &[]).with_hidden(false);
        assert_eq!(selected(named), ["/scan", "/walk/_action/status"]);
        let all = new(&[], None, &["left$"]).all(true).with_hidden(false);
        assert_eq!(selected(all), ["/scan", "/camera/right"]);
        assert_eq!(selected(new(&[], None, &[]).all(true)).len(), 4);
        assert_eq!(selected(new(&["/scan"], Some("^/camera/"), &[])), ["/scan", "/camera/left", "/camera/right"]);
        let error = Selection::new(BTreeSet::new(), Some("("), &[]).unwrap_err().to_string();
        assert!(error.starts_with("'(' is not a regular expression: "), "{error}");
    }
}
