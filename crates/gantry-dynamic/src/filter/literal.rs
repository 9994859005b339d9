//! The values in an expression, and their conversion to the type of a compared field.

use super::{
    condition::Constant,
    error::{FilterError, quoted},
    field::{Field, FieldKind},
    token::{Kind, Tokens},
};
use gantry_idl::Primitive;
use std::borrow::Cow;

/// A value in an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal<'a> {
    Bool(bool),
    Integer(i128),
    /// The digits of a float, which are rounded later, because the nearest number depends on the field's type.
    Float(&'a str),
    Text(Cow<'a, str>),
}

impl<'a> Literal<'a> {
    /// The value that a token states; `None` if the token is not a value.
    ///
    /// # Errors
    /// The integer has more than 64 bits.
    pub(super) fn from_token(kind: &Kind<'a>) -> Option<Result<Self, String>> {
        Some(match kind {
            Kind::Integer(digits) => integer(digits).map(Self::Integer),
            Kind::Float(digits) => Ok(Self::Float(digits)),
            Kind::Text(text) => Ok(Self::Text(text.clone())),
            Kind::Word(word) if word.eq_ignore_ascii_case("TRUE") => Ok(Self::Bool(true)),
            Kind::Word(word) if word.eq_ignore_ascii_case("FALSE") => Ok(Self::Bool(false)),
            _ => return None,
        })
    }

    /// The value that the text of a parameter states.
    ///
    /// # Errors
    /// The text is not a single value.
    pub(super) fn from_parameter(index: usize, text: &'a str) -> Result<Self, FilterError> {
        let error = |sentence| FilterError::in_parameter(index, text, sentence);
        let mut tokens = Tokens::new(text);
        let mut next = || tokens.next().map_err(|failure| error(failure.into_sentence()));
        let (first, second) = (next()?.kind, next()?.kind);
        match (Self::from_token(&first), second) {
            (Some(literal), Kind::End) => literal.map_err(error),
            _ => Err(error(
                "a parameter is one value: a number, TRUE, FALSE, or a text in single quotes of its own, as \"'text'\""
                    .to_owned(),
            )),
        }
    }

    /// Converts the value for a comparison with a field. For a `float32` field, a number is rounded to `float32`, so
    /// that 0.1 is equal to the `float32` 0.1. For an 8-bit integer field, a single character becomes its code.
    ///
    /// # Errors
    /// A sentence with the reason: the value and the field have different types.
    pub(super) fn constant_for(&self, field: &Field) -> Result<Constant, String> {
        use FieldKind::{Primitive as Number, Text};
        use Primitive::{Bool, Byte, Char, Float32, Float64, Int8, Uint8};
        Ok(match (self, field.kind) {
            (Self::Text(text), Text) => Constant::Text(Box::from(&**text)),
            (Self::Bool(value), Number(Bool)) => Constant::Integer((*value).into()),
            (Self::Integer(value @ (0 | 1)), Number(Bool)) => Constant::Integer(*value),
            (Self::Text(text), Number(Byte | Char | Int8 | Uint8)) => match text.as_bytes() {
                [code] => Constant::Integer((*code).into()),
                _ => return Err(self.misfit(field)),
            },
            (Self::Integer(value), Number(Float32)) => Constant::Float((*value as f32).into()),
            (Self::Integer(value), Number(Float64)) => Constant::Float(*value as f64),
            (Self::Float(digits), Number(Float32)) => Constant::Float(digits.parse::<f32>().unwrap_or(f32::NAN).into()),
            (Self::Integer(value), Number(primitive)) if primitive != Bool => Constant::Integer(*value),
            (Self::Float(digits), Number(primitive)) if primitive != Bool => {
                Constant::Float(digits.parse().unwrap_or(f64::NAN)) // a token of this kind is always a number
            }
            _ => return Err(self.misfit(field)),
        })
    }

    fn misfit(&self, field: &Field) -> String {
        let value = match self {
            Self::Bool(true) => "TRUE is a boolean".to_owned(),
            Self::Bool(false) => "FALSE is a boolean".to_owned(),
            Self::Integer(value) => format!("{value} is a number"),
            Self::Float(digits) => format!("{digits} is a number"),
            Self::Text(text) => format!("'{}' is a text", quoted(text)),
        };
        format!("`{}` is {}, and {value}: they cannot be compared", field.path, field.kind_in_words())
    }
}

fn integer(digits: &str) -> Result<i128, String> {
    let value = digits.parse().ok().filter(|value| (i64::MIN.into()..=u64::MAX.into()).contains(value));
    value.ok_or_else(|| format!("{digits} is beyond the integers of 64 bits"))
}
