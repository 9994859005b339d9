//! The YAML form of a message, exactly as `ros2 topic echo` prints it.
//!
//! `ros2 topic echo` prints the Python object of the message with PyYAML. In this form, a `byte` is a text of one
//! character, and a `float32` is converted to 64 bits. This code writes the form piece by piece, so it needs memory
//! only for a truncated text or a wide text.

mod encode;
mod error;
mod implicit;
mod scalar;
mod scalar_input;
mod tree;

pub use error::YamlError;

use self::scalar::{write_float, write_text};
use crate::{list::List, message::DynamicMessage, value::Value};
use gantry_idl::{BaseType, Count, Field, Primitive};
use std::{
    borrow::Cow,
    fmt::{self, Write},
};

/// The options for printing a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yaml {
    /// The largest number of characters that are printed of a text, and of elements that are printed of a list; `None`
    /// means all.
    pub truncate_length: Option<usize>,
    /// Whether only the type and length of arrays and sequences are printed.
    pub no_arrays: bool,
    /// Whether only the length of texts is printed.
    pub no_strings: bool,
}

/// The default of `ros2 topic echo`: texts and lists are truncated after 128 characters or elements.
impl Default for Yaml {
    fn default() -> Self {
        Self { truncate_length: Some(128), ..Self::FULL_LENGTH }
    }
}

/// Writes the YAML that `ros2 topic echo` prints by default, in which long texts and lists are truncated.
impl fmt::Display for DynamicMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Yaml::default().write(self, f)
    }
}

impl Yaml {
    /// The options that print the whole message.
    pub const FULL_LENGTH: Self = Self { truncate_length: None, no_arrays: false, no_strings: false };

    /// Writes the message, with a line break at the end of each line.
    ///
    /// # Errors
    /// An error of `out`.
    pub fn write(&self, message: &DynamicMessage<'_>, out: &mut dyn Write) -> fmt::Result {
        if message.definition().fields.is_empty() { out.write_str("{}\n") } else { self.fields(message, 0, false, out) }
    }

    /// Writes the fields, each on a separate line. If `begun` is true, the first field continues the current line.
    fn fields(&self, message: &DynamicMessage<'_>, indent: usize, begun: bool, out: &mut dyn Write) -> fmt::Result {
        for (index, (field, value)) in message.fields().enumerate() {
            if index > 0 || !begun {
                spaces(indent, out)?;
            }
            write_text(&field.name, 0, out)?;
            out.write_char(':')?;
            match value {
                Value::List(list) if self.no_arrays => {
                    out.write_char(' ')?;
                    write_text(&abbreviation(field, list), indent + 2, out)?;
                    out.write_char('\n')?;
                }
                value => self.write_value(value, indent, out)?,
            }
        }
        Ok(())
    }

    /// Writes a value after its key and the colon. Each line ends with a line break. `indent` is the indentation of the
    /// key.
    ///
    /// # Errors
    /// An error of `out`.
    pub fn write_value(&self, value: Value<'_>, indent: usize, out: &mut dyn Write) -> fmt::Result {
        match value {
            Value::Message(message) if !message.definition().fields.is_empty() => {
                out.write_char('\n')?;
                self.fields(&message, indent + 2, false, out)
            }
            Value::List(list) if !list.is_empty() => {
                out.write_char('\n')?;
                self.elements(list, indent, out)
            }
            _ => {
                out.write_char(' ')?;
                self.scalar(value, indent + 2, out)
            }
        }
    }

    /// Writes the elements of a list, each on a separate line, with the indentation of the field's name.
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

    /// Writes a value on the current line. If a text has line breaks, its further lines begin at `indent`.
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
                // One character more than the limit is taken, so that `shortened` detects that the text is longer.
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

/// The text that replaces a list if arrays are not printed. It contains the IDL name of the list's type.
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
