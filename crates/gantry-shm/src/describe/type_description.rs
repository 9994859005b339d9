//! The message type of an endpoint, the rule by which two types are equal, and the first difference between them.
//!
//! Names and definitions come from other processes, too: the work is bounded by their length, and quotations of them are short and
//! free of control characters.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// The most characters of a line that are quoted.
const MAX_QUOTED: usize = 120;
/// The number of `=` between the types of a definition.
const SEPARATOR_LENGTH: usize = 80;

/// A message type, as far as the engine needs it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TypeDescription {
    /// ROS 2 name, as `sensor_msgs/msg/Image`.
    pub name: String,
    /// RIHS01 hash, all zero = not known.
    pub hash: [u8; 32],
    /// The full definition: the message's own `.msg` text, then for each type that it needs a line of 80 `=`, a line
    /// `MSG: package/Name` and its text, as in bags. Normalise the texts (comments, spacing), because they may be compared.
    pub definition: String,
    /// Largest payload in bytes; exactly the payload's size for fixed-size messages, `usize::MAX` if there is no bound.
    pub payload_bytes: usize,
}

impl TypeDescription {
    /// The hash as ROS 2 writes it, `RIHS01_` and 64 hexadecimal digits; `None` if it is not known.
    #[must_use]
    pub fn rihs01(&self) -> Option<String> {
        let digits = self.hash.iter().map(|byte| format!("{byte:02x}"));
        (self.hash != [0; 32]).then(|| format!("RIHS01_{}", digits.collect::<String>()))
    }

    /// Whether endpoints of these types can be matched: names and hashes are equal. Where a hash is not known, the lines of the
    /// definitions must be equal instead, and sizes where both are stated.
    pub(crate) fn matches(&self, other: &TypeDescription) -> bool {
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

    /// The first difference between its definition and another, to be appended to a sentence; empty if there is none.
    pub(crate) fn first_difference(&self, other: &TypeDescription) -> String {
        let (own, others) = (self.sections(), other.sections());
        // The message's own text comes first on both sides, with any name.
        let others_by_name: BTreeMap<&str, &Section> =
            others.iter().skip(1).rev().map(|section| (section.name, section)).collect();
        for (index, section) in own.iter().enumerate() {
            let counterpart = if index == 0 { others.first() } else { others_by_name.get(section.name).copied() };
            let found = match counterpart {
                Some(counterpart) => section.first_difference(counterpart),
                None => Some(format!("only the first has {}", quoted(section.name))),
            };
            if let Some(found) = found {
                return format!("; {found}");
            }
        }
        let known: BTreeSet<&str> = own.iter().map(|section| section.name).collect();
        match others.iter().skip(1).find(|section| !known.contains(section.name)) {
            Some(section) => format!("; only the second has {}", quoted(section.name)),
            None => String::new(),
        }
    }

    /// The texts of the types in the definition, the message's own first.
    fn sections(&self) -> Vec<Section<'_>> {
        let mut sections = vec![Section { name: &self.name, lines: Vec::new() }];
        let mut lines = self.definition.lines().peekable();
        while let Some(line) = lines.next() {
            let is_separator = line.len() == SEPARATOR_LENGTH && line.bytes().all(|byte| byte == b'=');
            let name = lines.peek().and_then(|next| next.strip_prefix("MSG: ")).filter(|_| is_separator);
            if let Some(name) = name {
                lines.next();
                sections.push(Section { name: name.trim(), lines: Vec::new() });
            } else if let Some(section) = sections.last_mut() {
                section.lines.push(line);
            }
        }
        sections
    }
}

/// For a sentence: name, hash, size.
impl fmt::Display for TypeDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash = self.rihs01().map_or(Cow::Borrowed("hash not known"), Cow::Owned);
        match self.payload_bytes {
            usize::MAX => write!(f, "{} ({hash}, of any size)", self.name),
            bytes => write!(f, "{} ({hash}, {bytes} bytes)", self.name),
        }
    }
}

/// The text of one type in a definition.
struct Section<'a> {
    name: &'a str,
    lines: Vec<&'a str>,
}

impl Section<'_> {
    fn first_difference(&self, other: &Section<'_>) -> Option<String> {
        let most = self.lines.len().max(other.lines.len());
        let line = (0..most).find(|&line| self.lines.get(line) != other.lines.get(line))?;
        let [own, others] = [self, other].map(|section| section.lines.get(line).map_or("nothing".into(), quoted));
        Some(format!("their definitions differ first in line {} of {}: {own} and {others}", line + 1, self.name))
    }
}

/// A text from another process, made safe to print.
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
        TypeDescription { name: "geometry_msgs/msg/Pose".into(), hash: [hash; 32], definition, payload_bytes: 56 }
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
        unfinished.definition.truncate(unfinished.definition.trim_end().len());
        assert!(unfinished.matches(&pose(1, "")), "a last line is a line also without its end");
        let renamed = TypeDescription { name: "my_msgs/msg/Pose".into(), ..pose(1, "float64 x") };
        assert!(!pose(1, "float64 x").matches(&renamed));
    }

    #[test]
    fn a_difference_is_found_in_the_type_that_has_it() {
        let difference = pose(1, "float64 x\nfloat64 y").first_difference(&pose(2, "float64 x\nfloat32 y"));
        assert_eq!(
            difference,
            "; their definitions differ first in line 2 of geometry_msgs/Point: \"float64 y\" and \"float32 y\""
        );
        let difference = pose(1, "float64 x").first_difference(&pose(2, "float64 x\nfloat64 y"));
        assert!(difference.ends_with("line 2 of geometry_msgs/Point: nothing and \"float64 y\""), "{difference}");
        assert_eq!(pose(1, "float64 x").first_difference(&pose(2, "float64 x")), "");
    }

    #[test]
    fn a_type_that_only_one_side_has_is_named() {
        let bar = "=".repeat(SEPARATOR_LENGTH);
        let more = pose(1, &format!("float64 x\n{bar}\nMSG: my_msgs/Extra\nbool b"));
        assert_eq!(more.first_difference(&pose(1, "float64 x")), "; only the first has \"my_msgs/Extra\"");
        assert_eq!(pose(1, "float64 x").first_difference(&more), "; only the second has \"my_msgs/Extra\"");
    }

    #[test]
    fn a_quotation_is_short_and_harmless_on_a_terminal() {
        let difference = pose(1, "").first_difference(&pose(2, &format!("\x1b[2J{}", "ö".repeat(1000))));
        assert!(!difference.contains('\x1b') && difference.len() < 500, "{difference}");
    }

    #[test]
    fn a_hash_is_written_as_in_ros_2() {
        assert_eq!(pose(0xa5, "").rihs01(), Some(format!("RIHS01_{}", "a5".repeat(32))));
        assert_eq!(pose(0, "").rihs01(), None);
    }
}
