//! Several contestants side by side (`perf_test compare middlewares`): the same cases for each, in rounds, so that a
//! slow change of the machine concerns all. Results are medians over the rounds and ratios within rounds.

mod case;
mod pairs;
mod row;
mod text;

use std::path::PathBuf;

use crate::{
    batch::{Batch, Contestant, Outcome, PlannedRun, contestants, file_name, refuse},
    cli::{VersusOptions, check_message, check_shared},
    error::Failure,
    interrupt::Interrupt,
    report::{outputs::Outputs, plot::dots},
    results_file::Ratio,
};
use case::{Case, cases};
use pairs::ratios;
use perf_worker::run_spec::RunSpec;
use row::Row;

/// Rounds from which on a warm-up run of each contestant is little beside them.
const CHEAP_FROM_ROUNDS: u32 = 3;
/// The length of a warm-up run, s.
const WARMUP_RUN_S: u32 = 1;

/// The results.
#[derive(Debug)]
pub struct Versus {
    /// The rounds that were asked for.
    rounds: u32,
    cases: Vec<CaseResults>,
    ratios: Vec<Ratio>,
    /// Runs that the user did not wait for.
    not_done: usize,
}

/// The results of one case.
#[derive(Debug)]
pub struct CaseResults {
    name: String,
    /// The message type, and its size as it is sent.
    message: String,
    message_bytes: usize,
    rate_hz: u32,
    qos: String,
    phases: bool,
    rows: Vec<Row>,
}

/// A run of one contestant in one case; the warm-up has no round.
struct Entry {
    case: usize,
    contestant: usize,
    round: Option<u32>,
    run: PlannedRun,
}

impl Versus {
    /// Measures; without `options.results` the figures are kept in no file.
    ///
    /// # Errors
    /// [`Failure::Usage`]: an option does not apply, a contestant, message or topic is not valid, or the folder of
    /// results has a log of a run with other conditions.
    pub fn measure(options: &VersusOptions) -> Result<Versus, Failure> {
        refuse(&options.run, "compare middlewares").map_err(Failure::Usage)?;
        let list = options.run.endpoints.communicator.as_deref().unwrap_or("all");
        let contestants = contestants(list).map_err(Failure::Usage)?;
        check_shared(&options.run)?;
        let cases = cases(&options.run);
        cases.iter().try_for_each(|case| check_message(&case.options))?;
        let entries = plan(&cases, &contestants, options.rounds);
        let batch = Batch::open(options.results.clone(), options.again, Interrupt::install()?)?;
        let entries = without_needless_warmups(entries, &batch);
        let runs: Vec<PlannedRun> = entries.iter().map(|entry| entry.run.clone()).collect();
        let outcomes = batch.run_all(&runs)?;
        let versus = Versus::of(&cases, &contestants, options.rounds, &entries, &outcomes);
        if let Some(folder) = batch.folder() {
            let picture = dots::draw(&versus.panels()).map_err(Failure::Measurement)?;
            folder.write("versus.svg", &picture).map_err(Failure::Measurement)?;
            let file = versus.file();
            folder.write_json("versus.json", &file).map_err(Failure::Measurement)?;
            folder.write("versus.md", &file.markdown("Contestants side by side")).map_err(Failure::Measurement)?;
        }
        Ok(versus)
    }

    fn of(cases: &[Case], contestants: &[Contestant], rounds: u32, entries: &[Entry], outcomes: &[Outcome]) -> Versus {
        let results = cases.iter().enumerate().map(|(index, case)| {
            let rows = contestants.iter().enumerate().map(|(place, contestant)| {
                let own = entries.iter().zip(outcomes);
                let own = own.filter(|(entry, _)| entry.case == index && entry.contestant == place);
                let runs: Vec<(Option<u32>, &PlannedRun, &Outcome)> =
                    own.map(|(entry, outcome)| (entry.round, &entry.run, outcome)).collect();
                Row::new(contestant, case, rounds, &runs)
            });
            CaseResults::new(case, rows.collect(), entries.iter().filter(|entry| entry.case == index))
        });
        let results: Vec<CaseResults> = results.collect();
        let ratios = ratios(&results);
        let not_done = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::NotDone)).count();
        Versus { rounds, cases: results, ratios, not_done }
    }

    /// The reason why the comparison is not complete, for the exit code: the user has ended it, or no contestant was
    /// measured.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        if self.not_done > 0 {
            return Some(format!(
                "ended early: runs not done: {}. With the same --results the command goes on from there",
                self.not_done
            ));
        }
        let measured = self.cases.iter().flat_map(|case| &case.rows).any(|row| row.results.medians.is_some());
        (!measured).then(|| "no contestant was measured".to_owned())
    }
}

