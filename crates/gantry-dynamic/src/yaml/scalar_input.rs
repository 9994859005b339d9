//! Reads numbers and booleans in PyYAML's syntax, for a field whose type is known.

use super::error::YamlError;
use gantry_idl::Primitive;

/// Converts a value of a primitive type to its bits. They are the lowest bits of the result.
///
/// A `byte` may be given as an integer, or as the character by which `ros2 topic echo` prints it. A text in quotes, or
/// a text that is not a number, means the character.
pub(crate) fn bits(primitive: Primitive, text: &str, plain: bool) -> Result<u64, YamlError> {
    let wrong = || {
        let shown: String = text.chars().take(60).collect();
        let hint = match primitive.integer_range() {
            Some((least, greatest)) => format!(", a whole number from {least} to {greatest}"),
            None if primitive == Primitive::Bool => ", true or false".to_owned(),
            None => String::new(),
        };
        YamlError::new(format!("{shown:?} is not a valid {primitive}{hint}"))
    };
    match primitive {
        Primitive::Bool => boolean(text).map(u64::from).ok_or_else(wrong),
        Primitive::Float32 => float(text).map(|value| u64::from((value as f32).to_bits())).ok_or_else(wrong),
        Primitive::Float64 => float(text).map(f64::to_bits).ok_or_else(wrong),
        Primitive::Byte if !plain || integer(text).is_none() => {
            let mut chars = text.chars();
            let code = chars.next().and_then(|char| u8::try_from(u32::from(char)).ok());
            code.filter(|_| chars.next().is_none()).map(u64::from).ok_or_else(wrong)
        }
        _ => {
            let (least, greatest) = primitive.integer_range().ok_or_else(wrong)?;
            let value = integer(text).filter(|value| (least..=greatest).contains(value)).ok_or_else(wrong)?;
            Ok(value as u64) // keeps the low bytes of the two's complement
        }
    }
}

/// Reads a boolean: one of YAML 1.1's words, or the number 0 or 1.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Reads a decimal number, or a number with the prefix 0x, 0o or 0b. Underscores between digits are allowed.
pub(crate) fn integer(text: &str) -> Option<i128> {
    let text = text.replace('_', "");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(&text)),
    };
    let (digits, radix) = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, radix)))
        .unwrap_or((digits, 10));
    if !digits.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    i128::from_str_radix(digits, radix).ok().map(|value| sign * value)
}

/// Reads a floating-point number in the syntax of Rust, YAML or Python.
pub(crate) fn float(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        ".nan" => Some(f64::NAN),
        ".inf" | "+.inf" => Some(f64::INFINITY),
        "-.inf" => Some(f64::NEG_INFINITY),
        lower => lower.parse().ok().or_else(|| integer(text).map(|value| value as f64)),
    }
}
