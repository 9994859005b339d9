//! One run of a folder: its conditions and figures, also of a run that was killed or failed.

use super::figures::{COUNT, FIGURES, LATENCIES, latencies};
use crate::common::warning::Warning;
use crate::log::{Log, RowEntry, RunEntry};
use crate::system::System;
use perf_worker::measure::cells::Cells;

/// The way in which a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It measured.
    Good,
    /// Its measurement is worthless; the reason.
    Failed(String),
    /// It ended before its time: by Ctrl-C or a signal, or because all its publishers or all its subscriptions had
    /// exited.
    Stopped,
    /// It was killed, or still runs: it has rows and no summary.
    Killed,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The name of its log in the folder.
    pub file: String,
    /// The experiment that it belongs to; empty if the folder has none.
    pub experiment: String,
    /// The form of its contestant, as `best`; none if it is measured as it is, or its log does not say it.
    pub form: Option<String>,
    /// Its description.
    pub entry: RunEntry,
    /// The machine; `None` if the log describes it in another way.
    pub machine: Option<System>,
    /// The way in which it ended.
    pub ending: Ending,
    /// The values of [`FIGURES`].
    pub values: [Option<f64>; COUNT],
    /// Samples with a latency.
    pub samples: u64,
    /// The measured time, s.
    pub measured_s: f64,
    /// The distribution of its latencies.
    pub cells: Cells,
    /// Its seconds.
    pub seconds: Vec<Second>,
    /// The reasons not to trust it without a second look.
    pub warnings: Vec<Warning>,
}

/// A second of a run.
#[derive(Clone, Copy, Debug)]
pub struct Second {
    /// From the start to its end, s.
    pub t_s: f64,
    /// The first metrics, those of the latency, ns.
    pub latencies: [Option<f64>; LATENCIES],
}

impl Run {
    /// Of a log.
    pub fn of(log: Log, file: String) -> Run {
        let Log { run: entry, environment, rows, summary, .. } = log;
        let seconds = rows.iter().map(second).collect();
        let machine = serde_json::from_value(serde_json::Value::Object(environment)).ok();
        let mut cells = Cells::default();
        let Some(summary) = summary else {
            rows.iter().for_each(|row| cells.add(&row.total.latency.cells));
            let (values, samples) = (values_of_rows(&rows, &cells), cells.n());
            let measured_s = rows.iter().map(|row| row.length_s).sum();
            let (ending, warnings) = (Ending::Killed, Vec::new());
            let (experiment, form) = Default::default();
            return Run {
                file,
                experiment,
                form,
                entry,
                machine,
                ending,
                values,
                samples,
                measured_s,
                cells,
                seconds,
                warnings,
            };
        };
        cells.add(&summary.total.latency.cells);
        let values = std::array::from_fn(|i| FIGURES[i].value(&summary));
        Run {
            ending: match summary.failure {
                Some(why) => Ending::Failed(why),
                None if summary.stopped_early => Ending::Stopped,
                None => Ending::Good,
            },
            values,
            samples: summary.total.latency.n,
            measured_s: summary.measured_s,
            warnings: summary.warnings,
            experiment: String::new(),
            form: None,
            file,
            entry,
            machine,
            cells,
            seconds,
        }
    }

    /// The contestant as it is spelt: the middleware, and its form if it has one.
    pub fn contestant(&self) -> String {
        let middleware = &self.entry.spec.communicator;
        self.form.as_ref().map_or_else(|| middleware.clone(), |form| format!("{middleware}:{form}"))
    }
}

fn second(row: &RowEntry) -> Second {
    Second { t_s: row.t_s, latencies: latencies(&row.total.latency) }
}

/// The latencies of a run without a summary; its other figures are not known.
fn values_of_rows(rows: &[RowEntry], cells: &Cells) -> [Option<f64>; COUNT] {
    let quantile = |quantile| (cells.n() > 0).then(|| cells.quantile_ns(quantile) as f64);
    let max = rows.iter().filter_map(|row| row.total.latency.max_ns).reduce(f64::max);
    let mut values = [None; COUNT];
    values[..LATENCIES].copy_from_slice(&[quantile(0.5), quantile(0.99), quantile(0.999), max]);
    values
}
