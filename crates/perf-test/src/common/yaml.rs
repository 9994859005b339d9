//! Parsing of YAML files. Each error contains the number of its line.

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};

use super::no_key;

/// A YAML value with its position in the text.
pub type Node<'a> = MarkedYaml<'a>;

/// Parses the text of a YAML file. If the text is empty, the error ends with `empty`, a hint at the missing content.
///
/// # Errors
/// The reason, as a sentence: the text is not YAML, or it is empty.
pub fn document<'a>(text: &'a str, empty: &str) -> Result<Node<'a>, String> {
    let documents = MarkedYaml::load_from_str(text)
        .map_err(|error| format!("line {}: the text is not YAML: {}", error.marker().line(), error.info()))?;
    documents.into_iter().next().ok_or_else(|| format!("it is empty: {empty}"))
}

/// The number of the line on which a value begins.
pub fn line(node: &Node<'_>) -> usize {
    node.span.start.line()
}

/// The keys of a map with their values. Errors call the map `of`.
///
/// # Errors
/// The reason, as a sentence: the value is not a map, or a key is not a scalar.
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

/// The elements of a list; `None` if the value is not a list.
pub fn elements<'a, 'b>(node: &'b Node<'a>) -> Option<&'b [Node<'a>]> {
    match &node.data {
        YamlData::Sequence(elements) => Some(elements),
        _ => None,
    }
}

/// The scalars of a list, or a single scalar, each with its line; `None` if the list has an element of another kind.
pub fn texts(node: &Node<'_>) -> Option<Vec<(String, usize)>> {
    let text = |node: &Node<'_>| Some((text_of(node)?, line(node)));
    elements(node).unwrap_or(std::slice::from_ref(node)).iter().map(text).collect()
}

/// Whether the value is null.
pub fn is_null(node: &Node<'_>) -> bool {
    matches!(node.data, YamlData::Value(Scalar::Null))
}

/// A scalar as text; `None` for null and for a value that is not a scalar.
pub fn text_of(node: &Node<'_>) -> Option<String> {
    match &node.data {
        YamlData::Value(Scalar::String(text)) => Some(text.to_string()),
        YamlData::Value(Scalar::Integer(number)) => Some(number.to_string()),
        YamlData::Value(Scalar::FloatingPoint(number)) => Some(number.to_string()),
        YamlData::Value(Scalar::Boolean(is_true)) => Some(is_true.to_string()),
        _ => None,
    }
}

/// The error sentence for a key that is not among `known`, with its line.
pub fn unknown_key(line: usize, key: &str, known: &[&str]) -> String {
    format!("line {line}: {}", no_key(key, known))
}
