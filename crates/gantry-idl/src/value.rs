//! Values of constants and defaults.
//!
//! Made by the parser, which guarantees that a value fits its type: `Float` is finite, `Integer` in the type's range.

/// The value of a constant, or a field's default.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of a `bool`.
    Bool(bool),
    /// Of any integer type.
    Integer(i128),
    /// Of `float32` and `float64`.
    Float(f64),
    /// Of `string` and `wstring`; any characters.
    Text(String),
    /// Of arrays and sequences.
    List(Vec<Value>),
}
