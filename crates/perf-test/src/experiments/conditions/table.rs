//! The comparison: runs × conditions × figures, with the best condition of each figure and the machine under each
//! condition.

use std::path::PathBuf;

use serde::Serialize;

use super::plan::Condition;
use super::record::{Gap, Measured};
use super::setup::Setup;
use super::{FIGURES, best::Best};
use crate::{
    experiments::batch::Warnings,
    log::{Summary, figures::Values},
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

/// A condition.
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
    /// Its label.
    pub label: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its figures under each condition that has some.
    pub cells: Vec<Cell>,
    /// The best condition of each figure.
    pub best: Vec<Best>,
}

/// A run under one condition.
#[derive(Debug, Serialize)]
pub struct Cell {
    /// The name of the condition.
    pub condition: String,
    /// The logs of its rounds.
    pub logs: Vec<PathBuf>,
    /// Messages received, late and too late in each round.
    pub counts: Vec<Counts>,
    /// The figures, by their names.
    pub figures: Vec<CellFigure>,
    /// The warnings of its runs.
    pub warnings: Warnings,
    /// The figures of each round, as files of results have them.
    #[serde(skip)]
    pub rounds: Vec<Values>,
}

/// The counts of a round.
#[derive(Debug, Serialize)]
pub struct Counts {
    received: u64,
    late: u64,
    too_late: u64,
    lost: u64,
}

/// A figure of a cell.
#[derive(Debug, Serialize)]
pub struct CellFigure {
    /// Its name with its unit.
    pub metric: &'static str,
    /// The values of the rounds.
    pub values: Vec<f64>,
    /// Their median with its interval; null without values.
    pub interval: Option<Interval>,
}

impl Comparison {
    /// Of measured runs, which may come from several folders.
    ///
    /// # Errors
    /// A sentence: runs of one label have different arguments.
    pub fn of(mut measured: Vec<Measured>, mut gaps: Vec<Gap>) -> Result<Comparison, String> {
        measured.sort_by_key(|one| one.position);
        gaps.sort_by_key(|gap| gap.position);
        let mut keys: Vec<Key<'_>> = Vec::new();
        for one in &measured {
            if !keys.iter().any(|known| known.has(one)) {
                keys.push(Key { condition: &one.condition, setup: &one.setup, boot_id: &one.boot_id });
            }
        }
        let names = names(&keys);
        let name_of = |one: &Measured| {
            let index = keys.iter().position(|known| known.has(one));
            index.and_then(|index| names.get(index)).cloned().unwrap_or_default()
        };
        let mut runs: Vec<(String, Vec<String>, Vec<Pool>)> = Vec::new();
        for one in &measured {
            let index = runs.iter().position(|(label, ..)| *label == one.label).unwrap_or_else(|| {
                runs.push((one.label.clone(), one.arguments.clone(), Vec::new()));
                runs.len() - 1
            });
            let Some((label, arguments, pools)) = runs.get_mut(index) else { continue };
            if *arguments != one.arguments {
                return Err(format!(
                    "the run {label} has the arguments `{}` in one place and `{}` in another: only equal runs are compared",
                    arguments.join(" "),
                    one.arguments.join(" ")
                ));
            }
            let name = name_of(one);
            let place = pools.iter().position(|pool| pool.condition == name).unwrap_or_else(|| {
                pools.push(Pool { condition: name, ..Pool::default() });
                pools.len() - 1
            });
            if let Some(pool) = pools.get_mut(place) {
                pool.logs.extend(one.logs.iter().cloned());
                pool.rounds.extend(one.rounds.iter().cloned());
            }
        }
        let runs =
            runs.into_iter().map(|(label, arguments, pools)| LabelledResults::of(label, arguments, pools)).collect();
        let entry = |(key, name): (&Key<'_>, String)| ConditionEntry {
            name,
            settings: key.condition.clone(),
            machine: key.setup.clone(),
            boot_id: key.boot_id.to_owned(),
        };
        let conditions: Vec<ConditionEntry> = keys.iter().zip(names.clone()).map(entry).collect();
        // A condition that one boot had to skip may come from another.
        let is_there =
            |gap: &Gap| gap.label.is_none() && keys.iter().any(|known| known.condition.name == gap.condition);
        let mut missing: Vec<Gap> = Vec::new();
        for gap in gaps {
            if !is_there(&gap) && !missing.contains(&gap) {
                missing.push(gap);
            }
        }
        Ok(Comparison { conditions, runs, missing })
    }
}

/// The rounds of a run under one condition.
#[derive(Default)]
struct Pool {
    condition: String,
    logs: Vec<PathBuf>,
    rounds: Vec<Summary>,
}

/// A condition of the table. Rounds of two boots are never in one: a boot places memory anew, which alone changes
/// figures.
#[derive(PartialEq, Eq)]
struct Key<'a> {
    condition: &'a Condition,
    setup: &'a Setup,
    boot_id: &'a str,
}

impl Key<'_> {
    fn has(&self, one: &Measured) -> bool {
        self.condition.name == one.condition.name && *self.setup == one.setup && self.boot_id == one.boot_id
    }
}

/// The names of conditions; several of one name have their kernels, boots or numbers with them.
fn names(keys: &[Key<'_>]) -> Vec<String> {
    let name = |(index, key): (usize, &Key<'_>)| {
        let Key { condition, setup, .. } = key;
        let alike = || keys.iter().enumerate().filter(|(_, other)| other.condition.name == condition.name);
        if alike().count() == 1 {
            return condition.name.clone();
        }
        let has_own_kernel = alike().all(|(other, one)| other == index || one.setup.kernel != setup.kernel);
        let is_other_boot = alike().all(|(_, one)| one.setup == *setup);
        let number = alike().take_while(|(other, _)| *other != index).count() + 1;
        match (has_own_kernel, is_other_boot) {
            (true, _) => format!("{} ({})", condition.name, setup.kernel),
            (_, true) => format!("{} (boot {number})", condition.name),
            _ => format!("{} ({number})", condition.name),
        }
    };
    keys.iter().enumerate().map(name).collect()
}

impl LabelledResults {
    fn of(label: String, arguments: Vec<String>, pools: Vec<Pool>) -> LabelledResults {
        let cells: Vec<Cell> = pools.into_iter().map(Cell::of).collect();
        let best = |(index, figure)| {
            let interval = |cell: &'_ Cell| cell.figures.get(index).and_then(|figure: &CellFigure| figure.interval);
            let found: Vec<(&str, Interval)> =
                cells.iter().filter_map(|cell| Some((cell.condition.as_str(), interval(cell)?))).collect();
            Best::of(figure, &found)
        };
        let best = FIGURES.into_iter().enumerate().map(best).collect();
        LabelledResults { label, arguments, cells, best }
    }
}

impl Cell {
    fn of(pool: Pool) -> Cell {
        let counts = |run: &Summary| {
            let received = &run.total.received;
            Counts { received: received.samples, late: received.late, too_late: received.too_late, lost: run.lost }
        };
        let figures = FIGURES.into_iter().map(|figure| {
            let values: Vec<f64> = pool.rounds.iter().filter_map(|run| figure.value(run)).collect();
            CellFigure { metric: figure.field, interval: Interval::of(values.clone()), values }
        });
        Cell {
            figures: figures.collect(),
            counts: pool.rounds.iter().map(counts).collect(),
            warnings: Warnings::of(&pool.rounds),
            rounds: pool.rounds.iter().map(Values::of).collect(),
            condition: pool.condition,
            logs: pool.logs,
        }
    }
}
