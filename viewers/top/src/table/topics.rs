//! The table of topics.

use super::columns::{Column, count, falling, rate};
use crate::sample::{Topic, byte_rate};
use gantry_command::text::bytes;

/// The columns of the table of topics.
pub const COLUMNS: &[Column<Topic>] = &[
    Column::text("TOPIC", 0, 0, |topic| topic.name.clone(), |one, other| one.name.cmp(&other.name)),
    Column::text("HZ", 7, 0, |topic| rate(topic.rate_hz), |one, other| falling(one.rate_hz, other.rate_hz)),
    Column::text(
        "BYTES/S",
        8,
        0,
        |topic| byte_rate(topic.bytes_per_s),
        |one, other| falling(one.bytes_per_s, other.bytes_per_s),
    ),
    Column::text(
        "PUB",
        4,
        0,
        |topic| topic.publishers.len().to_string(),
        |one, other| falling(one.publishers.len(), other.publishers.len()),
    ),
    Column::text(
        "SUB",
        4,
        0,
        |topic| topic.subscriptions.len().to_string(),
        |one, other| falling(one.subscriptions.len(), other.subscriptions.len()),
    ),
    Column {
        title: "LAG",
        width: 6,
        from_width: 0,
        text: |topic| count(topic.lag),
        order: |one, other| falling(one.lag, other.lag),
        is_alarm: |topic| topic.publishers.iter().any(|publisher| publisher.is_blocked),
    },
    Column {
        title: "LOST",
        width: 7,
        from_width: 0,
        text: |topic| count(topic.lost),
        order: |one, other| falling(one.lost, other.lost),
        is_alarm: |topic| topic.lost_per_s.is_some_and(|rate| rate > 0.0),
    },
    Column::text(
        "MEMORY",
        7,
        0,
        |topic| bytes(topic.used_bytes),
        |one, other| falling(one.used_bytes, other.used_bytes),
    ),
    Column::text("HELD BY", 40, 120, Topic::held_by, |one, other| {
        let bytes = |topic: &Topic| topic.held.iter().map(|held| held.bytes).sum::<u64>();
        falling(bytes(one), bytes(other))
    }),
    Column::text("TYPE", 32, 150, |topic| topic.type_name.clone(), |one, other| one.type_name.cmp(&other.type_name)),
];
