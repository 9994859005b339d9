//! Numbers in parameter values, as rcl's parser reads them: by strtoll(3) with base 0, or else by strtod(3).
//!
//! Sources: `rcl_yaml_param_parser/src/parse.c`, and the manual pages of both functions.

/// Reads the text as an integer: decimal, `0x` hexadecimal or `0` octal.
pub(super) fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = signed(text);
    let (base, digits) = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None if digits.len() > 1 && digits.starts_with('0') => (8, digits),
        None => (10, digits),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    i64::from_str_radix(&format!("{sign}{digits}"), base).ok()
}

/// Reads the text as a floating-point number; `None` if it is too large or too small for a double.
pub(super) fn double(text: &str) -> Option<f64> {
    let (sign, rest) = signed(text);
    let sign = if sign == "-" { -1.0 } else { 1.0 };
    // The words for infinity and NaN in YAML begin with a dot.
    match rest {
        ".nan" | ".NaN" | ".NAN" if rest.len() == text.len() => return Some(f64::NAN),
        ".inf" | ".Inf" | ".INF" => return Some(sign * f64::INFINITY),
        _ => {}
    }
    match rest.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => return Some(sign * f64::INFINITY),
        "nan" => return Some(f64::NAN),
        lower if lower.starts_with("0x") => return Some(sign * hexadecimal(&lower[2..])?),
        lower if !lower.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'+' | b'-')) => return None,
        _ => {}
    }
    let value: f64 = rest.parse().ok().filter(|_| !rest.starts_with(['+', '-']))?;
    let mantissa = rest.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    (value.is_normal() || is_zero).then_some(sign * value)
}

fn signed(text: &str) -> (&'static str, &str) {
    match (text.strip_prefix('-'), text.strip_prefix('+')) {
        (Some(rest), _) => ("-", rest),
        (_, Some(rest)) => ("", rest),
        _ => ("", text),
    }
}

/// Reads hexadecimal digits with a point, and after `p` the exponent of 2.
fn hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let exponent: i32 = exponent.parse().ok()?;
    if digits.is_empty() {
        return None;
    }
    let value = digits.chars().try_fold(0.0, |value, digit| Some(value * 16.0 + f64::from(digit.to_digit(16)?)))?;
    let scale = exponent.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?;
    Some(value * 2f64.powi(scale)).filter(|value| value.is_finite())
}
