//! A measured topology with its figures, and the comparison of the estimate with these figures.

use serde::{Serialize, Serializer};

use super::{
    estimate::{Cost, Estimate},
    load::Load,
    shape::Shape,
};
use crate::{
    experiments::results_file::RunResults,
    log::figures::{CPU, DUE, Figure, LOST, P99, PSS, RECEIVED, SENT, Values},
};

/// A topology with its measured figures.
#[derive(Debug, Serialize)]
pub struct Point {
    /// The name of the topology in the tables.
    pub name: String,
    /// The shape of a generated topology; `None` for a topology from a file.
    pub shape: Option<Shape>,
    /// The load that the topology should have.
    pub load: Load,
    /// The measured results.
    #[serde(flatten, serialize_with = "in_details")]
    pub results: RunResults,
}

/// Serialises the results for `scale.json`: the figures, or the reason why there are none. [`P99`] is written under two
/// names.
fn in_details<S: Serializer>(results: &RunResults, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct InDetails {
        figures: Option<serde_json::Map<String, serde_json::Value>>,
        missing: Option<String>,
    }
    let figures = results.medians.as_ref().map(|medians| {
        let mut figures = medians.object(Values::all());
        figures.insert("latency_p99_ns".to_owned(), medians.get(&P99).into());
        figures
    });
    InDetails { figures, missing: results.missing() }.serialize(serializer)
}

/// The comparison of the estimate with a measured topology that was not used for the fit.
#[derive(Debug, Serialize)]
pub struct Check {
    /// The measured topology.
    #[serde(flatten)]
    pub point: Point,
    /// The estimated cost of the messages that were actually sent.
    pub estimated: Cost,
    /// The relative error of the CPU time: estimate / measurement - 1; null without figures.
    pub cpu_error: Option<f64>,
    /// The relative error of the memory: estimate / measurement - 1; null without figures.
    pub memory_error: Option<f64>,
}

impl Point {
    /// The number of publishers and subscriptions together.
    pub fn endpoints(&self) -> f64 {
        self.load.publishers + self.load.subscriptions
    }

    /// A figure of the run; `None` if it was not measured.
    pub fn figure(&self, figure: &Figure) -> Option<f64> {
        self.results.medians.as_ref()?.get(figure)
    }

    /// The figure `part` as a percentage of the figure `of`, as text.
    pub fn percent(&self, part: &Figure, of: &Figure) -> String {
        let [part, of] = [part, of].map(|figure| self.figure(figure).unwrap_or_default());
        crate::common::units::Unit::Percent.show(100.0 * part / of.max(1.0))
    }

    /// The load of the messages that were actually sent. Without figures, the planned load.
    pub fn carried(&self) -> Load {
        let count = |figure| self.figure(figure).unwrap_or_default();
        let part = |of: f64, all: f64| if all > 0.0 { of / all } else { 1.0 };
        let (sent, received) = (count(&SENT), count(&RECEIVED));
        self.load.faster(part(sent, count(&DUE)), part(received, received + count(&LOST)))
    }

    /// The measured cost; `None` without figures.
    pub fn cost(&self) -> Option<Cost> {
        Some(Cost { cpu_percent: self.figure(&CPU)?, pss_kib: self.figure(&PSS)? })
    }

    /// The load of the messages that were actually sent, and the measured cost.
    pub fn measured(&self) -> Option<(Load, Cost)> {
        Some((self.carried(), self.cost()?))
    }
}

impl Check {
    /// Compares the estimate with the measured cost of a topology.
    pub fn new(point: Point, estimate: &Estimate) -> Check {
        let estimated = estimate.cost(&point.carried());
        let error = |value: fn(&Cost) -> f64| {
            let measured = value(&point.cost()?);
            (measured > 0.0).then(|| value(&estimated) / measured - 1.0)
        };
        let (cpu_error, memory_error) = (error(|cost| cost.cpu_percent), error(|cost| cost.pss_kib));
        Check { point, estimated, cpu_error, memory_error }
    }
}
