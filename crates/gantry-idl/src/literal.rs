//! Values of constants and default values, as text. The parser follows ROS 2's `rosidl_adapter`. A value is written so
//! that it parses to the same value.
//!
//! Quotes around a text are optional. The supported escapes are those that ROS 2 preserves in the default value of a
//! field: `\\`, `\"`, `\'`, `\t`, `\n`, `\r` and `\x41`. Any other backslash is an ordinary character.

use crate::{
    error::Problem,
    model::{BaseType, Count, FieldType, Primitive},
    token::Token,
    value::Value,
};

const QUOTES: [char; 2] = ['"', '\''];

/// Parses a value of the type `field_type`. `token` must have no surrounding spaces.
pub(crate) fn parse(field_type: &FieldType, token: Token<'_>) -> Result<Value, Problem> {
    if let BaseType::Message(name) = &field_type.base {
        return Err(token.problem(format!("a field of type `{}/{}` cannot have a default", name.package, name.name)));
    }
    if field_type.count == Count::One {
        let text = if is_text(&field_type.base) { text(token)? } else { token.text.to_owned() };
        return one(&field_type.base, token, text);
    }
    let Some(inner) = token.strip_prefix("[").and_then(|rest| rest.strip_suffix("]")) else {
        return Err(token.problem(format!("a default of type `{field_type}` must be in brackets, as in `[1, 2]`")));
    };
    let elements = if is_text(&field_type.base) { text_elements(inner)? } else { elements(inner) };
    let length = elements.len();
    match field_type.count {
        Count::Array(wanted) if length != wanted as usize => {
            Err(token.problem(format!("`{field_type}` needs exactly {wanted} elements, and the default has {length}")))
        }
        Count::Sequence { bound: Some(bound) } if length > bound as usize => {
            Err(token.problem(format!("`{field_type}` holds at most {bound} elements, and the default has {length}")))
        }
        _ => elements
            .into_iter()
            .map(|(token, text)| one(&field_type.base, token, text))
            .collect::<Result<_, _>>()
            .map(Value::List),
    }
}

/// Parses a single value. `text` is the text of `token` without its quotes.
fn one(base: &BaseType, token: Token<'_>, text: String) -> Result<Value, Problem> {
    match base {
        BaseType::Primitive(Primitive::Bool) => match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(Value::Bool(true)),
            "false" | "0" => Ok(Value::Bool(false)),
            _ => Err(token.problem(format!("`{text}` is not a `bool`, which is `true`, `1`, `false` or `0`"))),
        },
        BaseType::Primitive(primitive) => match primitive.integer_range() {
            Some((least, greatest)) => {
                let value = integer(&text).ok_or_else(|| token.problem(format!("`{text}` is not an integer")))?;
                if (least..=greatest).contains(&value) {
                    Ok(Value::Integer(value))
                } else {
                    Err(token.problem(format!("{value} is not in the range of `{primitive}`, {least} to {greatest}")))
                }
            }
            None => float(*primitive, &text).map(Value::Float).map_err(|why| token.problem(why)),
        },
        BaseType::String { bound } => bounded(text.len(), *bound, "bytes", token).map(|()| Value::Text(text)),
        BaseType::WString { bound } => {
            bounded(text.encode_utf16().count(), *bound, "UTF-16 units", token).map(|()| Value::Text(text))
        }
        // Refused by `parse`.
        BaseType::Message(_) => Err(token.problem("a message cannot be written as a value")),
    }
}

fn is_text(base: &BaseType) -> bool {
    matches!(base, BaseType::String { .. } | BaseType::WString { .. })
}

fn bounded(length: usize, bound: Option<u32>, unit: &str, token: Token<'_>) -> Result<(), Problem> {
    match bound {
        Some(bound) if length > bound as usize => {
            Err(token.problem(format!("the text is {length} {unit} long, and its type allows {bound}")))
        }
        _ => Ok(()),
    }
}

/// Parses an integer in Python's syntax: a sign, a prefix such as `0x`, and single underscores between digits.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let prefixes = [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)];
    let prefixed = prefixes.iter().find_map(|(prefix, base)| Some((digits.strip_prefix(prefix)?, *base)));
    let (digits, base) = prefixed.map_or((digits, 10), |(rest, base)| (rest.strip_prefix('_').unwrap_or(rest), base));
    let digits = without_underscores(digits)?;
    // A second sign is not allowed.
    if !digits.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    // A number that overflows i128 overflows every type. It is saturated here, so that the caller reports it as out of
    // the type's range.
    let overflow = || digits.chars().all(|c| c.is_digit(base)).then_some(i128::MAX);
    let value = i128::from_str_radix(&digits, base).ok().or_else(overflow)?;
    Some(if negative { -value } else { value })
}

