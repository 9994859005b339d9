//! A topology with its figures, and with those of the estimate.

use serde::Serialize;

use crate::experiments::results_file::RunResults;

use super::{
    estimate::{Cost, Estimate},
    figures::Figures,
    load::Load,
    shape::Shape,
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
    /// Null if it has no figures.
    pub figures: Option<Figures>,
    /// The reason why it has none.
    pub missing: Option<String>,
    /// The results as files of results have them.
    #[serde(skip)]
    pub results: RunResults,
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

    /// The load that it carried: as it was planned where it has no figures.
    pub fn carried(&self) -> Load {
        self.figures.as_ref().map_or(self.load, |figures| figures.carried(&self.load))
    }

    /// The load that it carried and its cost.
    pub fn measured(&self) -> Option<(Load, Cost)> {
        Some((self.carried(), self.figures.as_ref()?.cost()))
    }
}

impl Check {
    /// Of an estimate.
    pub fn of(point: Point, estimate: &Estimate) -> Check {
        let estimated = estimate.cost(&point.carried());
        let error = |value: fn(&Cost) -> f64| {
            let measured = value(&point.figures.as_ref()?.cost());
            (measured > 0.0).then(|| value(&estimated) / measured - 1.0)
        };
        let (cpu_error, memory_error) = (error(|cost| cost.cpu_percent), error(|cost| cost.pss_kib));
        Check { point, estimated, cpu_error, memory_error }
    }
}
