//! Safe output of texts from other programs on a terminal.

use std::borrow::Cow;

/// Returns the text with its control characters escaped as in Rust (`\u{1b}`, `\n`), except the characters in `kept`. A
/// terminal executes control characters, so a name from another program or a file could move the cursor or forge a
/// line.
///
/// ```
/// assert_eq!(gantry::printable("/a\u{1b}[2J\nb", &[]), "/a\\u{1b}[2J\\nb");
/// assert_eq!(gantry::printable("a\n\tb\u{7}", &['\n', '\t']), "a\n\tb\\u{7}");
/// ```
#[must_use]
pub fn printable<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    let is_escaped = |char: char| char.is_control() && !kept.contains(&char);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match is_escaped(char) {
            true => escaped.extend(char.escape_debug()),
            false => escaped.push(char),
        }
    }
    Cow::Owned(escaped)
}
