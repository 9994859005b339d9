//! One run of a folder of results, with its options and figures. Killed and failed runs are included.

use super::figures::{LATENCIES, latencies};
use crate::common::warning::Warning;
use crate::log::{Log, RowEntry, RunEntry, Summary, figures::Values};
use crate::system::System;
use perf_worker::measure::cells::Cells;

/// A run of the folder, read from its log.
#[derive(Clone, Debug)]
pub struct Run {
    /// The path of the run's log, relative to the folder.
    pub file: String,
    /// The experiment to which the run belongs; empty if the folder has no experiments.
    pub experiment: String,
    /// The contestant's settings in short, for example `best`; `None` for default settings, or if the path of the log
    /// does not contain them.
    pub form: Option<String>,
    /// The run as its log describes it.
    pub entry: RunEntry,
    /// The machine; `None` if the format of its description in the log is unknown.
    pub machine: Option<System>,
    /// The reason why the run's figures are left out of medians. Its kind is `failed`, `killed` or `stopped early`.
    pub fault: Option<Warning>,
    /// The figures of the run. A killed run has only latencies.
    pub values: Values,
    /// The number of samples with a latency.
    pub samples: u64,
    /// The histogram of the latencies.
    pub cells: Cells,
    /// For each second, its end (in s from the start) and its latencies in ns.
    pub seconds: Vec<(f64, [Option<f64>; LATENCIES.len()])>,
    /// The warnings of the run: the reasons to check its results before they are trusted.
    pub warnings: Vec<Warning>,
}

impl Run {
    /// Creates the run from a log, whose path is `file`.
    pub fn new(log: Log, file: String) -> Run {
        let Log { run: entry, environment, rows, summary, .. } = log;
        let mut cells = Cells::default();
        let totals = || rows.iter().map(|row| &row.total).filter(|_| summary.is_none());
        let of_summary = summary.iter().map(|summary| &summary.total);
        of_summary.chain(totals()).for_each(|total| cells.add(&total.latency.cells));
        Run {
            fault: fault(summary.as_ref(), &rows),
            values: summary.as_ref().map_or_else(|| values_of_rows(&rows, &cells), Values::from_run),
            samples: summary.as_ref().map_or_else(|| cells.n(), |summary| summary.total.latency.n),
            seconds: rows.iter().map(|row| (row.t_s, latencies(&row.total.latency))).collect(),
            machine: serde_json::from_value(serde_json::Value::Object(environment)).ok(),
            warnings: summary.map(|summary| summary.warnings).unwrap_or_default(),
            experiment: String::new(),
            form: None,
            file,
            entry,
            cells,
        }
    }

    /// The contestant, spelt as on the command line: the middleware, then its settings if there are any.
    pub fn contestant(&self) -> String {
        let middleware = &self.entry.spec.communicator;
        self.form.as_ref().map_or_else(|| middleware.clone(), |form| format!("{middleware}:{form}"))
    }

    /// The fault of the run, if any, and its warnings.
    pub fn problems(&self) -> impl Iterator<Item = &Warning> {
        self.fault.iter().chain(&self.warnings)
    }
}

/// The reason why the figures of a run are left out of medians; `None` if they are included.
fn fault(summary: Option<&Summary>, rows: &[RowEntry]) -> Option<Warning> {
    let (kind, sentence) = match summary {
        None => {
            let measured_s: f64 = rows.iter().map(|row| row.length_s).sum();
            ("killed", format!("it was killed or still runs: no summary after {measured_s:.1} s"))
        }
        Some(Summary { failure: Some(why), .. }) => ("failed", why.clone()),
        Some(run) if run.stopped_early => ("stopped early", format!("it ended after {:.1} s", run.measured_s)),
        Some(_) => return None,
    };
    Some(Warning { kind: kind.to_owned(), sentence, hint: "The figures are in no median".to_owned() })
}

/// The latencies of a run that has rows but no summary. Its other figures are unknown.
fn values_of_rows(rows: &[RowEntry], cells: &Cells) -> Values {
    let quantile = |quantile| (cells.n() > 0).then(|| cells.quantile_ns(quantile) as f64);
    let max = rows.iter().filter_map(|row| row.total.latency.max_ns).reduce(f64::max);
    let found = [quantile(0.5), quantile(0.99), quantile(0.999), max];
    Values::known(LATENCIES.into_iter().zip(found).filter_map(|(figure, value)| Some((figure, value?))))
}
