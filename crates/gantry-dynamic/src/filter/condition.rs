//! The condition of a filter in compiled form. Checking a message against it allocates nothing.

use super::{field::Field, operator::Operator, pattern::Pattern};
use crate::{message::DynamicMessage, value::Value, wide_text::WideText};
use std::cmp::Ordering;

/// A condition, which a message meets or does not meet.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// A comparison of a field with a constant or another field. It is false if the message does not have the list
    /// element that the comparison needs.
    Comparison {
        field: Field,
        operator: Operator,
        other: Side,
    },
    Like {
        field: Field,
        pattern: Pattern,
        is_negated: bool,
    },
}

/// The right side of a comparison.
#[derive(Clone, Debug)]
pub(super) enum Side {
    Field(Field),
    Constant(Constant),
}

/// A value from the expression or a parameter, converted to the type of the field on the left side.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Constant {
    /// An integer or a boolean.
    Integer(i128),
    Float(f64),
    Text(Box<str>),
}

/// A value that can be compared.
#[derive(Clone, Copy)]
enum Scalar<'a> {
    /// An integer or a boolean.
    Integer(i128),
    Float(f64),
    Text(&'a str),
    WideText(WideText<'a>),
}

impl Condition {
    pub(super) fn holds(&self, message: &DynamicMessage<'_>) -> bool {
        match self {
            Self::All(conditions) => conditions.iter().all(|condition| condition.holds(message)),
            Self::Any(conditions) => conditions.iter().any(|condition| condition.holds(message)),
            Self::Not(condition) => !condition.holds(message),
            Self::Comparison { field, operator, other } => {
                let other = match other {
                    Side::Constant(constant) => Some(Scalar::from(constant)),
                    Side::Field(field) => field.value(message).and_then(Scalar::new),
                };
                let (Some(value), Some(other)) = (field.value(message).and_then(Scalar::new), other) else {
                    return false;
                };
                operator.holds(value.order(other))
            }
            Self::Like { field, pattern, is_negated } => match field.value(message).and_then(Scalar::new) {
                Some(Scalar::Text(text)) => pattern.matches(text.chars()) != *is_negated,
                Some(Scalar::WideText(text)) => pattern.matches(text.chars()) != *is_negated,
                _ => false,
            },
        }
    }
}

impl<'a> Scalar<'a> {
    fn new(value: Value<'a>) -> Option<Self> {
        Some(match value {
            Value::Bool(value) => Self::Integer(value.into()),
            Value::Text(text) => Self::Text(text),
            Value::WideText(text) => Self::WideText(text),
            number => match number.as_integer() {
                Some(integer) => Self::Integer(integer),
                None => Self::Float(number.as_float()?),
            },
        })
    }

    /// The order of two values. The result is `None` if one is NaN. The parser never compares a number with a text, for
    /// which the result would also be `None`.
    fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(left), Self::Integer(right)) => Some(left.cmp(&right)),
            (Self::Float(left), Self::Float(right)) => left.partial_cmp(&right),
            (Self::Integer(left), Self::Float(right)) => order_with_float(left, right),
            (Self::Float(left), Self::Integer(right)) => order_with_float(right, left).map(Ordering::reverse),
            (Self::Text(left), Self::Text(right)) => Some(left.cmp(right)), // bytes of UTF-8 sort like their characters
            (Self::WideText(left), Self::WideText(right)) => Some(left.chars().cmp(right.chars())),
            (Self::Text(left), Self::WideText(right)) => Some(left.chars().cmp(right.chars())),
            (Self::WideText(left), Self::Text(right)) => Some(left.chars().cmp(right.chars())),
            _ => None,
        }
    }
}

impl<'a> From<&'a Constant> for Scalar<'a> {
    fn from(constant: &'a Constant) -> Self {
        match constant {
            Constant::Integer(value) => Self::Integer(*value),
            Constant::Float(value) => Self::Float(*value),
            Constant::Text(text) => Self::Text(text),
        }
    }
}

/// The exact order of an integer and a float. The integer is not converted to a float, because a 64-bit integer may
/// have no equal float.
fn order_with_float(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // The cast cuts off the fraction. A float outside the integer's range becomes the nearest limit of the range.
    let whole = float as i128;
    Some(integer.cmp(&whole).then_with(|| 0.0.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Ordering::{Equal, Greater, Less};

    #[test]
    fn integers_and_floats_compare_exactly() {
        for (integer, float, expected) in [
            (1, 1.0, Some(Equal)),
            (1, 1.5, Some(Less)),
            (-1, -1.5, Some(Greater)),
            (0, -0.0, Some(Equal)),
            (0, -0.25, Some(Greater)),
            (i128::from(u64::MAX), 18_446_744_073_709_551_616.0, Some(Less)),
            (9_007_199_254_740_993, 9_007_199_254_740_992.0, Some(Greater)),
            (1, f64::INFINITY, Some(Less)),
            (1, f64::NEG_INFINITY, Some(Greater)),
            (1, f64::NAN, None),
        ] {
            assert_eq!(order_with_float(integer, float), expected, "{integer} {float}");
        }
    }
}
