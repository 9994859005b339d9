//! The results of the comparison as tables, as a results file, and as panels of a plot.

use super::{CaseResults, Versus};
use crate::{
    common::units::format_rate,
    communicator::shown_contestant,
    experiments::results_file::{MEANING_OF_INTERVALS, ResultsFile, RunResults, Table, notes_of, ratio_tables},
    log::figures::{CPU_PER_MESSAGE, Figure, LOST, P50, P99, PEAK_MEMORY, PHASES, PSS, RECEIVED_HZ, THROUGHPUT},
    report::plot::dots::{Dot, Panel},
};

/// The figures of the first table of a case. The other figures are in a second table to keep the rows short.
static FIGURES: [&Figure; 3] = [&P50, &P99, &LOST];
/// The figures of the second table.
static COSTS: [&Figure; 5] = [&CPU_PER_MESSAGE, &PEAK_MEMORY, &PSS, &RECEIVED_HZ, &THROUGHPUT];
/// The note below the table that explains the two figures of memory.
const MEMORY: &str = "memory: the sum of the processes' peaks, daemons included; pages that they share count in each. \
    PSS: at the end of the run; shared pages count once, and the instrument's counts do not";
/// The figures of the plot, each with the title of its panels.
static PICTURED: [(&str, &Figure); 3] =
    [("median latency", &P50), ("CPU time per message", &CPU_PER_MESSAGE), ("memory", &PEAK_MEMORY)];

impl Versus {
    /// The results as the content of `versus.json`.
    #[must_use]
    pub fn file(&self) -> ResultsFile {
        let runs = self.cases.iter().flat_map(|case| &case.rows).cloned();
        let tables = self.cases.iter().flat_map(|case| self.tables(case)).chain(ratio_tables(&self.ratios));
        let file = ResultsFile::new("compare middlewares", self.rounds, runs.collect(), tables.collect());
        ResultsFile { ratios: self.ratios.clone(), ..file }
    }

    /// The tables of a case: latency and losses; costs; and the phases of the latency, if they were measured. The first
    /// table also lists the contestants without figures.
    fn tables(&self, case: &CaseResults) -> Vec<Table> {
        let of_measured = |title: &str, notes, figures: &[&Figure]| {
            let measured = case.rows.iter().filter(|row| row.medians.is_some());
            let rows = measured.map(|row| (vec![shown_contestant(&row.contestant)], row));
            Table::of_runs(format!("{}: {title}", case.case.name), notes, &["contestant"], figures, rows)
        };
        let costs = of_measured("CPU time, memory and throughput", vec![MEMORY.to_owned()], &COSTS);
        let phases = || of_measured("mean times of the parts of a message's way", Vec::new(), &PHASES.each_ref());
        let of_interval = (self.rounds > 1).then(|| MEANING_OF_INTERVALS.to_owned());
        let notes = of_interval.into_iter().chain(case.rows.iter().flat_map(|row| notes_of(&row.contestant, [row])));
        let rows = case.rows.iter().map(|row| {
            let RunResults { contestant, path, wait, .. } = row;
            (vec![shown_contestant(contestant), (*path).to_owned(), wait.clone()], row)
        });
        let (title, conditions) = (case.title(self.rounds), ["contestant", "path", "wait"]);
        let of_case = Table::of_runs(title, notes.collect(), &conditions, &FIGURES, rows);
        [of_case, costs].into_iter().chain(case.case.options.measuring.phases.then(phases)).collect()
    }

    /// The panels of the plot: latency, CPU time and memory for each case.
    #[must_use]
    pub fn panels(&self) -> Vec<Panel> {
        let bases: Vec<&String> = self.ratios.iter().map(|ratio| &ratio.base).collect();
        let panel = |case: &CaseResults, (name, figure): (&str, &Figure)| Panel {
            title: format!("{}: {name}", case.case.name),
            unit: figure.unit,
            dots: case
                .rows
                .iter()
                .map(|row| Dot {
                    name: shown_contestant(&row.contestant),
                    is_base: bases.contains(&&row.contestant),
                    values: row.rounds.iter().flatten().filter_map(|values| values.get(figure)).collect(),
                    missing: row.shortfall.as_ref().map(|shortfall| shortfall.kind.to_string()),
                })
                .collect(),
        };
        self.cases.iter().flat_map(|case| PICTURED.map(|pictured| panel(case, pictured))).collect()
    }
}

impl CaseResults {
    fn title(&self, rounds: u32) -> String {
        let (name, qos) = (&self.case.name, self.case.qos());
        let first = self.rows.iter().find(|row| row.message_bytes > 0);
        let run = first.map_or(String::new(), |run| {
            let rate = run.option("rate").and_then(|rate| rate.parse().ok()).map_or(String::new(), format_rate);
            format!("{}, {} bytes, {rate}, ", run.option("msg").unwrap_or_default(), run.message_bytes)
        });
        let rounds = if rounds == 1 { "one round".to_owned() } else { format!("medians of {rounds} rounds") };
        format!("{name}: {run}{qos}; {rounds}")
    }
}