impl CaseResults {
    fn new<'a>(case: &Case, rows: Vec<Row>, mut entries: impl Iterator<Item = &'a Entry>) -> CaseResults {
        let first: Option<&RunSpec> = entries.find_map(|entry| entry.run.spec.as_ref().ok());
        CaseResults {
            name: case.name.clone(),
            message: first.map_or(String::new(), |spec| spec.message.name.clone()),
            message_bytes: first.map_or(0, |spec| spec.message.bytes),
            rate_hz: first.map_or(0, |spec| spec.rate_hz),
            qos: case.qos(),
            phases: case.options.measuring.phases,
            rows,
        }
    }
}

/// All runs in order: the warm-ups, if they are cheap, and then the rounds, every second one in the opposite order.
fn plan(cases: &[Case], contestants: &[Contestant], rounds: u32) -> Vec<Entry> {
    let warmups = (rounds >= CHEAP_FROM_ROUNDS).then_some(None);
    let rounds = warmups.into_iter().chain((1..=rounds).map(Some));
    let specs: Vec<Vec<Result<RunSpec, String>>> = cases
        .iter()
        .map(|case| contestants.iter().map(|contestant| contestant.spec(&case.options)).collect())
        .collect();
    let mut entries = Vec::new();
    for round in rounds {
        for (case, of_case) in specs.iter().enumerate() {
            let mut order: Vec<usize> = (0..contestants.len()).collect();
            if round.is_some_and(|round| round.is_multiple_of(2)) {
                order.reverse();
            }
            for contestant in order {
                let (Some(place), Some(spec)) = (contestants.get(contestant), of_case.get(contestant)) else {
                    continue;
                };
                let Some(named) = cases.get(case) else { continue };
                let run = planned(named, place, spec.clone(), round);
                entries.push(Entry { case, contestant, round, run });
            }
        }
    }
    entries
}

/// Without the warm-ups of contestants all of whose runs are there already.
fn without_needless_warmups(mut entries: Vec<Entry>, batch: &Batch) -> Vec<Entry> {
    let is_needless = |warmup: &Entry| {
        let same = |entry: &&Entry| (entry.case, entry.contestant) == (warmup.case, warmup.contestant);
        let runs = entries.iter().filter(same).filter(|entry| entry.round.is_some()).map(|entry| &entry.run);
        warmup.round.is_none() && batch.is_complete(&runs.collect::<Vec<_>>())
    };
    let needless: Vec<bool> = entries.iter().map(is_needless).collect();
    let mut needless = needless.into_iter();
    entries.retain(|_| !needless.next().unwrap_or(false));
    entries
}

fn planned(case: &Case, contestant: &Contestant, spec: Result<RunSpec, String>, round: Option<u32>) -> PlannedRun {
    let (case, label) = (&case.name, &contestant.label);
    let (what, file) = match round {
        None => ("warm-up".to_owned(), "warmup".to_owned()),
        Some(round) => (format!("round {round}"), format!("round{round}")),
    };
    let short = |spec: RunSpec| RunSpec { warmup_s: 0, ignore_s: 0, max_runtime_s: WARMUP_RUN_S, ..spec };
    PlannedRun {
        contestant: label.clone(),
        title: format!("{label} {case}, {what}"),
        log: PathBuf::from(file_name(case)).join(format!("{}-{file}.json", file_name(label))),
        spec: if round.is_none() { spec.map(short) } else { spec },
        robot: None,
        outputs: Outputs::default(),
        is_warmup: round.is_none(),
    }
}

#[cfg(test)]
mod tests;
