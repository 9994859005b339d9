//! The charts of a topology's cost (CPU, memory, latency) over its size.

use super::{Scale, estimate::Cost, point::Point};
use crate::{
    log::figures::{CPU, Figure, INSTRUMENT_CPU, INSTRUMENT_MEMORY, MEAN, P99, PSS, START_UP},
    report::plot::curves::{Chart, Curve, Layout, Scale as Quantity},
};

/// The arrangement of the charts in the SVG.
pub const LAYOUT: Layout = Layout { columns: 2, height: 480, has_equal_axes: false };

const KIB_PER_MIB: f64 = 1024.0;

impl Scale {
    /// The charts of the SVG.
    pub(super) fn charts(&self) -> Vec<Chart> {
        let curve = |name: &str, value: &dyn Fn(&Point) -> Option<f64>| {
            let point = |point: &Point| Some((point.endpoints(), value(point)?));
            Curve::new(name.to_owned(), self.sizes.iter().filter_map(point).collect())
        };
        let measured =
            |name: &str, figure: &Figure, unit: f64| curve(name, &|point| Some(point.figure(figure)? / unit));
        let estimated = |value: fn(Cost) -> f64| {
            curve("estimate", &|point| Some(value(self.estimate.as_ref()?.cost(&point.carried()))))
        };
        let chart = |title: &str, heights, curves| Chart {
            title: title.to_owned(),
            across: "endpoints",
            scales: [Quantity::Number, heights],
            curves,
            marks: Vec::new(),
        };
        let of_cpu = vec![
            measured("measured", &CPU, 1.0),
            estimated(|cost| cost.cpu_percent),
            measured("instrument", &INSTRUMENT_CPU, 1.0),
        ];
        let of_memory = vec![
            measured("measured", &PSS, KIB_PER_MIB),
            estimated(|cost| cost.pss_kib / KIB_PER_MIB),
            measured("instrument", &INSTRUMENT_MEMORY, KIB_PER_MIB),
        ];
        let of_latency = vec![measured("mean", &MEAN, 1.0), measured("p99", &P99, 1.0)];
        vec![
            chart("CPU (% of a core)", Quantity::Number, of_cpu),
            chart("memory (MiB)", Quantity::Number, of_memory),
            chart("latency from send", Quantity::Time, of_latency),
            chart("start-up", Quantity::Time, vec![measured("until all are matched", &START_UP, 1.0)]),
        ]
    }
}
