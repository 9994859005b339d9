//! A message type, made ready to look at messages of it: nested types found, plain ones known.
//!
//! Used for every view. The work and the depth of recursion of everything in this module rest on what [`Definitions`]
//! guarantee: nesting is bounded, and every message and every element takes at least a byte.

use std::collections::HashMap;

use gantry_cdr::ByteOrder;

use super::cursor::Cursor;
use super::message::DynamicMessage;
use crate::definitions::Definitions;
use crate::error::{Errors, Place};
use crate::layout::Plain;
use crate::model::{BaseType, Field, MessageDefinition};
use crate::name::TypeName;

/// A message type with all types that it needs, ready to look at messages of it. Made once for a topic.
#[derive(Clone, Debug)]
pub struct MessageType {
    /// The nested ones before those that have them; the last is the type itself.
    structures: Vec<Structure>,
}

/// One message type.
#[derive(Clone, Debug)]
pub(super) struct Structure {
    pub(super) definition: MessageDefinition,
    /// The structure of each field that is a message; 0 for others.
    nested: Vec<usize>,
    /// Set if its bytes are those of a C struct without padding and without booleans, wherever it stands.
    pub(super) plain: Option<Layout>,
}

/// The memory that each of equal elements takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) size_bytes: usize,
    pub(super) align: usize,
}

impl MessageType {
    /// The message (or request or response) `name`, and what it needs.
    ///
    /// # Errors
    /// It is not among the definitions.
    pub fn new(definitions: &Definitions, name: &TypeName) -> Result<Self, Errors> {
        let mut found = Self { structures: Vec::new() };
        found.add(definitions, name, &mut HashMap::new(), &mut HashMap::new())?;
        Ok(found)
    }

    /// The definition.
    pub fn definition(&self) -> &MessageDefinition {
        &self.structure(self.root_index()).definition
    }

    /// Looks at a message that has no encapsulation header. Its bytes may lie at any address. Takes time in the number of
    /// fields, texts and elements that are not plain; allocates nothing.
    ///
    /// # Errors
    /// The bytes are no such message: the field and the offset.
    pub fn view<'a>(&'a self, body: &'a [u8], order: ByteOrder) -> gantry_cdr::Result<DynamicMessage<'a>> {
        let mut cursor = Cursor::new(self, body, order)?;
        let message = cursor.message(self.root_index())?;
        cursor.finish()?;
        Ok(message)
    }

    /// Looks at a message with its encapsulation header, as DDS and bags have it.
    ///
    /// # Errors
    /// As [`MessageType::view`]; an encoding that ROS 2 does not use.
    pub fn view_cdr<'a>(&'a self, bytes: &'a [u8]) -> gantry_cdr::Result<DynamicMessage<'a>> {
        let (order, body) = gantry_cdr::split_encapsulation(bytes)?;
        self.view(body, order)
    }

    pub(super) fn structure(&self, index: usize) -> &Structure {
        &self.structures[index]
    }

    /// Where the type itself is: `new` puts it last.
    pub(super) fn root_index(&self) -> usize {
        self.structures.len() - 1
    }

    /// Adds a type after those that it needs, each once; where it is. Nesting in definitions is bounded, so that this may
    /// recurse.
    fn add<'d>(
        &mut self,
        definitions: &'d Definitions,
        name: &'d TypeName,
        known: &mut HashMap<&'d TypeName, usize>,
        plain: &mut HashMap<&'d TypeName, Option<Plain>>,
    ) -> Result<usize, Errors> {
        if let Some(index) = known.get(name) {
            return Ok(*index);
        }
        let Some(definition) = definitions.message(name) else {
            return Err(Place::default().error(format!("the message `{name}` is not among the definitions")).into());
        };
        let mut nested = Vec::with_capacity(definition.fields.len());
        for field in &definition.fields {
            nested.push(match &field.field_type.base {
                BaseType::Message(inner) => self.add(definitions, inner, known, plain)?,
                _ => 0,
            });
        }
        let plain = definitions.plain(definition, plain).and_then(|plain| {
            let size_bytes = usize::try_from(plain.size_bytes).ok()?;
            Some(Layout { size_bytes, align: usize::try_from(plain.alignment_bytes).ok()? })
        });
        known.insert(name, self.structures.len());
        self.structures.push(Structure { definition: definition.clone(), nested, plain });
        Ok(self.structures.len() - 1)
    }
}

impl Structure {
    /// Its fields, each with the structure that it is of.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&Field, usize)> {
        self.definition.fields.iter().zip(self.nested.iter().copied())
    }

    /// One of them.
    pub(super) fn field(&self, index: usize) -> Option<(&Field, usize)> {
        Some((self.definition.fields.get(index)?, *self.nested.get(index)?))
    }
}

/// The layout of a number, a boolean or a plain message.
pub(super) fn layout(types: &MessageType, base: &BaseType, nested: usize) -> Option<Layout> {
    match base {
        BaseType::Primitive(primitive) => {
            Some(Layout { size_bytes: primitive.size_bytes(), align: primitive.size_bytes() })
        }
        BaseType::Message(_) => types.structure(nested).plain,
        BaseType::String { .. } | BaseType::WString { .. } => None,
    }
}
