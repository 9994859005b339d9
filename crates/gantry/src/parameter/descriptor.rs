//! The check of a value against the descriptor of its parameter.

use super::value::{ParameterType, ParameterValue};
use gantry_msgs::rcl_interfaces::msg::{FloatingPointRange, IntegerRange, ParameterDescriptor};

/// The largest difference between two doubles that count as equal, in multiples of `f64::EPSILON` times their sum, as
/// in rclcpp.
const MAX_ERROR_ULP: f64 = 100.0;

/// Checks a value; the error is the reason why it is not allowed.
pub(super) fn check(descriptor: &ParameterDescriptor, value: &ParameterValue) -> Result<(), String> {
    let (wanted, given) = (descriptor.r#type, value.parameter_type());
    if !descriptor.dynamic_typing && wanted != given as u8 {
        let wanted = type_of(wanted);
        if given == ParameterType::NotSet {
            return Err(format!("it is of type {wanted}, and only a parameter with dynamic typing can be deleted"));
        }
        let hint = match (wanted, value) {
            (ParameterType::Double, ParameterValue::Integer(value)) => format!("; write {value}.0"),
            (
                ParameterType::String,
                ParameterValue::Bool(_) | ParameterValue::Integer(_) | ParameterValue::Double(_),
            ) => {
                format!("; write \"'{value}'\"")
            }
            _ => String::new(),
        };
        return Err(format!("it is of type {wanted}, and the value {value} is of type {given}{hint}"));
    }
    match value {
        ParameterValue::Integer(value) => {
            descriptor.integer_range.first().map_or(Ok(()), |range| check_integer(range, *value))
        }
        ParameterValue::Double(value) => {
            descriptor.floating_point_range.first().map_or(Ok(()), |range| check_double(range, *value))
        }
        _ => Ok(()),
    }
}

fn check_integer(range: &IntegerRange, value: i64) -> Result<(), String> {
    let IntegerRange { from_value, to_value, step } = *range;
    let is_on_step = || step == 0 || (i128::from(value) - i128::from(from_value)) % i128::from(step) == 0;
    if value == from_value || value == to_value || (from_value..=to_value).contains(&value) && is_on_step() {
        return Ok(());
    }
    let steps = if step == 0 { String::new() } else { format!(" in steps of {step}") };
    Err(format!("{value} is out of range: it may be {from_value} to {to_value}{steps}"))
}

fn check_double(range: &FloatingPointRange, value: f64) -> Result<(), String> {
    let FloatingPointRange { from_value, to_value, step } = *range;
    let is_equal = |one: f64, other: f64| {
        one.is_finite() && (one - other).abs() <= f64::EPSILON * (one + other).abs() * MAX_ERROR_ULP
    };
    let is_on_step = || step == 0.0 || is_equal(value, from_value + ((value - from_value) / step).round() * step);
    let is_end = is_equal(value, from_value) || is_equal(value, to_value);
    if is_end || (from_value..=to_value).contains(&value) && is_on_step() {
        return Ok(());
    }
    let steps = if step == 0.0 { String::new() } else { format!(" in steps of {step:?}") };
    Err(format!("{value:?} is out of range: it may be {from_value:?} to {to_value:?}{steps}"))
}

fn type_of(number: u8) -> ParameterType {
    use ParameterType::*;
    let all = [NotSet, Bool, Integer, Double, String, ByteArray, BoolArray, IntegerArray, DoubleArray, StringArray];
    all.into_iter().find(|each| *each as u8 == number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_checked_against_range_and_step() {
        let check =
            |from_value, to_value, step, value| check_integer(&IntegerRange { from_value, to_value, step }, value);
        for allowed in [0, 5, 10, 12] {
            assert_eq!(check(0, 12, 5, allowed), Ok(()), "the ends need not be on a step: {allowed}");
        }
        for refused in [-5, 1, 13, 15, i64::MIN, i64::MAX] {
            check(0, 12, 5, refused).unwrap_err();
        }
        assert_eq!(check(i64::MIN, i64::MAX, u64::MAX, i64::MAX), Ok(()));
        assert_eq!(check(i64::MIN, i64::MAX, 0, 7), Ok(()));
        assert_eq!(check(0, 12, 5, 13).unwrap_err(), "13 is out of range: it may be 0 to 12 in steps of 5");
    }

    #[test]
    fn doubles_are_checked_against_range_and_step() {
        let check =
            |from_value, to_value, step, value| check_double(&FloatingPointRange { from_value, to_value, step }, value);
        for allowed in [0.0, 0.1, 0.3, 0.1 + 0.2, 1.0] {
            assert_eq!(check(0.0, 1.0, 0.1, allowed), Ok(()), "{allowed}");
        }
        for refused in [-0.1, 0.15, 1.1, f64::NAN, f64::INFINITY] {
            check(0.0, 1.0, 0.1, refused).unwrap_err();
        }
        assert_eq!(check(0.0, 1.0, 0.0, 0.15), Ok(()));
        assert_eq!(check(0.0, 1.0, 0.0, 2.0).unwrap_err(), "2.0 is out of range: it may be 0.0 to 1.0");
    }
}