/// Parses a number in Python's syntax, which includes `nan` and `inf`. A number that is too large becomes infinite, as
/// in ROS 2.
fn float(primitive: Primitive, text: &str) -> Result<f64, String> {
    let not_a_number = || format!("`{text}` is not a number; it should look like `-1.5e3`");
    let value: f64 = without_underscores(text).and_then(|digits| digits.parse().ok()).ok_or_else(not_a_number)?;
    #[expect(clippy::cast_possible_truncation, reason = "tests for overflow")]
    let overflows = primitive == Primitive::Float32 && (value as f32).is_infinite();
    Ok(if overflows { value.signum() * f64::INFINITY } else { value })
}

/// The text without underscores; `None` if an underscore does not separate two digits.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |index: Option<usize>| index.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_hexdigit);
    let well_placed =
        |(index, byte): (usize, &u8)| *byte != b'_' || is_digit(index.checked_sub(1)) && is_digit(Some(index + 1));
    bytes.iter().enumerate().all(well_placed).then(|| text.replace('_', ""))
}

/// The content of a text, without its quotes if it has any.
fn text(token: Token<'_>) -> Result<String, Problem> {
    for quote in QUOTES {
        let inner = token.text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        let Some(inner) = inner else { continue };
        if closing_quote(token.text, quote) != Some(token.text.len() - 1) {
            let sentence =
                format!("inside the text a {quote} needs a backslash before it, and the last one must have none");
            return Err(token.problem(sentence));
        }
        return Ok(unescaped(inner));
    }
    Ok(unescaped(token.text))
}

fn elements(inner: Token<'_>) -> Vec<(Token<'_>, String)> {
    let mut elements = Vec::new();
    let mut rest = Some(inner).filter(|inner| !inner.text.is_empty());
    while let Some(inner) = rest {
        let (element, more) = inner.split_before(|c| c == ',');
        let element = element.trim();
        elements.push((element, element.text.to_owned()));
        rest = more.strip_prefix(",");
    }
    elements
}

/// Splits the elements of a list of texts like `elements`, but a comma inside quotes does not separate elements.
fn text_elements(inner: Token<'_>) -> Result<Vec<(Token<'_>, String)>, Problem> {
    let mut elements = Vec::new();
    let mut rest = inner.trim();
    while !rest.text.is_empty() {
        let quote = rest.text.chars().next().filter(|first| QUOTES.contains(first));
        let (element, text, more) = match quote {
            None => {
                let (element, more) = rest.split_before(|c| c == ',');
                let element = element.trim();
                if element.text.is_empty() {
                    let (comma, _) = more.split_at(1);
                    return Err(comma.problem("there is no text before this comma; an empty text is `\"\"`"));
                }
                (element, unescaped(element.text), more)
            }
            Some(quote) => {
                let end = closing_quote(rest.text, quote)
                    .ok_or_else(|| rest.problem(format!("the text is not closed with {quote}")))?;
                let (element, more) = rest.split_at(end + 1);
                let text = unescaped(&rest.text[1..end]);
                (element, text, more.trim())
            }
        };
        elements.push((element, text));
        rest = match more.strip_prefix(",") {
            Some(rest) => rest.trim(),
            None if more.text.is_empty() => more,
            None => return Err(more.problem("there must be a comma between two texts")),
        };
    }
    Ok(elements)
}

/// The index of the closing quote of a text that begins with `quote`. A quote after a backslash does not close the
/// text.
fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    while let Some((index, character)) = characters.next() {
        match character {
            '\\' => _ = characters.next(),
            _ if character == quote => return Some(index),
            _ => {}
        }
    }
    None
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(backslash) = rest.find('\\') {
        plain.push_str(&rest[..backslash]);
        let escape = &rest[backslash..];
        let (character, length) = escaped_character(escape).unwrap_or(('\\', 1));
        plain.push(character);
        rest = &escape[length..];
    }
    plain + rest
}

/// The character of the escape at the start of `text`, and the length of the escape in bytes.
fn escaped_character(text: &str) -> Option<(char, usize)> {
    let character = match text.as_bytes().get(1)? {
        b't' => '\t',
        b'n' => '\n',
        b'r' => '\r',
        byte @ (b'\\' | b'"' | b'\'') => char::from(*byte),
        b'x' => {
            let digits = text.get(2..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            return Some((char::from(u8::from_str_radix(digits, 16).ok()?), 4));
        }
        _ => return None,
    };
    Some((character, 2))
}

/// Writes the value as text that `parse` reads.
pub(crate) fn write(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) if value.is_nan() => "nan".to_owned(),
        // `{:?}` writes `inf`, or a number with a point or an exponent. It has enough digits to parse to the same
        // number.
        Value::Float(value) => format!("{value:?}"),
        Value::Text(text) => format!("\"{}\"", text.chars().map(escaped).collect::<String>()),
        Value::List(values) => {
            let elements: Vec<String> = values.iter().map(write).collect();
            format!("[{}]", elements.join(", "))
        }
    }
}

fn escaped(character: char) -> String {
    match character {
        '\\' | '"' => format!("\\{character}"),
        // An unescaped `#` would begin a comment. Two digits are enough, because control characters end at U+009F.
        _ if character == '#' || character.is_control() => format!("\\x{:02x}", u32::from(character)),
        character => character.to_string(),
    }
}
