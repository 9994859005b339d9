//! The comparison as text tables, as a results file and as CSV.

use super::FIGURES;
use super::plan::LabelledRun;
use super::record::Gap;
use super::setup::Setup;
use super::table::{Cell, Comparison, LabelledResults};
use crate::{
    common::distinct,
    experiments::results_file::{ResultsFile, RunResults, Table, headings},
    log::figures::Figure,
};

impl Comparison {
    /// The tables: one for each run, one with the best conditions, and one with the state of the machine under each
    /// condition. The last table also has the notes.
    fn tables(&self) -> Vec<Table> {
        let of_runs = self.runs.iter().map(|run| self.table(run));
        let best = (self.conditions.len() > 1).then(|| self.best());
        of_runs.chain(best).chain([self.machines()]).collect()
    }

    /// The comparison as the content of `conditions.json`.
    #[must_use]
    pub fn file(&self) -> ResultsFile {
        let cells = self.runs.iter().flat_map(|run| &run.cells);
        let runs: Vec<RunResults> = cells.map(|cell| cell.results.clone()).collect();
        let rounds = runs.iter().map(|run| run.rounds.len()).max().unwrap_or_default();
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        let file = ResultsFile::new("compare conditions", rounds, runs, self.tables());
        ResultsFile { details: serde_json::to_value(self).ok(), ..file }
    }

    fn table(&self, run: &LabelledResults) -> Table {
        let mut rows = vec![headings(&["condition", "n"], &FIGURES)];
        for cell in &run.cells {
            let figures = FIGURES.iter().zip(&run.best).map(|(figure, best)| {
                let shown = cell.interval(figure).map(|found| figure.show_median(&found));
                shown.map_or("-".to_owned(), |shown| shown + best.mark(&cell.condition))
            });
            rows.push([cell.condition.clone(), cell.logs.len().to_string()].into_iter().chain(figures).collect());
        }
        for gap in self.missing.iter().filter(|gap| gap.label.as_ref().is_none_or(|label| *label == run.run.label)) {
            if run.cells.iter().all(|cell| cell.condition != gap.condition) {
                let word = if gap.label.is_none() { "skipped" } else { "missing" };
                rows.push(vec![gap.condition.clone(), word.to_owned()]);
            }
        }
        let LabelledRun { label, arguments } = &run.run;
        let arguments = if arguments.is_empty() { "defaults".to_owned() } else { arguments.join(" ") };
        Table { title: format!("{label}: {arguments}"), rows, notes: Vec::new() }
    }

    fn best(&self) -> Table {
        let row = |run: &LabelledResults| {
            let words = run.best.iter().map(|best| best.words(run.cells.len()));
            std::iter::once(run.run.label.clone()).chain(words).collect()
        };
        let rows = std::iter::once(headings(&["run"], &FIGURES)).chain(self.runs.iter().map(row)).collect();
        Table { title: "Best conditions".to_owned(), rows, notes: Vec::new() }
    }

    fn machines(&self) -> Table {
        let mut rows = vec![std::iter::once("condition").chain(Setup::COLUMNS).map(str::to_owned).collect::<Vec<_>>()];
        for condition in &self.conditions {
            let values = condition.machine.columns();
            rows.push(std::iter::once(condition.name.as_str()).chain(values).map(str::to_owned).collect());
        }
        let lines = distinct(self.conditions.iter().map(|condition| &condition.machine.command_line));
        let lines = lines.into_iter().map(|line| {
            let own = self.conditions.iter().filter(|condition| condition.machine.command_line == *line);
            let names: Vec<&str> = own.map(|condition| condition.name.as_str()).collect();
            format!("command line of {}: {line}", names.join(", "))
        });
        let notes = lines.chain(self.notes()).collect();
        Table { title: "Conditions".to_owned(), rows, notes }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.missing.iter().map(Gap::sentence).collect();
        let machines = distinct(self.conditions.iter().map(|condition| condition.machine.machine.as_str()));
        if machines.len() > 1 {
            notes.push(format!(
                "these are several machines ({}): conditions of one machine compare",
                machines.join("; ")
            ));
        }
        let of_cell = |run: &LabelledResults, cell: &Cell| {
            cell.results.warnings.note(&format!("{}, {}", run.run.label, cell.condition))
        };
        notes.extend(self.runs.iter().flat_map(|run| run.cells.iter().filter_map(move |cell| of_cell(run, cell))));
        let cells = self.runs.iter().flat_map(|run| &run.cells);
        let intervals = cells.flat_map(|cell| FIGURES.iter().filter_map(|figure| cell.interval(figure)));
        let confidence = intervals.map(|found| found.confidence).fold(1.0, f64::min);
        notes.push(format!(
            "Medians of n rounds; the interval in parentheses holds the true median with {:.1} %. * is the best condition, = are \
             conditions that show no difference from it (Mann-Whitney, 95 %, without a correction for several comparisons).",
            confidence * 100.0
        ));
        let bests = self.runs.iter().flat_map(|run| &run.best);
        if bests.into_iter().any(|best| best.condition.is_some() && !best.is_confident) {
            notes.push(
                "? too few rounds for a verdict with 95 %, on a best condition as on a tie: give `rounds: 4` or more"
                    .to_owned(),
            );
        }
        notes
    }

    /// The comparison as CSV, with a row for each run under each condition.
    #[must_use]
    pub fn csv(&self) -> String {
        let of_figure = |figure: &&Figure| ["median", "low", "high"].map(|part| format!("{}_{part}", figure.field));
        let mut header = ["run", "condition", "rounds"].map(str::to_owned).to_vec();
        header.extend(FIGURES.iter().flat_map(of_figure));
        header.extend(
            ["machine"].into_iter().chain(Setup::COLUMNS).chain(["command_line", "arguments"]).map(str::to_owned),
        );
        let mut text = row(&header);
        for run in &self.runs {
            for cell in &run.cells {
                let mut values = vec![run.run.label.clone(), cell.condition.clone(), cell.logs.len().to_string()];
                for found in FIGURES.map(|figure| cell.interval(figure)) {
                    let found = found.map(|found| [found.median, found.low, found.high].map(|value| value.to_string()));
                    values.extend(found.unwrap_or_default());
                }
                let Some(condition) = self.conditions.iter().find(|one| one.name == cell.condition) else { continue };
                let machine = &condition.machine;
                values.push(machine.machine.clone());
                values.extend(machine.columns().map(str::to_owned));
                values.extend([machine.command_line.clone(), run.run.arguments.join(" ")]);
                text.push_str(&row(&values));
            }
        }
        text
    }
}

impl Gap {
    /// The gap as a sentence, with the run or condition and the reason.
    #[must_use]
    pub fn sentence(&self) -> String {
        match &self.label {
            None => format!("{}: skipped: {}", self.condition, self.reason),
            Some(label) => format!("{label}, {}: rounds are missing: {}", self.condition, self.reason),
        }
    }
}

fn row(values: &[String]) -> String {
    let quoted = |value: &String| match value.contains([',', '"', '\n']) {
        true => format!("\"{}\"", value.replace('"', "\"\"")),
        false => value.clone(),
    };
    values.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
}
