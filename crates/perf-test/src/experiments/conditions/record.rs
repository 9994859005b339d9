//! The file `CONDITION/condition.json` in a folder of results, which describes a condition. The logs of its runs are
//! beside it: `CONDITION/RUN-roundN.json`.
//!
//! The table is made only from these files. So the command that measured and a later `merge` of several folders make
//! the same table.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::plan::{Condition, LabelledRun, Plan};
use super::setup::Setup;
use crate::{
    common::json_file,
    experiments::batch::{Folder, SHORTFALL_SUFFIX, Shortfall, file_name, paths_in},
    log::{Log, Summary},
    system::System,
};

/// The schema of `condition.json`.
const SCHEMA: &str = "gantry.perf_test.condition/1";
const RECORD: &str = "condition.json";

/// The content of `condition.json`: a condition and its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Record {
    /// The name and version of this format: gantry.perf_test.condition/1.
    schema: String,
    /// The settings of the condition.
    pub condition: Condition,
    /// The reason why the condition was not measured; null if it was measured.
    pub skipped: Option<String>,
    /// The index of the condition in the plan.
    position: usize,
    /// The number of rounds in the plan.
    rounds: u32,
    /// The runs in the plan.
    runs: Vec<LabelledRun>,
}

/// A condition of the comparison. All its rounds are of one boot, because even a reboot alone changes figures: the
/// kernel then places memory differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionEntry {
    /// The name of the condition. The kernel, the boot or a number is added if several conditions have the same name.
    pub name: String,
    /// The settings of the condition.
    pub settings: Condition,
    /// The state of the machine under the condition.
    pub machine: Setup,
    /// The kernel's id of the boot.
    pub boot_id: String,
}

/// A measured round of a run under a condition.
#[derive(Debug)]
pub struct Measured {
    /// The run.
    pub run: LabelledRun,
    /// The condition, with the state of the machine. The comparison later makes its name unique.
    pub condition: ConditionEntry,
    /// The index of the condition in its plan.
    pub position: usize,
    /// The path of the log.
    pub log: PathBuf,
    /// The summary of the round.
    pub round: Summary,
}

/// A run or a condition without figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The name of the condition.
    pub condition: String,
    /// The label of the run; null if the whole condition has no figures.
    pub label: Option<String>,
    /// The reason why there are no figures.
    pub reason: String,
    /// The index of the condition in its plan.
    #[serde(skip)]
    pub position: usize,
}

impl Record {
    /// Creates the record of a condition, which has the index `position` in the plan.
    #[must_use]
    pub fn new(plan: &Plan, position: usize, condition: &Condition, skipped: Option<String>) -> Record {
        let (schema, runs) = (SCHEMA.to_owned(), plan.runs.clone());
        Record { schema, condition: condition.clone(), skipped, position, rounds: plan.rounds, runs }
    }

    /// The path of a run's log relative to the folder of results, without the round number and the suffix.
    #[must_use]
    pub fn stem(condition: &Condition, label: &str) -> PathBuf {
        PathBuf::from(condition.folder()).join(file_name(label))
    }

    /// Writes the record into a folder of results. If the condition is skipped now but was measured earlier, the
    /// earlier record is kept. So one folder can collect the runs of several boots.
    ///
    /// # Errors
    /// The reason, as a sentence: the folder has a condition of this name with other settings, or is not writable.
    pub fn write(&self, folder: &Folder, again: bool) -> Result<(), String> {
        let path = folder.path().join(self.condition.folder());
        if let Some(earlier) = Record::read(&path)?.filter(|earlier| earlier.skipped.is_none()) {
            if self.skipped.is_some() && again {
                return Ok(()); // it cannot be measured again on this boot
            }
            let is_other = |own: &LabelledRun| {
                earlier.runs.iter().any(|run| run.label == own.label && run.arguments != own.arguments)
            };
            if !again && (earlier.condition != self.condition || self.runs.iter().any(is_other)) {
                return Err(format!(
                    "{} has runs of a condition {} with other settings or arguments: give another name, --results another folder, \
                     or --again to replace them",
                    path.display(),
                    self.condition.name
                ));
            }
            if self.skipped.is_some() {
                return Ok(());
            }
        }
        folder.write_json(&format!("{}/{RECORD}", self.condition.folder()), self).map(drop)
    }

