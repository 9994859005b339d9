//! The warnings of several runs, counted by kind.

use serde::Serialize;

use crate::log::Summary;

/// The kinds of warnings about wrongly delivered messages, the worst first. They precede all other kinds, which are
/// ordered by frequency.
const WORST: [&str; 11] = [
    "corrupt",
    "duplicates",
    "reordered",
    "mismatch",
    "worker",
    "lost",
    "refused",
    "refused-samples",
    "unsent",
    "rate-not-held",
    "overwritten",
];

/// The warnings of several runs, the worst first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Warnings {
    /// The number of measured runs.
    pub runs: usize,
    /// The number of runs with a warning.
    pub warned: usize,
    /// The kinds of warnings, each with its number of runs.
    pub kinds: Vec<Warned>,
}

/// One kind of warning in several runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Warned {
    /// The name of the kind, for example `rate-not-held`.
    pub kind: String,
    /// The number of runs with this kind of warning.
    pub runs: usize,
    /// The warning's sentence in the first of these runs.
    pub sentence: String,
}

impl Warnings {
    /// Counts the warnings of these runs.
    pub fn from_runs<'a>(runs: impl IntoIterator<Item = &'a Summary>) -> Warnings {
        let mut found = Warnings::default();
        for run in runs {
            let mut own = Warnings { runs: 1, warned: usize::from(!run.warnings.is_empty()), kinds: Vec::new() };
            for warning in &run.warnings {
                if own.kinds.iter().all(|known| known.kind != warning.kind) {
                    own.kinds.push(Warned { kind: warning.kind.clone(), runs: 1, sentence: warning.sentence.clone() });
                }
            }
            found.add(&own);
        }
        found
    }

    /// Adds the warnings of other runs.
    pub fn add(&mut self, other: &Warnings) {
        self.runs += other.runs;
        self.warned += other.warned;
        for warned in &other.kinds {
            match self.kinds.iter_mut().find(|known| known.kind == warned.kind) {
                Some(known) => known.runs += warned.runs,
                None => self.kinds.push(warned.clone()),
            }
        }
        let place = |kind: &str| WORST.iter().position(|worst| *worst == kind).unwrap_or(WORST.len());
        self.kinds.sort_by_key(|warned| (place(&warned.kind), std::cmp::Reverse(warned.runs)));
    }

    /// A note on the runs of `name`: each kind of warning with its number of runs, and a sentence of the worst kind.
    /// `None` if there are no warnings.
    #[must_use]
    pub fn note(&self, name: &str) -> Option<String> {
        let worst = self.kinds.first()?;
        let kinds: Vec<String> = self.kinds.iter().map(|warned| format!("{} ({})", warned.kind, warned.runs)).collect();
        let who = if self.runs == 1 {
            "its run has".to_owned()
        } else {
            format!("{} of {} runs have", self.warned, self.runs)
        };
        Some(format!("{name}: {who} warnings: {}; for example: {}", kinds.join(", "), worst.sentence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_kind(kind: &str, runs: usize) -> Warnings {
        let sentence = format!("sentence of {kind}");
        Warnings { runs: 3, warned: runs, kinds: vec![Warned { kind: kind.to_owned(), runs, sentence }] }
    }

    #[test]
    fn warnings_are_counted_by_kind_and_the_worst_has_its_sentence() {
        let mut found = of_kind("few-samples", 3);
        found.add(&of_kind("rate-not-held", 1));
        found.add(&of_kind("few-samples", 2));
        let kinds = "rate-not-held (1), few-samples (5)";
        let note = format!("zenoh: 6 of 9 runs have warnings: {kinds}; for example: sentence of rate-not-held");
        assert_eq!(found.note("zenoh"), Some(note));
        assert_eq!(Warnings::default().note("zenoh"), None);
    }
}
