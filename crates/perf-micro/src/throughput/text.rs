//! The throughput as tables.

use perf_test::experiments::results_file::{Column, Table};

use super::{Throughput, ThroughputRow};
use crate::{options::Named, published::throughput::CURVES};

const COLUMNS: [Column<ThroughputRow>; 12] = [
    ("transport", |row| row.transport.name()),
    ("text (B)", |row| row.payload_bytes.to_string()),
    ("received/s", |row| format!("{:.1}", row.received_per_s)),
    ("text (B/s)", |row| format!("{:.0}", row.payload_bytes_per_s)),
    ("sent/s", |row| format!("{:.1}", row.sent_per_s)),
    ("lost", |row| row.lost.to_string()),
    ("line used (%)", |row| percent(row.line_utilisation)),
    ("texts/message", |row| format!("{:.2}", row.texts_per_message)),
    ("overhead (%)", |row| percent(Some(row.overhead))),
    ("limit (B/s)", |row| number(row.limit_bytes_per_s)),
    ("of the limit (%)", |row| percent(row.part_of_limit())),
    ("published (B/s)", |row| number(row.published_bytes_per_s)),
];

/// The notes about the differences between the published measurement and this one.
const DIFFERENCES: [&str; 7] = [
    "published: a Renesas EK-RA6M5 with micro-ROS, read from plots; the texts that a ROS 2 subscription received in 5 s",
    "here: a thread of this host with gantry-micro, so the CPU of a microcontroller limits nothing",
    "limit: each text in a message of its own on a line that carries nothing else. A client puts short texts into one message while its line is busy",
    "usb: the published rig is slower than its line, which has the limit of USB full speed here",
    "tcp: the published rig has a WiFi module behind its serial line, here is the serial line's speed only",
    "can-fd: a simulated bus; the published figures were measured at 0.5 Mbit/s without a bit rate switch, which its code does not set",
    "udp: the loopback interface, on which the board sends more than the agent takes, which counts the lost ones (gantry-agent --statistics); the published ones are limited by their CPU",
];

impl Throughput {
    /// The two tables: stream-oriented transports, and packet-oriented transports.
    pub(super) fn tables(&self) -> Vec<Table> {
        let mut tables = Vec::new();
        for (title, is_packets) in [("Stream-oriented transports", false), ("Packet-oriented transports", true)] {
            let rows = self.rows.iter().filter(|row| row.transport.is_packet_oriented() == is_packets);
            let length_s = self.length_s;
            let title = format!("{title}, {length_s} s for each length, from half a second after its first text");
            let mut table = Table::of_columns(title, Vec::new(), &COLUMNS, rows);
            let published = CURVES.iter().filter(|curve| curve.like.is_none() && is_packets);
            table.rows.extend(published.flat_map(|curve| {
                curve.points().map(|(bytes, bytes_per_s)| {
                    let mut row = vec![format!("{}: published only", curve.name), bytes.to_string()];
                    row.extend(std::iter::repeat_n("-".to_owned(), COLUMNS.len() - 3));
                    row.push(format!("{bytes_per_s:.0}"));
                    row
                })
            }));
            tables.extend((table.rows.len() > 1).then_some(table));
        }
        let skipped = self.skipped.iter();
        let skipped = skipped.map(|name| format!("not measured: {name}, whose messages have no room for these texts"));
        if let Some(last) = tables.last_mut() {
            last.notes = DIFFERENCES.map(str::to_owned).into_iter().chain(skipped).collect();
        }
        tables
    }

    pub(super) fn figures(&self) -> impl Iterator<Item = (String, String)> {
        self.rows.iter().flat_map(|row| {
            let name = format!("{}-{}", row.transport.name(), row.payload_bytes);
            let limit = row.part_of_limit();
            let limit = limit.map(|part| (format!("{name}-percent-of-limit"), format!("{:.2}", 100.0 * part)));
            let rate = (format!("{name}-bytes-per-second"), format!("{:.0}", row.payload_bytes_per_s));
            std::iter::once(rate).chain(limit)
        })
    }
}

fn percent(part: Option<f64>) -> String {
    part.map_or("-".to_owned(), |part| format!("{:.1}", 100.0 * part))
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.0}"))
}
