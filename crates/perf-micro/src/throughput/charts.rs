//! The charts of the throughput.

use clap::ValueEnum;
use perf_test::report::plot::curves::{Chart, Curve, Layout, Scale};

use super::Throughput;
use crate::{
    options::Named,
    published::throughput::{CURVES, Curve as Published},
    transport::Transport,
};

/// The arrangement of the charts.
pub const LAYOUT: Layout = Layout { columns: 2, height: 520, has_equal_axes: false };

impl Throughput {
    /// The two charts: stream-oriented transports, and packet-oriented transports. The second chart also has the
    /// published curves that correspond to no transport of `perf_micro`.
    pub(super) fn charts(&self) -> Vec<Chart> {
        let chart = |(title, is_packets): (&str, bool)| {
            let mut curves = Vec::new();
            let transports = Transport::value_variants().iter().copied();
            for transport in transports.filter(|transport| transport.is_packet_oriented() == is_packets) {
                let rows = self.rows.iter().filter(|row| row.transport == transport);
                let points: Vec<_> = rows.map(|row| (row.payload_bytes as f64, row.payload_bytes_per_s)).collect();
                if !points.is_empty() {
                    curves.push(Curve::new(transport.name(), points));
                    curves.extend(CURVES.iter().filter(|curve| is_beside(curve, transport)).map(curve_of));
                }
            }
            let (title, scales) = (title.to_owned(), [Scale::Number; 2]);
            Chart { title, across: "bytes of a text", scales, curves, marks: Vec::new() }
        };
        let charts =
            [("Stream-oriented transports (B/s)", false), ("Packet-oriented transports (B/s)", true)].map(chart);
        charts.into_iter().filter(|chart| !chart.curves.is_empty()).collect()
    }
}

/// True if a published curve is drawn next to the curve of `transport`. A published curve that corresponds to no
/// transport of `perf_micro` is drawn next to UDP.
fn is_beside(curve: &Published, transport: Transport) -> bool {
    curve.like.unwrap_or(Transport::Udp) == transport
}

fn curve_of(curve: &Published) -> Curve {
    let points = curve.points().map(|(bytes, bytes_per_s)| (bytes as f64, bytes_per_s)).collect();
    Curve { name: format!("{}, published", curve.name), points, is_pale: true }
}
