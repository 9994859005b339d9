//! The cursor, which reads and checks the fields of a message one after the other, in both byte orders.
//!
//! A cursor checks the whole message when a view is made. Later, a cursor finds the field for each access. Skipping a
//! field and reading it are the same code, so they always agree. The rules, the errors and their offsets are the same
//! as in `gantry-cdr`'s kinds.

use crate::{
    list::{Element, List},
    message::DynamicMessage,
    message_type::{Layout, MessageType},
    value::Value,
    wide_text::WideText,
};
use gantry_cdr::{ByteOrder, Error, Problem, Result};
use gantry_idl::{BaseType, Count, FieldType, Primitive};

/// A position in a body. Each field that is read moves the position forward.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    pub(crate) types: &'a MessageType,
    pub(crate) body: &'a [u8],
    pub(crate) order: ByteOrder,
    /// The offset of the next field, at most the length of the body.
    pub(crate) offset: usize,
}

impl<'a> Cursor<'a> {
    /// Makes a cursor at the start of a body.
    pub(crate) fn new(types: &'a MessageType, body: &'a [u8], order: ByteOrder) -> Result<Self> {
        if u32::try_from(body.len()).is_err() {
            return Err(Error::new(Problem::TooLarge, 0));
        }
        Ok(Self { types, body, order, offset: 0 })
    }

    /// Reads the next field.
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

    /// Reads one value: a field that is not a list, or an element of a list.
    pub(crate) fn element(&mut self, element: Element<'a>) -> Result<Value<'a>> {
        match element.base {
            BaseType::Primitive(primitive) => self.primitive(*primitive),
            BaseType::String { bound } => self.text(*bound).map(Value::Text),
            BaseType::WString { bound } => self.wide_text(*bound).map(Value::WideText),
            BaseType::Message(_) => self.message(element.nested).map(Value::Message),
        }
    }

    /// Reads the outermost message, which begins at the start of the body. If its type is plain at the start of a body,
    /// the message is skipped in one step.
    pub(crate) fn root(&mut self, index: usize) -> Result<DynamicMessage<'a>> {
        match self.types.structure(index).plain_body {
            Some(Layout { size_bytes, .. }) => {
                let offset = self.take(size_bytes, 1)?;
                Ok(DynamicMessage { cursor: Self { offset, ..*self }, index })
            }
            None => self.message(index),
        }
    }

    /// Reads a nested message. If the type is plain, the message is skipped in one step.
    pub(crate) fn message(&mut self, index: usize) -> Result<DynamicMessage<'a>> {
        let structure = self.types.structure(index);
        if let Some(Layout { size_bytes, align }) = structure.plain {
            let offset = self.take(size_bytes, align)?;
            return Ok(DynamicMessage { cursor: Self { offset, ..*self }, index });
        }
        let message = DynamicMessage { cursor: *self, index };
        for (field, nested) in structure.fields() {
            self.field(&field.field_type, nested).map_err(|error| error.inside(&field.name))?;
        }
        Ok(message)
    }

    /// Reads an array or sequence. Elements of equal size are skipped in one step, but booleans are checked one by one.
    fn list(&mut self, element: Element<'a>, count: usize) -> Result<Value<'a>> {
        let layout = element.layout(self.types);
        let mut first = *self;
        if let Some(Layout { size_bytes, align }) = layout {
            // An empty sequence has no padding after its length. An array is never empty.
            let align = if count == 0 { 1 } else { align };
            first.offset = self.take(count.saturating_mul(size_bytes), align)?;
            if matches!(element.base, BaseType::Primitive(Primitive::Bool)) {
                let wrong = self.body[first.offset..self.offset].iter().find(|byte| **byte > 1);
                wrong.map_or(Ok(()), |value| Err(Error::new(Problem::NotBoolean { value: *value }, first.offset)))?;
            }
        } else {
            // Each element takes at least one byte (guaranteed by `MessageType`), so the length of the body limits the
            // work.
            for index in 0..count {
                self.element(element).map_err(|error| error.inside_element(index))?;
            }
        }
        Ok(Value::List(List { first, element, layout, count }))
    }

    /// Reads a number or a boolean.
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
                value => return Err(Error::new(Problem::NotBoolean { value }, self.offset - 1)),
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
        let error_at_start = |problem| Error::new(problem, start);
        let text = match &self.body[start..self.offset] {
            // Some implementations write an empty string as the length 0, without the terminating 0.
            [] => &[],
            [text @ .., 0] => text,
            _ => return Err(error_at_start(Problem::NotTerminated)),
        };
        check_bound(text.len(), bound).map_err(error_at_start)?;
        std::str::from_utf8(text).map_err(|_| error_at_start(Problem::NotUtf8))
    }

    fn wide_text(&mut self, bound: Option<u32>) -> Result<WideText<'a>> {
        let count = self.length()?;
        let start = self.take(count.saturating_mul(4), 4)?;
        let error_at_start = |problem| Error::new(problem, start);
        check_bound(count, bound).map_err(error_at_start)?;
        WideText::new(&self.body[start..self.offset], self.order).ok_or_else(|| error_at_start(Problem::NotUtf16))
    }

    fn length(&mut self) -> Result<usize> {
        let bytes = self.array()?;
        let length = match self.order {
            ByteOrder::LittleEndian => u32::from_le_bytes(bytes),
            ByteOrder::BigEndian => u32::from_be_bytes(bytes),
        };
        // The value is loaded only once, so that the checked value is also the value that is used, even if another
        // process changes the bytes meanwhile.
        Ok(std::hint::black_box(length) as usize)
    }

    /// Reads `N` bytes, from the next multiple of `N` on.
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let start = self.take(N, N)?;
        Ok(std::array::from_fn(|index| self.body[start + index]))
    }

    /// Skips `length_bytes` bytes from the next multiple of `align` on, and returns their offset.
    fn take(&mut self, length_bytes: usize, align: usize) -> Result<usize> {
        let start = self.offset.next_multiple_of(align);
        match start.checked_add(length_bytes) {
            Some(end) if end <= self.body.len() => {
                self.offset = end;
                Ok(start)
            }
            _ => {
                let left_bytes = self.body.len().saturating_sub(start);
                Err(self.error(Problem::TooShort { needed_bytes: length_bytes, left_bytes }))
            }
        }
    }

    fn error(&self, problem: Problem) -> Error {
        Error::new(problem, self.offset)
    }
}

fn check_bound(length: usize, bound: Option<u32>) -> std::result::Result<(), Problem> {
    match bound {
        Some(bound) if length > bound as usize => Err(Problem::AboveBound { length, bound: bound as usize }),
        _ => Ok(()),
    }
}
