//! Runs in rounds: each kind of run is done once in each round, and every second round is in the opposite order, so
//! that a slow change of the machine concerns all kinds.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Batch, Outcome, PlannedRun};
use crate::{common::error::Failure, report::outputs::Outputs, run::topology::Robot};
use perf_worker::run_spec::RunSpec;

/// The length of a warm-up run, s.
const WARMUP_RUN_S: u32 = 1;

/// A kind of run.
#[derive(Clone, Debug)]
pub struct Kind {
    /// The contestant as it is spelt.
    pub contestant: String,
    /// The run in words.
    pub title: String,
    /// Its log in the folder of results, without the suffix.
    pub log: PathBuf,
    /// The run, or the sentence of its refusal.
    pub spec: Result<RunSpec, String>,
    /// The topology, if it is the run of one.
    pub robot: Option<Arc<Robot>>,
    /// Its outputs besides that log.
    pub outputs: Outputs,
}

/// The outcomes of a kind of run.
#[derive(Clone, Debug, Default)]
pub struct KindOutcomes {
    /// Its warm-up run, if it had one.
    pub warmup: Option<Outcome>,
    /// Its rounds.
    pub rounds: Vec<Outcome>,
}

impl KindOutcomes {
    /// The runs that the user did not wait for, of several kinds.
    #[must_use]
    pub fn not_done(kinds: &[KindOutcomes]) -> usize {
        let all = kinds.iter().flat_map(|kind| kind.warmup.iter().chain(&kind.rounds));
        all.filter(|outcome| matches!(outcome, Outcome::NotDone)).count()
    }
}

impl Batch {
    /// Does all rounds, each kind after a warm-up run if `has_warmups`. Kinds all of whose logs are there need none.
    ///
    /// # Errors
    /// As [`Batch::run_all`].
    pub fn run_rounds(&self, kinds: &[Kind], rounds: u32, has_warmups: bool) -> Result<Vec<KindOutcomes>, Failure> {
        self.run_rounds_after(kinds, rounds, has_warmups, |_| Ok(()))
    }

    /// Does all rounds as [`Batch::run_rounds`], each run after `before`, which gets the index of its kind. If `before`
    /// fails, its sentence is the refusal of that run.
    ///
    /// # Errors
    /// As [`Batch::run_all`].
    pub fn run_rounds_after(
        &self,
        kinds: &[Kind],
        rounds: u32,
        has_warmups: bool,
        mut before: impl FnMut(usize) -> Result<(), String>,
    ) -> Result<Vec<KindOutcomes>, Failure> {
        let is_there = |kind: &Kind| {
            let runs: Vec<PlannedRun> = (1..=rounds).map(|round| kind.planned(Some(round), rounds)).collect();
            self.is_complete(&runs.iter().collect::<Vec<_>>())
        };
        let warmups = kinds.iter().map(|kind| has_warmups && !is_there(kind)).collect::<Vec<bool>>();
        let order = order(&warmups, rounds);
        let planned = |(index, round): &(usize, Option<u32>)| Some(kinds.get(*index)?.planned(*round, rounds));
        let planned: Vec<PlannedRun> = order.iter().filter_map(planned).collect();
        let outcomes = self.run_all_after(&planned, |run| order.get(run).map_or(Ok(()), |(kind, _)| before(*kind)))?;
        let mut found = vec![KindOutcomes::default(); kinds.len()];
        for ((index, round), outcome) in order.into_iter().zip(outcomes) {
            let Some(own) = found.get_mut(index) else { continue };
            match round {
                None => own.warmup = Some(outcome),
                Some(_) => own.rounds.push(outcome),
            }
        }
        Ok(found)
    }
}

/// The index of the kind and the round of each run, in order; `warmups` says of each kind whether it has one, which has
/// no round.
fn order(warmups: &[bool], rounds: u32) -> Vec<(usize, Option<u32>)> {
    let first = warmups.iter().enumerate().filter(|(_, has_one)| **has_one).map(|(index, _)| (index, None));
    let mut order: Vec<(usize, Option<u32>)> = first.collect();
    for round in 1..=rounds {
        let of_round = (0..warmups.len()).map(|index| (index, Some(round)));
        if round.is_multiple_of(2) {
            order.extend(of_round.rev());
        } else {
            order.extend(of_round);
        }
    }
    order
}

impl Kind {
    /// The run of a round, or the warm-up.
    fn planned(&self, round: Option<u32>, rounds: u32) -> PlannedRun {
        let (what, file) = match round {
            None => (", warm-up".to_owned(), "warmup".to_owned()),
            Some(round) if rounds == 1 => (String::new(), format!("round{round}")),
            Some(round) => (format!(", round {round}"), format!("round{round}")),
        };
        let short = |spec: RunSpec| RunSpec { warmup_s: 0, ignore_s: 0, max_runtime_s: WARMUP_RUN_S, ..spec };
        let outputs = match round {
            None => Outputs::default(),
            Some(_) if rounds == 1 => self.outputs.clone(),
            Some(round) => self.outputs.named(&format!("run{round}")),
        };
        let spec = self.spec.clone();
        PlannedRun {
            contestant: self.contestant.clone(),
            title: format!("{}{what}", self.title),
            log: PathBuf::from(format!("{}-{file}.json", self.log.display())),
            spec: if round.is_none() { spec.map(short) } else { spec },
            robot: self.robot.clone(),
            outputs,
            is_warmup: round.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_turn_round_after_the_warm_ups_that_are_needed() {
        let (a, b) = (0, 1);
        let rounds = [(a, Some(1)), (b, Some(1)), (b, Some(2)), (a, Some(2)), (a, Some(3)), (b, Some(3))];
        assert_eq!(order(&[false, false], 2), rounds[..4]);
        assert_eq!(order(&[true, true], 3), [&[(a, None), (b, None)][..], &rounds].concat());
        assert_eq!(order(&[false, true], 1), [(b, None), (a, Some(1)), (b, Some(1))]);
    }

    #[test]
    fn a_run_of_several_rounds_has_its_round_in_title_and_logs() {
        let outputs = Outputs { csv: Some("a.csv".into()), ..Outputs::default() };
        let kind = Kind {
            contestant: "mock".to_owned(),
            title: "mock 4MB".to_owned(),
            log: "4MB/mock".into(),
            spec: Err("no such rate".to_owned()),
            robot: None,
            outputs,
        };
        let shown = |round, rounds| {
            let run = kind.planned(round, rounds);
            (run.title, run.log.display().to_string(), run.outputs.csv.map(|csv| csv.display().to_string()))
        };
        let of = |title: &str, log: &str, csv: Option<&str>| (title.to_owned(), log.to_owned(), csv.map(str::to_owned));
        assert_eq!(shown(Some(1), 1), of("mock 4MB", "4MB/mock-round1.json", Some("a.csv")));
        assert_eq!(shown(Some(2), 3), of("mock 4MB, round 2", "4MB/mock-round2.json", Some("a-run2.csv")));
        assert_eq!(shown(None, 3), of("mock 4MB, warm-up", "4MB/mock-warmup.json", None));
    }
}
