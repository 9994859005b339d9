//! Several contestants side by side (`perf_test compare middlewares`): the same cases for each, in rounds, so that a
//! slow change of the machine concerns all. Results are medians over the rounds and ratios within rounds.

mod case;
mod pairs;
mod row;
mod text;

use std::path::PathBuf;

use crate::{
    cli::{VersusOptions, check_message, check_shared},
    common::{error::Failure, interrupt::Interrupt},
    experiments::{
        batch::{Batch, Contestant, Kind, KindOutcomes, contestants, file_name, refuse},
        results_file::Ratio,
    },
    report::{outputs::Outputs, plot::dots},
};
use case::{Case, cases};
use pairs::ratios;
use perf_worker::run_spec::RunSpec;
use row::Row;

/// Rounds from which on a warm-up run of each contestant is little beside them.
const CHEAP_FROM_ROUNDS: u32 = 3;

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
        let batch = Batch::open(options.results.clone(), options.again, Interrupt::install()?)?;
        let kinds: Vec<Kind> =
            cases.iter().flat_map(|case| contestants.iter().map(move |contestant| kind(case, contestant))).collect();
        let outcomes = batch.run_rounds(&kinds, options.rounds, options.rounds >= CHEAP_FROM_ROUNDS)?;
        let versus = Versus::of(&cases, &contestants, options.rounds, &kinds, &outcomes);
        if let Some(folder) = batch.folder() {
            let picture = dots::draw(&versus.panels()).map_err(Failure::Measurement)?;
            folder.write("versus.svg", &picture).map_err(Failure::Measurement)?;
            let file = versus.file();
            folder.write_json("versus.json", &file).map_err(Failure::Measurement)?;
            folder.write("versus.md", &file.markdown("Contestants side by side")).map_err(Failure::Measurement)?;
        }
        Ok(versus)
    }

    /// The results of the kinds of run, which are those of each contestant for case after case.
    fn of(
        cases: &[Case],
        contestants: &[Contestant],
        rounds: u32,
        kinds: &[Kind],
        outcomes: &[KindOutcomes],
    ) -> Versus {
        let size = contestants.len().max(1);
        let of_cases = kinds.chunks(size).zip(outcomes.chunks(size));
        let results = cases.iter().zip(of_cases).map(|(case, (kinds, outcomes))| {
            let runs = contestants.iter().zip(kinds).zip(outcomes);
            let rows = runs.map(|((contestant, kind), outcomes)| Row::new(contestant, case, &kind.spec, outcomes));
            CaseResults::new(case, rows.collect(), kinds)
        });
        let results: Vec<CaseResults> = results.collect();
        let ratios = ratios(&results);
        Versus { rounds, cases: results, ratios, not_done: KindOutcomes::not_done(outcomes) }
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
    fn new(case: &Case, rows: Vec<Row>, kinds: &[Kind]) -> CaseResults {
        let first: Option<&RunSpec> = kinds.iter().find_map(|kind| kind.spec.as_ref().ok());
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

/// The run of a contestant in a case.
fn kind(case: &Case, contestant: &Contestant) -> Kind {
    let (name, label) = (&case.name, &contestant.label);
    Kind {
        contestant: label.clone(),
        title: format!("{label} {name}"),
        log: PathBuf::from(file_name(name)).join(file_name(label)),
        spec: contestant.spec(&case.options),
        robot: None,
        outputs: Outputs::default(),
    }
}

#[cfg(test)]
mod tests;
