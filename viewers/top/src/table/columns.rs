//! Columns of tables: their width, text and sort order. Also formats numbers as short texts.

use ratatui::{
    layout::{Alignment, Constraint},
    style::{Color, Modifier, Style},
    text::Text,
    widgets::{Cell, Row, Table},
};
use std::cmp::Ordering;

/// The sort order of a table's rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    /// The index of the column by which rows are sorted.
    pub column: usize,
    /// Whether the column's order is reversed.
    pub is_reversed: bool,
}

/// A column of a table.
pub struct Column<Item> {
    /// The title of the column.
    pub title: &'static str,
    /// The width of the column in characters; 0 means a share of the remaining width.
    pub width: u16,
    /// The smallest width of the table at which this column is shown.
    pub from_width: u16,
    /// Returns the text of this column for a row.
    pub text: fn(&Item) -> String,
    /// Compares two rows by this column.
    pub order: fn(&Item, &Item) -> Ordering,
    /// Whether the cell is red, because the user should notice the value.
    pub is_alarm: fn(&Item) -> bool,
}

impl<Item> Column<Item> {
    /// Makes a column whose cells are never red.
    pub const fn text(
        title: &'static str,
        width: u16,
        from_width: u16,
        text: fn(&Item) -> String,
        order: fn(&Item, &Item) -> Ordering,
    ) -> Column<Item> {
        Column { title, width, from_width, text, order, is_alarm: |_| false }
    }

    /// Makes the cell of a row. Narrow columns, which contain numbers, are aligned to the right.
    fn cell(&self, item: &Item) -> Cell<'static> {
        let style = if (self.is_alarm)(item) { Style::new().fg(Color::Red) } else { Style::new() };
        Cell::new(Text::from((self.text)(item)).alignment(self.alignment())).style(style)
    }

    fn alignment(&self) -> Alignment {
        if self.width > 0 && self.width <= 10 { Alignment::Right } else { Alignment::Left }
    }
}

/// Makes a table with the columns that fit into this width. The title of the column by which rows are sorted has a
/// mark.
pub fn table<'a, Item>(columns: &[Column<Item>], items: &[Item], width: u16, order: Option<Order>) -> Table<'a> {
    let shown: Vec<(usize, &Column<Item>)> =
        columns.iter().enumerate().filter(|(_, column)| column.from_width <= width).collect();
    let row = |item: &Item| Row::new(shown.iter().map(|(_, column)| column.cell(item)).collect::<Vec<_>>());
    Table::new(items.iter().map(row), widths(shown.iter().map(|(_, column)| *column)))
        .header(header(&shown, order))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
}

/// The widths of columns.
fn widths<'a, Item: 'a>(columns: impl Iterator<Item = &'a Column<Item>>) -> Vec<Constraint> {
    let width = |column: &Column<Item>| match column.width {
        0 => Constraint::Fill(1),
        width => Constraint::Length(width),
    };
    columns.map(width).collect()
}

/// Makes the header from columns with their indices. The title of the column by which rows are sorted has a mark.
fn header<Item>(columns: &[(usize, &Column<Item>)], order: Option<Order>) -> Row<'static> {
    let cell = |(index, column): &(usize, &Column<Item>)| {
        let mark = match order {
            Some(order) if order.column == *index => {
                if order.is_reversed {
                    "^"
                } else {
                    "v"
                }
            }
            _ => "",
        };
        Cell::new(Text::from(format!("{}{mark}", column.title)).alignment(column.alignment()))
    };
    Row::new(columns.iter().map(cell).collect::<Vec<_>>()).style(Style::new().add_modifier(Modifier::UNDERLINED))
}

/// Compares two values so that the larger one comes first.
pub fn falling<T: PartialOrd>(one: T, other: T) -> Ordering {
    other.partial_cmp(&one).unwrap_or(Ordering::Equal)
}

/// Formats a rate: "29.9", "1000", "12.3k"; "-" if there is no rate yet, "0" for no messages.
pub fn rate(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value < 0.005 => "0".to_owned(),
        Some(value) if value < 9.995 => format!("{value:.2}"),
        Some(value) if value < 99.95 => format!("{value:.1}"),
        Some(value) if value < 9_999.5 => format!("{value:.0}"),
        Some(value) if value < 999_500.0 => format!("{:.0}k", value / 1e3),
        Some(value) => format!("{:.1}M", value / 1e6),
    }
}

/// Formats a count; large counts are given in thousands or millions.
pub fn count(value: u64) -> String {
    match value {
        0..100_000 => value.to_string(),
        100_000..10_000_000 => format!("{}k", value / 1000),
        _ => format!("{}M", value / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_in_six_characters() {
        let rates = [0.0, 0.5, 29.94, 999.9, 12_345.0, 2_500_000.0].map(|value| rate(Some(value)));
        assert_eq!(rates, ["0", "0.50", "29.9", "1000", "12k", "2.5M"]);
        assert_eq!(rate(None), "-");
        assert_eq!([0, 99_999, 100_000, 12_345_678].map(count), ["0", "99999", "100k", "12M"]);
    }
}
