//! The layout of the output: labels in one column and values in another. Long values are broken between words.

use crate::system::Advice;

/// The column at which values start.
const LABEL_WIDTH: usize = 14;
/// The greatest length of a line, characters.
const LINE_WIDTH: usize = 110;
/// The column at which the text of a piece of advice starts.
const ADVICE_INDENT: usize = 6;

/// A title with labelled lines below.
pub(super) struct Group {
    lines: Vec<String>,
    unknown: Vec<String>,
}

impl Group {
    pub(super) fn new(title: &str) -> Group {
        Group { lines: vec![title.to_owned()], unknown: Vec::new() }
    }

    /// Adds a line for each value. If there is no value, the last line of the group lists the label as unknown.
    pub(super) fn line(mut self, label: &str, values: impl IntoIterator<Item = String>) -> Group {
        let pieces: Vec<String> =
            values.into_iter().flat_map(|value| broken(&value, LINE_WIDTH - LABEL_WIDTH)).collect();
        if pieces.is_empty() {
            self.unknown.push(label.to_owned());
        }
        for (i, piece) in pieces.iter().enumerate() {
            let label = if i == 0 { label } else { "" };
            let label = format!("  {label}");
            self.lines.push(format!("{label:<LABEL_WIDTH$}{piece}").trim_end().to_owned());
        }
        self
    }

    /// Adds a value that most machines do not have. If there is no value, the label is not listed as unknown, either.
    pub(super) fn rare(self, label: &str, value: Option<String>) -> Group {
        if value.is_some() { self.line(label, value) } else { self }
    }

    /// All lines of the group, then an empty line.
    pub(super) fn lines(mut self) -> Vec<String> {
        if !self.unknown.is_empty() {
            let unknown = std::mem::take(&mut self.unknown).join(", ");
            self = self.line("not known", Some(unknown));
        }
        self.lines.push(String::new());
        self.lines
    }
}

/// The lines of a piece of advice: its number and finding, its reason, and its command.
pub(super) fn numbered(number: usize, advice: &Advice) -> Vec<String> {
    let indent = " ".repeat(ADVICE_INDENT);
    let mut lines = vec![format!("{number:>ADVICE_NUMBER$}. {}", advice.finding, ADVICE_NUMBER = ADVICE_INDENT - 2)];
    lines.extend(broken(&advice.why, LINE_WIDTH - ADVICE_INDENT).into_iter().map(|piece| format!("{indent}{piece}")));
    // A command is never broken, so that the user can copy it.
    lines.extend(advice.command.as_ref().map(|command| format!("{indent}$ {command}")));
    lines
}

/// Breaks `text` between words into pieces of at most `width` characters. A longer word is its own piece.
fn broken(text: &str, width: usize) -> Vec<String> {
    if text.chars().count() <= width {
        return vec![text.to_owned()];
    }
    let mut pieces: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match pieces.last_mut() {
            Some(piece) if piece.chars().count() + 1 + word.chars().count() <= width => {
                piece.push(' ');
                piece.push_str(word);
            }
            _ => pieces.push(word.to_owned()),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_broken_between_words_and_stay_aligned() {
        let options = "abcdefghi ".repeat(12).trim_end().to_owned();
        let lines = Group::new("title").line("options", Some(options)).line("turbo", None).lines();
        assert_eq!(lines[0], "title");
        assert!(lines[1].starts_with("  options     abcdefghi ") && lines[1].len() <= LINE_WIDTH, "{lines:?}");
        assert!(lines[2].starts_with("              abcdefghi"), "{lines:?}");
        assert_eq!(lines[3..], ["  not known   turbo", ""]);
    }
}
