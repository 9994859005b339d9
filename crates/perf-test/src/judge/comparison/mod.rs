//! The comparison of logs (`perf_test compare logs`): two sides, each with one or more runs. The runs of the two sides
//! need not be paired.
//!
//! Assumptions: the runs of a side are independent measurements of the same thing, and both sides use the same machine.
//! [`ranks`](crate::measure::ranks) has the statistical test. The result lists each difference of conditions and
//! machines in the logs, and has a warning if one side was measured completely before the other.

mod bound;
mod difference;
mod folders;
mod side;

use std::path::PathBuf;

use serde::Serialize;

use crate::judge::change::{self, Change};
pub use bound::{Answer, Bound};
pub use difference::Difference;
pub use folders::FolderComparison;
pub use side::Side;

/// The name and version of the format of the JSON object.
const SCHEMA: &str = "gantry.perf_test.compare/1";

/// Two sides of runs with their comparison. It is serialised as the object of `--json`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The name and version of this format: gantry.perf_test.compare/1.
    schema: &'static str,
    /// The side with which the other one is compared.
    base: Side,
    /// The other side.
    new: Side,
    /// The conditions and properties of the machine that differ between runs.
    differences: Vec<Difference>,
    /// Warnings: sentences with reasons not to trust the comparison.
    warnings: Vec<String>,
    /// The change of each figure from `base` to `new`.
    changes: Vec<Change>,
    /// The answer to each bound of `--fail-above`.
    bounds: Vec<Answer>,
}

impl Comparison {
    /// Reads the logs of both sides, compares them, and checks `bounds`.
    ///
    /// # Errors
    /// The reason, as a sentence: a log cannot be read, or is given twice; its run was killed or failed; or a bound
    /// needs more runs, or a figure that the runs do not have.
    pub fn of_logs(base: &[PathBuf], new: &[PathBuf], bounds: &[Bound]) -> Result<Comparison, String> {
        let (base, new) = (Side::read(base)?, Side::read(new)?);
        side::all_are_different(&base, &new)?;
        let changes = change::changes_between(&base.runs, &new.runs);
        let counts = [base.runs.len(), new.runs.len()];
        let answers = bounds.iter().map(|bound| bound.answer(&changes, counts)).collect::<Result<_, String>>()?;
        let differences = difference::between(&base, &new);
        let warnings = warnings(&base, &new);
        Ok(Comparison { schema: SCHEMA, base, new, differences, warnings, changes, bounds: answers })
    }

    /// The sentences about the exceeded bounds.
    #[must_use]
    pub fn exceeded(&self) -> Vec<&str> {
        self.bounds.iter().filter(|answer| answer.exceeded).map(|answer| answer.sentence.as_str()).collect()
    }

    /// The comparison as lines of text.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("base: {}", self.base), format!("new:  {}", self.new)];
        if !self.differences.is_empty() {
            lines.push(String::new());
            lines.push(
                "warning: the sides do not measure the same. The changes below show all these together:".to_owned(),
            );
            lines.extend(self.differences.iter().map(|difference| format!("  {difference}")));
        }
        lines.extend(self.warnings.iter().map(|warning| format!("warning: {warning}")));
        let groups = [self.base.runs.as_slice(), self.new.runs.as_slice()];
        let title = format!("{} and {} runs, not paired: from base to new", groups[0].len(), groups[1].len());
        lines.extend(change::lines(&title, ["base", "new"], groups, &self.changes));
        if !self.bounds.is_empty() {
            lines.push(String::new());
            lines.extend(self.bounds.iter().map(Answer::to_string));
        }
        lines
    }
}

fn warnings(base: &Side, new: &Side) -> Vec<String> {
    let mut warnings: Vec<String> =
        [("base", base), ("new", new)].into_iter().flat_map(|(name, side)| side.warnings(name)).collect();
    if base.is_before(new) || new.is_before(base) {
        warnings.push(
            "all runs of one side were measured before the other side's, so a change of the machine in between looks like a \
             difference. Measure both sides in turn"
                .to_owned(),
        );
    }
    warnings
}

#[cfg(test)]
mod tests;
