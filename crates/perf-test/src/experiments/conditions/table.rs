//! The comparison of all runs under all conditions, with the best condition for each figure and the state of the
//! machine under each condition.

use std::path::PathBuf;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::plan::LabelledRun;
use super::record::{ConditionEntry, Gap, Measured};
use super::{FIGURES, best::Best};
use crate::{
    common::distinct,
    experiments::results_file::RunResults,
    log::figures::{Figure, LATE_COUNT, LOST, RECEIVED, TOO_LATE_COUNT},
    measure::interval::Interval,
};

/// The comparison. It is the field `details` of `conditions.json`.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The conditions, in the order of the plan.
    pub conditions: Vec<ConditionEntry>,
    /// The runs.
    pub runs: Vec<LabelledResults>,
    /// The conditions and the runs without figures.
    pub missing: Vec<Gap>,
}

/// A run under all conditions.
#[derive(Debug, Serialize)]
pub struct LabelledResults {
    /// The label and the arguments of the run.
    #[serde(flatten)]
    pub run: LabelledRun,
    /// The figures of the run under each condition. A condition without figures is left out.
    pub cells: Vec<Cell>,
    /// The best condition for each figure.
    pub best: Vec<Best>,
}

/// The results of a run under one condition.
#[derive(Debug)]
pub struct Cell {
    /// The name of the condition.
    pub condition: String,
    /// The paths of the logs of all rounds.
    pub logs: Vec<PathBuf>,
    /// The figures of all rounds. The field for the contestant contains the label of the run.
    pub results: RunResults,
}

impl Comparison {
    /// Compares measured rounds, which may come from several folders.
    ///
    /// # Errors
    /// The reason, as a sentence: two runs with the same label have different arguments.
    pub fn new(mut measured: Vec<Measured>, mut gaps: Vec<Gap>) -> Result<Comparison, String> {
        measured.sort_by_key(|one| one.position);
        gaps.sort_by_key(|gap| gap.position);
        let mut conditions = distinct(measured.iter().map(|one| one.condition.clone()));
        let names = names(&conditions);
        for (condition, name) in conditions.iter_mut().zip(names) {
            let own = measured.iter_mut().filter(|one| one.condition == *condition);
            own.for_each(|one| one.condition.name.clone_from(&name));
            condition.name = name;
        }
        let labels = distinct(measured.iter().map(|one| one.run.label.as_str()));
        let results = labels.into_iter().map(|label| LabelledResults::new(label, &measured, &conditions));
        let runs = results.collect::<Result<_, String>>()?;
        // A gap is dropped if its condition was skipped on one boot but measured on another.
        let is_there = |gap: &Gap| {
            gap.label.is_none() && conditions.iter().any(|condition| condition.settings.name == gap.condition)
        };
        let missing = distinct(gaps.into_iter().filter(|gap| !is_there(gap)));
        Ok(Comparison { conditions, runs, missing })
    }
}

/// Unique names for the conditions. If several have the same name, their kernel, boot or number is added.
fn names(conditions: &[ConditionEntry]) -> Vec<String> {
    let name = |(index, one): (usize, &ConditionEntry)| {
        let (name, machine) = (&one.settings.name, &one.machine);
        let alike = || conditions.iter().enumerate().filter(|(_, other)| other.settings.name == *name);
        if alike().count() == 1 {
            return name.clone();
        }
        let has_own_kernel = alike().all(|(other, one)| other == index || one.machine.kernel != machine.kernel);
        let is_other_boot = alike().all(|(_, one)| one.machine == *machine);
        let number = alike().take_while(|(other, _)| *other != index).count() + 1;
        match (has_own_kernel, is_other_boot) {
            (true, _) => format!("{name} ({})", machine.kernel),
            (_, true) => format!("{name} (boot {number})"),
            _ => format!("{name} ({number})"),
        }
    };
    conditions.iter().enumerate().map(name).collect()
}

impl LabelledResults {
    fn new(label: &str, measured: &[Measured], conditions: &[ConditionEntry]) -> Result<LabelledResults, String> {
        let own: Vec<&Measured> = measured.iter().filter(|one| one.run.label == label).collect();
        if let [first, .., other] = distinct(own.iter().map(|one| &one.run.arguments))[..] {
            return Err(format!(
                "the run {label} has the arguments `{}` in one place and `{}` in another: only equal runs are compared",
                first.join(" "),
                other.join(" ")
            ));
        }
        let arguments = own.first().map(|one| one.run.arguments.clone()).unwrap_or_default();
        let cell = |condition: &ConditionEntry| {
            let rounds = || own.iter().filter(|one| one.condition == *condition);
            Cell {
                condition: condition.name.clone(),
                logs: rounds().map(|one| one.log.clone()).collect(),
                results: RunResults {
                    options: vec![("condition".to_owned(), condition.name.clone())],
                    arguments: arguments.clone(),
                    ..RunResults::of_rounds(label, &rounds().map(|one| Some(&one.round)).collect::<Vec<_>>())
                },
            }
        };
        let cells: Vec<Cell> = conditions.iter().map(cell).filter(|cell| !cell.logs.is_empty()).collect();
        let best = |figure: &'static Figure| {
            let values = |cell: &Cell| {
                cell.results.rounds.iter().flatten().filter_map(|one| one.get(figure)).collect::<Vec<_>>()
            };
            let found: Vec<(&str, Vec<f64>)> = cells
                .iter()
                .map(|cell| (cell.condition.as_str(), values(cell)))
                .filter(|found| !found.1.is_empty())
                .collect();
            Best::among(figure, &found)
        };
        let best = FIGURES.map(best).into();
        Ok(LabelledResults { run: LabelledRun { label: label.to_owned(), arguments }, cells, best })
    }
}

impl Cell {
    /// The median of a figure over the rounds, with its confidence interval.
    pub fn interval(&self, figure: &Figure) -> Option<Interval> {
        figure.interval(self.results.rounds.iter().flatten())
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Cell { condition, logs, results } = self;
        let rounds = || results.rounds.iter().flatten();
        let counts = rounds().map(|round| round.object([&RECEIVED, &LATE_COUNT, &TOO_LATE_COUNT, &LOST]));
        let figure = |figure: &Figure| {
            let values: Vec<f64> = rounds().filter_map(|round| round.get(figure)).collect();
            json!({"metric": figure.field, "values": values, "interval": self.interval(figure)})
        };
        json!({
            "condition": condition, "logs": logs, "counts": counts.map(Value::Object).collect::<Vec<_>>(),
            "figures": FIGURES.map(figure), "warnings": results.warnings,
        })
        .serialize(serializer)
    }
}
