//! The message type of an endpoint, the rule by which two types are equal, and the first difference between them.
//!
//! Names and definitions may come from other processes. The time of a comparison is bounded by their lengths, and error
//! messages quote them shortened and without control characters.

use std::{collections::BTreeMap, sync::Arc};

/// The largest number of characters of a line that an error quotes.
const MAX_QUOTED: usize = 120;
/// The number of `=` between the types of a definition.
const SEPARATOR_LENGTH: usize = 80;

/// The properties of a message type that the engine needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TypeDescription {
    /// The ROS 2 name of the type, such as `sensor_msgs/msg/Image`.
    pub name: String,
    /// The RIHS01 hash of the type; all zeros mean that the hash is not known.
    pub hash: [u8; 32],
    /// The full definition in the format of ROS 2's bags: the message's own `.msg` text, then, for each type that it
    /// needs, a line of 80 `=`, a line `MSG: package/Name` and the `.msg` text of the type. Comments and spacing should
    /// be normalised in these texts, because definitions may be compared. The type is `Arc`, because a definition is
    /// long and all endpoints of a type have the same one.
    pub definition: Arc<str>,
    /// The largest payload in bytes. For fixed-size messages it is exactly the payload's size; `usize::MAX` means no
    /// bound.
    pub payload_bytes: usize,
}

impl TypeDescription {
    /// The hash in ROS 2's notation, `RIHS01_` and 64 hexadecimal digits; `None` if it is not known.
    #[must_use]
    pub fn rihs01(&self) -> Option<String> {
        rihs01(&self.hash)
    }

    /// Whether endpoints of these types can be matched: names and hashes are equal. If a hash is not known, the lines
    /// of the definitions must be equal instead, and so must the sizes if both are stated.
    #[must_use]
    pub fn matches(&self, other: &TypeDescription) -> bool {
        let is_known = self.hash != [0; 32] && other.hash != [0; 32];
        let is_same = if is_known {
            self.hash == other.hash
        } else {
            let is_stated = self.payload_bytes != usize::MAX && other.payload_bytes != usize::MAX;
            self.definition.lines().eq(other.definition.lines())
                && (!is_stated || self.payload_bytes == other.payload_bytes)
        };
        self.name == other.name && is_same
    }

    /// The difference between two types that do not match, and advice, as the end of a sentence.
    pub(crate) fn difference_in_words(&self, other: &TypeDescription) -> String {
        if self.name != other.name {
            return "use one type on both sides".to_owned();
        }
        let first = self.first_difference(other);
        let [own, others] = [self, other].map(|each| each.rihs01().unwrap_or("hash not known".to_owned()));
        let difference = match () {
            () if !first.is_empty() => first,
            () if self.hash != other.hash => format!("their hashes differ ({own} and {others})"),
            () => format!("their sizes differ ({} and {} bytes)", self.payload_bytes, other.payload_bytes),
        };
        format!("{difference}; build all programs with the same definition")
    }

    /// The first difference between this type's definition and another; empty if there is none.
    #[must_use]
    pub fn first_difference(&self, other: &TypeDescription) -> String {
        // In both definitions the message's own text comes first. Both texts get the same name here, so that different
        // type names are no difference.
        let lines = [self.lines(&self.name), other.lines(&self.name)];
        let by_place = lines.each_ref().map(|lines| lines.iter().copied().collect::<BTreeMap<_, _>>());
        let is_different = |(place, _): &&(_, &str)| by_place[0].get(place) != by_place[1].get(place);
        let Some((place, _)) = lines.iter().flatten().find(is_different) else { return String::new() };
        let [own, others] = by_place.map(|lines| lines.get(place).map_or("nothing".into(), quoted));
        let name = quoted(place.0).replace('"', "");
        format!("their definitions differ first in line {} of {name}: {own} and {others}", place.1)
    }

    /// The lines of the definition, each with the name of its type and its line number in the type's text; `name` is
    /// the name of the message's own type.
    fn lines<'a>(&'a self, mut name: &'a str) -> Vec<((&'a str, usize), &'a str)> {
        let (mut found, mut number) = (Vec::new(), 0);
        let mut lines = self.definition.lines().peekable();
        while let Some(line) = lines.next() {
            let is_separator = line.len() == SEPARATOR_LENGTH && line.bytes().all(|byte| byte == b'=');
            if is_separator && let Some(next) = lines.next_if(|next| next.starts_with("MSG: ")) {
                (name, number) = (next["MSG: ".len()..].trim(), 0);
            } else {
                number += 1;
                found.push(((name, number), line));
            }
        }
        found
    }
}

