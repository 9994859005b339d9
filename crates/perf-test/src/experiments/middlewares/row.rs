//! The results of one contestant in one case.

use super::case::Case;
use crate::{
    experiments::{
        batch::{Contestant, Outcome, PlannedRun, RunOutcomes, Shortfall},
        results_file::RunResults,
    },
    log::figures::Values,
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
    /// The results of a contestant by the outcomes of its runs.
    pub fn new(contestant: &Contestant, case: &Case, run: &PlannedRun, outcomes: &RunOutcomes) -> Row {
        let spec: Option<&RunSpec> = run.spec.as_ref().ok();
        let shortfalls: Vec<&Shortfall> = outcomes.all().filter_map(Outcome::shortfall).collect();
        // A warm-up run may have no figures, either.
        let shortfall = shortfalls.last().map(|shortfall| (*shortfall).clone());
        let results = RunResults { shortfall, ..RunResults::new(run, &outcomes.rounds) };
        let copied = results.medians.as_ref().map_or(0, Values::copied);
        let some_loaned = outcomes.all().filter_map(Outcome::measured).any(|run| {
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
