//! Values of constants, and default values of fields.
//!
//! The parser guarantees that a value fits its type: an `Integer` is in the range of the type, and a finite `Float` of
//! a `float32` is in the range of `f32`.

/// The value of a constant, or the default value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The value of a `bool`.
    Bool(bool),
    /// The value of any integer type.
    Integer(i128),
    /// The value of a `float32` or `float64`; it may be infinite or not a number.
    Float(f64),
    /// The value of a `string` or `wstring`, with any characters.
    Text(String),
    /// The elements of an array or a sequence.
    List(Vec<Value>),
}
