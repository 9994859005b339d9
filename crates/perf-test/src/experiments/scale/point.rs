//! A topology with its figures, and with the figures of the estimate.

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

/// A topology and its figures.
#[derive(Debug, Serialize)]
pub struct Point {
    /// Its name in the tables.
    pub name: String,
    /// None of a topology that was not generated.
    pub shape: Option<Shape>,
    /// As it was planned.
    pub load: Load,
    /// The results of its run.
    #[serde(flatten, serialize_with = "in_details")]
    pub results: RunResults,
}

/// Serialises the results for the JSON file: the figures, with [`P99`] under a second name, or the reason why there are
/// no figures.
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

/// A check of the estimate.
#[derive(Debug, Serialize)]
pub struct Check {
    /// The topology.
    #[serde(flatten)]
    pub point: Point,
    /// For the messages that were sent.
    pub estimated: Cost,
    /// The estimate divided by the measurement, less 1; null without figures.
    pub cpu_error: Option<f64>,
    /// The same of the memory.
    pub memory_error: Option<f64>,
}

impl Point {
    /// Its endpoints.
    pub fn endpoints(&self) -> f64 {
        self.load.publishers + self.load.subscriptions
    }

    /// A figure; none if it was not measured.
    pub fn figure(&self, figure: &Figure) -> Option<f64> {
        self.results.medians.as_ref()?.get(figure)
    }

    /// A part of a count in percent, with its unit.
    pub fn percent(&self, part: &Figure, of: &Figure) -> String {
        let [part, of] = [part, of].map(|figure| self.figure(figure).unwrap_or_default());
        crate::common::units::Unit::Percent.show(100.0 * part / of.max(1.0))
    }

    /// The load of the messages that were sent, because a message that is not sent costs nothing. A run without figures
    /// has its planned load.
    pub fn carried(&self) -> Load {
        let count = |figure| self.figure(figure).unwrap_or_default();
        let part = |of: f64, all: f64| if all > 0.0 { of / all } else { 1.0 };
        let (sent, received) = (count(&SENT), count(&RECEIVED));
        self.load.faster(part(sent, count(&DUE)), part(received, received + count(&LOST)))
    }

    /// Its cost.
    pub fn cost(&self) -> Option<Cost> {
        Some(Cost { cpu_percent: self.figure(&CPU)?, pss_kib: self.figure(&PSS)? })
    }

    /// The load that it carried and its cost.
    pub fn measured(&self) -> Option<(Load, Cost)> {
        Some((self.carried(), self.cost()?))
    }
}

impl Check {
    /// The check of an estimate by a topology.
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
