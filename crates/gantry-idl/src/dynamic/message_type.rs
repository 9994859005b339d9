//! A message type, made ready to look at messages of it: nested types found, plain ones known.
//!
//! Used for every view. Invariants, on which the work and the depth of recursion of everything here rest: nesting is at most
//! [`MOST_NESTING`] deep, and every message takes at least a byte.

use std::collections::BTreeMap;

use gantry_cdr::ByteOrder;

use super::cursor::Cursor;
use super::message::DynamicMessage;
use crate::definitions::Definitions;
use crate::error::{Error, Errors};
use crate::model::{BaseType, Count, Field, MessageDefinition, Primitive};
use crate::name::TypeName;

/// How deep messages may be nested in others.
pub const MOST_NESTING: usize = 64;

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
    /// How deep messages are nested in it.
    depth: usize,
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
    /// It is not among the definitions; messages are nested more than [`MOST_NESTING`] deep in it.
    pub fn new(definitions: &Definitions, name: &TypeName) -> Result<Self, Errors> {
        let mut found = Self { structures: Vec::new() };
        found.add(definitions, name, &mut BTreeMap::new(), 0)?;
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

    /// Adds a type after those that it needs, each once; where it is.
    fn add<'d>(
        &mut self,
        definitions: &'d Definitions,
        name: &'d TypeName,
        known: &mut BTreeMap<&'d TypeName, usize>,
        above: usize,
    ) -> Result<usize, Errors> {
        if let Some(index) = known.get(name) {
            return Ok(*index);
        }
        let Some(definition) = definitions.message(name) else {
            return Err(Error::without_place(format!("the message `{name}` is not among the definitions")).into());
        };
        let mut depth = 0;
        let mut nested = Vec::with_capacity(definition.fields.len());
        for field in &definition.fields {
            let mut index = 0;
            if let BaseType::Message(inner) = &field.field_type.base {
                if above < MOST_NESTING {
                    index = self.add(definitions, inner, known, above + 1)?;
                    depth = depth.max(self.structures[index].depth + 1);
                } else {
                    depth = usize::MAX;
                }
            }
            nested.push(index);
        }
        if above.saturating_add(depth) > MOST_NESTING {
            return Err(Error::without_place(format!(
                "messages are nested more than {MOST_NESTING} deep in `{name}`; nest them less"
            ))
            .into());
        }
        let plain = self.plain(definition, &nested);
        known.insert(name, self.structures.len());
        self.structures.push(Structure { definition: definition.clone(), nested, plain, depth });
        Ok(self.structures.len() - 1)
    }

    /// The layout as a C struct, if that is the message's too.
    fn plain(&self, definition: &MessageDefinition, nested: &[usize]) -> Option<Layout> {
        if definition.fields.is_empty() {
            return Some(Layout { size_bytes: 1, align: 1 });
        }
        let (mut size_bytes, mut align) = (0_usize, 0);
        for (field, nested) in definition.fields.iter().zip(nested) {
            let layout = layout(self, &field.field_type.base, *nested)?;
            let count = match field.field_type.count {
                Count::One => 1,
                Count::Array(count) => count as usize,
                Count::Sequence { .. } => return None,
            };
            if size_bytes == 0 {
                align = layout.align;
            }
            let has_bool = field.field_type.base == BaseType::Primitive(Primitive::Bool);
            if has_bool || layout.align > align || !size_bytes.is_multiple_of(layout.align) {
                return None;
            }
            size_bytes = layout.size_bytes.checked_mul(count)?.checked_add(size_bytes)?;
        }
        size_bytes.is_multiple_of(align).then_some(Layout { size_bytes, align })
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
