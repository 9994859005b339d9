//! The charts of the throughput.

use perf_worker::choice::Choice;

use super::Throughput;
use crate::{
    published::throughput::{CURVES, Curve as Published},
    transport::Transport,
};
use perf_test::report::plot::throughput::{Chart, Curve};

impl Throughput {
    /// The charts of its picture: stream-oriented transports, and packet-oriented ones with the published-only ones.
    pub(super) fn charts(&self) -> Vec<Chart> {
        [("Stream-oriented transports (B/s)", false), ("Packet-oriented transports (B/s)", true)]
            .map(|(title, is_packets)| {
                let mut curves: Vec<(Curve, Vec<Curve>)> = Vec::new();
                for (transport, ..) in Transport::ALL {
                    let rows = self.rows.iter().filter(|row| row.transport == *transport);
                    let points =
                        rows.map(|row| (row.payload_bytes as f64, row.payload_bytes_per_s)).collect::<Vec<_>>();
                    if !points.is_empty() && transport.is_packet_oriented() == is_packets {
                        let published = CURVES.iter().filter(|curve| is_beside(curve, *transport)).map(curve_of);
                        curves.push((Curve { name: transport.name().to_owned(), points }, published.collect()));
                    }
                }
                Chart { title: title.to_owned(), curves }
            })
            .into_iter()
            .filter(|chart| !chart.curves.is_empty())
            .collect()
    }
}

/// Whether a published curve is drawn beside a transport: one that is like no other is of UDP.
fn is_beside(curve: &Published, transport: Transport) -> bool {
    curve.like.unwrap_or(Transport::Udp) == transport
}

fn curve_of(curve: &Published) -> Curve {
    let points = curve.points.iter().map(|(bytes, bytes_per_s)| (*bytes as f64, *bytes_per_s)).collect();
    Curve { name: format!("{}, published", curve.name), points }
}
