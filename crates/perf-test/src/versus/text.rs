//! The results as tables on the terminal and in Markdown, and as the panels of the picture.

use std::collections::BTreeSet;

use super::{CaseResults, Versus, meaning, row::Row};
use crate::{
    figures::{CPU_PER_MESSAGE, Figure, LOST, P50, P99, PEAK_MEMORY, PHASES, RECEIVED_HZ, THROUGHPUT},
    report::{
        plot::dots::{Dot, Panel},
        tables::{markdown_table, table},
    },
    units::format_rate,
};

/// The columns before those of the figures.
const CONDITIONS: [&str; 3] = ["contestant", "path", "wait"];
/// The figures of the table.
static FIGURES: [&Figure; 7] = [&P50, &P99, &CPU_PER_MESSAGE, &PEAK_MEMORY, &RECEIVED_HZ, &THROUGHPUT, &LOST];
/// The figures of the picture, with their titles.
static PICTURED: [(&str, &Figure); 3] =
    [("median latency", &P50), ("CPU time per message", &CPU_PER_MESSAGE), ("memory", &PEAK_MEMORY)];

impl Versus {
    /// The results as lines of text: a table for each case, the ratios, and their meaning.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for case in &self.cases {
            lines.push(String::new());
            lines.extend(table(&case.title(self.rounds), &self.rows(case)));
            if case.phases {
                lines.push(String::new());
                lines.extend(table("mean times of the parts of a message's way", &case.phase_rows()));
            }
            lines.extend(case.notes());
        }
        lines.push(String::new());
        lines.extend(self.ratios.iter().map(ToString::to_string));
        lines.extend(self.meaning());
        lines
    }

    /// The same in Markdown.
    #[must_use]
    pub fn markdown(&self) -> Vec<String> {
        let mut lines = vec!["# Contestants side by side".to_owned()];
        for case in &self.cases {
            lines.extend([String::new(), format!("## {}", case.title(self.rounds)), String::new()]);
            lines.extend(markdown_table(&self.rows(case)));
            if case.phases {
                lines.extend([String::new(), "Mean times of the parts of a message's way:".to_owned(), String::new()]);
                lines.extend(markdown_table(&case.phase_rows()));
            }
            let notes = case.notes();
            if !notes.is_empty() {
                lines.push(String::new());
            }
            lines.extend(notes.into_iter().map(|note| format!("- {note}")));
        }
        if !self.ratios.is_empty() {
            lines.extend([String::new(), "## Ratios".to_owned(), String::new()]);
            let header = ["base / contestant", "case", "figure", "ratio", "the base is"].map(str::to_owned).to_vec();
            let ratios = self.ratios.iter().map(|ratio| {
                let case = ratio.case.clone().unwrap_or_default();
                let pair = format!("{} / {}", ratio.base, ratio.other);
                vec![pair, case, ratio.figure.clone(), ratio.value(), ratio.base_is.clone()]
            });
            lines.extend(markdown_table(&std::iter::once(header).chain(ratios).collect::<Vec<_>>()));
        }
        lines.push(String::new());
        lines.extend(self.meaning());
        lines
    }

    /// The panels of the picture: latency, CPU time and memory of each case.
    #[must_use]
    pub fn panels(&self) -> Vec<Panel> {
        let bases: Vec<&String> = self.ratios.iter().map(|ratio| &ratio.base).collect();
        let panel = |case: &CaseResults, (name, figure): (&str, &Figure)| Panel {
            title: format!("{}: {name}", case.name),
            unit: figure.unit,
            dots: case
                .rows
                .iter()
                .map(|row| Dot {
                    name: row.contestant.clone(),
                    is_base: bases.contains(&&row.contestant),
                    values: row.rounds.iter().flatten().filter_map(|values| values.get(figure)).collect(),
                    missing: row.shortfall.as_ref().map(|shortfall| shortfall.kind.to_string()),
                })
                .collect(),
        };
        self.cases.iter().flat_map(|case| PICTURED.map(|pictured| panel(case, pictured))).collect()
    }

    /// The rows of a case's table.
    fn rows(&self, case: &CaseResults) -> Vec<Vec<String>> {
        let bases: BTreeSet<&str> = self.ratios.iter().map(|ratio| ratio.base.as_str()).collect();
        let mut bases = bases.into_iter();
        let one = bases.next().filter(|_| bases.next().is_none());
        let base = one.unwrap_or("base");
        let ratios = [format!("{base}/its p50"), format!("{base}/its CPU")];
        let columns = FIGURES.iter().map(|figure| figure.column);
        let header = CONDITIONS.into_iter().chain(columns).map(str::to_owned);
        let mut rows = vec![header.chain(ratios).collect::<Vec<String>>()];
        for row in &case.rows {
            let Some(medians) = &row.medians else {
                let kind = row.shortfall.as_ref().map_or("not done".to_owned(), |shortfall| shortfall.kind.to_string());
                rows.push(vec![row.contestant.clone(), kind]);
                continue;
            };
            let ratio = |figure: &str| {
                let found = self.ratios.iter().filter(|ratio| {
                    ratio.other == row.contestant && ratio.figure == figure && ratio.case.as_ref() == Some(&case.name)
                });
                let of_base = |ratio: &super::Ratio| match one {
                    Some(_) => ratio.value(),
                    None => format!("{}: {}", ratio.base, ratio.value()),
                };
                found.map(of_base).collect::<Vec<_>>().join("; ")
            };
            let conditions = [row.contestant.clone(), row.path.to_owned(), row.wait.clone()].into_iter();
            let figures = FIGURES.iter().map(|figure| medians.show(figure));
            rows.push(conditions.chain(figures).chain([ratio("latency"), ratio("cpu")]).collect());
        }
        rows
    }

    /// The meaning of the figures.
    fn meaning(&self) -> Vec<String> {
        let of_memory =
            "Memory is the sum of the processes' peaks, daemons included; pages that they share count in each.";
        std::iter::once(of_memory.to_owned()).chain(meaning(&self.ratios)).collect()
    }
}

