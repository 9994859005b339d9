//! Parameter files: mappings of nodes, with wildcards, to parameters. Files are read as rcl
//! reads them (`rcl_yaml_param_parser`).

use super::{
    value::ParameterValue,
    yaml::{self, Events},
};
use saphyr_parser::Event;

/// The key below a node's name. As in rcl, a longer key that begins with this text has the same meaning.
const PARAMETERS_KEY: &str = "ros__parameters";

/// The largest number of parts of a name. The limit keeps nested mappings from overflowing the stack.
const MAX_PARTS: usize = 100;

/// Calls `add` for each value in a file, with the node's pattern, the parameter's full name and the value.
pub(super) fn read(text: &str, add: &mut dyn FnMut(&str, String, ParameterValue)) -> Result<(), String> {
    let mut events = Events::new(text);
    while let Some((event, line)) = events.next()? {
        match event {
            Event::MappingStart(..) => nodes(&mut events, "", add)?,
            _ => return Err(format!("line {line}: a parameter file is a mapping of nodes")),
        }
    }
    Ok(())
}

/// Reads a YAML mapping whose keys are parts of nodes' names.
fn nodes(
    events: &mut Events<'_>,
    prefix: &str,
    add: &mut dyn FnMut(&str, String, ParameterValue),
) -> Result<(), String> {
    while let Some((key, line)) = key(events)? {
        let is_parameters = key.starts_with(PARAMETERS_KEY);
        if is_parameters && prefix.is_empty() {
            return Err(format!("line {line}: there is no node's name above {PARAMETERS_KEY}"));
        }
        match events.next()? {
            Some((Event::MappingStart(..), _)) if is_parameters => {
                check_pattern(prefix).map_err(|why| format!("line {line}: {why}"))?;
                parameters(events, prefix, "", add)?;
            }
            Some((Event::MappingStart(..), _)) if prefix.matches('/').count() < MAX_PARTS => {
                let separator = if prefix.is_empty() || prefix.ends_with('/') { "" } else { "/" };
                nodes(events, &format!("{prefix}{separator}{key}"), add)?;
            }
            _ => {
                return Err(format!(
                    "line {line}: {key} has no mapping, or too many in it; values stand below {PARAMETERS_KEY}"
                ));
            }
        }
    }
    Ok(())
}

/// Reads a YAML mapping whose keys are parts of parameters' names, down to the values.
fn parameters(
    events: &mut Events<'_>,
    node: &str,
    prefix: &str,
    add: &mut dyn FnMut(&str, String, ParameterValue),
) -> Result<(), String> {
    while let Some((key, line)) = key(events)? {
        let name = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        match events.next()? {
            Some((Event::MappingStart(..), line)) if name.matches('.').count() >= MAX_PARTS => {
                return Err(format!("line {line}: a name has at most {MAX_PARTS} parts"));
            }
            Some((Event::MappingStart(..), _)) => parameters(events, node, &name, add)?,
            Some((Event::SequenceStart(..), line)) => {
                let value = yaml::sequence(events, line).map_err(|why| format!("{why} ({name})"))?;
                add(node, name, value);
            }
            Some((Event::Scalar(text, style, _, tag), line)) => {
                let value = yaml::scalar(&text, style, tag.as_ref(), line).map_err(|why| format!("{why} ({name})"))?;
                add(node, name, value);
            }
            _ => return Err(format!("line {line}: {name} has no value")),
        }
    }
    Ok(())
}

/// Reads the next key of a mapping, with its line; `None` at the end of the mapping.
fn key(events: &mut Events<'_>) -> Result<Option<(String, usize)>, String> {
    match events.next()? {
        Some((Event::MappingEnd, _)) => Ok(None),
        Some((Event::Scalar(text, ..), line)) if !text.is_empty() => Ok(Some((text.into_owned(), line))),
        Some((_, line)) => Err(format!("line {line}: a key is a name")),
        None => Err("the mapping does not end".to_owned()),
    }
}

/// Checks a node's pattern, whose parts are names, `*` for one part, or `**` for any number of parts.
fn check_pattern(pattern: &str) -> Result<(), String> {
    let parts = pattern.strip_prefix('/').unwrap_or(pattern).split('/');
    for part in parts {
        let is_name = !part.is_empty()
            && !part.starts_with(|first: char| first.is_ascii_digit())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name && part != "*" && part != "**" {
            return Err(format!("\"{pattern}\" is not the name of a node: its parts are names, * or **"));
        }
    }
    Ok(())
}

/// Whether a pattern matches the node with this full name. After a mismatch, the search returns to the last `**` and
/// lets it match one more part.
pub(super) fn is_match(pattern: &str, node: &str) -> bool {
    let [pattern, node] = [pattern, node].map(|name| name.trim_start_matches('/').split('/').collect::<Vec<_>>());
    let (mut part, mut name, mut last_star) = (0, 0, None);
    while name < node.len() {
        match (pattern.get(part), last_star) {
            (Some(&"**"), _) => {
                last_star = Some((part, name));
                part += 1;
            }
            (Some(&wanted), _) if wanted == "*" || wanted == node[name] => (part, name) = (part + 1, name + 1),
            (_, Some((star, taken))) => {
                last_star = Some((star, taken + 1));
                (part, name) = (star + 1, taken + 1);
            }
            (_, None) => return false,
        }
    }
    pattern[part..].iter().all(|part| *part == "**")
}
