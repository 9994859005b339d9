//! The model of messages and services, which the parser makes from files.
//!
//! `Display` of a type writes it as in a `.msg` file, with the packages of nested types (`geometry_msgs/Point[<=3]`).

use crate::{name::TypeName, value::Value};
use std::fmt;

/// A number or a boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named after ROS 2's types")]
pub enum Primitive {
    Bool,
    /// The same bytes as `uint8`, but another type in the hash.
    Byte,
    /// The same bytes and the same hash as `uint8`.
    Char,
    Float32,
    Float64,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
}

impl Primitive {
    /// All primitives with their names in ROS 2.
    pub const ALL: [(&'static str, Self); 13] = [
        ("bool", Self::Bool),
        ("byte", Self::Byte),
        ("char", Self::Char),
        ("float32", Self::Float32),
        ("float64", Self::Float64),
        ("int8", Self::Int8),
        ("uint8", Self::Uint8),
        ("int16", Self::Int16),
        ("uint16", Self::Uint16),
        ("int32", Self::Int32),
        ("uint32", Self::Uint32),
        ("int64", Self::Int64),
        ("uint64", Self::Uint64),
    ];

    /// The primitive with this name in ROS 2 (`float64`).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, primitive)| *primitive)
    }

    /// The name in ROS 2.
    pub fn name(self) -> &'static str {
        // `ALL` has the order of the enum, which a test checks.
        Self::ALL[self as usize].0
    }

    /// The size on the wire. It is also the alignment.
    pub fn size_bytes(self) -> usize {
        match self {
            Self::Bool | Self::Byte | Self::Char | Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Float32 | Self::Int32 | Self::Uint32 => 4,
            Self::Float64 | Self::Int64 | Self::Uint64 => 8,
        }
    }

    /// The smallest and the largest value of an integer type; `None` for other types.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::Bool | Self::Float32 | Self::Float64 => return None,
            Self::Byte | Self::Char | Self::Uint8 => (0, u8::MAX.into()),
            Self::Int8 => (i8::MIN.into(), i8::MAX.into()),
            Self::Int16 => (i16::MIN.into(), i16::MAX.into()),
            Self::Uint16 => (0, u16::MAX.into()),
            Self::Int32 => (i32::MIN.into(), i32::MAX.into()),
            Self::Uint32 => (0, u32::MAX.into()),
            Self::Int64 => (i64::MIN.into(), i64::MAX.into()),
            Self::Uint64 => (0, u64::MAX.into()),
        })
    }
}

/// The type of a field's value, or of an element if the field is an array or a sequence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BaseType {
    /// A number or a boolean, of the type `Primitive`.
    Primitive(Primitive),
    /// UTF-8.
    String {
        /// The greatest length in bytes.
        bound: Option<u32>,
    },
    /// UTF-16.
    WString {
        /// The greatest length in UTF-16 units.
        bound: Option<u32>,
    },
    /// Another message.
    Message(TypeName),
}

/// Whether a field has one value or several, and the number of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// One value, which is no list.
    One,
    /// A fixed number of elements.
    Array(u32),
    /// A sequence. Each message states its number of elements.
    Sequence {
        /// The greatest number of elements.
        bound: Option<u32>,
    },
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldType {
    /// The type of the field's value, or of an element.
    pub base: BaseType,
    /// The number of values.
    pub count: Count,
}

/// One field of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The type.
    pub field_type: FieldType,
    /// The default value; `None` means zero or empty.
    pub default: Option<Value>,
    /// The documentation of the field, without `#`. Lines are separated by `\n`; other control characters do not occur.
    pub comment: String,
}

/// One constant of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// The name.
    pub name: String,
    /// The type of the constant: a primitive, or a string without a bound.
    pub primitive: BaseType,
    /// The value of the constant, which has this type and is in its range.
    pub value: Value,
    /// The documentation of the constant, in the form of [`Field::comment`].
    pub comment: String,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageDefinition {
    /// The name.
    pub name: TypeName,
    /// The fields in order. A message without fields has one byte on the wire.
    pub fields: Vec<Field>,
    /// The constants in order.
    pub constants: Vec<Constant>,
    /// The comment at the top of the file, in the form of [`Field::comment`].
    pub comment: String,
}

/// One service.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceDefinition {
    /// The name.
    pub name: TypeName,
    /// The message that a client sends (`…_Request`).
    pub request: MessageDefinition,
    /// The message that a server sends back (`…_Response`).
    pub response: MessageDefinition,
    /// The comment at the top of the file, in the form of [`Field::comment`].
    pub comment: String,
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for BaseType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primitive(primitive) => primitive.fmt(f),
            Self::String { bound: None } => f.write_str("string"),
            Self::String { bound: Some(bound) } => write!(f, "string<={bound}"),
            Self::WString { bound: None } => f.write_str("wstring"),
            Self::WString { bound: Some(bound) } => write!(f, "wstring<={bound}"),
            Self::Message(name) => write!(f, "{}/{}", name.package, name.name),
        }
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.fmt(f)?;
        match self.count {
            Count::One => Ok(()),
            Count::Array(length) => write!(f, "[{length}]"),
            Count::Sequence { bound: None } => f.write_str("[]"),
            Count::Sequence { bound: Some(bound) } => write!(f, "[<={bound}]"),
        }
    }
}

/// The name of the `uint8` that an empty message has on the wire and in its hash. ROS 2 adds it because C has no empty
/// structs.
pub const EMPTY_MESSAGE_FIELD: &str = "structure_needs_at_least_one_member";
