//! Small parts of Rust code: names, documentation, literals, indentation.

use crate::{model::Primitive, value::Value};

/// The name of a field as a Rust identifier.
pub(super) fn identifier(name: &str) -> String {
    match name {
        // These keywords cannot be raw identifiers.
        "self" | "super" | "crate" => format!("{name}_"),
        _ if is_keyword(name) => format!("r#{name}"),
        _ => name.to_owned(),
    }
}

/// The name of a message as a Rust identifier.
pub(super) fn type_name(name: &str) -> String {
    // `Self` is the only keyword that can be the name of a type. The new name is free, because no type's name ends with
    // an underscore.
    if name == "Self" { "Self_".to_owned() } else { name.to_owned() }
}

/// The name of the type parameter for a field, such as `PoseArray_` for `pose_array`. No type and no other field has
/// such a name. An underscore before a digit is kept, because `a_1` and `a1` are different fields.
pub(super) fn parameter(field: &str) -> String {
    let mut name = String::new();
    let mut begins = true;
    for character in field.chars() {
        if character == '_' {
            begins = true;
            continue;
        }
        if begins && character.is_ascii_digit() {
            name.push('_');
        }
        name.push(if begins { character.to_ascii_uppercase() } else { character });
        begins = false;
    }
    name + "_"
}

/// Whether the character changes the text direction. Rust refuses such characters in comments and in texts.
fn turns_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The literal of a text with several lines. It is a raw string if possible, for legibility.
pub(super) fn raw_literal(text: &str) -> String {
    if text.contains(turns_direction) || text.contains("\"#") || text.contains('\r') {
        format!("{text:?}")
    } else {
        format!("r#\"{text}\"#")
    }
}

/// Whether the name is one of Rust's lower-case keywords, including the reserved ones (Rust reference, edition 2024).
fn is_keyword(name: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
        "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
        "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type",
        "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
    ];
    KEYWORDS.contains(&name)
}

/// The documentation lines with the text `comment`, or with `otherwise` if the comment is empty.
pub(super) fn documentation(comment: &str, otherwise: &str) -> String {
    let comment = comment.trim();
    let text = if comment.is_empty() { otherwise.to_owned() } else { escaped(comment) };
    text.lines().map(|line| format!("/// {line}").trim_end().to_owned() + "\n").collect()
}

/// The comment with a backslash before characters that have a meaning in Markdown. Characters that change the text
/// direction are removed.
fn escaped(comment: &str) -> String {
    let mut text = String::new();
    for line in comment.lines() {
        for character in line.trim().chars().filter(|character| !turns_direction(*character)) {
            if "[]<>*_`\\#".contains(character) {
                text.push('\\');
            }
            text.push(character);
        }
        text.push('\n');
    }
    text
}

/// The Rust type of a primitive.
pub(super) fn primitive(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "bool",
        Primitive::Byte | Primitive::Char | Primitive::Uint8 => "u8",
        Primitive::Int8 => "i8",
        Primitive::Int16 => "i16",
        Primitive::Uint16 => "u16",
        Primitive::Int32 => "i32",
        Primitive::Uint32 => "u32",
        Primitive::Int64 => "i64",
        Primitive::Uint64 => "u64",
        Primitive::Float32 => "f32",
        Primitive::Float64 => "f64",
    }
}

/// A Rust literal for the value of a primitive, or a `&str` for a string.
pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) if value.is_nan() => "f64::NAN as _".to_owned(),
        Value::Float(f64::INFINITY) => "f64::INFINITY as _".to_owned(),
        Value::Float(f64::NEG_INFINITY) => "f64::NEG_INFINITY as _".to_owned(),
        Value::Float(value) => format!("{value:?}"),
        Value::Text(value) => format!("{value:?}"),
        Value::List(values) => format!("[{}]", values.iter().map(literal).collect::<Vec<_>>().join(", ")),
    }
}

/// A Rust literal for zero of this primitive.
pub(super) fn zero(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "false",
        Primitive::Float32 | Primitive::Float64 => "0.0",
        _ => "0",
    }
}

/// Indents the code by `spaces`. Lines inside raw strings are not indented, because their content must not change.
pub(super) fn indented(code: &str, spaces: usize) -> String {
    let (mut indented, mut raw) = (String::new(), false);
    for line in code.lines() {
        if !raw && !line.is_empty() {
            indented.extend(std::iter::repeat_n(' ', spaces));
        }
        indented.push_str(line);
        indented.push('\n');
        raw = (raw || line.contains("r#\"")) && !line.contains("\"#");
    }
    indented
}

#[cfg(test)]
mod tests {
    #[test]
    fn fields_of_different_names_have_type_parameters_of_different_names() {
        let names = ["joint_names", "a1", "a_1", "a_1b", "a1_b", "a1b"].map(super::parameter);
        assert_eq!(names, ["JointNames_", "A1_", "A_1_", "A_1b_", "A1B_", "A1b_"]);
    }
}
