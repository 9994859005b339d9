//! The results of one contestant in one case.

use super::case::Case;
use crate::{
    batch::{Contestant, Outcome, PlannedRun, Shortfall},
    figures::Values,
    results_file::RunResults,
};
use perf_worker::{choice::Choice, run_spec::RunSpec};

/// The results of one contestant in one case.
#[derive(Debug)]
pub struct Row {
    /// The results as files have them.
    pub results: RunResults,
    /// Its middleware.
    pub middleware: String,
    /// Whether its recommended settings apply.
    pub is_best: bool,
    /// `loaned`, `copied`, or `partly loaned` if the middleware copied some messages that were to be loaned.
    pub path: &'static str,
    /// The way of waiting that was asked for, if it lacks that.
    pub wait_asked: Option<&'static str>,
    /// Its quality of service, if it lacks the one that was asked for.
    pub qos_instead: Option<String>,
    /// Runs without figures, warm-ups included.
    pub missing: usize,
}

impl Row {
    /// Of a contestant's runs: the round, the run and its outcome.
    pub fn new(
        contestant: &Contestant,
        case: &Case,
        rounds: u32,
        runs: &[(Option<u32>, &PlannedRun, &Outcome)],
    ) -> Row {
        let of_round = |wanted: u32| {
            let outcome = runs.iter().find(|(round, ..)| *round == Some(wanted)).map(|(.., outcome)| *outcome);
            outcome.unwrap_or(&Outcome::NotDone)
        };
        let outcomes: Vec<&Outcome> = (1..=rounds).map(of_round).collect();
        let spec: Option<&RunSpec> = runs.iter().find_map(|(_, run, _)| run.spec.as_ref().ok());
        let shortfalls: Vec<&Shortfall> = runs
            .iter()
            .filter_map(|(.., outcome)| match outcome {
                Outcome::Missing(shortfall) => Some(shortfall),
                Outcome::Measured(_) | Outcome::NotDone => None,
            })
            .collect();
        let results = RunResults {
            options: case.shown_options(spec),
            // A warm-up run may have none, either.
            shortfall: shortfalls.last().map(|shortfall| (*shortfall).clone()),
            ..RunResults::new(&contestant.label, &spec.cloned().ok_or_else(String::new), &outcomes)
        };
        let copied = results.medians.as_ref().map_or(0, Values::copied);
        let some_loaned = runs.iter().filter_map(|(.., outcome)| outcome.measured()).any(|run| {
            let (sent, received) = (&run.total.sent, &run.total.received);
            sent.copied < sent.samples && received.copied < received.samples
        });
        let qos = spec.map(|spec| spec.qos.to_string());
        Row {
            middleware: contestant.middleware.clone(),
            is_best: contestant.is_best,
            path: match spec {
                None => "",
                Some(spec) if !spec.zero_copy => "copied",
                Some(_) if copied > 0 && !some_loaned => "copied",
                Some(_) if copied > 0 => "partly loaned",
                Some(_) => "loaned",
            },
            wait_asked: spec.filter(|spec| spec.wait.name() != case.wait()).map(|_| case.wait()),
            qos_instead: qos.filter(|qos| *qos != case.qos()),
            missing: shortfalls.len(),
            results,
        }
    }
}
