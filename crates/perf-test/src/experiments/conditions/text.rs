//! The comparison as text, and as CSV.

use super::FIGURES;
use super::record::Gap;
use super::setup::Setup;
use super::table::{Cell, Comparison, LabelledResults};
use crate::{
    experiments::results_file::{self, ResultsFile, Table},
    log::figures::{Figure, Values},
    measure::interval::CONFIDENCE,
};

impl Comparison {
    /// As lines of text: a table for each run, the best conditions, and the machine under each condition.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let tables: Vec<Vec<String>> = self.tables().iter().map(Table::lines).collect();
        tables.join(&String::new())
    }

    /// The tables: one for each run, the best conditions, and the machine under each condition with all notes.
    fn tables(&self) -> Vec<Table> {
        let of_runs = self.runs.iter().map(|run| self.of_run(run));
        let best = (self.conditions.len() > 1).then(|| self.best());
        of_runs.chain(best).chain([self.machines()]).collect()
    }

    /// The comparison as a file has it.
    #[must_use]
    pub fn file(&self) -> ResultsFile {
        let cells = self.runs.iter().flat_map(|run| run.cells.iter().map(move |cell| (run, cell)));
        let runs = cells.map(|(run, cell)| results_file::RunResults {
            contestant: run.label.clone(),
            options: vec![("condition".to_owned(), cell.condition.clone())],
            arguments: run.arguments.clone(),
            medians: Values::together(&cell.rounds.iter().collect::<Vec<_>>()),
            rounds: cell.rounds.iter().cloned().map(Some).collect(),
            warnings: cell.warnings.clone(),
            ..results_file::RunResults::default()
        });
        let runs: Vec<results_file::RunResults> = runs.collect();
        let rounds = runs.iter().map(|run| run.rounds.len()).max().unwrap_or_default();
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        let file = ResultsFile::new("compare conditions", rounds, runs, self.tables());
        ResultsFile { details: serde_json::to_value(self).ok(), ..file }
    }

    fn of_run(&self, run: &LabelledResults) -> Table {
        let mut header = vec!["condition".to_owned(), "n".to_owned()];
        header.extend(FIGURES.iter().map(|figure| figure.column.to_owned()));
        let mut rows = vec![header];
        for cell in &run.cells {
            let mut row = vec![cell.condition.clone(), cell.logs.len().to_string()];
            let figures = FIGURES.iter().zip(&cell.figures).zip(&run.best);
            row.extend(figures.map(|((figure, found), best)| {
                let shown = found.interval.as_ref().map(|found| figure.show_median(found));
                shown.map_or("-".to_owned(), |shown| shown + best.mark(&cell.condition))
            }));
            rows.push(row);
        }
        for gap in self.missing.iter().filter(|gap| gap.label.as_ref().is_none_or(|label| *label == run.label)) {
            if run.cells.iter().all(|cell| cell.condition != gap.condition) {
                let word = if gap.label.is_none() { "skipped" } else { "missing" };
                rows.push(vec![gap.condition.clone(), word.to_owned()]);
            }
        }
        let title = format!(
            "{}: {}",
            run.label,
            if run.arguments.is_empty() { "defaults".to_owned() } else { run.arguments.join(" ") }
        );
        Table { title, rows, notes: Vec::new() }
    }

    fn best(&self) -> Table {
        let mut header = vec!["run".to_owned()];
        header.extend(FIGURES.iter().map(|figure| figure.column.to_owned()));
        let mut rows = vec![header];
        for run in &self.runs {
            let words = run.best.iter().map(|best| best.words(run.cells.len()));
            rows.push(std::iter::once(run.label.clone()).chain(words).collect());
        }
        Table { title: "Best conditions".to_owned(), rows, notes: Vec::new() }
    }

    fn machines(&self) -> Table {
        let mut rows = vec![std::iter::once("condition").chain(Setup::COLUMNS).map(str::to_owned).collect::<Vec<_>>()];
        for condition in &self.conditions {
            let values = condition.machine.columns();
            rows.push(std::iter::once(condition.name.as_str()).chain(values).map(str::to_owned).collect());
        }
        let mut known: Vec<(&str, Vec<&str>)> = Vec::new();
        for condition in &self.conditions {
            let line = condition.machine.command_line.as_str();
            match known.iter_mut().find(|(other, _)| *other == line) {
                Some((_, names)) => names.push(&condition.name),
                None => known.push((line, vec![&condition.name])),
            }
        }
        let lines = known.into_iter().map(|(line, names)| format!("command line of {}: {line}", names.join(", ")));
        let notes = lines.chain(self.notes()).collect();
        Table { title: "Conditions".to_owned(), rows, notes }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.missing.iter().map(Gap::sentence).collect();
        let mut machines: Vec<&str> =
            self.conditions.iter().map(|condition| condition.machine.machine.as_str()).collect();
        machines.sort_unstable();
        machines.dedup();
        if machines.len() > 1 {
            notes.push(format!(
                "these are several machines ({}): conditions of one machine compare",
                machines.join("; ")
            ));
        }
        let of_cell =
            |run: &LabelledResults, cell: &Cell| cell.warnings.note(&format!("{}, {}", run.label, cell.condition));
        notes.extend(self.runs.iter().flat_map(|run| run.cells.iter().filter_map(move |cell| of_cell(run, cell))));
        let intervals = self.runs.iter().flat_map(|run| &run.cells).flat_map(|cell| &cell.figures);
        let confidence =
            intervals.filter_map(|figure| figure.interval).map(|found| found.confidence).fold(1.0, f64::min);
        notes.push(format!(
            "Medians of n rounds; the interval in parentheses holds the true median with {:.1} %. * is the best condition, = are \
             conditions whose intervals overlap with that of the lowest median: no difference is shown.",
            confidence * 100.0
        ));
        if confidence < CONFIDENCE {
            notes.push(
                "? too few rounds for a verdict with 95 %, on a best condition as on a tie: give `rounds: 6` or more"
                    .to_owned(),
            );
        }
        notes
    }

    /// As CSV: a line for each run and condition.
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
                let mut values = vec![run.label.clone(), cell.condition.clone(), cell.logs.len().to_string()];
                for figure in &cell.figures {
                    let found = figure
                        .interval
                        .map(|found| [found.median, found.low, found.high].map(|value| value.to_string()));
                    values.extend(found.unwrap_or_default());
                }
                let Some(condition) = self.conditions.iter().find(|one| one.name == cell.condition) else { continue };
                let machine = &condition.machine;
                values.push(machine.machine.clone());
                values.extend(machine.columns().map(str::to_owned));
                values.extend([machine.command_line.clone(), run.arguments.join(" ")]);
                text.push_str(&row(&values));
            }
        }
        text
    }
}

impl Gap {
    /// The run, or the condition, and the reason.
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
