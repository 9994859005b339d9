//! The value of a field.

use crate::{list::List, message::DynamicMessage, wide_text::WideText};

/// The value of a field or of an element. Texts, lists and messages refer to the bytes of the view.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "named after ROS 2's types")]
pub enum Value<'a> {
    Bool(bool),
    Byte(u8),
    Float32(f32),
    Float64(f64),
    Int8(i8),
    /// A `uint8` or a `char`.
    Uint8(u8),
    Int16(i16),
    Uint16(u16),
    Int32(i32),
    Uint32(u32),
    Int64(i64),
    Uint64(u64),
    Text(&'a str),
    WideText(WideText<'a>),
    /// An array or a sequence.
    List(List<'a>),
    Message(DynamicMessage<'a>),
}

impl<'a> Value<'a> {
    /// The number, if it is an integer.
    pub fn as_integer(&self) -> Option<i128> {
        Some(match *self {
            Self::Byte(value) | Self::Uint8(value) => value.into(),
            Self::Int8(value) => value.into(),
            Self::Int16(value) => value.into(),
            Self::Uint16(value) => value.into(),
            Self::Int32(value) => value.into(),
            Self::Uint32(value) => value.into(),
            Self::Int64(value) => value.into(),
            Self::Uint64(value) => value.into(),
            _ => return None,
        })
    }

    /// The number, if it is a `float32` or `float64`.
    pub fn as_float(&self) -> Option<f64> {
        match *self {
            Self::Float32(value) => Some(value.into()),
            Self::Float64(value) => Some(value),
            _ => None,
        }
    }

    /// The text of a `string`.
    pub fn as_str(&self) -> Option<&'a str> {
        match *self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of an array or sequence.
    pub fn as_list(&self) -> Option<List<'a>> {
        match *self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }
}