    /// Reads the record in the folder of a condition; `None` if the folder has no record.
    fn read(folder: &Path) -> Result<Option<Record>, String> {
        let path = folder.join(RECORD);
        if !path.exists() {
            return Ok(None);
        }
        let is_none = |why: String| format!("{} is not a record of a condition: {why}", path.display());
        let record: Record = json_file(&path).map_err(is_none)?;
        if record.schema != SCHEMA {
            return Err(is_none(format!("its schema is {}, not {SCHEMA}", record.schema)));
        }
        Ok(Some(record))
    }
}

/// Reads a folder of results: the measured rounds, and a gap for each run without figures. `known` has the ids of all
/// runs that were read before, so a log that is copied to several folders counts once.
///
/// # Errors
/// The reason, as a sentence: the folder has no condition, or a file is damaged.
pub fn read(folder: &Path, known: &mut BTreeSet<String>) -> Result<(Vec<Measured>, Vec<Gap>), String> {
    let (mut measured, mut gaps, mut count) = (Vec::new(), Vec::new(), 0);
    for place in paths_in(folder)? {
        let Some(record) = Record::read(&place)? else { continue };
        count += 1;
        if let Some(reason) = record.skipped {
            let position = record.position;
            gaps.push(Gap { condition: record.condition.name, label: None, reason, position });
            continue;
        }
        for run in &record.runs {
            let (found, gap) = rounds(folder, &record, run, known)?;
            measured.extend(found);
            gaps.extend(gap);
        }
    }
    if count == 0 {
        return Err(format!(
            "{} has no conditions: give the folder of results of `perf_test compare conditions PLAN` (with CONDITION/{RECORD} in it)",
            folder.display()
        ));
    }
    Ok((measured, gaps))
}

/// The measured rounds of a run under a condition. If rounds have no figures, also the reason of the last such round.
fn rounds(
    folder: &Path,
    record: &Record,
    run: &LabelledRun,
    known: &mut BTreeSet<String>,
) -> Result<(Vec<Measured>, Option<Gap>), String> {
    let mut found: Vec<Measured> = Vec::new();
    let mut reason = None;
    for round in 1..=record.rounds {
        let path = folder.join(format!("{}-round{round}.json", Record::stem(&record.condition, &run.label).display()));
        if !path.exists() {
            let shortfall = json_file::<Shortfall>(&path.with_extension(SHORTFALL_SUFFIX));
            reason = Some(shortfall.map_or("not done".to_owned(), |shortfall| shortfall.reason()));
            continue;
        }
        let log = Log::read(&path)?;
        let Some(summary) = log.summary.filter(|summary| summary.failure.is_none() && !summary.stopped_early) else {
            reason = Some(format!("{} is of a run that failed or was ended early", path.display()));
            continue;
        };
        if !known.insert(log.run.id.clone()) {
            continue; // a copy of a log that was already read
        }
        let environment = serde_json::from_value::<System>(log.environment.into());
        let system = environment.map_err(|error| format!("{}: its environment is damaged: {error}", path.display()))?;
        let condition = ConditionEntry {
            name: String::new(),
            settings: record.condition.clone(),
            machine: Setup::new(&system, &record.condition),
            boot_id: log.run.build.boot_id,
        };
        found.push(Measured { run: run.clone(), condition, position: record.position, log: path, round: summary });
    }
    let gap = |reason| Gap {
        condition: record.condition.name.clone(),
        label: Some(run.label.clone()),
        reason,
        position: record.position,
    };
    Ok((found, reason.map(gap)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::conditions::plan::{Chrt, RtPolicy};
    use crate::log::tests::{assert_committed, assert_described, assert_matches, schema_of};

    #[test]
    fn the_committed_schema_of_a_condition_is_that_of_the_types_and_matches() {
        let schema = schema_of::<Record>(SCHEMA);
        assert_committed(&schema, "perf_test-condition-1.schema.json");
        assert_described(&schema);
        let chrt = Some(Chrt { policy: RtPolicy::Fifo, priority: 5 });
        let condition = Condition { name: "pinned".to_owned(), pin: vec![0], chrt, ..Condition::default() };
        let runs = vec![LabelledRun { label: "a".to_owned(), arguments: vec!["-r".to_owned(), "10".to_owned()] }];
        let plan = Plan { rounds: 2, runs, conditions: Vec::new(), notes: Vec::new() };
        let record = Record::new(&plan, 0, &condition, Some("no CPU".to_owned()));
        assert_matches(&schema, &serde_json::to_value(record).unwrap());
    }
}
