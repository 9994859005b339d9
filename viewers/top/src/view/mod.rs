//! The picture of the table: a line about the domain, a table, a line with the keys.

mod topic;

use crate::{
    app::{App, View},
    sample::Sample,
    table::{
        columns::{Column, header, widths},
        nodes, topics,
    },
};
use gantry_command::text::{bytes, utc};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Modifier, Style, Stylize},
    text::{Line, Span},
    widgets::{Paragraph, Row, Table},
};

/// The keys, as the last line has them; the first ones matter most.
const KEYS: [&str; 9] = [
    "q quit",
    "? help",
    "arrows select, sort",
    "r reverse",
    "Enter topic",
    "n nodes",
    "/ filter",
    "h hidden",
    "p pause",
];

const HELP: &str = "\
up, down, PgUp, PgDn  select a row       Enter  its ends and holders
left, right           sort by a column   Esc    back; clears the filter
r                     reverse the order  n, t   nodes, topics
/                     filter names       h      hidden names, services
p, space              pause, go on       q      quit

HZ       messages a second of all publishers
BYTES/S  HZ x the mean length of the newest messages
LAG      messages that the slowest subscription has not taken yet;
         red: a publisher waits for it
LOST     messages that subscriptions lost since they matched;
         red: some in the last interval
MEMORY   files of the publishers
HELD BY  processes that hold messages in their slots";

/// Draws what the user chose.
pub fn draw(app: &mut App, frame: &mut Frame<'_>) {
    let sample = app.shown();
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]).areas(frame.area());
    frame.render_widget(heading(app, &sample, head.width), head);
    match app.view().clone() {
        _ if app.has_help() => frame.render_widget(Paragraph::new(HELP), body),
        View::Topics => {
            let names: Vec<&str> = sample.topics.iter().map(|topic| topic.name.as_str()).collect();
            table(app, frame, body, topics::COLUMNS, &sample.topics, &names);
        }
        View::Nodes => {
            let names: Vec<&str> = sample.nodes.iter().map(|node| node.name.as_str()).collect();
            table(app, frame, body, nodes::COLUMNS, &sample.nodes, &names);
        }
        View::Topic(name) => topic::draw(app.topic(), &name, frame, body),
    }
    frame.render_widget(keys(app, foot.width), foot);
}

fn heading<'a>(app: &App, sample: &Sample, width: u16) -> Paragraph<'a> {
    let time: String = utc(sample.time_ns).chars().skip(11).take(8).collect();
    let mut parts = vec![
        format!("domain {}", sample.domain_id),
        format!("{} processes", sample.processes),
        format!("{} topics", sample.topics.len()),
        format!("{} nodes", sample.nodes.len()),
        bytes(sample.used_bytes),
        format!("{time} UTC"),
    ];
    if app.is_paused() {
        parts.insert(0, "PAUSED".to_owned());
    }
    if !sample.problems.is_empty() {
        parts.insert(0, format!("{} problems: gantry doctor", sample.problems.len()));
    }
    let mut line = "gantry top  ".to_owned();
    for part in parts {
        // A part is shown as a whole or not at all.
        if line.chars().count() + part.chars().count() <= usize::from(width) {
            line += &part;
            line += "  ";
        }
    }
    Paragraph::new(line).bold()
}

fn keys<'a>(app: &App, width: u16) -> Paragraph<'a> {
    let (filter, is_filtering) = app.filter();
    let mut spans = Vec::new();
    if is_filtering {
        spans.push(Span::raw(format!("filter: {filter}_  (Enter keeps it, Esc clears it)")).bold());
    } else {
        let mut left = usize::from(width);
        if !filter.is_empty() {
            let text = format!("filter: {filter}  ");
            left = left.saturating_sub(text.chars().count());
            spans.push(Span::raw(text).bold());
        }
        for key in KEYS {
            let text = format!("{key}  ");
            if text.len() > left + 2 {
                break;
            }
            left = left.saturating_sub(text.len());
            spans.push(Span::raw(text));
        }
    }
    Paragraph::new(Line::from(spans)).style(Style::new().add_modifier(Modifier::DIM))
}

/// Draws rows whose names are `names`.
fn table<Item>(
    app: &mut App,
    frame: &mut Frame<'_>,
    area: Rect,
    columns: &[Column<Item>],
    items: &[Item],
    names: &[&str],
) {
    if items.is_empty() {
        let text = match app.filter().0 {
            "" => "nothing is here yet",
            _ => "no name contains the filter",
        };
        frame.render_widget(Paragraph::new(text), area);
        return;
    }
    let shown: Vec<(usize, &Column<Item>)> =
        columns.iter().enumerate().filter(|(_, column)| column.from_width <= area.width).collect();
    let row = |item: &Item| Row::new(shown.iter().map(|(_, column)| column.cell(item)).collect::<Vec<_>>());
    let table = Table::new(items.iter().map(row), widths(shown.iter().map(|(_, column)| *column)))
        .header(header(&shown, Some(app.order())))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let selected = app.selected(names);
    app.scroll.select(selected);
    frame.render_stateful_widget(table, area, &mut app.scroll);
}
