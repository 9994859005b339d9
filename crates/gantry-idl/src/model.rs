//! What a message or service consists of, after its file was read.
//!
//! Written by the parser; read by everything else. `Display` of a type is its form in a `.msg` file, with nested types in
//! full (`geometry_msgs/Point[<=3]`).

use std::fmt;

use crate::name::TypeName;
use crate::value::Value;

/// A number or a boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Primitive {
    Bool,
    /// `uint8` on the wire; not so in the hash.
    Byte,
    /// `uint8`, in everything but the name.
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
    /// All of them, under their names in ROS 2.
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

    /// Its name in ROS 2.
    pub fn name(self) -> &'static str {
        // In the order of the enum, which a test checks.
        Self::ALL[self as usize].0
    }

    /// Its size on the wire, which is its alignment too.
    pub fn size_bytes(self) -> usize {
        match self {
            Self::Bool | Self::Byte | Self::Char | Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Float32 | Self::Int32 | Self::Uint32 => 4,
            Self::Float64 | Self::Int64 | Self::Uint64 => 8,
        }
    }

    /// The least and the greatest value, if this is an integer.
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

/// What a field has one or many of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BaseType {
    /// A number or a boolean.
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

/// How many of its base type a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// One, not in a list.
    One,
    /// Always so many.
    Array(u32),
    /// As many as the message says.
    Sequence {
        /// The greatest number of elements.
        bound: Option<u32>,
    },
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldType {
    /// Of what.
    pub base: BaseType,
    /// How many.
    pub count: Count,
}

/// One field of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub field_type: FieldType,
    /// What it holds before anything is written to it; zero or empty if nothing is said.
    pub default: Option<Value>,
    /// Its documentation, without `#`; lines are separated by `\n`. Never holds another control character.
    pub comment: String,
}

/// One constant of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// A primitive, or a string without a bound.
    pub primitive: BaseType,
    /// Its value: of that type and in its range.
    pub value: Value,
    /// As a field's.
    pub comment: String,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageDefinition {
    /// Its name.
    pub name: TypeName,
    /// Its fields in order; none is an empty message, which is one byte on the wire.
    pub fields: Vec<Field>,
    /// Its constants in order.
    pub constants: Vec<Constant>,
    /// The comment at the top of its file; as a field's.
    pub comment: String,
}

/// One service.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceDefinition {
    /// Its name.
    pub name: TypeName,
    /// What a client sends (`…_Request`).
    pub request: MessageDefinition,
    /// What it gets back (`…_Response`).
    pub response: MessageDefinition,
    /// The comment at the top of its file; as a field's.
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

/// What an empty message holds on the wire and in its hash: a `uint8` of this name. C has no empty structs.
pub const EMPTY_MESSAGE_FIELD: &str = "structure_needs_at_least_one_member";
