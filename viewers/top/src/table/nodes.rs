//! The table of nodes.

use super::columns::{Column, count, falling, rate};
use crate::sample::{Node, byte_rate, pid_first};
use gantry_command::text::bytes;

/// The columns of the table of nodes.
pub const COLUMNS: &[Column<Node>] = &[
    Column::text("NODE", 0, 0, |node| node.name.clone(), |one, other| one.name.cmp(&other.name)),
    Column::text("PID PROCESS", 0, 60, |node| pid_first(&node.process), |one, other| one.process.cmp(&other.process)),
    Column::text(
        "PUB",
        4,
        0,
        |node| node.publishers.to_string(),
        |one, other| falling(one.publishers, other.publishers),
    ),
    Column::text(
        "SUB",
        4,
        0,
        |node| node.subscriptions.to_string(),
        |one, other| falling(one.subscriptions, other.subscriptions),
    ),
    Column::text("SRV", 4, 90, |node| node.services.to_string(), |one, other| falling(one.services, other.services)),
    Column::text("CLI", 4, 90, |node| node.clients.to_string(), |one, other| falling(one.clients, other.clients)),
    Column::text("HZ", 7, 0, |node| rate(node.rate_hz), |one, other| falling(one.rate_hz, other.rate_hz)),
    Column::text(
        "BYTES/S",
        8,
        90,
        |node| byte_rate(node.bytes_per_s),
        |one, other| falling(one.bytes_per_s, other.bytes_per_s),
    ),
    Column::text("LOST", 7, 0, |node| count(node.lost), |one, other| falling(one.lost, other.lost)),
    Column::text("MEMORY", 7, 0, |node| bytes(node.used_bytes), |one, other| falling(one.used_bytes, other.used_bytes)),
];
