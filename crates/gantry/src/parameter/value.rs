//! Values of parameters, their types, and the Rust types that hold them.

use gantry_msgs::rcl_interfaces;
use std::fmt;

/// A parameter's value.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ParameterValue {
    /// The parameter has no value: it was declared without a value, or its value was removed.
    #[default]
    NotSet,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Double(f64),
    /// A text.
    String(String),
    /// Bytes. No YAML text has this type.
    ByteArray(Vec<u8>),
    /// Booleans.
    BoolArray(Vec<bool>),
    /// Whole numbers.
    IntegerArray(Vec<i64>),
    /// Floating-point numbers.
    DoubleArray(Vec<f64>),
    /// Texts.
    StringArray(Vec<String>),
}

/// The type of a parameter's value, with the numbers of `rcl_interfaces/msg/ParameterType`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ParameterType {
    /// No value.
    #[default]
    NotSet = 0,
    /// `bool`.
    Bool = 1,
    /// `i64`.
    Integer = 2,
    /// `f64`.
    Double = 3,
    /// `String`.
    String = 4,
    /// `Vec<u8>`.
    ByteArray = 5,
    /// `Vec<bool>`.
    BoolArray = 6,
    /// `Vec<i64>`.
    IntegerArray = 7,
    /// `Vec<f64>`.
    DoubleArray = 8,
    /// `Vec<String>`.
    StringArray = 9,
}

/// A name and a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The full name of the parameter, with dots between its parts.
    pub name: String,
    /// The value.
    pub value: ParameterValue,
}

/// A Rust type with which a parameter can be declared, set and read: `bool`, `i64`, `f64`, `String` (also `&str`), and
/// vectors of `u8`, `bool`, `i64`, `f64` and `String`. [`ParameterValue`] accepts all of them.
pub trait ParameterVariant: Into<ParameterValue> + private::Sealed {
    /// The type as which the value is read: `String` for `&str`, otherwise the type itself.
    type Value: ParameterVariant;
    /// The type of the parameter; `NotSet` means any type.
    const TYPE: ParameterType;
    /// Converts the value to this type; `None` if the value has another type.
    fn from_value(value: ParameterValue) -> Option<Self::Value>;
}

mod private {
    pub trait Sealed {}
}

macro_rules! variants {
    ($($rust:ty => $variant:ident,)*) => { $(
        impl private::Sealed for $rust {}

        impl ParameterVariant for $rust {
            type Value = $rust;
            const TYPE: ParameterType = ParameterType::$variant;

            fn from_value(value: ParameterValue) -> Option<$rust> {
                if let ParameterValue::$variant(value) = value { Some(value) } else { None }
            }
        }

        impl From<$rust> for ParameterValue {
            fn from(value: $rust) -> ParameterValue {
                ParameterValue::$variant(value)
            }
        }
    )* };
}

variants! {
    bool => Bool,
    i64 => Integer,
    f64 => Double,
    String => String,
    Vec<u8> => ByteArray,
    Vec<bool> => BoolArray,
    Vec<i64> => IntegerArray,
    Vec<f64> => DoubleArray,
    Vec<String> => StringArray,
}

impl private::Sealed for &str {}

impl ParameterVariant for &str {
    type Value = String;
    const TYPE: ParameterType = ParameterType::String;

    fn from_value(value: ParameterValue) -> Option<String> {
        String::from_value(value)
    }
}

impl From<&str> for ParameterValue {
    fn from(text: &str) -> ParameterValue {
        ParameterValue::String(text.to_owned())
    }
}

impl private::Sealed for ParameterValue {}

impl ParameterVariant for ParameterValue {
    type Value = ParameterValue;
    const TYPE: ParameterType = ParameterType::NotSet;

    fn from_value(value: ParameterValue) -> Option<ParameterValue> {
        Some(value)
    }
}

impl Parameter {
    /// Makes a parameter with this name and value.
    pub fn new(name: impl Into<String>, value: impl ParameterVariant) -> Parameter {
        Parameter { name: name.into(), value: value.into() }
    }
}

