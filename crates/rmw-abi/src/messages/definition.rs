//! The text of a message definition, in the form of `gantry-idl` and of bags ("ros2msg").
//!
//! An introspection type support has no constants and no default values, so the text has none either.

use super::structure::{Count, Element, Field, PLACEHOLDER, Structure};
use std::{collections::BTreeMap, fmt::Write};

/// The line between two types.
const SEPARATOR: &str = "================================================================================";

/// The definition of the type, then of each type nested in it, by name.
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

/// `geometry_msgs/Point`.
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
