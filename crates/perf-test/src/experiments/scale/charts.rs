//! The charts of the cost over the size.

use super::{Scale, estimate::Cost, figures::Figures, point::Point};
use crate::report::plot::curves::{Chart, Curve, Layout, Scale as Quantity};

/// The places of the charts.
pub const LAYOUT: Layout = Layout { columns: 2, height: 480, has_equal_axes: false };

impl Scale {
    /// The charts of its picture.
    pub(super) fn charts(&self) -> Vec<Chart> {
        let curve = |name: &str, value: &dyn Fn(&Figures) -> f64| {
            let point = |point: &Point| Some((point.endpoints(), value(point.figures.as_ref()?)));
            Curve::new(name.to_owned(), self.sizes.iter().filter_map(point).collect())
        };
        let estimated = |name: &str, value: &dyn Fn(Cost) -> f64| {
            let point =
                |point: &Point| Some((point.endpoints(), value(self.estimate.as_ref()?.cost(&point.carried()))));
            Curve::new(name.to_owned(), self.sizes.iter().filter_map(point).collect())
        };
        let chart = |title: &str, heights, curves| Chart {
            title: title.to_owned(),
            across: "endpoints",
            scales: [Quantity::Number, heights],
            curves,
            marks: Vec::new(),
        };
        let mib = |kib: f64| kib / 1024.0;
        vec![
            chart(
                "CPU (% of a core)",
                Quantity::Number,
                vec![
                    curve("measured", &|of| of.cpu_percent),
                    estimated("estimate", &|cost| cost.cpu_percent),
                    curve("instrument", &|of| of.instrument_percent),
                ],
            ),
            chart(
                "memory (MiB)",
                Quantity::Number,
                vec![
                    curve("measured", &|of| mib(of.pss_kib)),
                    estimated("estimate", &|cost| mib(cost.pss_kib)),
                    curve("instrument", &|of| mib(of.instrument_kib)),
                ],
            ),
            chart(
                "latency from send",
                Quantity::Time,
                vec![
                    curve("mean", &|of| of.latency_mean_ns.unwrap_or(0.0)),
                    curve("p99", &|of| of.latency_p99_ns.unwrap_or(0.0)),
                ],
            ),
            chart(
                "start-up",
                Quantity::Time,
                vec![curve("until all are matched", &|of| of.start_up_ns.unwrap_or(0.0))],
            ),
        ]
    }
}
