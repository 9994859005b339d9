//! A message type, made ready to look at messages of it: nested types found, plain ones known.
//!
//! Used for every view. The work and the depth of recursion of everything in this module rest on what [`Definitions`]
//! guarantee: nesting is bounded, and every message and every element takes at least a byte.

use std::collections::HashMap;

use gantry_cdr::ByteOrder;

use crate::cursor::Cursor;
use crate::message::DynamicMessage;
use gantry_idl::{BaseType, Definitions, Errors, Field, MessageDefinition, PlainStruct, TypeName};

/// A message type with all types that it needs, ready to look at messages of it. Made once for a topic.
#[derive(Clone, Debug)]
pub struct MessageType {
    /// The nested ones before those that have them; the last is the type itself.
    structures: Vec<Structure>,
}

/// One message type.
#[derive(Clone, Debug)]
pub(crate) struct Structure {
    pub(crate) definition: MessageDefinition,
    /// The structure of each field that is a message; 0 for others.
    nested: Vec<usize>,
    /// Set if its bytes are those of a C struct without padding and without booleans, wherever it stands.
    pub(crate) plain: Option<Layout>,
    /// Set if that is so at least where a body begins.
    pub(crate) plain_body: Option<Layout>,
}

/// The memory that each of equal elements takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) size_bytes: usize,
    pub(crate) align: usize,
}

impl MessageType {
    /// The message (or request or response) `name`, and what it needs.
    ///
    /// # Errors
    /// It is not among the definitions.
    pub fn new(definitions: &Definitions, name: &TypeName) -> Result<Self, Errors> {
        let (mut structures, mut indices) = (Vec::new(), HashMap::new());
        for (definition, plain) in definitions.with_nested(name)? {
            let nested = definition.fields.iter().map(|field| match &field.field_type.base {
                BaseType::Message(inner) => indices.get(inner).copied().unwrap_or_default(),
                _ => 0,
            });
            let nested = nested.collect();
            indices.insert(&definition.name, structures.len());
            structures.push(Structure {
                definition: definition.clone(),
                nested,
                plain: plain.filter(|plain| plain.fits_anywhere).and_then(Layout::of_struct),
                plain_body: plain.and_then(Layout::of_struct),
            });
        }
        Ok(Self { structures })
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
        let message = cursor.root(self.root_index())?;
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

    pub(crate) fn structure(&self, index: usize) -> &Structure {
        &self.structures[index]
    }

    /// Where the type itself is: `new` puts it last.
    pub(crate) fn root_index(&self) -> usize {
        self.structures.len() - 1
    }
}

impl Layout {
    fn of_struct(plain: PlainStruct) -> Option<Self> {
        let size_bytes = usize::try_from(plain.size_bytes).ok()?;
        Some(Self { size_bytes, align: usize::try_from(plain.alignment_bytes).ok()? })
    }
}

impl Structure {
    /// Its fields, each with the structure that it is of.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&Field, usize)> {
        self.definition.fields.iter().zip(self.nested.iter().copied())
    }

    /// One of them.
    pub(crate) fn field(&self, index: usize) -> Option<(&Field, usize)> {
        Some((self.definition.fields.get(index)?, *self.nested.get(index)?))
    }
}

/// The layout of a number, a boolean or a plain message.
pub(crate) fn layout(types: &MessageType, base: &BaseType, nested: usize) -> Option<Layout> {
    match base {
        BaseType::Primitive(primitive) => {
            Some(Layout { size_bytes: primitive.size_bytes(), align: primitive.size_bytes() })
        }
        BaseType::Message(_) => types.structure(nested).plain,
        BaseType::String { .. } | BaseType::WString { .. } => None,
    }
}