impl CaseResults {
    fn title(&self, rounds: u32) -> String {
        let rate = format_rate(self.rate_hz);
        let rounds = if rounds == 1 { "one round".to_owned() } else { format!("medians of {rounds} rounds") };
        format!("{}: {}, {} bytes, {rate}, {}; {rounds}", self.name, self.message, self.message_bytes, self.qos)
    }

    /// The rows of the table of phases.
    fn phase_rows(&self) -> Vec<Vec<String>> {
        let header =
            std::iter::once("contestant").chain(PHASES.iter().map(|phase| phase.column)).map(str::to_owned).collect();
        let measured = self.rows.iter().filter_map(|row| Some((row, row.medians.as_ref()?)));
        let rows = measured.map(|(row, medians)| {
            let times = PHASES.iter().map(|phase| medians.show(phase));
            std::iter::once(row.contestant.clone()).chain(times).collect()
        });
        std::iter::once(header).chain(rows).collect()
    }

    /// The sentences about rows that are not what was asked for.
    fn notes(&self) -> Vec<String> {
        self.rows.iter().flat_map(Row::notes).collect()
    }
}

impl Row {
    fn notes(&self) -> Vec<String> {
        let name = &self.contestant;
        let mut notes = Vec::new();
        if let Some(asked) = self.wait_asked {
            notes.push(format!("{name} cannot wait `{asked}` and has its nearest: {}", self.wait));
        }
        if let Some(qos) = &self.qos_instead {
            notes.push(format!("{name} lacks that QoS and has its nearest: {qos}"));
        }
        if let Some(medians) = self.medians.as_ref().filter(|medians| medians.copied() > 0) {
            notes.push(format!(
                "{name} copied messages {} times, on publish or on take, although zero copy was asked for",
                medians.copied()
            ));
        }
        notes.extend(self.remarks.iter().map(|remark| format!("{name}: {remark}")));
        notes.extend(self.warnings.note(name));
        if let Some(shortfall) = &self.shortfall {
            let n = self.missing;
            let times = if n == 1 { "one run has no figures".to_owned() } else { format!("{n} runs have no figures") };
            notes.push(format!("{name}: {times}; it {}: {}", shortfall.kind, shortfall.sentence));
        }
        notes
    }
}
