//! Values in Python's form (`repr`), which `ros2 service call` and `ros2 topic pub` show.

use gantry_dynamic::{DynamicMessage, Value};
use std::fmt::{self, Write};

/// A value in Python's form: `geometry_msgs.msg.Point(x=1.0, y=0.0, z=0.0)`.
pub struct Repr<'a>(pub Value<'a>);

impl fmt::Display for Repr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Bool(true) => f.write_str("True"),
            Value::Bool(false) => f.write_str("False"),
            Value::Byte(byte) => match byte {
                b'\t' => f.write_str("b'\\t'"),
                b'\n' => f.write_str("b'\\n'"),
                b'\r' => f.write_str("b'\\r'"),
                b'\\' => f.write_str("b'\\\\'"),
                b'\'' => f.write_str("b\"'\""),
                b' '..=b'~' => write!(f, "b'{}'", char::from(byte)),
                _ => write!(f, "b'\\x{byte:02x}'"),
            },
            Value::Float32(value) => write_float(value.into(), f),
            Value::Float64(value) => write_float(value, f),
            Value::Text(text) => write_text(text.chars(), f),
            Value::WideText(text) => write_text(text.chars().collect::<String>().chars(), f),
            Value::List(list) => {
                f.write_char('[')?;
                for (index, value) in list.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    Repr(value).fmt(f)?;
                }
                f.write_char(']')
            }
            Value::Message(message) => write_message(&message, f),
            number => write!(f, "{}", number.as_integer().unwrap_or_default()),
        }
    }
}

fn write_message(message: &DynamicMessage<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let name = &message.definition().name;
    write!(f, "{}.{}.{}(", name.package, name.namespace, name.name)?;
    for (index, (field, value)) in message.fields().enumerate() {
        write!(f, "{}{}={}", if index == 0 { "" } else { ", " }, field.name, Repr(value))?;
    }
    f.write_char(')')
}

fn write_float(value: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if !value.is_finite() {
        let text = if value.is_nan() { "nan" } else { "inf" };
        return write!(f, "{}{text}", if value < 0.0 { "-" } else { "" });
    }
    if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
        return write!(f, "{value:?}");
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    write!(f, "{digits}e{sign}{exponent:0>2}")
}

/// Writes the text in single quotes or, if it contains single quotes but no double quotes, in double quotes.
fn write_text(chars: impl Iterator<Item = char> + Clone, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let has = |quote| chars.clone().any(|char| char == quote);
    let quote = if has('\'') && !has('"') { '"' } else { '\'' };
    f.write_char(quote)?;
    for char in chars.clone() {
        match char {
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\\' => f.write_str("\\\\")?,
            char if char == quote => write!(f, "\\{char}")?,
            char if char.is_control() && u32::from(char) < 0x100 => write!(f, "\\x{:02x}", u32::from(char))?,
            char => f.write_char(char)?,
        }
    }
    f.write_char(quote)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::TopicType;

    /// The `repr` of a message with these values.
    fn repr(definition: &str, values: &str) -> String {
        let description = gantry::TypeDescription {
            name: "test_msgs/msg/Test".to_owned(),
            hash: [0; 32],
            definition: definition.into(),
            payload_bytes: usize::MAX,
        };
        let test = TopicType::new(&description).unwrap_or_else(|_| panic!("{definition} is a definition"));
        let body = test.encode(values).unwrap_or_else(|_| panic!("{values} are values"));
        Repr(Value::Message(test.view(&body).unwrap_or_else(|_| panic!("it can be read")))).to_string()
    }

    /// The expected texts are the output of Python 3.11.
    #[test]
    fn values_are_printed_as_python_prints_them() {
        for (definition, values, expected) in [
            ("bool a", "a: true", "a=True"),
            ("uint8[] a", "a: [1, 2]", "a=[1, 2]"),
            ("byte a", "a: 65", "a=b'A'"),
            ("byte a", "a: 0", "a=b'\\x00'"),
            ("string a", "a: it's", "a=\"it's\""),
            ("string a", "a: 'a''b\"c'", "a='a\\'b\"c'"),
            ("string a", "a: \"x\\n\\e\"", "a='x\\n\\x1b'"),
            ("wstring a", "a: ö", "a='ö'"),
            ("float64 a", "a: 0.0001", "a=0.0001"),
            ("float64 a", "a: 0.00001", "a=1e-05"),
            ("float64 a", "a: 1e16", "a=1e+16"),
            ("float64 a", "a: -2", "a=-2.0"),
            ("float64 a", "a: -.inf", "a=-inf"),
            ("float64 a", "a: .nan", "a=nan"),
            ("int64 a\nstring b", "a: -5", "a=-5, b=''"),
        ] {
            assert_eq!(repr(definition, values), format!("test_msgs.msg.Test({expected})"), "{definition}, {values}");
        }
    }
}
