//! The definition of a type as text.

use super::TopicType;
use crate::error::Result;
use gantry_idl::{BaseType, MessageDefinition};

/// The most bytes of a text: messages of another process that nest each other make it long quickly.
const MAX_TEXT_BYTES: usize = 1 << 20;

impl TopicType {
    /// The definition in the form of `ros2 interface show`: below a field, the fields of its message, one tab further in.
    pub fn definition(&self) -> Result<String> {
        let mut text = String::new();
        if let Some(message) = self.definitions.message(&self.name) {
            self.write(message, 0, &mut text)?;
        }
        Ok(text)
    }

    fn write(&self, message: &MessageDefinition, indent: usize, text: &mut String) -> Result<()> {
        // Constants, then fields, one in each line; below them, the messages that they nest.
        let lines = self.definitions.definition_text(&message.name).unwrap_or_default();
        let fields = message.constants.iter().map(|_| None).chain(message.fields.iter().map(Some));
        for (line, field) in lines.lines().zip(fields) {
            text.extend(std::iter::repeat_n('\t', indent).chain(line.chars()).chain(['\n']));
            if text.len() > MAX_TEXT_BYTES {
                return Err(format!("the definition of {} is longer than {MAX_TEXT_BYTES} bytes", self.name).into());
            }
            if let Some(field) = field
                && let BaseType::Message(name) = &field.field_type.base
                && let Some(nested) = self.definitions.message(name)
            {
                self.write(nested, indent + 1, text)?;
            }
        }
        Ok(())
    }
}
