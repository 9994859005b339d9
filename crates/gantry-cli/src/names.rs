//! Names that are not in the graph: the most similar one, and the domains that have them.

use std::fmt::Write;

/// Whether `ros2` hides a name unless it is told to show it: a part of it begins with an underscore.
pub fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('_'))
}

/// The sentence about a name that a domain does not have. `kind` is "topic", "service" or "node"; `elsewhere` are other domains
/// that have it.
pub fn unknown<'a>(
    kind: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
    domain_id: u32,
    elsewhere: &[u32],
) -> String {
    let mut sentence = format!("Unknown {kind} '{name}' in domain {domain_id}");
    if let Some(nearest) = nearest(name, known) {
        let _ = write!(sentence, "; did you mean '{nearest}'?");
    } else if let [first, ..] = elsewhere {
        let domains: Vec<String> = elsewhere.iter().map(u32::to_string).collect();
        let have = if domains.len() == 1 { "domain 3 has" } else { "domains 3 have" };
        let have = have.replace('3', &domains.join(", "));
        let _ = write!(sentence, "; {have} it: use --domain-id {first}");
    }
    sentence
}

/// The name that a user most likely means: one that is spelt similarly, or the same name in a namespace.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.len() / 3).clamp(1, 3);
    let distance = |candidate: &str| match candidate.strip_suffix(name) {
        Some(_) if name.starts_with('/') => 1,
        _ => strsim::osa_distance(name, candidate),
    };
    let near = known.map(|candidate| (distance(candidate), candidate));
    near.filter(|(distance, _)| *distance <= most).min().map(|(_, candidate)| candidate)
}

/// The full name of a type: `std_msgs/String` is short for `std_msgs/msg/String`.
pub fn long_type(name: &str, namespace: &str) -> String {
    match name.split_once('/') {
        Some((package, name)) if !name.contains('/') => format!("{package}/{namespace}/{name}"),
        _ => name.to_owned(),
    }
}

/// One type as it is, several as Python prints a list.
pub fn types_text(types: &[String]) -> String {
    match types {
        [one] => one.clone(),
        several => format!("['{}']", several.join("', '")),
    }
}

/// A number with its noun in the singular or plural.
pub fn count(number: usize, noun: &str, plural: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { plural })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_has_a_suggestion() {
        let known = ["/chatter", "/robot/scan", "/map"];
        let said = |name: &str, elsewhere: &[u32]| unknown("topic", name, known.into_iter(), 0, elsewhere);
        assert_eq!(said("/chater", &[]), "Unknown topic '/chater' in domain 0; did you mean '/chatter'?");
        assert_eq!(said("/scan", &[]), "Unknown topic '/scan' in domain 0; did you mean '/robot/scan'?");
        assert_eq!(said("/odometry", &[]), "Unknown topic '/odometry' in domain 0");
        assert_eq!(
            said("/odometry", &[3, 7]),
            "Unknown topic '/odometry' in domain 0; domains 3, 7 have it: use --domain-id 3"
        );
        assert!(said("/odometry", &[7]).ends_with("; domain 7 has it: use --domain-id 7"));
    }

    #[test]
    fn hidden_names_have_a_part_with_an_underscore_first() {
        assert!(is_hidden("/_private") && is_hidden("/a/_b/c"));
        assert!(!is_hidden("/a_b/c_"));
    }
}
