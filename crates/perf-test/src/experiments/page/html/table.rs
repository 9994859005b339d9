//! Tables as HTML.

use super::escape::escape;
use crate::experiments::page::table::{Cell, PageRow, PageTable};

/// A table within an element that scrolls. Screen readers read `label` as the name of the element.
pub fn table(table: &PageTable, label: &str) -> String {
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\"><table>\n<thead><tr>{}</tr></thead>\n\
         <tbody>\n{}</tbody></table></div>\n",
        escape(label),
        heads(table, ["", ""]),
        rows(table)
    )
}

/// The headings of the table. Each is a button, by which a script sorts the table.
pub fn sorted_heads(table: &PageTable) -> String {
    heads(table, ["<button type=\"button\">", "</button>"])
}

fn heads(table: &PageTable, [begin, end]: [&str; 2]) -> String {
    let sort = if begin.is_empty() { "" } else { " aria-sort=\"none\"" };
    let head = |(head, is_number): &(String, bool)| {
        let class = if *is_number { " class=\"number\"" } else { "" };
        format!("<th scope=\"col\"{class}{sort}>{begin}{}{end}</th>", escape(head))
    };
    table.heads.iter().map(head).collect()
}

/// The rows of the table.
pub fn rows(table: &PageTable) -> String {
    table.rows.iter().map(|row| self::row(table, row)).collect()
}

fn row(table: &PageTable, row: &PageRow) -> String {
    let class = if row.class.is_empty() { String::new() } else { format!(" class=\"{}\"", row.class) };
    let cell = |(index, cell): (usize, &Cell)| {
        let span = if index + 1 == row.cells.len() { table.heads.len().saturating_sub(index) } else { 1 };
        let is_number = span == 1 && table.heads.get(index).is_some_and(|(_, is_number)| *is_number);
        self::cell(cell, if index == 0 { "th scope=\"row\"" } else { "td" }, is_number, span)
    };
    let cells: String = row.cells.iter().enumerate().map(cell).collect();
    format!("<tr{class}{}>{cells}</tr>\n", data(&row.data))
}

/// The given names and values as `data-` attributes, which the scripts read.
pub fn data(values: &[(&str, String)]) -> String {
    values.iter().map(|(name, value)| format!(" data-{name}=\"{}\"", escape(value))).collect()
}

fn cell(cell: &Cell, tag: &str, is_number: bool, span: usize) -> String {
    let attributes = [
        is_number.then(|| " class=\"number\"".to_owned()),
        cell.sort.as_ref().map(|sort| format!(" data-sort=\"{}\"", escape(sort))),
        (span > 1).then(|| format!(" colspan=\"{span}\"")),
    ];
    let mut text = match cell.text.contains('\n') {
        true => cell.text.lines().map(|line| format!("<p>{}</p>", escape(line))).collect(),
        false => escape(&cell.text),
    };
    if let Some(link) = &cell.link {
        text = format!("<a href=\"#{link}\">{text}</a>");
    }
    if cell.is_strong {
        text = format!("<strong>{text}</strong>");
    }
    if cell.is_uncertain {
        text.push_str("<abbr title=\"few samples\">*</abbr>");
    }
    if !cell.small.is_empty() {
        text.push_str(&format!("<small>{}</small>", escape(&cell.small)));
    }
    let end = tag.split(' ').next().unwrap_or(tag);
    format!("<{tag}{}>{text}</{end}>", attributes.into_iter().flatten().collect::<String>())
}
