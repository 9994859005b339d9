//! The definition of a type as text.

use super::TopicType;
use crate::error::Result;
use gantry_idl::{BaseType, MessageDefinition};

/// The limit for the text of a definition, because a definition from another process may nest messages deeply.
const MAX_TEXT_BYTES: usize = 1 << 20;

impl TopicType {
    /// The definition in the form of `ros2 interface show`: the fields of a nested message are listed below its field,
    /// indented by one more tab.
    pub fn definition(&self) -> Result<String> {
        let mut text = String::new();
        if let Some(message) = self.definitions.message(&self.name) {
            self.write(message, 0, &mut text)?;
        }
        Ok(text)
    }

    fn write(&self, message: &MessageDefinition, indent: usize, text: &mut String) -> Result<()> {
        // Constants, then fields, one per line. The fields of a nested message follow below its field.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_type_without_its_definition_is_refused_by_name() {
        let named = |name: &str, hash| {
            TopicType::new(&gantry::TypeDescription { name: name.to_owned(), hash, ..Default::default() }).err()
        };
        let error = named("my_robot/msg/Scan", [1; 32]);
        assert!(matches!(error, Some(crate::error::Failure::Sentence(sentence))
            if sentence.starts_with("the definition of my_robot/msg/Scan is not known")));
        let empty = gantry_idl::Definitions::from_text(&"my_robot/msg/Empty".parse().unwrap(), "").unwrap();
        let hash = empty.hash(&"my_robot/msg/Empty".parse().unwrap()).unwrap();
        assert!(named("my_robot/msg/Empty", hash).is_none() && named("my_robot/msg/Old", [0; 32]).is_none());
    }

    #[test]
    fn a_definition_that_grows_without_bound_is_refused() {
        let separator = "=".repeat(80);
        let mut definition = "test_msgs/A1 a\n".to_owned();
        for depth in 1..40 {
            let next = depth + 1;
            definition += &format!("{separator}\nMSG: test_msgs/A{depth}\ntest_msgs/A{next} a\ntest_msgs/A{next} b\n");
        }
        definition += &format!("{separator}\nMSG: test_msgs/A40\nint8 a\n");
        let name = "test_msgs/msg/Test".to_owned();
        let description =
            gantry::TypeDescription { name, hash: [0; 32], definition: definition.into(), payload_bytes: usize::MAX };
        let error = TopicType::new(&description).and_then(|test| test.definition()).err();
        let expected = "the definition of test_msgs/msg/Test is longer than 1048576 bytes";
        assert!(matches!(error, Some(crate::error::Failure::Sentence(sentence)) if sentence == expected));
    }
}
