//! Messages of types that are known only at run time. They are read for output, and made from YAML.

mod call;
mod definition;
mod json;
mod python;
mod service_types;

pub use call::{Answer, call, call_bytes};
pub use gantry_dynamic::Value;
pub use json::json_of;
pub use python::Repr;
pub use service_types::{described_service_types, service_types, standard_service_type};

use crate::error::{Failure, Result};
use gantry::TypeDescription;
use gantry_cdr::ByteOrder;
use gantry_dynamic::{DynamicMessage, Filter, MessageType, Yaml};
use gantry_idl::{BaseType, Count, Definitions, TypeName};
use serde::{Serialize, Serializer};
use std::fmt;

/// A type with its definition.
pub struct TopicType {
    definitions: Definitions,
    name: TypeName,
    message_type: MessageType,
}

impl TopicType {
    /// # Errors
    /// The text from the other process is not a definition; the failure states the reason.
    pub fn new(description: &TypeDescription) -> Result<TopicType> {
        let broken = |why: &dyn fmt::Display| {
            Failure::new(format!("the definition of {} cannot be read: {why}", description.name))
        };
        let name: TypeName = description.name.parse().map_err(|error| broken(&error))?;
        let definitions = Definitions::from_text(&name, &description.definition).map_err(|error| broken(&error))?;
        // An endpoint of another host has only a name and a hash, so its definition is empty. A type without fields
        // also has an empty definition, but its hash matches the empty text.
        if description.definition.is_empty()
            && description.hash != [0; 32]
            && definitions.hash(&name) != Some(description.hash)
        {
            return Err(Failure::new(format!(
                "the definition of {name} is not known: its programs run on other hosts, and the type is not a \
                 standard type; start a program of this host that uses it"
            )));
        }
        let message_type = MessageType::new(&definitions, &name).map_err(|error| broken(&error))?;
        Ok(TopicType { definitions, name, message_type })
    }

    /// Interprets bytes as a message of this type.
    pub fn view<'a>(&'a self, bytes: &'a [u8]) -> Result<DynamicMessage<'a>> {
        let view = self.message_type.view(bytes, ByteOrder::LittleEndian);
        view.map_err(|error| Failure::new(format!("a message is not a valid {}: {error}", self.name)))
    }

    /// Compiles a DDS filter expression.
    pub fn filter(&self, expression: &str) -> Result<Filter> {
        Filter::new(&self.message_type, expression, &[""; 0])
            .map_err(|error| Failure::new(format!("Invalid filter '{expression}': {error}")))
    }

    /// Encodes a message with these values, which are YAML.
    pub fn encode(&self, values: &str) -> Result<Vec<u8>> {
        self.message_type
            .encode_yaml(values)
            .map_err(|error| Failure::new(format!("Failed to populate field: {error}")))
    }

    /// Fails if no field of the type has this path. Indices in the path are not checked.
    pub fn check_path(&self, path: &str) -> Result<()> {
        let mut message = self.definitions.message(&self.name);
        for part in path.split('.') {
            let name = part.split('[').next().unwrap_or(part);
            let Some(definition) = message else {
                return Err(format!("Invalid field '{path}': nothing is inside the field before '{name}'").into());
            };
            let Some(field) = definition.fields.iter().find(|field| field.name == name) else {
                let names: Vec<&str> = definition.fields.iter().map(|field| field.name.as_str()).collect();
                let (of, names) = (&definition.name, names.join(", "));
                return Err(format!("Invalid field '{path}': {of} has no '{name}'; it has {names}").into());
            };
            let is_one = field.field_type.count == Count::One || part.contains('[');
            message = match &field.field_type.base {
                BaseType::Message(nested) if is_one => self.definitions.message(nested),
                _ => None,
            };
        }
        Ok(())
    }
}

/// The field at this path in a message; `None` if a list has no such element.
pub fn field<'a>(message: &DynamicMessage<'a>, path: &str) -> Option<Value<'a>> {
    message.get(path)
}

/// A message or one of its fields, in the form that `ros2 topic echo` prints.
pub struct Printed<'a> {
    /// The value.
    pub value: Value<'a>,
    /// The format of the printed text.
    pub yaml: Yaml,
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::Message(message) => self.yaml.write(message, f)?,
            Value::Text(text) => writeln!(f, "{text}")?,
            other => writeln!(f, "{}", Repr(*other))?,
        }
        writeln!(f, "---")
    }
}

/// JSON contains the complete value: the options that shorten the text have no effect.
impl Serialize for Printed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        json_of(self.value).serialize(serializer)
    }
}
