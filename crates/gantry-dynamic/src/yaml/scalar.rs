//! Texts and numbers in the block style of PyYAML 6, with all Unicode characters allowed and lines of any length.
//!
//! The rules come from PyYAML's `emitter.py`, `resolver.py` and `representer.py`. Tests compare this code with PyYAML's
//! output.

use super::implicit::is_implicit;
use std::fmt::{self, Write};

/// The way in which a text is quoted.
enum Style {
    Plain,
    Single,
    Double,
}

/// Writes a text with the quotes that it needs. Lines after the first one begin at `indent`.
pub(crate) fn write_text(text: &str, indent: usize, out: &mut dyn Write) -> fmt::Result {
    match style(text) {
        Style::Plain => out.write_str(text),
        Style::Single => write_single_quoted(text, indent, out),
        Style::Double => write_double_quoted(text, out),
    }
}

/// Writes a number like Python's `repr`, but always with a decimal point.
pub(crate) fn write_float(value: f64, out: &mut dyn Write) -> fmt::Result {
    if value.is_nan() {
        return out.write_str(".nan");
    }
    if value.is_infinite() {
        return out.write_str(if value > 0.0 { ".inf" } else { "-.inf" });
    }
    let text = shortest(value);
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let in_full = value == 0.0 || (1e-4..1e16).contains(&value.abs());
    if in_full {
        // The number of digits after the decimal point, calculated from the number of all digits and the exponent.
        let exponent: isize = exponent.parse().unwrap_or(0);
        let behind = digits.trim_start_matches('-').len().saturating_sub(2) as isize - exponent;
        write!(out, "{value:.*}", behind.max(1) as usize)
    } else {
        let point = if digits.contains('.') { "" } else { ".0" };
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
        write!(out, "{digits}{point}e{sign}{exponent:0>2}")
    }
}

/// The shortest digits that parse to `value`. If two decimal numbers are equally near, Python takes the one with an
/// even last digit, and so does this function. Rust would take the larger one.
fn shortest(value: f64) -> String {
    let up = format!("{value:e}");
    let behind = up.find('e').unwrap_or(0).saturating_sub(if value.is_sign_negative() { 3 } else { 2 });
    let even = format!("{value:.behind$e}");
    if even.parse() == Ok(value) { even } else { up }
}

fn is_break(char: char) -> bool {
    matches!(char, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank(char: char) -> bool {
    matches!(char, '\0' | ' ' | '\t' | '\r') || is_break(char)
}

/// Whether the character may be written without an escape. Line breaks have separate rules.
fn is_printable(char: char) -> bool {
    matches!(char, '\n' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..='\u{10fffe}')
        && char != '\u{feff}'
}

/// Whether the character would begin other YAML syntax, at the start of a text or after `before`. The text then needs
/// quotes.
fn is_indicator(char: char, before: Option<char>, after: Option<char>) -> bool {
    let blank_follows = after.is_none_or(is_blank);
    match (before, char) {
        (None, '?' | ':' | '-') | (Some(_), ':') => blank_follows,
        (None, _) => "#,[]{}&*!|>'\"%@`".contains(char),
        (Some(before), '#') => is_blank(before),
        (Some(_), _) => false,
    }
}

fn style(text: &str) -> Style {
    let mut plain = !text.starts_with("---") && !text.starts_with("...") && !is_implicit(text);
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let after = chars.peek().copied();
        let space_and_break =
            before.is_some_and(|before| (before == ' ' && is_break(char)) || (is_break(before) && char == ' '));
        if space_and_break || !is_printable(char) {
            return Style::Double;
        }
        let blank_at_end = char == ' ' && (before.is_none() || after.is_none());
        if is_break(char) || blank_at_end || is_indicator(char, before, after) {
            plain = false;
        }
        before = Some(char);
    }
    if plain { Style::Plain } else { Style::Single }
}

fn write_single_quoted(text: &str, indent: usize, out: &mut dyn Write) -> fmt::Result {
    out.write_char('\'')?;
    let mut after_break = false;
    // The chain ends with `None` for the closing quote, which is indented if it follows a line break.
    for char in text.chars().map(Some).chain([None]) {
        match char {
            Some(char) if is_break(char) => {
                // YAML reads a single line break as a space, so a second one is written.
                if char == '\n' && !after_break {
                    out.write_char('\n')?;
                }
                out.write_char(char)?;
                after_break = true;
                continue;
            }
            _ if after_break => write!(out, "{:indent$}", "")?,
            _ => {}
        }
        after_break = false;
        match char {
            Some('\'') => out.write_str("''")?,
            Some(char) => out.write_char(char)?,
            None => {}
        }
    }
    out.write_char('\'')
}

fn write_double_quoted(text: &str, out: &mut dyn Write) -> fmt::Result {
    out.write_char('"')?;
    for char in text.chars() {
        let letter = match char {
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0b' => 'v',
            '\x0c' => 'f',
            '\r' => 'r',
            '\x1b' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            ' '..='~' | '\u{a0}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' => {
                out.write_char(char)?;
                continue;
            }
            _ => {
                match u32::from(char) {
                    code @ 0..=0xff => write!(out, "\\x{code:02X}"),
                    code @ 0..=0xffff => write!(out, "\\u{code:04X}"),
                    code => write!(out, "\\U{code:08X}"),
                }?;
                continue;
            }
        };
        write!(out, "\\{letter}")?;
    }
    out.write_char('"')
}
