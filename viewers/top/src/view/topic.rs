//! The view of one topic: its publishers, its subscriptions, and the processes that hold messages.

use crate::{
    sample::{Held, Publisher, Subscription, Topic, byte_rate, pid_first},
    table::columns::{Column, count, falling, rate, table},
};
use gantry_command::text::bytes;
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::Stylize,
    widgets::Paragraph,
};
use std::cmp::Ordering;

/// Compares two rows as equal, so that the tables in this file keep the order of the sample.
fn as_found<Item>(_: &Item, _: &Item) -> Ordering {
    Ordering::Equal
}

const PUBLISHERS: &[Column<Publisher>] = &[
    Column::text("PUBLISHER", 0, 0, |row| row.node.clone(), as_found),
    Column::text("PID PROCESS", 0, 0, |row| pid_first(&row.process), as_found),
    Column::text("HZ", 7, 0, |row| rate(row.rate_hz), as_found),
    Column::text("BYTES/S", 8, 0, |row| byte_rate(row.bytes_per_s), as_found),
    Column::text("LENGTH", 7, 100, |row| bytes(row.message_bytes), as_found),
    Column::text("SENT", 8, 100, |row| count(row.newest), as_found),
    Column::text("KEEPS", 6, 100, |row| count(row.kept), as_found),
    Column::text("SUB", 4, 0, |row| row.matched.to_string(), as_found),
    Column::text("MEMORY", 7, 0, |row| bytes(row.used_bytes), as_found),
    Column {
        title: "WAITS",
        width: 5,
        from_width: 76,
        text: |row| if row.is_blocked { "yes" } else { "" }.to_owned(),
        order: as_found,
        is_alarm: |row| row.is_blocked,
    },
];

const SUBSCRIPTIONS: &[Column<Subscription>] = &[
    Column::text("SUBSCRIPTION", 0, 0, |row| row.node.clone(), as_found),
    Column::text("PID PROCESS", 0, 0, |row| pid_first(&row.process), as_found),
    Column::text("LAG", 6, 0, |row| row.lag.map_or("-".to_owned(), count), |one, other| falling(one.lag, other.lag)),
    Column::text("DEPTH", 6, 0, |row| row.depth.map_or("all".to_owned(), |depth| count(depth.into())), as_found),
    Column {
        title: "LOST",
        width: 7,
        from_width: 0,
        text: |row| count(row.lost),
        order: as_found,
        is_alarm: |row| row.lost_per_s.is_some_and(|rate| rate > 0.0),
    },
    Column::text("LOST/S", 7, 76, |row| rate(row.lost_per_s), as_found),
];

const HOLDERS: &[Column<Held>] = &[
    Column::text("HELD BY (PID PROCESS)", 0, 0, |row| pid_first(&row.process), as_found),
    Column::text("MESSAGES", 9, 0, |row| row.messages.to_string(), as_found),
    Column::text("BYTES", 8, 0, |row| bytes(row.bytes), as_found),
];

/// Draws the topic, or a sentence if the topic no longer exists.
pub fn draw(topic: Option<&Topic>, name: &str, frame: &mut Frame<'_>, area: Rect) {
    let Some(topic) = topic else {
        frame.render_widget(Paragraph::new(format!("{name} is gone; Esc goes back")), area);
        return;
    };
    let height = |rows: usize| Constraint::Length(u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(2));
    let [title, publishers, subscriptions, holders] = Layout::vertical([
        Constraint::Length(2),
        height(topic.publishers.len()),
        height(topic.subscriptions.len()),
        height(topic.held.len()),
    ])
    .areas(area);
    let totals = format!("{name}  {}  {} Hz  {}/s", topic.type_name, rate(topic.rate_hz), byte_rate(topic.bytes_per_s));
    frame.render_widget(Paragraph::new(totals).bold(), title);
    frame.render_widget(table(PUBLISHERS, &topic.publishers, area.width, None), publishers);
    frame.render_widget(table(SUBSCRIPTIONS, &topic.subscriptions, area.width, None), subscriptions);
    if !topic.held.is_empty() {
        frame.render_widget(table(HOLDERS, &topic.held, area.width, None), holders);
    }
}
