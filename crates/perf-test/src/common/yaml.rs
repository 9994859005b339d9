//! Files in YAML, whose errors have their lines.

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};

use super::no_key;

/// A value with its place.
pub type Node<'a> = MarkedYaml<'a>;

/// Parses the text of a YAML file. `empty` is the end of the error for an empty file: it says what to write there.
///
/// # Errors
/// A sentence: it is no YAML, or empty.
pub fn document<'a>(text: &'a str, empty: &str) -> Result<Node<'a>, String> {
    let documents = MarkedYaml::load_from_str(text)
        .map_err(|error| format!("line {}: it is no YAML: {}", error.marker().line(), error.info()))?;
    documents.into_iter().next().ok_or_else(|| format!("it is empty: {empty}"))
}

/// The line on which a value begins.
pub fn line(node: &Node<'_>) -> usize {
    node.span.start.line()
}

/// The keys of a map with their values; `of` is the name of the map.
///
/// # Errors
/// A sentence: it is no map, or a key is no word.
pub fn entries<'a, 'b>(node: &'b Node<'a>, of: &str) -> Result<Vec<(String, &'b Node<'a>)>, String> {
    let YamlData::Mapping(entries) = &node.data else {
        return Err(format!("line {}: {of} must be a map", line(node)));
    };
    let entry = |(key, value): (&Node<'_>, &'b Node<'a>)| {
        let wrong = || format!("line {}: a key of {of} must be a word", line(key));
        text_of(key).map(|key| (key, value)).ok_or_else(wrong)
    };
    entries.iter().map(entry).collect()
}

/// The elements of a list; none of another value.
pub fn elements<'a, 'b>(node: &'b Node<'a>) -> Option<&'b [Node<'a>]> {
    match &node.data {
        YamlData::Sequence(elements) => Some(elements),
        _ => None,
    }
}

/// The scalars of a list, or the one that is no list, each with its line; none if there is another value.
pub fn texts(node: &Node<'_>) -> Option<Vec<(String, usize)>> {
    let text = |node: &Node<'_>| Some((text_of(node)?, line(node)));
    elements(node).unwrap_or(std::slice::from_ref(node)).iter().map(text).collect()
}

/// Whether it has no value.
pub fn is_null(node: &Node<'_>) -> bool {
    matches!(node.data, YamlData::Value(Scalar::Null))
}

/// A scalar as text; none of another value, or of one without a value.
pub fn text_of(node: &Node<'_>) -> Option<String> {
    match &node.data {
        YamlData::Value(Scalar::String(text)) => Some(text.to_string()),
        YamlData::Value(Scalar::Integer(number)) => Some(number.to_string()),
        YamlData::Value(Scalar::FloatingPoint(number)) => Some(number.to_string()),
        YamlData::Value(Scalar::Boolean(is_true)) => Some(is_true.to_string()),
        _ => None,
    }
}

/// The sentence about a key that is none of `known`.
pub fn unknown_key(line: usize, key: &str, known: &[&str]) -> String {
    format!("line {line}: {}", no_key(key, known))
}
