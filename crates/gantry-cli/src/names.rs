//! Names in reports, and hints for names that are not in the graph: the most similar name, and the domains that
//! have the name.

use gantry::printable;
use serde::Serialize;
use std::fmt::{self, Display};

/// Names, one on each line, or only their number.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Names {
    Count(usize),
    List(Vec<String>),
}

impl Names {
    pub fn new(names: Vec<String>, only_count: bool) -> Names {
        if only_count { Names::Count(names.len()) } else { Names::List(names) }
    }
}

/// Writes the sentence of each pair after the name of the topic or service, and then the sentence that explains
/// why there is no pair.
pub fn write_pairs<'a>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    mut pairs: impl Iterator<Item = &'a String>,
    no_pair: Option<&str>,
) -> fmt::Result {
    pairs.try_for_each(|sentence| writeln!(f, "{name}: {sentence}"))?;
    no_pair.map_or(Ok(()), |sentence| writeln!(f, "{sentence}"))
}

impl Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Names::Count(count) => writeln!(f, "{count}"),
            Names::List(names) => names.iter().try_for_each(|name| writeln!(f, "{}", printable(name, &[]))),
        }
    }
}

/// Whether `ros2` hides a name unless an option asks for it: a part of the name begins with an underscore.
pub fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('_'))
}

/// The hint at the end of an error about an unknown name: the most similar known name, otherwise the domains in
/// which the name exists; empty if there is neither.
pub fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, elsewhere: &[u32]) -> String {
    if let Some(nearest) = nearest(name, known) {
        return format!("; did you mean '{nearest}'?");
    }
    match elsewhere {
        [] => String::new(),
        [one] => format!("; domain {one} has it: use --domain-id {one}"),
        [first, ..] => {
            let domains = elsewhere.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            format!("; domains {domains} have it: use --domain-id {first}")
        }
    }
}

/// The known name that a user most likely means: one that is spelt similarly, or the same name in a namespace.
fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.len() / 3).clamp(1, 3);
    let distance = |candidate: &str| match candidate.strip_suffix(name) {
        Some(_) if name.starts_with('/') => 1,
        _ => strsim::osa_distance(name, candidate),
    };
    let near = known.into_iter().map(|candidate| (distance(candidate), candidate));
    near.filter(|(distance, _)| *distance <= most).min().map(|(_, candidate)| candidate)
}

/// The full name of a type, `std_msgs/msg/String` for the short form `std_msgs/String`.
pub fn long_type(name: &str, namespace: &str) -> String {
    match name.split_once('/') {
        Some((package, name)) if !name.contains('/') => format!("{package}/{namespace}/{name}"),
        _ => name.to_owned(),
    }
}

/// The text for types: a single type unchanged, several types in the form of a Python list.
pub fn types_text(types: &[String]) -> String {
    match types {
        [one] => one.clone(),
        several => format!("['{}']", several.join("', '")),
    }
}

/// A number, followed by its noun in the singular or plural.
pub fn count(number: usize, noun: &str, plural: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { plural })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_has_a_suggestion() {
        let known = ["/chatter", "/robot/scan", "/map"];
        let said = |name: &str, elsewhere: &[u32]| hint(name, known, elsewhere);
        assert_eq!(said("/chater", &[]), "; did you mean '/chatter'?");
        assert_eq!(said("/scan", &[3]), "; did you mean '/robot/scan'?");
        assert_eq!(said("/odometry", &[]), "");
        assert_eq!(said("/odometry", &[3, 7]), "; domains 3, 7 have it: use --domain-id 3");
        assert_eq!(said("/odometry", &[7]), "; domain 7 has it: use --domain-id 7");
    }

    #[test]
    fn hidden_names_have_a_part_with_an_underscore_first() {
        assert!(is_hidden("/_private") && is_hidden("/a/_b/c"));
        assert!(!is_hidden("/a_b/c_"));
    }
}
