//! Runs in rounds. Each round does every run once; every second round has the reverse order. So a slow change of the
//! machine affects all runs alike.

use std::path::PathBuf;

use super::{Batch, Outcome, PlannedRun, folder::Earlier};
use crate::{common::error::Failure, report::outputs::Outputs};
use perf_worker::run_spec::RunSpec;

/// The length of a warm-up run, s.
const WARMUP_RUN_S: u32 = 1;

/// The outcomes of one run in all rounds.
#[derive(Clone, Debug, Default)]
pub struct RunOutcomes {
    /// The outcome of the warm-up run, if there was one.
    pub warmup: Option<Outcome>,
    /// The outcome in each round.
    pub rounds: Vec<Outcome>,
}

impl RunOutcomes {
    /// The outcome of the warm-up run and the outcomes of all rounds.
    pub fn all(&self) -> impl Iterator<Item = &Outcome> {
        self.warmup.iter().chain(&self.rounds)
    }

    /// Whether the run has figures in at least one round.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.rounds.iter().any(|outcome| outcome.measured().is_some())
    }

    /// The reason why the results are incomplete; `None` if they are complete. The user ended the batch early, or no
    /// run has figures. In the second case the sentence is `nothing`.
    #[must_use]
    pub fn failure(runs: &[RunOutcomes], nothing: &str) -> Option<String> {
        let is_measured = runs.iter().any(RunOutcomes::is_measured);
        RunOutcomes::ended_early(runs).or_else(|| (!is_measured).then(|| nothing.to_owned()))
    }

    /// The sentence with the number of runs that were not done, because the user ended the batch early; `None` if all
    /// were done.
    #[must_use]
    pub fn ended_early(runs: &[RunOutcomes]) -> Option<String> {
        let not_done = runs.iter().flat_map(RunOutcomes::all).filter(|one| matches!(one, Outcome::NotDone)).count();
        let sentence =
            format!("ended early: runs not done: {not_done}. With the same --results the command goes on from there");
        (not_done > 0).then_some(sentence)
    }
}

impl Batch {
    /// Measures all rounds. If `has_warmups` is true, each run has a warm-up run before the rounds, except a run whose
    /// logs already exist. `before` is called before each run, as in [`Batch::run_all`].
    ///
    /// # Errors
    /// See [`Batch::run_all`].
    pub fn run_rounds(
        &self,
        runs: &[PlannedRun],
        rounds: u32,
        has_warmups: bool,
        mut before: impl FnMut(usize) -> Result<(), String>,
    ) -> Result<Vec<RunOutcomes>, Failure> {
        let is_there = |run: &PlannedRun| {
            let mut all = (1..=rounds).map(|round| run.in_round(Some(round), rounds));
            all.all(|run| matches!(self.earlier(&run), Ok(Earlier::Same(_))))
        };
        let warmups = runs.iter().map(|run| has_warmups && !is_there(run)).collect::<Vec<bool>>();
        let order = order(&warmups, rounds);
        let planned = |(index, round): &(usize, Option<u32>)| Some(runs.get(*index)?.in_round(*round, rounds));
        let planned: Vec<PlannedRun> = order.iter().filter_map(planned).collect();
        let outcomes = self.run_all(&planned, |run| order.get(run).map_or(Ok(()), |(index, _)| before(*index)))?;
        let mut found = vec![RunOutcomes::default(); runs.len()];
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

/// The order of measurement: the index of a run, and its round. All warm-up runs come first, with `None` as the round;
/// `warmups` has a flag for each run that has one.
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

impl PlannedRun {
    /// The run in the given round, with its title and log; `None` makes the warm-up run.
    fn in_round(&self, round: Option<u32>, rounds: u32) -> PlannedRun {
        let (what, file) = match round {
            None => (", warm-up".to_owned(), "warmup".to_owned()),
            Some(round) if rounds == 1 => (String::new(), format!("round{round}")),
            Some(round) => (format!(", round {round}"), format!("round{round}")),
        };
        let short = |spec: RunSpec| RunSpec { warmup_s: 0, ignore_s: 0, max_runtime_s: WARMUP_RUN_S, ..spec };
        let spec = self.spec.clone();
        PlannedRun {
            title: format!("{}{what}", self.title),
            log: PathBuf::from(format!("{}-{file}.json", self.log.display())),
            spec: if round.is_none() { spec.map(short) } else { spec },
            outputs: match round {
                None => Outputs::default(),
                Some(_) if rounds == 1 => self.outputs.clone(),
                Some(round) => self.outputs.named(&format!("run{round}")),
            },
            is_warmup: round.is_none(),
            ..self.clone()
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
        let refused = Err("no such rate".to_owned());
        let run = PlannedRun { outputs, ..PlannedRun::new("mock", "mock 4MB".to_owned(), "4MB/mock".into(), refused) };
        let shown = |round, rounds| {
            let run = run.in_round(round, rounds);
            (run.title, run.log.display().to_string(), run.outputs.csv.map(|csv| csv.display().to_string()))
        };
        let of = |title: &str, log: &str, csv: Option<&str>| (title.to_owned(), log.to_owned(), csv.map(str::to_owned));
        assert_eq!(shown(Some(1), 1), of("mock 4MB", "4MB/mock-round1.json", Some("a.csv")));
        assert_eq!(shown(Some(2), 3), of("mock 4MB, round 2", "4MB/mock-round2.json", Some("a-run2.csv")));
        assert_eq!(shown(None, 3), of("mock 4MB, warm-up", "4MB/mock-warmup.json", None));
    }
}
