//! Reads a message's fields out of its bytes, one after the other, in both byte orders; checks them as it goes.
//!
//! Used to check a whole message when its view is made, and again for each access: passing over a field and reading it are
//! the same code, so that they cannot disagree. Rules, and errors with their offsets, are those of `gantry-cdr`'s kinds.

use gantry_cdr::{ByteOrder, Error, MOST_TRAILING_BYTES, Problem, Result};

use crate::list::{Element, List};
use crate::message::DynamicMessage;
use crate::message_type::{Layout, MessageType};
use crate::value::Value;
use crate::wide_text::WideText;
use gantry_idl::{BaseType, Count, FieldType, Primitive};

/// A place in a body, which moves on as it is read.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    pub(crate) types: &'a MessageType,
    pub(crate) body: &'a [u8],
    pub(crate) order: ByteOrder,
    /// At most the body's length.
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    /// At the start of a body.
    pub(crate) fn new(types: &'a MessageType, body: &'a [u8], order: ByteOrder) -> Result<Self> {
        if u32::try_from(body.len()).is_err() {
            return Err(Error::new(Problem::TooLarge, 0));
        }
        Ok(Self { types, body, order, at: 0 })
    }

    /// The next field.
    pub(crate) fn field(&mut self, field_type: &'a FieldType, nested: usize) -> Result<Value<'a>> {
        let element = Element { base: &field_type.base, nested };
        match field_type.count {
            Count::One => self.element(element),
            Count::Array(count) => self.list(element, count as usize),
            Count::Sequence { bound } => {
                let count = self.length()?;
                check_bound(count, bound).map_err(|problem| self.error(problem))?;
                self.list(element, count)
            }
        }
    }

    /// A field that is not in a list, or one element of a list.
    pub(crate) fn element(&mut self, element: Element<'a>) -> Result<Value<'a>> {
        match element.base {
            BaseType::Primitive(primitive) => self.primitive(*primitive),
            BaseType::String { bound } => self.text(*bound).map(Value::Text),
            BaseType::WString { bound } => self.wide_text(*bound).map(Value::WideText),
            BaseType::Message(_) => self.message(element.nested).map(Value::Message),
        }
    }

    /// The message that a body is, which is passed over as a whole if it is plain there.
    pub(crate) fn root(&mut self, index: usize) -> Result<DynamicMessage<'a>> {
        match self.types.structure(index).plain_body {
            Some(Layout { size_bytes, .. }) => {
                let at = self.take(size_bytes, 1)?;
                Ok(DynamicMessage { cursor: Self { at, ..*self }, index })
            }
            None => self.message(index),
        }
    }

    /// A message, which is passed over as a whole if it is plain.
    pub(crate) fn message(&mut self, index: usize) -> Result<DynamicMessage<'a>> {
        let structure = self.types.structure(index);
        if let Some(Layout { size_bytes, align }) = structure.plain {
            let at = self.take(size_bytes, align)?;
            return Ok(DynamicMessage { cursor: Self { at, ..*self }, index });
        }
        let message = DynamicMessage { cursor: *self, index };
        for (field, nested) in structure.fields() {
            self.field(&field.field_type, nested).map_err(|error| error.inside(&field.name))?;
        }
        Ok(message)
    }

    /// Refuses more than padding after the message.
    pub(crate) fn finish(&self) -> Result<()> {
        match self.body.len() - self.at {
            0..=MOST_TRAILING_BYTES => Ok(()),
            bytes => Err(self.error(Problem::TooLong { bytes })),
        }
    }

    /// The elements of an array or sequence. Those without strings and the like in them are passed over as a whole, but booleans.
    fn list(&mut self, element: Element<'a>, count: usize) -> Result<Value<'a>> {
        let layout = element.layout(self.types);
        let mut first = *self;
        if let Some(Layout { size_bytes, align }) = layout {
            // An empty sequence has no padding behind its length; an array is never empty.
            let align = if count == 0 { 1 } else { align };
            first.at = self.take(count.saturating_mul(size_bytes), align)?;
            if matches!(element.base, BaseType::Primitive(Primitive::Bool)) {
                let wrong = self.body[first.at..self.at].iter().find(|byte| **byte > 1);
                wrong.map_or(Ok(()), |value| Err(Error::new(Problem::NotBoolean { value: *value }, first.at)))?;
            }
        } else {
            // Each takes at least a byte (`MessageType`), so that the work is bounded by what is there.
            for index in 0..count {
                self.element(element).map_err(|error| error.inside_element(index))?;
            }
        }
        Ok(Value::List(List { first, element, layout, count }))
    }

    /// A number or a boolean.
    fn primitive(&mut self, primitive: Primitive) -> Result<Value<'a>> {
        macro_rules! number {
            ($number:ty) => {{
                let bytes = self.array()?;
                match self.order {
                    ByteOrder::LittleEndian => <$number>::from_le_bytes(bytes),
                    ByteOrder::BigEndian => <$number>::from_be_bytes(bytes),
                }
            }};
        }
        Ok(match primitive {
            Primitive::Bool => match number!(u8) {
                0 => Value::Bool(false),
                1 => Value::Bool(true),
                value => return Err(Error::new(Problem::NotBoolean { value }, self.at - 1)),
            },
            Primitive::Byte => Value::Byte(number!(u8)),
            Primitive::Char | Primitive::Uint8 => Value::Uint8(number!(u8)),
            Primitive::Float32 => Value::Float32(number!(f32)),
            Primitive::Float64 => Value::Float64(number!(f64)),
            Primitive::Int8 => Value::Int8(number!(i8)),
            Primitive::Int16 => Value::Int16(number!(i16)),
            Primitive::Uint16 => Value::Uint16(number!(u16)),
            Primitive::Int32 => Value::Int32(number!(i32)),
            Primitive::Uint32 => Value::Uint32(number!(u32)),
            Primitive::Int64 => Value::Int64(number!(i64)),
            Primitive::Uint64 => Value::Uint64(number!(u64)),
        })
    }

    fn text(&mut self, bound: Option<u32>) -> Result<&'a str> {
        let length_bytes = self.length()?;
        let start = self.take(length_bytes, 1)?;
        let at = |problem| Error::new(problem, start);
        let text = match &self.body[start..self.at] {
            // Some implementations write an empty string so.
            [] => &[],
            [text @ .., 0] => text,
            _ => return Err(at(Problem::NotTerminated)),
        };
        check_bound(text.len(), bound).map_err(at)?;
        std::str::from_utf8(text).map_err(|_| at(Problem::NotUtf8))
    }

    fn wide_text(&mut self, bound: Option<u32>) -> Result<WideText<'a>> {
        let count = self.length()?;
        let start = self.take(count.saturating_mul(4), 4)?;
        let at = |problem| Error::new(problem, start);
        check_bound(count, bound).map_err(at)?;
        WideText::new(&self.body[start..self.at], self.order).ok_or_else(|| at(Problem::NotUtf16))
    }

    fn length(&mut self) -> Result<usize> {
        let bytes = self.array()?;
        let length = match self.order {
            ByteOrder::LittleEndian => u32::from_le_bytes(bytes),
            ByteOrder::BigEndian => u32::from_be_bytes(bytes),
        };
        // Read once: what is checked must be what is used, whatever the writer does meanwhile.
        Ok(std::hint::black_box(length) as usize)
    }

    /// The next `N` bytes from a multiple of `N` on.
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let start = self.take(N, N)?;
        Ok(std::array::from_fn(|index| self.body[start + index]))
    }

    /// Passes over `length_bytes` from the next multiple of `align`, and returns where they start.
    fn take(&mut self, length_bytes: usize, align: usize) -> Result<usize> {
        let start = self.at.next_multiple_of(align);
        match start.checked_add(length_bytes) {
            Some(end) if end <= self.body.len() => {
                self.at = end;
                Ok(start)
            }
            _ => {
                let left_bytes = self.body.len().saturating_sub(start);
                Err(self.error(Problem::TooShort { needed_bytes: length_bytes, left_bytes }))
            }
        }
    }

    fn error(&self, problem: Problem) -> Error {
        Error::new(problem, self.at)
    }
}

fn check_bound(length: usize, bound: Option<u32>) -> std::result::Result<(), Problem> {
    match bound {
        Some(bound) if length > bound as usize => Err(Problem::AboveBound { length, bound: bound as usize }),
        _ => Ok(()),
    }
}
