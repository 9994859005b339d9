//! The results as tables and as a file, and as the panels of the picture.

use super::{CaseResults, Versus, row::Row};
use crate::{
    common::units::format_rate,
    experiments::results_file::{ResultsFile, RunResults, Table, headings, notes_of, ratio_tables},
    log::figures::{CPU_PER_MESSAGE, Figure, LOST, P50, P99, PEAK_MEMORY, PHASES, RECEIVED_HZ, THROUGHPUT},
    report::plot::dots::{Dot, Panel},
};

/// The figures of the table.
static FIGURES: [&Figure; 7] = [&P50, &P99, &CPU_PER_MESSAGE, &PEAK_MEMORY, &RECEIVED_HZ, &THROUGHPUT, &LOST];
/// The meaning of the memory.
const MEMORY: &str = "memory: the sum of the processes' peaks, daemons included; pages that they share count in each";
/// The figures of the picture, with their titles.
static PICTURED: [(&str, &Figure); 3] =
    [("median latency", &P50), ("CPU time per message", &CPU_PER_MESSAGE), ("memory", &PEAK_MEMORY)];

impl Versus {
    /// The results as a file has them.
    #[must_use]
    pub fn file(&self) -> ResultsFile {
        let runs = self.cases.iter().flat_map(|case| &case.rows).map(|row| row.results.clone());
        let tables = self.cases.iter().flat_map(|case| self.tables(case)).chain(ratio_tables(&self.ratios));
        let file = ResultsFile::new("compare middlewares", self.rounds, runs.collect(), tables.collect());
        ResultsFile { ratios: self.ratios.clone(), ..file }
    }

    /// The table of a case, and that of the parts of a message's way if they were measured.
    fn tables(&self, case: &CaseResults) -> Vec<Table> {
        let phases = || {
            let title = format!("{}: mean times of the parts of a message's way", case.case.name);
            Table { title, rows: case.phase_rows(), notes: Vec::new() }
        };
        let notes = case.rows.iter().flat_map(Row::notes).chain([MEMORY.to_owned()]).collect();
        let of_case = Table { title: case.title(self.rounds), rows: case.rows(), notes };
        [of_case].into_iter().chain(case.case.options.measuring.phases.then(phases)).collect()
    }

    /// The panels of the picture: latency, CPU time and memory of each case.
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
                    name: row.results.contestant.clone(),
                    is_base: bases.contains(&&row.results.contestant),
                    values: row.results.rounds.iter().flatten().filter_map(|values| values.get(figure)).collect(),
                    missing: row.results.shortfall.as_ref().map(|shortfall| shortfall.kind.to_string()),
                })
                .collect(),
        };
        self.cases.iter().flat_map(|case| PICTURED.map(|pictured| panel(case, pictured))).collect()
    }
}

impl CaseResults {
    fn title(&self, rounds: u32) -> String {
        let (name, qos) = (&self.case.name, self.case.qos());
        let first = self.rows.iter().map(|row| &row.results).find(|results| results.message_bytes > 0);
        let run = first.map_or(String::new(), |run| {
            let rate = run.option("rate").and_then(|rate| rate.parse().ok()).map_or(String::new(), format_rate);
            format!("{}, {} bytes, {rate}, ", run.option("msg").unwrap_or_default(), run.message_bytes)
        });
        let rounds = if rounds == 1 { "one round".to_owned() } else { format!("medians of {rounds} rounds") };
        format!("{name}: {run}{qos}; {rounds}")
    }

    /// The rows of the table.
    fn rows(&self) -> Vec<Vec<String>> {
        let row = |Row { results, path, .. }: &Row| match (&results.medians, &results.shortfall) {
            (Some(medians), _) => {
                let conditions = [results.contestant.clone(), (*path).to_owned(), results.wait.clone()];
                conditions.into_iter().chain(FIGURES.iter().map(|figure| medians.show(figure))).collect()
            }
            (None, Some(shortfall)) => vec![results.contestant.clone(), shortfall.kind.to_string()],
            (None, None) => vec![results.contestant.clone(), "not done".to_owned()],
        };
        std::iter::once(headings(&["contestant", "path", "wait"], &FIGURES)).chain(self.rows.iter().map(row)).collect()
    }

    /// The rows of the table of phases.
    fn phase_rows(&self) -> Vec<Vec<String>> {
        let header = headings(&["contestant"], &PHASES.each_ref());
        let measured = self.rows.iter().filter_map(|row| Some((&row.results, row.results.medians.as_ref()?)));
        let rows = measured.map(|(row, medians)| {
            let times = PHASES.iter().map(|phase| medians.show(phase));
            std::iter::once(row.contestant.clone()).chain(times).collect()
        });
        std::iter::once(header).chain(rows).collect()
    }
}

impl Row {
    fn notes(&self) -> Vec<String> {
        let RunResults { contestant: name, wait, shortfall, .. } = &self.results;
        let mut notes = Vec::new();
        if let Some(asked) = self.wait_asked {
            notes.push(format!("{name} cannot wait `{asked}` and has its nearest: {wait}"));
        }
        if let Some(qos) = &self.qos_instead {
            notes.push(format!("{name} lacks that QoS and has its nearest: {qos}"));
        }
        notes.extend(notes_of(name, std::iter::once(&self.results)));
        if let Some(shortfall) = shortfall {
            let n = self.missing;
            let times = if n == 1 { "one run has no figures".to_owned() } else { format!("{n} runs have no figures") };
            notes.push(format!("{name}: {times}; it {}: {}", shortfall.kind, shortfall.sentence));
        }
        notes
    }
}
