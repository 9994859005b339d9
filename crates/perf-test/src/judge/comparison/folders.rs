//! The comparison of two folders of results (`perf_test compare logs BASE NEW`). Each kind of run that is in both
//! folders is compared.
//!
//! Runs are of the same kind if their logs have the same path in their folder, apart from the number of the round.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Answer, Bound, Comparison};
use crate::{
    common::units::several,
    judge::change::{Finding, HEADER},
    log::Log,
    report::tables::table,
};

/// The name and version of the format of the JSON object.
pub(super) const SCHEMA: &str = "gantry.perf_test.compare_folders/1";
/// The text before the number of the round in the name of a log.
const NUMBERED: [&str; 2] = ["-round", "-run"];

/// Two folders, with the comparison of each kind of run. It is serialised as the object of `--json`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FolderComparison {
    /// The name and version of this format: gantry.perf_test.compare_folders/1.
    schema: &'static str,
    /// The folder with which the other one is compared.
    base: PathBuf,
    /// The other folder.
    new: PathBuf,
    /// The kinds of run that are in both folders.
    kinds: Vec<RunKind>,
    /// The kinds of run that are only in the first folder.
    only_base: Vec<String>,
    /// The kinds of run that are only in the second folder.
    only_new: Vec<String>,
    /// The logs of killed or failed runs. Their figures are not used.
    left_out: Vec<PathBuf>,
}

/// A kind of run with its comparison.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RunKind {
    /// The path of the logs in their folder, without the number of the round.
    name: String,
    /// The comparison of the runs of this kind.
    comparison: Comparison,
}

/// The logs of a folder, grouped by kind of run.
#[derive(Default)]
struct Logs {
    of_kind: BTreeMap<String, Vec<PathBuf>>,
    left_out: Vec<PathBuf>,
}

impl Logs {
    /// Adds the logs of `folder` and its subfolders. Symbolic links to folders are not followed.
    fn add(&mut self, root: &Path, folder: &Path) -> Result<(), String> {
        let cannot_read = |error: std::io::Error| format!("cannot read the folder {}: {error}", folder.display());
        let entries = std::fs::read_dir(folder).map_err(cannot_read)?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>().map_err(cannot_read)?;
        paths.sort();
        for path in paths {
            if path.is_dir() && !path.is_symlink() {
                self.add(root, &path)?;
            } else if path.extension().is_some_and(|extension| extension == "json") && path.is_file() {
                // Other JSON files, such as results files and descriptions of the machine, are ignored.
                let Ok(log) = Log::read(&path) else { continue };
                if log.summary.is_some_and(|summary| summary.failure.is_none()) {
                    self.of_kind.entry(kind_of(root, &path)).or_default().push(path);
                } else {
                    self.left_out.push(path);
                }
            }
        }
        Ok(())
    }

    fn read(folder: &Path) -> Result<Logs, String> {
        let mut logs = Logs::default();
        logs.add(folder, folder)?;
        if logs.of_kind.is_empty() {
            return Err(format!(
                "{} has no log of a complete run: give a folder that --results or --full-logfile wrote",
                folder.display()
            ));
        }
        Ok(logs)
    }
}

/// The path of a log in its folder, without the number of the round.
fn kind_of(root: &Path, path: &Path) -> String {
    let place = path.strip_prefix(root).unwrap_or(path).with_extension("");
    let name = place.display().to_string();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let of_round = NUMBERED.into_iter().find_map(|mark| {
        let (before, number) = name.rsplit_once(mark)?;
        is_number(number).then(|| before.to_owned())
    });
    of_round.unwrap_or(name)
}

impl FolderComparison {
    /// Reads the logs of both folders, compares each kind of run, and checks `bounds` for each kind.
    ///
    /// # Errors
    /// The reason, as a sentence: a folder or a log cannot be read, the folders have no kind of run in common, the same
    /// run is in both folders, or a bound cannot be checked.
    pub fn of_folders(base: &Path, new: &Path, bounds: &[Bound]) -> Result<FolderComparison, String> {
        let [mut base_logs, mut new_logs] = [Logs::read(base)?, Logs::read(new)?];
        let all: BTreeSet<String> = base_logs.of_kind.keys().chain(new_logs.of_kind.keys()).cloned().collect();
        let (mut kinds, mut only_base, mut only_new) = (Vec::new(), Vec::new(), Vec::new());
        for name in all {
            match (base_logs.of_kind.remove(&name), new_logs.of_kind.remove(&name)) {
                (Some(before), Some(after)) => {
                    let comparison = Comparison::of_logs(&before, &after, bounds);
                    let comparison = comparison.map_err(|sentence| format!("{name}: {sentence}"))?;
                    kinds.push(RunKind { name, comparison });
                }
                (Some(_), None) => only_base.push(name),
                (None, _) => only_new.push(name),
            }
        }
        let [base_name, new_name] = [base, new].map(Path::display);
        if kinds.is_empty() {
            return Err(format!(
                "{base_name} and {new_name} have no kind of run in common, as {} and {}: give two folders of the same command",
                only_base.join(", "),
                only_new.join(", ")
            ));
        }
        let left_out = [base_logs.left_out, new_logs.left_out].concat();
        let (base, new) = (base.to_owned(), new.to_owned());
        Ok(FolderComparison { schema: SCHEMA, base, new, kinds, only_base, only_new, left_out })
    }

