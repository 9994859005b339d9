//! The form of a line in iRobot's files: columns of a fixed width, or values with commas between them, and the old or
//! the new headers.

use clap::ValueEnum;

/// The headers: iRobot's new ones or its old ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Headers {
    /// Units as words, for example `mean_us`: since December 2023.
    #[default]
    New,
    /// Units in brackets, for example `mean[us]`.
    Old,
}

/// The form of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The headers.
    pub headers: Headers,
    /// Commas instead of blanks.
    pub csv: bool,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    old: &'static str,
    new: &'static str,
    width: usize,
}

/// A column with its old header, its new header and its width.
pub const fn column(old: &'static str, new: &'static str, width: usize) -> Column {
    Column { old, new, width }
}

impl Style {
    /// The line of the headers.
    pub fn head(self, columns: &[Column]) -> String {
        let name = |column: &Column| match self.headers {
            Headers::New => column.new.to_owned(),
            Headers::Old => column.old.to_owned(),
        };
        self.line(columns, columns.iter().map(name))
    }

    /// A line of values. A value that is wider than its column is followed by a blank, so that two values
    /// never merge.
    pub fn line(self, columns: &[Column], values: impl IntoIterator<Item = String>) -> String {
        if self.csv {
            return values.into_iter().collect::<Vec<String>>().join(",");
        }
        let cells = columns.iter().zip(values).map(|(column, value)| {
            let width = column.width.max(value.chars().count() + 1);
            format!("{value:<width$}")
        });
        cells.collect::<String>().trim_end().to_owned()
    }
}
