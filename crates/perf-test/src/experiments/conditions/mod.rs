//! Runs under several conditions (settings of the machine), compared: `perf_test compare conditions`.
//!
//! ```text
//! plan ─► boot, knobs: can each condition be had here? ─► knobs::Machine (journal) ─► batch ─► logs, record
//! folders of logs ─► record ─► setup, best, table ─► text, CSV, JSON
//! ```
//! In each round, a condition is applied once, for all its runs. Every second round has the conditions in the reverse
//! order, so that a slow change of the machine affects all conditions alike. `merge` measures nothing and only
//! compares.

mod best;
mod boot;
mod journal;
mod knobs;
mod plan;
mod record;
mod setup;
mod table;
mod text;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

pub use journal::restore_left;
use knobs::Machine;
use plan::{Condition, Plan, ResolvedRun};
use record::{Gap, Record};
use table::Comparison;

use crate::{
    cli::{ConditionsMergeOptions, ConditionsOptions},
    common::{error::Failure, interrupt::Interrupt},
    experiments::{
        batch::{Batch, Folder, Outcome, PlannedRun, RunOutcomes},
        results_file::Results,
    },
    log::figures::{CPU, Figure, LATE, LOST_PERCENT, MEAN, PEAK_MEMORY, TOO_LATE},
    system::{self, System, root::Root},
};

/// The figures by which conditions and runs of topologies are compared. A lower value is better in each of them.
pub static FIGURES: [&Figure; 6] = [&CPU, &PEAK_MEMORY, &MEAN, &LATE, &TOO_LATE, &LOST_PERCENT];
/// The name of the files with the results, without the suffix.
const NAME: &str = "conditions";

/// Measures the runs of a plan under its conditions.
///
/// # Errors
/// [`Failure::Usage`]: the plan is not valid, this user may not change a setting, or the folder cannot be used.
/// [`Failure::Measurement`]: this machine can apply none of the conditions, or a setting could not be restored.
pub fn measure(options: &ConditionsOptions) -> Result<Results, Failure> {
    let path = options.plan.as_ref().ok_or_else(|| Failure::Usage("give a plan".to_owned()))?;
    let mut plan = Plan::read(path).map_err(Failure::Usage)?;
    plan.rounds = options.rounds.unwrap_or(plan.rounds);
    plan.notes.iter().for_each(|note| say(note));
    let root = system::root_folder();
    let ready = ready(&plan, &root).map_err(Failure::Usage)?;
    for (condition, skipped) in plan.conditions.iter().zip(&ready) {
        if let Some(reason) = skipped {
            say(&format!("{}: skipped: {reason}", condition.name));
        }
    }
    let folder = options.results.clone().unwrap_or_else(|| default_folder(path));
    let interrupt = Interrupt::install()?;
    let batch = Batch::open(Some(folder.clone()), options.again, interrupt)?;
    if let Some(folder) = batch.folder() {
        for (position, (condition, skipped)) in plan.conditions.iter().zip(&ready).enumerate() {
            let record = Record::new(&plan, position, condition, skipped.clone());
            record.write(folder, options.again).map_err(Failure::Usage)?;
        }
    }
    let here: Vec<&Condition> =
        plan.conditions.iter().zip(&ready).filter(|(_, skipped)| skipped.is_none()).map(|(one, _)| one).collect();
    let failure = if here.is_empty() {
        Some("no condition of the plan can be had here, as the sentences above say".to_owned())
    } else {
        run(&plan, &here, &batch, &root)?
    };
    let mut results = merged(std::slice::from_ref(&folder), None)
        .inspect_err(|_| failure.iter().for_each(|sentence| say(sentence)))?;
    results.failure = failure.or(results.failure);
    Ok(results)
}

/// Merges the results of several folders into one comparison.
///
/// # Errors
/// [`Failure::Usage`]: a folder has no results, or the results of the folders cannot be compared.
pub fn merge(options: &ConditionsMergeOptions) -> Result<Results, Failure> {
    merged(&options.folders, options.output.as_ref())
}

/// For each condition the reason why this machine cannot apply it; `None` if it can.
fn ready(plan: &Plan, root: &Path) -> Result<Vec<Option<String>>, String> {
    let found = System::read(root);
    let reason = |condition: &Condition| match boot::needs(condition, &plan.conditions, &found) {
        Some(sentence) => Ok(Some(sentence)),
        None => knobs::check(condition, &Root::new(root)),
    };
    plan.conditions.iter().map(reason).collect()
}