impl ParameterValue {
    /// The type of the value.
    #[must_use]
    pub fn parameter_type(&self) -> ParameterType {
        match self {
            ParameterValue::NotSet => ParameterType::NotSet,
            ParameterValue::Bool(_) => ParameterType::Bool,
            ParameterValue::Integer(_) => ParameterType::Integer,
            ParameterValue::Double(_) => ParameterType::Double,
            ParameterValue::String(_) => ParameterType::String,
            ParameterValue::ByteArray(_) => ParameterType::ByteArray,
            ParameterValue::BoolArray(_) => ParameterType::BoolArray,
            ParameterValue::IntegerArray(_) => ParameterType::IntegerArray,
            ParameterValue::DoubleArray(_) => ParameterType::DoubleArray,
            ParameterValue::StringArray(_) => ParameterType::StringArray,
        }
    }
}

/// Prints the value as YAML, the form of the command line.
impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterValue::NotSet => f.write_str("not set"),
            ParameterValue::Bool(value) => write!(f, "{value}"),
            ParameterValue::Integer(value) => write!(f, "{value}"),
            ParameterValue::Double(value) => write!(f, "{value:?}"),
            ParameterValue::String(value) => write!(f, "{value:?}"),
            ParameterValue::ByteArray(values) => write!(f, "{values:?}"),
            ParameterValue::BoolArray(values) => write!(f, "{values:?}"),
            ParameterValue::IntegerArray(values) => write!(f, "{values:?}"),
            ParameterValue::DoubleArray(values) => write!(f, "{values:?}"),
            ParameterValue::StringArray(values) => write!(f, "{values:?}"),
        }
    }
}

impl fmt::Display for ParameterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ParameterType::NotSet => "not set",
            ParameterType::Bool => "bool",
            ParameterType::Integer => "integer",
            ParameterType::Double => "double",
            ParameterType::String => "string",
            ParameterType::ByteArray => "byte array",
            ParameterType::BoolArray => "bool array",
            ParameterType::IntegerArray => "integer array",
            ParameterType::DoubleArray => "double array",
            ParameterType::StringArray => "string array",
        })
    }
}

impl From<ParameterValue> for rcl_interfaces::msg::ParameterValue {
    fn from(value: ParameterValue) -> Self {
        let mut message =
            rcl_interfaces::msg::ParameterValue { r#type: value.parameter_type() as u8, ..Self::default() };
        match value {
            ParameterValue::NotSet => {}
            ParameterValue::Bool(value) => message.bool_value = value,
            ParameterValue::Integer(value) => message.integer_value = value,
            ParameterValue::Double(value) => message.double_value = value,
            ParameterValue::String(value) => message.string_value = value,
            ParameterValue::ByteArray(values) => message.byte_array_value = values,
            ParameterValue::BoolArray(values) => message.bool_array_value = values,
            ParameterValue::IntegerArray(values) => message.integer_array_value = values,
            ParameterValue::DoubleArray(values) => message.double_array_value = values,
            ParameterValue::StringArray(values) => message.string_array_value = values,
        }
        message
    }
}

/// Converts a message to a value. A type number that ROS 2 does not define becomes `NotSet`.
impl From<rcl_interfaces::msg::ParameterValue> for ParameterValue {
    fn from(message: rcl_interfaces::msg::ParameterValue) -> Self {
        match message.r#type {
            1 => ParameterValue::Bool(message.bool_value),
            2 => ParameterValue::Integer(message.integer_value),
            3 => ParameterValue::Double(message.double_value),
            4 => ParameterValue::String(message.string_value),
            5 => ParameterValue::ByteArray(message.byte_array_value),
            6 => ParameterValue::BoolArray(message.bool_array_value),
            7 => ParameterValue::IntegerArray(message.integer_array_value),
            8 => ParameterValue::DoubleArray(message.double_array_value),
            9 => ParameterValue::StringArray(message.string_array_value),
            _ => ParameterValue::NotSet,
        }
    }
}

impl From<Parameter> for rcl_interfaces::msg::Parameter {
    fn from(parameter: Parameter) -> Self {
        rcl_interfaces::msg::Parameter { name: parameter.name, value: parameter.value.into() }
    }
}

impl From<rcl_interfaces::msg::Parameter> for Parameter {
    fn from(message: rcl_interfaces::msg::Parameter) -> Self {
        Parameter { name: message.name, value: message.value.into() }
    }
}