    /// The sentences about the exceeded bounds.
    #[must_use]
    pub fn exceeded(&self) -> Vec<String> {
        let of_kind = |kind: &RunKind| {
            let sentence = |sentence: &str| format!("{}: {sentence}", kind.name);
            kind.comparison.exceeded().into_iter().map(sentence).collect::<Vec<_>>()
        };
        self.kinds.iter().flat_map(of_kind).collect()
    }

    /// The comparison as lines of text: the figures with a shown change, and the number of the other figures.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let (base, new) = (self.base.display(), self.new.display());
        let mut lines =
            vec![format!("{} in both {base} and {new}", several(self.kinds.len(), "kind of run", "kinds of run"))];
        for (names, folder) in [(&self.only_base, &base), (&self.only_new, &new)] {
            lines.extend((!names.is_empty()).then(|| format!("only in {folder}: {}", names.join(", "))));
        }
        let left_out: Vec<String> = self.left_out.iter().map(|path| path.display().to_string()).collect();
        lines
            .extend((!left_out.is_empty()).then(|| format!("killed or failed, and left out: {}", left_out.join(", "))));
        lines.extend(self.warnings());
        let header = std::iter::once("run").chain(HEADER).map(str::to_owned).collect();
        let shown: Vec<Vec<String>> = self.kinds.iter().flat_map(RunKind::shown).collect();
        lines.push(String::new());
        if shown.is_empty() {
            lines.push("no change is shown".to_owned());
        } else {
            lines.extend(table("changes from base to new, not paired", &[vec![header], shown].concat()));
        }
        lines.extend(self.counts());
        let answers = |kind: &RunKind| {
            let line = |answer: &Answer| format!("{answer} ({})", kind.name);
            kind.comparison.bounds.iter().map(line).collect::<Vec<_>>()
        };
        lines.extend(self.kinds.iter().flat_map(answers));
        lines
    }

    /// The differences of conditions and the warnings about runs. Each is listed once, with the number of kinds of run
    /// that have it.
    fn warnings(&self) -> Vec<String> {
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        for RunKind { comparison, .. } in &self.kinds {
            let differences = comparison.differences.iter().map(|one| format!("not the same: {one}"));
            differences.chain(comparison.warnings.iter().cloned()).for_each(|one| *found.entry(one).or_default() += 1);
        }
        let of = several(self.kinds.len(), "kind of run", "kinds of run");
        found.into_iter().map(|(sentence, count)| format!("warning: {sentence} ({count} of {of})")).collect()
    }

    /// The number of figures with each verdict, and a note on what the verdicts do not say.
    fn counts(&self) -> Vec<String> {
        let all = || self.kinds.iter().flat_map(|kind| &kind.comparison.changes).map(|change| change.finding);
        let count = |wanted: &[Finding]| all().filter(|finding| wanted.contains(finding)).count();
        let shown = count(&[Finding::Lower, Finding::Higher]);
        let [none, few] = [Finding::NoDifferenceShown, Finding::TooFewRunsToSay].map(|finding| count(&[finding]));
        vec![
            format!("{} figures: {shown} changed, {none} without a difference, {few} with too few runs to say", all().count()),
            "The verdicts of one kind of run are corrected for the number of its figures (Holm), but for latency p50 and \
             CPU per message, which hold with 95 % each; there is no correction for the number of kinds. `compare logs \
             --base LOG… --new LOG…` has all figures of one kind."
                .to_owned(),
        ]
    }
}

impl RunKind {
    /// Table rows for the figures with a shown change.
    fn shown(&self) -> Vec<Vec<String>> {
        let comparison = &self.comparison;
        let runs = || comparison.base.runs.iter().chain(&comparison.new.runs);
        let changes = comparison.changes.iter();
        let shown = changes.filter(|change| matches!(change.finding, Finding::Lower | Finding::Higher));
        shown.map(|change| [vec![self.name.clone()], change.cells(runs())].concat()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_round_is_no_part_of_the_kind() {
        let kind = |path: &str| kind_of(Path::new("out"), Path::new(path));
        for (path, expected) in [
            ("out/4MB/zenoh_best-round12.json", "4MB/zenoh_best"),
            ("out/main-run3.json", "main"),
            ("out/long-running.json", "long-running"),
            ("out/a-round.json", "a-round"),
        ] {
            assert_eq!(kind(path), expected);
        }
    }
}
