//! A message type for making views. Its nested types are resolved, and their layouts computed.
//!
//! The limits for work and recursion in this crate rely on two guarantees of [`Definitions`]: nesting is bounded, and
//! every message and every element takes at least one byte.

use crate::{
    cursor::Cursor,
    message::{DynamicMessage, Position},
};
use gantry_cdr::ByteOrder;
use gantry_idl::{BaseType, Definitions, Errors, Field, MessageDefinition, PlainStruct, TypeName};
use std::collections::HashMap;

/// A message type with all types nested in it, from which views are made. To save time, make it only once for each
/// topic.
#[derive(Clone, Debug)]
pub struct MessageType {
    /// This message type and all types nested in it. Each comes after the types that it contains, so this type is the
    /// last.
    structures: Vec<Structure>,
}

/// One message type.
#[derive(Clone, Debug)]
pub(crate) struct Structure {
    pub(crate) definition: MessageDefinition,
    /// For each field that is a message, the index of its type in `structures`; 0 for other fields.
    nested: Vec<usize>,
    /// The layout, if the type is plain at every offset of a body.
    pub(crate) plain: Option<Layout>,
    /// The layout, if the type is plain at least at the start of a body.
    pub(crate) plain_body: Option<Layout>,
}

/// The size and alignment of values, if all values have the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) size_bytes: usize,
    pub(crate) align: usize,
}

impl MessageType {
    /// Makes the type of the message `name`, which may also be a request or a response.
    ///
    /// # Errors
    /// The message is not among the definitions.
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
                plain: plain.filter(|plain| plain.fits_anywhere).and_then(Layout::from_struct),
                plain_body: plain.and_then(Layout::from_struct),
            });
        }
        Ok(Self { structures })
    }

    /// The definition.
    pub fn definition(&self) -> &MessageDefinition {
        &self.structure(self.root_index()).definition
    }

    /// Makes a view of a message without an encapsulation header, and checks it. The bytes may have any alignment. The
    /// time grows with the number of fields, texts and elements that are not plain. Allocates nothing. As in
    /// `gantry-cdr`, bytes after the message are ignored.
    ///
    /// # Errors
    /// The bytes are not a valid message of this type. The error has the field and the offset.
    pub fn view<'a>(&'a self, body: &'a [u8], order: ByteOrder) -> gantry_cdr::Result<DynamicMessage<'a>> {
        let mut cursor = Cursor::new(self, body, order)?;
        cursor.root(self.root_index())
    }

    /// Makes a view again, at the position of an earlier view of the same bytes, without checks. If the bytes have
    /// changed, fields may be missing or have other values. The result is `None` if the position is outside the bytes
    /// or belongs to another type.
    pub fn view_at<'a>(&'a self, body: &'a [u8], order: ByteOrder, position: Position) -> Option<DynamicMessage<'a>> {
        let Position { offset, index } = position;
        let cursor = Cursor { offset, ..Cursor::new(self, body, order).ok()? };
        (offset <= body.len() && index < self.structures.len()).then_some(DynamicMessage { cursor, index })
    }

    /// Makes a view of a message with an encapsulation header, as in DDS and bags.
    ///
    /// # Errors
    /// The same errors as [`MessageType::view`], or an encoding that ROS 2 does not use.
    pub fn view_cdr<'a>(&'a self, bytes: &'a [u8]) -> gantry_cdr::Result<DynamicMessage<'a>> {
        let (order, body) = gantry_cdr::split_encapsulation(bytes)?;
        self.view(body, order)
    }

    pub(crate) fn structure(&self, index: usize) -> &Structure {
        &self.structures[index]
    }

    /// The index of this type in `structures`. `new` puts it last.
    pub(crate) fn root_index(&self) -> usize {
        self.structures.len() - 1
    }
}

impl Layout {
    fn from_struct(plain: PlainStruct) -> Option<Self> {
        let size_bytes = usize::try_from(plain.size_bytes).ok()?;
        Some(Self { size_bytes, align: usize::try_from(plain.alignment_bytes).ok()? })
    }
}

impl Structure {
    /// The fields, each with the index of its type in `structures`.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&Field, usize)> {
        self.definition.fields.iter().zip(self.nested.iter().copied())
    }

    /// The field at `index`, with the index of its type in `structures`.
    pub(crate) fn field(&self, index: usize) -> Option<(&Field, usize)> {
        Some((self.definition.fields.get(index)?, *self.nested.get(index)?))
    }
}
