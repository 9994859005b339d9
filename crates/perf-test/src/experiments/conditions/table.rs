//! The comparison: runs × conditions × figures, with the best condition of each figure and the machine under each
//! condition.

use std::path::PathBuf;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::plan::{Condition, LabelledRun};
use super::record::{Gap, Measured};
use super::setup::Setup;
use super::{FIGURES, best::Best};
use crate::{
    common::distinct,
    experiments::batch::Warnings,
    log::figures::{Figure, LATE_COUNT, LOST, RECEIVED, TOO_LATE_COUNT, Values},
    measure::interval::Interval,
};

/// The comparison; serialises as the `details` of `conditions.json`.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The conditions, in the order of the plan.
    pub conditions: Vec<ConditionEntry>,
    /// The runs.
    pub runs: Vec<LabelledResults>,
    /// Conditions and runs without figures.
    pub missing: Vec<Gap>,
}

/// A condition. Rounds of two boots are never in one: a boot places memory anew, which alone changes figures.
#[derive(Debug, Serialize)]
pub struct ConditionEntry {
    /// Its name, with the difference if several boots had one of that name.
    pub name: String,
    /// Its settings.
    pub settings: Condition,
    /// The machine under it.
    pub machine: Setup,
    /// The kernel's id of the boot.
    pub boot_id: String,
}

/// A run under all conditions.
#[derive(Debug, Serialize)]
pub struct LabelledResults {
    /// Its label and its arguments.
    #[serde(flatten)]
    pub run: LabelledRun,
    /// Its figures under each condition that has some.
    pub cells: Vec<Cell>,
    /// The best condition of each figure.
    pub best: Vec<Best>,
}

/// A run under one condition.
#[derive(Debug)]
pub struct Cell {
    /// The name of the condition.
    pub condition: String,
    /// The logs of its rounds.
    pub logs: Vec<PathBuf>,
    /// The figures of each round.
    pub rounds: Vec<Values>,
    /// The warnings of its runs.
    pub warnings: Warnings,
}

impl Comparison {
    /// Of measured rounds, which may come from several folders.
    ///
    /// # Errors
    /// A sentence: runs of one label have different arguments.
    pub fn of(mut measured: Vec<Measured>, mut gaps: Vec<Gap>) -> Result<Comparison, String> {
        measured.sort_by_key(|one| one.position);
        gaps.sort_by_key(|gap| gap.position);
        let mut conditions: Vec<ConditionEntry> = Vec::new();
        for Measured { condition, setup, boot_id, .. } in &measured {
            let is_known = |known: &ConditionEntry| known.is(condition, setup, boot_id);
            if !conditions.iter().any(is_known) {
                let (settings, machine, boot_id) = (condition.clone(), setup.clone(), boot_id.clone());
                conditions.push(ConditionEntry { name: String::new(), settings, machine, boot_id });
            }
        }
        let names = names(&conditions);
        conditions.iter_mut().zip(names).for_each(|(condition, name)| condition.name = name);
        let labels = distinct(measured.iter().map(|one| one.run.label.as_str()));
        let results = labels.into_iter().map(|label| LabelledResults::of(label, &measured, &conditions));
        let runs = results.collect::<Result<_, String>>()?;
        // A condition that one boot had to skip may come from another.
        let is_there = |gap: &Gap| {
            gap.label.is_none() && conditions.iter().any(|condition| condition.settings.name == gap.condition)
        };
        let missing = distinct(gaps.into_iter().filter(|gap| !is_there(gap)));
        Ok(Comparison { conditions, runs, missing })
    }
}

impl ConditionEntry {
    fn is(&self, condition: &Condition, setup: &Setup, boot_id: &str) -> bool {
        self.settings.name == condition.name && self.machine == *setup && self.boot_id == boot_id
    }
}

/// The names of conditions; several of one name have their kernels, boots or numbers with them.
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
    fn of(label: &str, measured: &[Measured], conditions: &[ConditionEntry]) -> Result<LabelledResults, String> {
        let own: Vec<&Measured> = measured.iter().filter(|one| one.run.label == label).collect();
        if let [first, .., other] = distinct(own.iter().map(|one| &one.run.arguments))[..] {
            return Err(format!(
                "the run {label} has the arguments `{}` in one place and `{}` in another: only equal runs are compared",
                first.join(" "),
                other.join(" ")
            ));
        }
        let cell = |condition: &ConditionEntry| {
            let rounds = || own.iter().filter(|one| condition.is(&one.condition, &one.setup, &one.boot_id));
            Cell {
                condition: condition.name.clone(),
                logs: rounds().map(|one| one.log.clone()).collect(),
                rounds: rounds().map(|one| Values::from_run(&one.round)).collect(),
                warnings: Warnings::from_runs(rounds().map(|one| &one.round)),
            }
        };
        let cells: Vec<Cell> = conditions.iter().map(cell).filter(|cell| !cell.rounds.is_empty()).collect();
        let best = |figure: &'static Figure| {
            let found: Vec<(&str, Interval)> =
                cells.iter().filter_map(|cell| Some((cell.condition.as_str(), cell.interval(figure)?))).collect();
            Best::of(figure, &found)
        };
        let best = FIGURES.map(best).into();
        let arguments = own.first().map(|one| one.run.arguments.clone()).unwrap_or_default();
        Ok(LabelledResults { run: LabelledRun { label: label.to_owned(), arguments }, cells, best })
    }
}

impl Cell {
    /// A figure of its rounds.
    pub fn interval(&self, figure: &Figure) -> Option<Interval> {
        figure.interval(&self.rounds)
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Cell { condition, logs, rounds, warnings } = self;
        let counts = rounds.iter().map(|round| round.object([&RECEIVED, &LATE_COUNT, &TOO_LATE_COUNT, &LOST]));
        let figure = |figure: &Figure| {
            let values: Vec<f64> = rounds.iter().filter_map(|round| round.get(figure)).collect();
            json!({"metric": figure.field, "values": values, "interval": self.interval(figure)})
        };
        json!({
            "condition": condition, "logs": logs, "counts": counts.map(Value::Object).collect::<Vec<_>>(),
            "figures": FIGURES.map(figure), "warnings": warnings,
        })
        .serialize(serializer)
    }
}
