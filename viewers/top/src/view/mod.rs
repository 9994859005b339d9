//! The contents of the screen: a line about the domain, a table, and a line with the keys.

mod topic;

use crate::{
    app::{App, View},
    sample::Sample,
    table::{columns::table, nodes, topics},
};
use gantry_command::text::{bytes, utc};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style, Stylize},
    text::{Line, Span},
    widgets::Paragraph,
};

/// The keys in the last line, sorted by importance, because a narrow terminal shows only the first ones.
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

/// Draws the whole screen: heading, table, and keys.
pub fn draw(app: &mut App, frame: &mut Frame<'_>) {
    let sample = app.shown();
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]).areas(frame.area());
    frame.render_widget(heading(app, &sample, head.width), head);
    match app.view().clone() {
        _ if app.has_help() => frame.render_widget(Paragraph::new(HELP), body),
        View::Topic(name) => topic::draw(app.topic(), &name, frame, body),
        View::Topics if sample.topics.is_empty() => draw_nothing(app, frame, body),
        View::Nodes if sample.nodes.is_empty() => draw_nothing(app, frame, body),
        view => {
            let table = match view {
                View::Nodes => table(nodes::COLUMNS, &sample.nodes, body.width, Some(app.order())),
                _ => table(topics::COLUMNS, &sample.topics, body.width, Some(app.order())),
            };
            let selected = app.selected(&sample);
            app.scroll.select(selected);
            frame.render_stateful_widget(table, body, &mut app.scroll);
        }
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
        // A part is shown completely or not at all.
        if line.chars().count() + part.chars().count() <= usize::from(width) {
            line += &part;
            line += "  ";
        }
    }
    Paragraph::new(line).bold()
}

fn keys<'a>(app: &App, width: u16) -> Paragraph<'a> {
    if let Some(failure) = app.failure() {
        return Paragraph::new(format!("no new sample: {failure}")).style(Style::new().fg(Color::Red));
    }
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

/// Draws the reason why a table has no rows.
fn draw_nothing(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let text = match app.filter().0 {
        "" => "nothing is here yet",
        _ => "no name contains the filter",
    };
    frame.render_widget(Paragraph::new(text), area);
}
