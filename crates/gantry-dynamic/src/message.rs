//! A message in place whose definition is known at run time. It gives its fields by path, or one after the other.

use crate::{cursor::Cursor, value::Value};
use gantry_idl::{Field, MessageDefinition};
use std::fmt;

/// A view of a message, made by [`MessageType::view`](crate::MessageType::view).
///
/// The bytes were checked when the view was made. If another process changes them later, fields may be missing or have
/// other values, but no call panics.
#[derive(Clone, Copy)]
pub struct DynamicMessage<'a> {
    /// The cursor at the first field.
    pub(crate) cursor: Cursor<'a>,
    pub(crate) index: usize,
}

/// The position of a message in the bytes of its view. Some owners of bytes cannot keep the view, for example an object
/// in another language. They keep the position; [`MessageType::view_at`](crate::MessageType::view_at) makes the view
/// again in constant time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub(crate) offset: usize,
    pub(crate) index: usize,
}

/// An iterator over the fields of a message, in order. Each item has the definition and the value of a field.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    message: DynamicMessage<'a>,
    next: usize,
}

impl<'a> DynamicMessage<'a> {
    /// The definition of the message.
    pub fn definition(&self) -> &'a MessageDefinition {
        &self.cursor.types.structure(self.index).definition
    }

    /// The position of this view in its bytes.
    pub fn position(&self) -> Position {
        Position { offset: self.cursor.offset, index: self.index }
    }

    /// The fields in order.
    pub fn fields(&self) -> Fields<'a> {
        Fields { message: *self, next: 0 }
    }

    /// The field with this path, such as `header.stamp.sec` or `fields[2].name`. All fields before it are skipped one
    /// by one.
    pub fn get(&self, path: &str) -> Option<Value<'a>> {
        let (name, mut rest) = split(path);
        let mut value = self.field(name)?;
        while !rest.is_empty() {
            value = match value {
                Value::Message(message) => {
                    let (name, after) = split(rest.strip_prefix('.')?);
                    rest = after;
                    message.field(name)?
                }
                Value::List(list) => {
                    let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
                    rest = after;
                    list.get(index.parse().ok()?)?
                }
                _ => return None,
            };
        }
        Some(value)
    }

    fn field(&self, name: &str) -> Option<Value<'a>> {
        let index = self.definition().fields.iter().position(|field| field.name == name)?;
        self.fields().nth(index).map(|(_, value)| value)
    }
}

/// Splits a path after the name of its first field.
fn split(path: &str) -> (&str, &str) {
    path.split_at(path.find(['.', '[']).unwrap_or(path.len()))
}

impl Fields<'_> {
    /// The offset in the body at which the last returned field ends. If this field is a number, it begins its own size
    /// before this offset.
    pub fn offset(&self) -> usize {
        self.message.cursor.offset
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a Field, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let cursor = &mut self.message.cursor;
        let (field, nested) = cursor.types.structure(self.message.index).field(self.next)?;
        let value = cursor.field(&field.field_type, nested).ok()?;
        self.next += 1;
        Some((field, value))
    }
}

impl fmt::Debug for DynamicMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.fields().map(|(field, value)| (&field.name, value))).finish()
    }
}
