//! A table of the page. It is written as HTML and as Markdown.

use std::collections::BTreeMap;

use super::figures::{FIRST, OTHERS};
use super::folder::Folder;
use super::group::{Group, Groups};
use super::settings::in_words;
use crate::common::units::format_bytes;
use crate::communicator::shown_contestant;
use crate::experiments::{batch::middleware_of, results_file::Table};
use crate::{experiments::conditions::FIGURES as OF_TOPOLOGIES, log::figures::Figure};
use perf_worker::choice::Choice;

/// A table of the page.
#[derive(Debug)]
pub struct PageTable {
    /// The headings. The flag is true if the column contains numbers.
    pub heads: Vec<(String, bool)>,
    /// The rows.
    pub rows: Vec<PageRow>,
}

/// A row. If it has fewer cells than the table has columns, its last cell spans the remaining columns.
#[derive(Debug, Default)]
pub struct PageRow {
    /// The cells of the row. The first cell is the heading of the row.
    pub cells: Vec<Cell>,
    /// The CSS class of the row.
    pub class: &'static str,
    /// The names and values of the row's `data-` attributes, by which scripts select rows.
    pub data: Vec<(&'static str, String)>,
}

/// A cell of the table.
#[derive(Debug, Default)]
pub struct Cell {
    /// The text of the cell. Each line becomes a paragraph.
    pub text: String,
    /// Whether the text is printed in bold.
    pub is_strong: bool,
    /// Whether the text is a number that is computed from few samples.
    pub is_uncertain: bool,
    /// A second text in small letters.
    pub small: String,
    /// The value by which the column is sorted; `None` means that the text is used.
    pub sort: Option<String>,
    /// The id of the page element to which the cell links.
    pub link: Option<String>,
}

impl Cell {
    /// Creates a cell with a text.
    pub fn new(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// Creates a cell with a text that is sorted by the value `sort`.
    pub fn sorted(text: impl Into<String>, sort: impl ToString) -> Cell {
        Cell { sort: Some(sort.to_string()), ..Cell::new(text) }
    }

    fn figure(group: &Group, figure: &Figure) -> Cell {
        let Some(found) = group.interval(figure) else { return Cell::new("-") };
        let small = figure.show_interval(&found).unwrap_or_default();
        let is_uncertain = group.is_uncertain(figure);
        Cell { small, is_uncertain, ..Cell::sorted(figure.show(found.median), found.median) }
    }

    /// The cell with the number of runs without a fault, and the number of runs with each kind of fault.
    fn runs(group: &Group) -> Cell {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        let faults = group.runs.iter().filter_map(|run| run.fault.as_ref());
        faults.for_each(|fault| *kinds.entry(&fault.kind).or_default() += 1);
        let kinds: Vec<String> = kinds.into_iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let good = group.good().count();
        Cell { small: kinds.join(", "), ..Cell::sorted(good.to_string(), good) }
    }
}

fn text(name: &str) -> (String, bool) {
    (name.to_owned(), false)
}

fn number(name: &str) -> (String, bool) {
    (name.to_owned(), true)
}

impl PageTable {
    /// The table of all groups. Each run without figures also has a row.
    pub fn of_groups(folder: &Folder, groups: &Groups) -> PageTable {
        let figures = |figures: &[&'static Figure]| figures.iter().map(|figure| number(figure.column)).collect();
        let names = vec![text("Middleware, settings"), number("Message")];
        let conditions = vec![number("Rate"), text("Wait"), text("Path"), number("Runs")];
        let of_groups = groups.groups.iter().enumerate().map(|(index, group)| PageRow::of_group(groups, index, group));
        let missing = folder.shortfalls.iter().map(|(file, shortfall)| {
            let experiment = folder.experiments.folder(file);
            let reason = Cell {
                is_strong: true,
                small: format!("{}: {} ({file})", shortfall.title, shortfall.sentence),
                ..Cell::new(format!("No figures, {}.", shortfall.kind))
            };
            PageRow {
                cells: vec![Cell::new(shown_contestant(&shortfall.contestant)), reason],
                class: "failed",
                data: vec![
                    ("middleware", middleware_of(&shortfall.contestant).to_lowercase()),
                    ("experiment", experiment),
                ],
            }
        });
        PageTable {
            heads: [names, figures(&FIRST), conditions, figures(&OTHERS)].concat(),
            rows: of_groups.chain(missing).collect(),
        }
    }

    /// The table of a topology, with a row for each contestant and executor.
    pub fn of_topology(groups: &Groups) -> PageTable {
        let names = ["Middleware, settings", "Executor"].map(text).into_iter();
        let numbers = ["Runs"].into_iter().chain(OF_TOPOLOGIES.iter().map(|figure| figure.column)).map(number);
        let row = |group: &Group| {
            let spec = group.conditions();
            let middleware = Cell { small: groups.settings_in_words(group), ..Cell::new(&spec.communicator) };
            let executor = Cell::new(spec.executor.as_deref().unwrap_or_default());
            let figures = OF_TOPOLOGIES.iter().map(|figure| Cell::figure(group, figure));
            let cells = [middleware, executor, Cell::runs(group)].into_iter().chain(figures).collect();
            PageRow { cells, ..PageRow::default() }
        };
        PageTable { heads: names.chain(numbers).collect(), rows: groups.groups.iter().map(row).collect() }
    }

    /// Converts a table of a results file.
    pub fn of_results(table: &Table) -> PageTable {
        let mut rows = table.rows.iter();
        let heads = rows.next().into_iter().flatten().map(|head| text(head)).collect();
        let row = |cells: &Vec<String>| PageRow { cells: cells.iter().map(Cell::new).collect(), ..PageRow::default() };
        PageTable { heads, rows: rows.map(row).collect() }
    }

    /// The table as Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let heads = line(self.heads.iter().map(|(head, _)| plain(head)).collect());
        let rule =
            line(self.heads.iter().map(|(_, is_number)| if *is_number { "---:" } else { "---" }.into()).collect());
        let row = |row: &PageRow| {
            let empty = self.heads.len().saturating_sub(row.cells.len());
            line(row.cells.iter().map(Cell::markdown).chain(std::iter::repeat_n(String::new(), empty)).collect())
        };
        heads + &rule + &self.rows.iter().map(row).collect::<String>()
    }
}

impl PageRow {
    fn of_group(groups: &Groups, index: usize, group: &Group) -> PageRow {
        let spec = group.conditions();
        let (contestant, bytes) = (group.contestant(), spec.message.bytes);
        let names = [
            Cell {
                small: groups.settings_in_words(group),
                link: Some(format!("runs-{index}")),
                ..Cell::sorted(shown_contestant(&contestant), &contestant)
            },
            Cell { small: spec.message.name.clone(), ..Cell::sorted(format_bytes(bytes as u64), bytes) },
        ];
        let rate = Cell::sorted(
            in_words("rate_hz", &spec.rate_hz.to_string()),
            if spec.rate_hz == 0 { u32::MAX } else { spec.rate_hz },
        );
        let path = Cell::new(in_words("zero_copy", &spec.zero_copy.to_string()));
        let conditions = [rate, Cell::new(spec.wait.name()), path, Cell::runs(group)];
        let figures = |figures: &'static [&'static Figure]| figures.iter().map(|figure| Cell::figure(group, figure));
        let cells = names.into_iter().chain(figures(&FIRST)).chain(conditions).chain(figures(&OTHERS)).collect();
        let index = std::iter::once(("group", index.to_string()));
        PageRow { cells, data: index.chain(group.filtered_by()).collect(), class: "" }
    }
}

impl Cell {
    /// The text of the cell and its second text, as Markdown.
    fn markdown(&self) -> String {
        let text = plain(&self.text) + if self.is_uncertain { "\\*" } else { "" };
        match self.small.as_str() {
            "" => text,
            small if self.is_strong || small.starts_with('[') => format!("{text} {}", plain(small)),
            small => format!("{text}, {}", plain(small)),
        }
    }
}

/// Escapes a text for a Markdown cell: characters that are markup, or that would end the cell or the row.
pub fn plain(text: &str) -> String {
    let mut cell = String::new();
    for c in text.chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '<' | '>' => cell.extend(['\\', c]),
            '[' | ']' if text.contains("](") => cell.extend(['\\', c]),
            c if c.is_control() => cell.push(' '),
            c => cell.push(c),
        }
    }
    if cell.trim().is_empty() { "-".to_owned() } else { cell }
}
