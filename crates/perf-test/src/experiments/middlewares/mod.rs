//! Comparison of several contestants (`perf_test compare middlewares`). All contestants are measured in the same cases.
//! The runs are in rounds, so that a slow change of the machine affects all contestants alike. The results are medians
//! over the rounds, and ratios within rounds.

mod case;
mod pairs;
mod text;

use std::path::PathBuf;

use crate::{
    cli::{VersusOptions, check_message, check_shared},
    common::{error::Failure, interrupt::Interrupt},
    experiments::{
        batch::{Batch, Contestant, PlannedRun, RunOutcomes, contestants, file_name, refuse},
        results_file::{Ratio, Results, RunResults},
    },
    report::plot::dots,
};
use case::{Case, cases};
use pairs::ratios;

/// The number of rounds from which each contestant also has a warm-up run. With fewer rounds it would take too much
/// time.
const CHEAP_FROM_ROUNDS: u32 = 3;

/// The comparison of all contestants in all cases.
#[derive(Debug)]
struct Versus {
    /// The number of rounds that the user requested.
    rounds: u32,
    cases: Vec<CaseResults>,
    ratios: Vec<Ratio>,
}

/// The results of one case.
#[derive(Debug)]
struct CaseResults {
    case: Case,
    /// The results, one element for each contestant.
    rows: Vec<RunResults>,
}

/// Measures all contestants. Files are written only if `options.results` is given.
///
/// # Errors
/// [`Failure::Usage`]: an option does not apply, a contestant, message or topic is not valid, or the folder of results
/// has the log of a run with other conditions.
pub fn measure(options: &VersusOptions) -> Result<Results, Failure> {
    refuse(&options.run, "compare middlewares").map_err(Failure::Usage)?;
    let list = options.run.endpoints.communicator.as_deref().unwrap_or("all");
    let contestants = contestants(list).map_err(Failure::Usage)?;
    check_shared(&options.run)?;
    let cases = cases(&options.run);
    cases.iter().try_for_each(|case| check_message(&case.options))?;
    let batch = Batch::open(options.results.clone(), options.again, Interrupt::install()?)?;
    let of_case = |case| contestants.iter().map(move |contestant| planned(case, contestant));
    let runs: Vec<PlannedRun> = cases.iter().flat_map(of_case).collect();
    let has_warmups = options.rounds >= CHEAP_FROM_ROUNDS;
    let outcomes = batch.run_rounds(&runs, options.rounds, has_warmups, |_| Ok(()))?;
    let results: Vec<RunResults> =
        runs.iter().zip(&outcomes).map(|(run, outcomes)| RunResults::new(run, outcomes)).collect();
    let of_cases = cases.into_iter().zip(results.chunks(contestants.len().max(1)));
    let cases: Vec<CaseResults> = of_cases.map(|(case, rows)| CaseResults { case, rows: rows.to_vec() }).collect();
    let versus = Versus { rounds: options.rounds, ratios: ratios(&cases), cases };
    let file = versus.file();
    if let Some(folder) = batch.folder() {
        let picture = dots::draw(&versus.panels()).map_err(Failure::Measurement)?;
        file.write(folder, "versus", &[("md", file.markdown("Contestants side by side")), ("svg", picture)])?;
    }
    let failure = RunOutcomes::failure(&outcomes, "no contestant was measured");
    let ratios = file.ratios.iter().map(ToString::to_string);
    let lines = file.lines().into_iter().chain([String::new()]).chain(ratios).collect();
    Ok(Results { lines, failure, ..Results::default() })
}

/// The run of a contestant in a case.
fn planned(case: &Case, contestant: &Contestant) -> PlannedRun {
    let (name, label, spec) = (&case.name, &contestant.label, contestant.spec(&case.options));
    let options = case.shown_options(spec.as_ref().ok());
    let log = PathBuf::from(file_name(name)).join(file_name(label));
    PlannedRun { options, ..PlannedRun::new(label, format!("{label} {name}"), log, spec) }
}

#[cfg(test)]
mod tests;
