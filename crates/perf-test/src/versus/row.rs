//! The results of one contestant in one case.

use serde::Serialize;

use super::case::Case;
use crate::batch::{Contestant, Outcome, PlannedRun, Shortfall, Warnings, wait_of};
use crate::figures::Values;
use perf_worker::{choice::Choice, run_spec::RunSpec};

/// The results of one contestant in one case.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The contestant as it is spelt.
    pub contestant: String,
    /// Its middleware.
    pub middleware: String,
    /// Whether its recommended settings apply.
    pub is_best: bool,
    /// `loaned`, `copied`, or `partly loaned` if the middleware copied some messages that were to be loaned.
    pub path: &'static str,
    /// The way in which its subscriptions wait, as `block` or `adaptive (push)`.
    pub wait: String,
    /// The way of waiting that was asked for, if it lacks that.
    pub wait_asked: Option<&'static str>,
    /// Its quality of service, if it lacks the one that was asked for.
    pub qos_instead: Option<String>,
    /// Its settings.
    pub settings: std::collections::BTreeMap<String, String>,
    /// The figures of each round; null of a round without figures.
    pub rounds: Vec<Option<Values>>,
    /// The medians of the rounds; null if it was never measured.
    pub medians: Option<Values>,
    /// The differences of its runs from those that were asked for, besides waiting and QoS.
    pub remarks: Vec<String>,
    /// The warnings of its measured runs, without warm-ups.
    pub warnings: Warnings,
    /// Runs without figures, warm-ups included.
    pub missing: usize,
    /// The last run without figures.
    pub shortfall: Option<Shortfall>,
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
            outcome.and_then(Outcome::measured).map(Values::of)
        };
        let figures: Vec<Option<Values>> = (1..=rounds).map(of_round).collect();
        let medians = Values::together(&figures.iter().flatten().collect::<Vec<_>>());
        let spec: Option<&RunSpec> = runs.iter().find_map(|(_, run, _)| run.spec.as_ref().ok());
        let shortfalls: Vec<&Shortfall> = runs
            .iter()
            .filter_map(|(.., outcome)| match outcome {
                Outcome::Missing(shortfall) => Some(shortfall),
                Outcome::Measured(_) | Outcome::NotDone => None,
            })
            .collect();
        let copied = medians.as_ref().map_or(0, Values::copied);
        let some_loaned = runs.iter().filter_map(|(.., outcome)| outcome.measured()).any(|run| {
            let (sent, received) = (&run.total.sent, &run.total.received);
            sent.copied < sent.samples && received.copied < received.samples
        });
        let in_rounds = runs.iter().filter(|(round, ..)| round.is_some());
        let warnings = Warnings::of(in_rounds.filter_map(|(.., outcome)| outcome.measured()));
        let qos = spec.map(|spec| spec.qos.to_string());
        Row {
            contestant: contestant.label.clone(),
            middleware: contestant.middleware.clone(),
            is_best: contestant.is_best,
            path: match spec {
                None => "",
                Some(spec) if !spec.zero_copy => "copied",
                Some(_) if copied > 0 && !some_loaned => "copied",
                Some(_) if copied > 0 => "partly loaned",
                Some(_) => "loaned",
            },
            wait: spec.map(wait_of).unwrap_or_default(),
            wait_asked: spec.filter(|spec| spec.wait.name() != case.wait()).map(|_| case.wait()),
            qos_instead: qos.filter(|qos| *qos != case.qos()),
            settings: spec.map(|spec| spec.settings.clone()).unwrap_or_default(),
            remarks: spec.map(|spec| spec.heading_notes.clone()).unwrap_or_default(),
            warnings,
            rounds: figures,
            medians,
            missing: shortfalls.len(),
            shortfall: shortfalls.last().map(|shortfall| (*shortfall).clone()),
        }
    }
}
