//! Prints a message as YAML, in exactly the form of `ros2 topic echo`.
//!
//! That form is what PyYAML makes of the message's Python object: a `byte` is there a text of one character, a `float32` is
//! widened to 64 bits. It is written piece by piece, so that only a shortened or wide text needs memory.

mod implicit;
mod scalar;

use std::borrow::Cow;
use std::fmt::{self, Write};

use self::scalar::{write_float, write_text};
use crate::list::List;
use crate::message::DynamicMessage;
use crate::value::Value;

use gantry_idl::{BaseType, Count, Field, Primitive};

/// How a message is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yaml {
    /// The most characters of a text and elements of a list that are shown; all if `None`.
    pub truncate_length: Option<usize>,
    /// Shows of arrays and sequences their type and length only.
    pub no_arrays: bool,
    /// Shows of texts their length only.
    pub no_strings: bool,
}

/// As `ros2 topic echo` does when nothing is said: the first 128 characters or elements.
impl Default for Yaml {
    fn default() -> Self {
        Self { truncate_length: Some(128), ..Self::FULL_LENGTH }
    }
}

impl Yaml {
    /// All of the message.
    pub const FULL_LENGTH: Self = Self { truncate_length: None, no_arrays: false, no_strings: false };

    /// Writes the message, with a line break after each line.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, message: &DynamicMessage<'_>, out: &mut dyn Write) -> fmt::Result {
        if message.definition().fields.is_empty() { out.write_str("{}\n") } else { self.fields(message, 0, false, out) }
    }

    /// The fields, each on a line of its own; the first one where `out` is if it is `begun`.
    fn fields(&self, message: &DynamicMessage<'_>, indent: usize, begun: bool, out: &mut dyn Write) -> fmt::Result {
        for (index, (field, value)) in message.fields().enumerate() {
            if index > 0 || !begun {
                spaces(indent, out)?;
            }
            write_text(&field.name, 0, out)?;
            out.write_char(':')?;
            match value {
                Value::Message(message) if !message.definition().fields.is_empty() => {
                    out.write_char('\n')?;
                    self.fields(&message, indent + 2, false, out)?;
                }
                Value::List(list) if self.no_arrays => {
                    out.write_char(' ')?;
                    write_text(&abbreviation(field, list), indent + 2, out)?;
                    out.write_char('\n')?;
                }
                Value::List(list) if !list.is_empty() => {
                    out.write_char('\n')?;
                    self.elements(list, indent, out)?;
                }
                _ => {
                    out.write_char(' ')?;
                    self.scalar(value, indent + 2, out)?;
                }
            }
        }
        Ok(())
    }

    /// The elements, each on a line of its own, as far in as the field's name.
    fn elements(&self, list: List<'_>, indent: usize, out: &mut dyn Write) -> fmt::Result {
        let shown = self.truncate_length.unwrap_or(usize::MAX);
        for value in list.iter().take(shown) {
            spaces(indent, out)?;
            out.write_str("- ")?;
            match value {
                Value::Message(message) if !message.definition().fields.is_empty() => {
                    self.fields(&message, indent + 2, true, out)?;
                }
                _ => self.scalar(value, indent + 2, out)?,
            }
        }
        if list.len() > shown {
            spaces(indent, out)?;
            out.write_str("- '...'\n")?;
        }
        Ok(())
    }

    /// What fits on a line, unless it is a text with line breaks, which go on at `indent`.
    fn scalar(&self, value: Value<'_>, indent: usize, out: &mut dyn Write) -> fmt::Result {
        match value {
            Value::Bool(value) => write!(out, "{value}"),
            Value::Byte(byte) => write_text(&self.shortened(char::from(byte).encode_utf8(&mut [0; 4])), indent, out),
            Value::Float32(value) => write_float(value.into(), out),
            Value::Float64(value) => write_float(value, out),
            Value::Int8(value) => write!(out, "{value}"),
            Value::Uint8(value) => write!(out, "{value}"),
            Value::Int16(value) => write!(out, "{value}"),
            Value::Uint16(value) => write!(out, "{value}"),
            Value::Int32(value) => write!(out, "{value}"),
            Value::Uint32(value) => write!(out, "{value}"),
            Value::Int64(value) => write!(out, "{value}"),
            Value::Uint64(value) => write!(out, "{value}"),
            Value::Text(text) if self.no_strings => no_string(text.chars().count(), out),
            Value::Text(text) => write_text(&self.shortened(text), indent, out),
            Value::WideText(text) if self.no_strings => no_string(text.chars().count(), out),
            Value::WideText(text) => {
                // One more than is shown, so that `shortened` sees whether there are more.
                let most = self.truncate_length.unwrap_or(usize::MAX).saturating_add(1);
                write_text(&self.shortened(&text.chars().take(most).collect::<String>()), indent, out)
            }
            Value::List(_) => out.write_str("[]"),
            Value::Message(_) => out.write_str("{}"),
        }?;
        out.write_char('\n')
    }

    fn shortened<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.truncate_length.and_then(|most| text.char_indices().nth(most)) {
            Some((end, _)) => format!("{}...", &text[..end]).into(),
            None => text.into(),
        }
    }
}

fn spaces(count: usize, out: &mut dyn Write) -> fmt::Result {
    write!(out, "{:count$}", "")
}

fn no_string(length: usize, out: &mut dyn Write) -> fmt::Result {
    write!(out, "'<string length: <{length}>>'")
}

/// What is shown instead of a list; types have their names in IDL.
fn abbreviation(field: &Field, list: List<'_>) -> String {
    let (name, length) = (idl_name(&field.field_type.base), list.len());
    match field.field_type.count {
        Count::Sequence { bound: Some(bound) } => format!("<sequence type: {name}[{bound}], length: {length}>"),
        Count::Sequence { bound: None } => format!("<sequence type: {name}, length: {length}>"),
        Count::Array(_) | Count::One => format!("<array type: {name}[{length}]>"),
    }
}

fn idl_name(base: &BaseType) -> Cow<'static, str> {
    match base {
        BaseType::Primitive(primitive) => match primitive {
            Primitive::Bool => "boolean",
            Primitive::Byte => "octet",
            Primitive::Char => "uint8",
            Primitive::Float32 => "float",
            Primitive::Float64 => "double",
            other => other.name(),
        }
        .into(),
        BaseType::String { .. } => "string".into(),
        BaseType::WString { .. } => "wstring".into(),
        BaseType::Message(name) => name.to_string().into(),
    }
}
