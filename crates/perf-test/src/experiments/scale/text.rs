//! The results of `perf_test scale` as text.

use super::{
    Scale,
    estimate::{Cost, FULL, Held},
    point::{Check, Point},
};
use crate::{
    common::units::{format_mib, format_ns, several},
    experiments::results_file::{Column, ResultsFile, Table},
    log::figures::{
        CPU, CPU_PER_MESSAGE, DUE, Figure, INSTRUMENT_CPU, INSTRUMENT_MEMORY, LATE, LOST, MEAN, P99, PSS, RECEIVED,
        SENT, SKIPPED, START_UP, TOO_LATE, TOO_LATE_COUNT,
    },
};

/// The figures in the columns of the tables.
static FIGURES: [&Figure; 12] = [
    &CPU,
    &CPU_PER_MESSAGE,
    &INSTRUMENT_CPU,
    &PSS,
    &INSTRUMENT_MEMORY,
    &MEAN,
    &P99,
    &LATE,
    &TOO_LATE,
    &LOST,
    &SKIPPED,
    &START_UP,
];

/// The columns of the table that checks the estimate.
const CHECK: [Column<Check>; 9] = [
    ("topology", |check| check.point.name.clone()),
    ("sent of due", |check| check.point.percent(&SENT, &DUE)),
    ("CPU measured", |check| check.point.cost().map_or("-".to_owned(), |cost| cpu(&cost))),
    ("estimated", |check| cpu(&check.estimated)),
    ("error", |check| error(check.cpu_error)),
    ("memory measured", |check| check.point.cost().map_or("-".to_owned(), |cost| format_mib(cost.pss_kib))),
    ("estimated", |check| format_mib(check.estimated.pss_kib)),
    ("error", |check| error(check.memory_error)),
    ("too late", |check| check.point.percent(&TOO_LATE_COUNT, &RECEIVED)),
];

fn cpu(cost: &Cost) -> String {
    format!("{:.1} %", cost.cpu_percent)
}

fn error(error: Option<f64>) -> String {
    error.map_or("-".to_owned(), |error| format!("{:+.0} %", error * 100.0))
}

impl Scale {
    /// The results as the content of `scale.json`.
    pub(super) fn file(&self) -> ResultsFile {
        let of_checks = self.checks.iter().map(|check| &check.point);
        let points = self.sizes.iter().chain(&self.variations).chain(of_checks);
        let runs = points.map(|point| point.results.clone()).collect();
        let file = ResultsFile::new("scale", 1, runs, self.tables());
        ResultsFile { details: serde_json::to_value(self).ok(), ..file }
    }

    /// The tables: the sizes, the variations with the estimate, and the checks of the estimate.
    fn tables(&self) -> Vec<Table> {
        let of_points = |title: String, notes: Vec<String>, points: &[Point]| {
            let rows = points.iter().map(|point| {
                let [endpoints, received_hz] = [point.endpoints(), point.carried().received_hz];
                (vec![point.name.clone(), format!("{endpoints:.0}"), format!("{received_hz:.0}")], &point.results)
            });
            Table::of_runs(title, notes, &["topology", "endpoints", "received/s"], &FIGURES, rows)
        };
        let title = format!(
            "{}, executor {}, {} on {} cores; nodes of {} publishers at {} Hz and {} subscriptions",
            self.communicator,
            self.executor,
            several(self.node.processes, "process", "processes"),
            self.cores,
            self.node.publishers,
            self.node.rate_hz,
            self.node.subscriptions
        );
        let sizes = of_points(title, Vec::new(), &self.sizes);
        let of_memory = "PSS: the memory of all processes, with the files (program, libraries) of one, without the \
                         instrument's counts; instrument: its own threads, and these counts";
        let notes = [vec![of_memory.to_owned()], self.estimate_lines()].concat();
        let variations = of_points("variations, for the fit".to_owned(), notes, &self.variations);
        let title = "checks: topologies that the fit has not seen".to_owned();
        let missing = |check: &Check| Some(format!("{}: {}", check.point.name, check.point.results.missing()?));
        let notes = self.checks.iter().filter_map(missing).chain(self.worst()).collect();
        let checks = Table::of_columns(title, notes, &CHECK, &self.checks);
        let has_checks = self.estimate.is_some() && !self.checks.is_empty();
        [sizes, variations].into_iter().chain(has_checks.then_some(checks)).collect()
    }

