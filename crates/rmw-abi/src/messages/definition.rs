//! The text of a message definition, in the format that `gantry-idl` and bags use ("ros2msg").
//!
//! The text has no constants and no default values, because an introspection type support does not contain them.

use super::structure::{Count, Element, Field, PLACEHOLDER, Structure};
use std::{collections::BTreeMap, fmt::Write};

/// The line between the definitions of two types.
const SEPARATOR: &str = "================================================================================";

/// Returns the definition of the type, followed by the definitions of all nested types in the order of their names.
pub(super) fn text(structure: &Structure) -> String {
    let mut nested = BTreeMap::new();
    collect(structure, &mut nested);
    let mut text = String::new();
    own_text(structure, &mut text);
    for (name, structure) in nested {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{SEPARATOR}\nMSG: {name}");
        own_text(structure, &mut text);
    }
    text
}

/// Shortens a full name: `geometry_msgs/msg/Point` to `geometry_msgs/Point`.
fn short(name: &str) -> String {
    match name.split('/').collect::<Vec<_>>()[..] {
        [package, _, name] => format!("{package}/{name}"),
        _ => name.to_owned(),
    }
}

fn collect<'a>(structure: &'a Structure, known: &mut BTreeMap<String, &'a Structure>) {
    for field in &structure.fields {
        if let Element::Message(nested) = &field.element
            && known.insert(short(&nested.name), nested).is_none()
        {
            collect(nested, known);
        }
    }
}

fn own_text(structure: &Structure, text: &mut String) {
    for Field { name, element, count, .. } in &structure.fields {
        if name == PLACEHOLDER {
            continue;
        }
        // Writing to a `String` cannot fail.
        let _ = match element {
            Element::Number(number) => write!(text, "{}", number.name),
            Element::Text { bound: usize::MAX, .. } => write!(text, "string"),
            Element::Text { bound, .. } => write!(text, "string<={bound}"),
            Element::WideText { bound: usize::MAX, .. } => write!(text, "wstring"),
            Element::WideText { bound, .. } => write!(text, "wstring<={bound}"),
            Element::Message(nested) => write!(text, "{}", short(&nested.name)),
        };
        let _ = match count {
            Count::One => Ok(()),
            Count::Array(count) => write!(text, "[{count}]"),
            Count::Sequence(sequence) => match sequence.bound() {
                Some(bound) => write!(text, "[<={bound}]"),
                None => write!(text, "[]"),
            },
        };
        let _ = writeln!(text, " {name}");
    }
}