/// Writes a hash in ROS 2's notation; `None` if the hash is zero, which means that it is not known.
#[must_use]
pub fn rihs01(hash: &[u8; 32]) -> Option<String> {
    let digits = hash.iter().map(|byte| format!("{byte:02x}"));
    (*hash != [0; 32]).then(|| format!("RIHS01_{}", digits.collect::<String>()))
}

/// Shortens a text from another process and makes it safe to print.
fn quoted(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    let end = text.char_indices().nth(MAX_QUOTED).map_or(text.len(), |(end, _)| end);
    format!("{:?}{}", &text[..end], if end < text.len() { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pose(hash: u8, point: &str) -> TypeDescription {
        let bar = "=".repeat(SEPARATOR_LENGTH);
        let definition = format!(
            "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation\n\
             {bar}\nMSG: geometry_msgs/Point\n{point}\n\
             {bar}\nMSG: geometry_msgs/Quaternion\nfloat64 w\n"
        );
        TypeDescription {
            name: "geometry_msgs/msg/Pose".into(),
            hash: [hash; 32],
            definition: definition.into(),
            payload_bytes: 56,
        }
    }

    #[test]
    fn known_hashes_decide_and_else_the_definitions() {
        let bounded = TypeDescription { payload_bytes: usize::MAX, ..pose(1, "float64 x") };
        assert!(pose(1, "float64 x").matches(&pose(1, "float64 x # in m")), "the hash knows no comments");
        assert!(pose(1, "float64 x").matches(&bounded));
        assert!(!pose(1, "float64 x").matches(&pose(2, "float64 x")));
        assert!(pose(0, "float64 x").matches(&pose(2, "float64 x")));
        assert!(!pose(0, "float64 x").matches(&pose(2, "float64 y")));
        assert!(pose(0, "float64 x").matches(&bounded), "a size that is not stated is no other size");
        let (longer, mut unfinished) = (TypeDescription { payload_bytes: 64, ..pose(1, "") }, pose(0, ""));
        assert!(!unfinished.matches(&longer));
        unfinished.definition = unfinished.definition.trim_end().into();
        assert!(unfinished.matches(&pose(1, "")), "a last line is a line also without its end");
        let renamed = TypeDescription { name: "my_msgs/msg/Pose".into(), ..pose(1, "float64 x") };
        assert!(!pose(1, "float64 x").matches(&renamed));
    }

    #[test]
    fn a_difference_is_found_in_the_type_that_has_it() {
        let difference = pose(1, "float64 x\nfloat64 y").first_difference(&pose(2, "float64 x\nfloat32 y"));
        assert_eq!(
            difference,
            "their definitions differ first in line 2 of geometry_msgs/Point: \"float64 y\" and \"float32 y\""
        );
        let difference = pose(1, "float64 x").first_difference(&pose(2, "float64 x\nfloat64 y"));
        assert!(difference.ends_with("line 2 of geometry_msgs/Point: nothing and \"float64 y\""), "{difference}");
        assert_eq!(pose(1, "float64 x").first_difference(&pose(2, "float64 x")), "");
    }

    #[test]
    fn a_type_that_only_one_side_has_is_named() {
        let bar = "=".repeat(SEPARATOR_LENGTH);
        let more = pose(1, &format!("float64 x\n{bar}\nMSG: my_msgs/Extra\nbool b"));
        let difference = more.first_difference(&pose(1, "float64 x"));
        assert!(difference.ends_with("line 1 of my_msgs/Extra: \"bool b\" and nothing"), "{difference}");
        let difference = pose(1, "float64 x").first_difference(&more);
        assert!(difference.ends_with("line 1 of my_msgs/Extra: nothing and \"bool b\""), "{difference}");
    }

    #[test]
    fn a_quotation_is_short_and_harmless_on_a_terminal() {
        let text = format!("\x1b[2J{}", "ö".repeat(1000));
        let difference = pose(1, "").first_difference(&pose(2, &text));
        assert!(!difference.contains('\x1b') && difference.len() < 500, "{difference}");
        let renamed = TypeDescription { name: text, ..pose(1, "float64 x") };
        let difference = renamed.first_difference(&TypeDescription { definition: "".into(), ..pose(2, "") });
        assert!(difference.contains("öö") && !difference.contains('\x1b') && difference.len() < 500, "{difference}");
    }

    #[test]
    fn a_hash_is_written_as_in_ros_2() {
        assert_eq!(pose(0xa5, "").rihs01(), Some(format!("RIHS01_{}", "a5".repeat(32))));
        assert_eq!(pose(0, "").rihs01(), None);
    }
}
