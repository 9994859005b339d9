//! One side of a comparison: the logs of its runs. Every run is complete and did not fail.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    common::units::{format_rate, several},
    judge::warnings::Warnings,
    log::{Log, RunEntry, Summary},
};

/// The runs of one side, read from their logs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Side {
    /// The paths of the logs.
    pub logs: Vec<PathBuf>,
    /// The runs, in the order of the logs: their ids in the JSON, their descriptions here.
    #[serde(rename = "run_ids", serialize_with = "ids")]
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub descriptions: Vec<RunEntry>,
    /// The machine before each run.
    #[serde(skip)]
    pub environments: Vec<Map<String, Value>>,
    /// The figures of each run.
    #[serde(skip)]
    pub runs: Vec<Summary>,
}

fn ids<S: Serializer>(descriptions: &[RunEntry], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(descriptions.iter().map(|run| &run.id))
}

impl Side {
    /// Reads the logs.
    ///
    /// # Errors
    /// The reason, as a sentence: a log cannot be read, or its run was killed or failed.
    pub fn read(paths: &[PathBuf]) -> Result<Side, String> {
        let mut side =
            Side { logs: paths.to_vec(), descriptions: Vec::new(), environments: Vec::new(), runs: Vec::new() };
        for path in paths {
            let log = Log::read(path)?;
            side.runs.push(complete(path, log.summary)?);
            side.descriptions.push(log.run);
            side.environments.push(log.environment);
        }
        Ok(side)
    }

    /// Sentences with reasons not to trust the runs of this side. `name` is the side's name.
    pub fn warnings(&self, name: &str) -> Vec<String> {
        let mut sentences = Vec::new();
        let early: Vec<String> =
            self.logs.iter().zip(&self.runs).filter(|(_, run)| run.stopped_early).map(shown).collect();
        if !early.is_empty() {
            sentences.push(format!("{name}: stopped before their end: {}", early.join(", ")));
        }
        sentences.extend(Warnings::from_runs(&self.runs).note(name));
        sentences
    }

    /// Whether the last run of this side started before the first run of `other`.
    pub fn is_before(&self, other: &Side) -> bool {
        let created = |side: &Side| side.descriptions.iter().map(|run| run.created_unix_ms).collect::<Vec<u64>>();
        created(self).into_iter().max() < created(other).into_iter().min()
    }
}

fn shown((path, run): (&PathBuf, &Summary)) -> String {
    format!("{} after {:.1} s", path.display(), run.measured_s)
}

fn complete(path: &Path, summary: Option<Summary>) -> Result<Summary, String> {
    let name = path.display();
    let summary = summary.ok_or_else(|| {
        format!("{name} has no summary: its run was killed or still goes on. Leave this log out, or measure again")
    })?;
    match &summary.failure {
        Some(why) => Err(format!("{name} is of a run that failed ({why}). Leave this log out, or measure again")),
        None => Ok(summary),
    }
}

/// Checks that no run is given twice, for example as a copy of its log.
///
/// # Errors
/// The reason, as a sentence with the names of both files.
pub fn all_are_different(base: &Side, new: &Side) -> Result<(), String> {
    let mut seen: BTreeMap<&str, &Path> = BTreeMap::new();
    for (path, run) in [base, new].into_iter().flat_map(|side| side.logs.iter().zip(&side.descriptions)) {
        if let Some(other) = seen.insert(&run.id, path) {
            let (path, other) = (path.display(), other.display());
            return Err(format!("{other} and {path} are logs of the same run: give each run once"));
        }
    }
    Ok(())
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&several(self.runs.len(), "run", "runs"))?;
        if let Some(run) = self.descriptions.first() {
            let spec = &run.spec;
            let rate = format_rate(spec.rate_hz);
            let of = [spec.communicator.as_str(), &spec.middleware_version].join(" ");
            write!(f, " of {} by perf_test {}: {}, {rate}", of.trim_end(), run.version, spec.message.name)?;
        }
        match self.logs.as_slice() {
            [first, .., last] => write!(f, "; {} … {}", first.display(), last.display()),
            logs => logs.iter().try_for_each(|log| write!(f, "; {}", log.display())),
        }
    }
}
