//! Conversion of a big-endian body to little-endian in place. This works because the fields have the same offsets in
//! both byte orders.

use crate::message_type::MessageType;
use gantry_cdr::{ByteOrder, Error, Problem, Result};
use gantry_idl::{BaseType, Count, FieldType};

impl MessageType {
    /// Checks a big-endian message without an encapsulation header, and converts it to little-endian in place. The time
    /// grows with the count of numbers and texts in the message. Allocates nothing.
    ///
    /// # Errors
    /// The same errors as [`MessageType::view`]. After an error, the body is unchanged.
    pub fn to_little_endian(&self, body: &mut [u8]) -> Result<()> {
        self.view(body, ByteOrder::BigEndian)?;
        Body { types: self, bytes: body, offset: 0 }.message(self.root_index())
    }
}

/// A body during its conversion: the numbers before `offset` are already little-endian.
struct Body<'a> {
    types: &'a MessageType,
    bytes: &'a mut [u8],
    offset: usize,
}

impl Body<'_> {
    fn message(&mut self, index: usize) -> Result<()> {
        let structure = self.types.structure(index);
        self.offset += usize::from(structure.definition.fields.is_empty()); // an empty message has one byte
        structure.fields().try_for_each(|(field, nested)| self.field(&field.field_type, nested))
    }

    fn field(&mut self, field_type: &FieldType, nested: usize) -> Result<()> {
        let count = match field_type.count {
            Count::One => 1,
            Count::Array(count) => count,
            Count::Sequence { .. } => self.length()?,
        };
        if let BaseType::Primitive(primitive) = &field_type.base
            && primitive.size_bytes() == 1
        {
            self.offset += count as usize;
            return Ok(());
        }
        for _ in 0..count {
            match &field_type.base {
                BaseType::Primitive(primitive) => drop(self.number(primitive.size_bytes())?),
                BaseType::String { .. } => self.offset += self.length()? as usize,
                BaseType::WString { .. } => (0..self.length()?).try_for_each(|_| self.number(4).map(drop))?,
                BaseType::Message(_) => self.message(nested)?,
            }
        }
        Ok(())
    }

    /// Converts the length field of a sequence or a text, and returns the length.
    fn length(&mut self) -> Result<u32> {
        let bytes = self.number(4)?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }

    /// Reverses the bytes of the next number, which is aligned to its size. Returns the new bytes.
    fn number(&mut self, size_bytes: usize) -> Result<&[u8]> {
        let start = self.offset.next_multiple_of(size_bytes);
        self.offset = start + size_bytes;
        let left_bytes = self.bytes.len().saturating_sub(start);
        let number = self.bytes.get_mut(start..self.offset);
        let number = number.ok_or(Error::new(Problem::TooShort { needed_bytes: size_bytes, left_bytes }, start))?;
        number.reverse();
        Ok(number)
    }
}
