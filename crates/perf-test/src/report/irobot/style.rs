//! The form of iRobot's files: columns of fixed width or commas between the values, and old or new headers.

use clap::ValueEnum;

/// The generation of iRobot's headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Headers {
    /// Units as words, for example `mean_us` (since December 2023).
    #[default]
    New,
    /// Units in brackets, for example `mean[us]` (before December 2023).
    Old,
}

/// The form of the lines in iRobot's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The generation of the headers.
    pub headers: Headers,
    /// Whether commas separate the values. Otherwise the columns have fixed widths.
    pub csv: bool,
}

/// A column of a file.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    old: &'static str,
    new: &'static str,
    width: usize,
}

/// Creates a column from its old header, its new header and its width.
pub const fn column(old: &'static str, new: &'static str, width: usize) -> Column {
    Column { old, new, width }
}

impl Style {
    /// The line with the headers.
    pub fn head(self, columns: &[Column]) -> String {
        let name = |column: &Column| match self.headers {
            Headers::New => column.new.to_owned(),
            Headers::Old => column.old.to_owned(),
        };
        self.line(columns, columns.iter().map(name))
    }

    /// A line with these values. A value that is wider than its column is followed by a blank, which separates it from
    /// the next value.
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