/// Measures all rounds. Returns a sentence if the results are incomplete or a setting of the machine could not be
/// restored.
fn run(plan: &Plan, here: &[&Condition], batch: &Batch, root: &Path) -> Result<Option<String>, Failure> {
    let (conditions, runs) = planned(plan, here).map_err(Failure::Usage)?;
    let mut machine = Machine::open(root).map_err(Failure::Usage)?;
    let outcomes = batch.run_rounds(&runs, plan.rounds, false, |run| match conditions.get(run) {
        Some(condition) => machine.change_to(condition),
        None => Ok(()),
    });
    // The settings are restored even if a run failed. If restoring fails, the figures are valid, so the table is still
    // printed.
    let not_restored = machine.restore().err().map(|why| format!("the machine is not as it was: {why}"));
    let problems: Vec<String> = not_restored.into_iter().chain(incomplete(&runs, &outcomes?)).collect();
    Ok((!problems.is_empty()).then(|| problems.join("; ")))
}

/// Every combination of a condition and a run of the plan. The first list has the condition of each run in the second
/// list.
fn planned<'a>(plan: &Plan, here: &[&'a Condition]) -> Result<(Vec<&'a Condition>, Vec<PlannedRun>), String> {
    let (mut conditions, mut runs) = (Vec::new(), Vec::new());
    for condition in here {
        for run in &plan.runs {
            let ResolvedRun { spec, robot } = run.resolve(condition)?;
            let title = format!("{} under {}", run.label, condition.name);
            let log = Record::stem(condition, &run.label);
            conditions.push(*condition);
            runs.push(PlannedRun { robot, ..PlannedRun::new(&title, title.clone(), log, spec) });
        }
    }
    Ok((conditions, runs))
}

/// The reason why the results are incomplete: the user interrupted, or a run has no figures under one of the
/// conditions.
fn incomplete(runs: &[PlannedRun], outcomes: &[RunOutcomes]) -> Option<String> {
    let reason = |(run, outcomes): (&PlannedRun, &RunOutcomes)| {
        let shortfall = outcomes.rounds.iter().find_map(Outcome::shortfall).filter(|_| !outcomes.is_measured())?;
        Some(format!("{}: {}", run.title, shortfall.sentence))
    };
    let without: Vec<String> = runs.iter().zip(outcomes).filter_map(reason).collect();
    let without = (!without.is_empty()).then(|| format!("without figures: {}", without.join("; ")));
    RunOutcomes::ended_early(outcomes).or(without)
}

/// Merges the results of the folders. Writes them into `output`; without it, into the folder if there is only one.
fn merged(folders: &[PathBuf], output: Option<&PathBuf>) -> Result<Results, Failure> {
    let (mut measured, mut gaps, mut run_ids) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut known: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let place = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        if known.contains(&place) {
            return Err(Failure::Usage(format!("{} is given twice: give each folder once", folder.display())));
        }
        known.push(place);
        let (of_one, missing) = record::read(folder, &mut run_ids).map_err(Failure::Usage)?;
        measured.extend(of_one);
        gaps.extend(missing);
    }
    if measured.is_empty() {
        let reasons: Vec<String> = gaps.iter().map(Gap::sentence).collect();
        let failure = Some(format!("no run was measured: {}", reasons.join("; ")));
        return Ok(Results { failure, ..Results::default() });
    }
    let comparison = Comparison::new(measured, gaps).map_err(Failure::Usage)?;
    let file = comparison.file();
    let mut results = Results { lines: file.lines(), ..Results::default() };
    let own = if let [one] = folders { Some(one) } else { None };
    if let Some(output) = output.or(own) {
        let folder = Folder::open(output.clone()).map_err(Failure::Usage)?;
        results.files = file.write(&folder, NAME, &[("txt", file.text()), ("csv", comparison.csv())])?;
    }
    Ok(results)
}

/// The default folder of results, beside the plan: `night-results` for the plan `night.yaml`.
fn default_folder(plan: &Path) -> PathBuf {
    let name = plan.file_stem().unwrap_or_default().to_string_lossy();
    plan.with_file_name(format!("{name}-results"))
}

fn say(line: &str) {
    // The write fails only if the console is closed.
    let _ = writeln!(std::io::stderr().lock(), "perf_test: {line}");
}
