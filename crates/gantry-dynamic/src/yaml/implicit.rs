//! Detection of texts that YAML 1.1 reads as another type, so that they need quotes.
//!
//! The patterns come from PyYAML's `resolver.py`, and differ from the YAML specification in details. Each pattern is
//! matched by hand in one pass.

/// Whether YAML reads the unquoted text as a boolean, a number, null, a time, or one of its two special keys.
pub(crate) fn is_implicit(text: &str) -> bool {
    is_word(text) || is_integer(text) || is_float(text) || is_timestamp(text)
}

fn is_word(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 28] = [
        "", "~", "null", "Null", "NULL", "=", "<<", "yes", "Yes", "YES", "no", "No", "NO", "true", "True", "TRUE", "false",
        "False", "FALSE", "on", "On", "ON", "off", "Off", "OFF", ".nan", ".NaN", ".NAN",
    ];
    WORDS.contains(&text)
}

fn is_integer(text: &str) -> bool {
    let digits = unsigned(text);
    let all = |digits: &str, allowed: fn(u8) -> bool| !digits.is_empty() && digits.bytes().all(allowed);
    match digits.as_bytes() {
        [b'0'] => true,
        [b'0', b'b', ..] => all(&digits[2..], |byte| matches!(byte, b'0' | b'1' | b'_')),
        [b'0', b'x', ..] => all(&digits[2..], |byte| byte.is_ascii_hexdigit() || byte == b'_'),
        [b'0', ..] => all(&digits[1..], |byte| matches!(byte, b'0'..=b'7' | b'_')),
        [b'1'..=b'9', ..] => after_sixties(after_digits(digits)).is_empty(),
        _ => false,
    }
}

fn is_float(text: &str) -> bool {
    let number = unsigned(text);
    if matches!(number, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    if let Some(fraction) = text.strip_prefix('.') {
        return fraction.starts_with(|c: char| c.is_ascii_digit()) && is_exponent(after_digits(fraction));
    }
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let whole = after_digits(number);
    let sixties = after_sixties(whole);
    match sixties.strip_prefix('.').map(after_digits) {
        // A number in base 60, such as hours, minutes and seconds, has no exponent.
        Some(rest) if sixties.len() < whole.len() => rest.is_empty(),
        Some(rest) => is_exponent(rest),
        None => false,
    }
}

/// Whether the text is a date such as `2026-11-21`, or a date with a time and an offset.
fn is_timestamp(text: &str) -> bool {
    fn digits(text: &str, least: usize, most: usize) -> Option<&str> {
        let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
        (count >= least).then(|| &text[count..])
    }
    fn rest(text: &str) -> Option<()> {
        let month = digits(text, 4, 4)?.strip_prefix('-')?;
        let day = digits(month, 1, 2)?.strip_prefix('-')?;
        let time = digits(day, 1, 2)?;
        if time.is_empty() {
            return (text.len() == "2026-11-21".len()).then_some(());
        }
        let blank: &[char] = &[' ', '\t'];
        let hour = time.strip_prefix(['T', 't']).or_else(|| {
            let hour = time.trim_start_matches(blank);
            (hour.len() < time.len()).then_some(hour)
        })?;
        let minute = digits(hour, 1, 2)?.strip_prefix(':')?;
        let second = digits(minute, 2, 2)?.strip_prefix(':')?;
        let mut zone = digits(second, 2, 2)?;
        if let Some(fraction) = zone.strip_prefix('.') {
            zone = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        if zone.is_empty() {
            return Some(());
        }
        zone = zone.trim_start_matches(blank);
        if zone == "Z" {
            return Some(());
        }
        let minutes = digits(zone.strip_prefix(['+', '-'])?, 1, 2)?;
        let end = if minutes.is_empty() { minutes } else { digits(minutes.strip_prefix(':')?, 2, 2)? };
        end.is_empty().then_some(())
    }
    rest(text).is_some()
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

fn after_digits(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_')
}

/// Skips groups of minutes and seconds such as `:59:01`, and returns the text after them.
fn after_sixties(mut text: &str) -> &str {
    while let [b':', first, rest @ ..] = text.as_bytes() {
        let digits = match (first, rest.first()) {
            (b'0'..=b'5', Some(second)) if second.is_ascii_digit() => 2,
            (b'0'..=b'9', _) => 1,
            _ => break,
        };
        text = &text[1 + digits..];
    }
    text
}

/// Whether the text is empty or an exponent with a sign, such as `e+12`.
fn is_exponent(text: &str) -> bool {
    let Some(exponent) = text.strip_prefix(['e', 'E']) else { return text.is_empty() };
    let digits = unsigned(exponent);
    digits.len() < exponent.len() && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