    /// The fitted costs as text, and the number of nodes that each machine can run.
    fn estimate_lines(&self) -> Vec<String> {
        let Some(estimate) = &self.estimate else { return Vec::new() };
        let mut lines = vec!["estimate, fitted to these runs".to_owned()];
        lines.extend(estimate.lines().into_iter().map(|line| format!("  {line}")));
        lines.extend(self.misfit().map(|line| format!("  {line}")));
        lines.extend(self.held_lines());
        lines
    }

    /// The number of nodes that each machine can run, with a range. The range is plus and minus the largest error of
    /// the checks.
    fn held_lines(&self) -> Vec<String> {
        let worst = |error: fn(&Check) -> Option<f64>| self.worst_error(error).filter(|error| *error < 1.0);
        let (cpu, memory) = (worst(|check| check.cpu_error), worst(|check| check.memory_error));
        let largest = self.sizes.iter().filter_map(|point| point.shape.as_ref()).map(|shape| shape.nodes).max();
        let line = |held: &Held| {
            let (limit, error) = if held.is_limited_by_memory { ("memory", memory) } else { ("CPU", cpu) };
            let nodes = held.times.floor();
            let range = error.map_or("no error is known".to_owned(), |error| {
                format!("{:.0} to {:.0} with the error of the checks", nodes * (1.0 - error), nodes * (1.0 + error))
            });
            let extrapolated = largest
                .filter(|largest| nodes > *largest as f64)
                .map_or(String::new(), |largest| format!("; more than the {largest} that were measured"));
            format!(
                "  {} cores hold {nodes:.0} such nodes ({range}{extrapolated}), {:.0} messages received a second, in {:.0} % of CPU and \
                 memory; the limit is the {limit}",
                held.cores,
                nodes * self.node.rate_hz * self.node.subscriptions as f64,
                FULL * 100.0
            )
        };
        let mut lines: Vec<String> = self.held.iter().map(line).collect();
        if !lines.is_empty() {
            let period_ns = 1e9 / self.node.rate_hz;
            lines.push(format!(
                "  this is CPU time, not latency: the timers of a period of {} expire together, so the last callback begins after {}",
                format_ns(period_ns),
                format_ns(FULL * period_ns)
            ));
        }
        lines
    }

    /// A sentence on the largest error of the estimate in the runs to which it was fitted. A large error shows that a
    /// sum of component costs does not describe these runs.
    fn misfit(&self) -> Option<String> {
        let estimate = self.estimate.as_ref()?;
        let off = |point: &Point| {
            let measured = point.cost()?.cpu_percent;
            Some((estimate.cost(&point.carried()).cpu_percent / measured - 1.0, point.name.clone()))
        };
        let all = self.sizes.iter().chain(&self.variations).filter_map(off);
        let (error, name) = all.max_by(|(one, _), (other, _)| one.abs().total_cmp(&other.abs()))?;
        Some(format!("of these runs the fit is off most in CPU at {name}: {:+.0} %", error * 100.0))
    }

    /// The largest absolute error among the checks.
    fn worst_error(&self, error: fn(&Check) -> Option<f64>) -> Option<f64> {
        self.checks.iter().filter_map(error).map(f64::abs).reduce(f64::max)
    }

    fn worst(&self) -> Option<String> {
        let [cpu, memory] = [|check: &Check| check.cpu_error, |check: &Check| check.memory_error]
            .map(|error| self.worst_error(error).map(|error| error * 100.0));
        Some(format!("the estimate is off by up to {:.0} % in CPU and {:.0} % in memory on these", cpu?, memory?))
    }
}
