//! One run from its first process to its summary.
//!
//! Used by `main` and by the comparison. The coordinator starts the workers, waits until they see
//! each other, gives the start, merges and reports their rows, lets them drain, and ends them. It is
//! never in their way while they measure. What each side says is in `worker::protocol`.

mod finish;
mod fleet;
mod ledger;
mod measure;
mod set_up;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::domain;
use crate::error::Failure;
use crate::experiment::{Experiment, Strategy};
use crate::interrupt::Interrupt;
use crate::measure::calibration::{Calibration, Calibrations};
use crate::report::Reports;
use crate::report::summary::{Second, Summary};
use crate::worker::protocol::{Closing, Endpoint, Plan};
use fleet::{Event, Fleet};
use ledger::Ledger;

/// How long the coordinator waits for an event before it looks at the clock and at Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

/// Measures one run, reporting its rows on the way.
///
/// # Errors
/// [`Failure::Measurement`] if the run cannot begin or nobody can be told of it.
pub fn run(
    experiment: &Experiment,
    topic: &str,
    reports: &mut Reports,
    interrupt: &Interrupt,
) -> Result<Summary, Failure> {
    let calibrate = || Calibration::measure(experiment.message_bytes, experiment.rate_hz).map_err(Failure::Measurement);
    let before = calibrate()?;
    let plans = plans(experiment, topic);
    let endpoints: Vec<Endpoint> = plans.iter().flat_map(|plan| plan.endpoints.clone()).collect();
    let ledger = Ledger::new(endpoints.iter().copied(), plans.len(), experiment.ignore_s);
    let fleet = Fleet::start(plans).map_err(Failure::Measurement)?;
    let mut run = Run {
        experiment,
        reports,
        interrupt,
        fleet,
        ledger,
        working: endpoints.iter().copied().collect(),
        closings: BTreeMap::new(),
        lost_endpoints: BTreeMap::new(),
        notes: Vec::new(),
        seconds: Vec::new(),
        start_ns: 0,
        stopped_ns: None,
    };
    let measured =
        run.set_up(&endpoints).map_err(Failure::Measurement).and_then(|()| run.measure()).and_then(|()| run.drain());
    run.end_workers();
    measured?;
    let after = calibrate().unwrap_or_else(|failure| {
        run.notes.push(format!("the machine could not be measured again after the run: {failure}"));
        before
    });
    Ok(run.finish(Calibrations { before, after }))
}

fn plans(experiment: &Experiment, topic: &str) -> Vec<Plan> {
    let publishers: Vec<Endpoint> = (0..experiment.publishers).map(Endpoint::Publisher).collect();
    let subscriptions = (0..experiment.subscriptions).map(Endpoint::Subscription);
    let groups: Vec<Vec<Endpoint>> = match experiment.strategy {
        Strategy::InterThread => vec![publishers.into_iter().chain(subscriptions).collect()],
        Strategy::InterProcess => {
            std::iter::once(publishers).chain(subscriptions.map(|subscription| vec![subscription])).collect()
        }
    };
    let plan = |endpoints| Plan { experiment: experiment.clone(), topic: topic.to_owned(), endpoints };
    groups.into_iter().filter(|endpoints| !endpoints.is_empty()).map(plan).collect()
}

fn is_publisher(endpoint: &Endpoint) -> bool {
    matches!(endpoint, Endpoint::Publisher(_))
}

/// Why an endpoint did not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Its process is over.
    Died,
    /// Its process is there, but it failed or says nothing any more.
    Mute,
}

struct Run<'a> {
    experiment: &'a Experiment,
    reports: &'a mut Reports,
    interrupt: &'a Interrupt,
    fleet: Fleet,
    ledger: Ledger,
    /// Endpoints that have neither finished nor been lost.
    working: BTreeSet<Endpoint>,
    closings: BTreeMap<Endpoint, Closing>,
    /// Endpoints that did not finish.
    lost_endpoints: BTreeMap<Endpoint, Fate>,
    notes: Vec<String>,
    seconds: Vec<Second>,
    start_ns: i64,
    /// When the run was ended early.
    stopped_ns: Option<i64>,
}

impl Run<'_> {
    /// Ends all workers and takes away what those left that did not end well.
    fn end_workers(&mut self) {
        let killed = self.fleet.end();
        self.notes.extend(killed);
        if !self.fleet.ended_well()
            && let Err(sentence) = domain::visit(self.experiment.domain_id)
        {
            self.notes.push(format!("what a worker left in shared memory is still there: {sentence}"));
        }
    }

    /// How a worker that is over, or talks nonsense, should be spoken of.
    fn obituary(&mut self, worker: usize, event: &Event) -> String {
        let how = match event {
            Event::Garbled(line) => format!("said {line:?}, which is no report, "),
            _ => self.fleet.ending(worker),
        };
        match self.fleet.workers.get(worker) {
            Some(worker) => format!("the process of {} (pid {}) {how}", worker.label, worker.pid),
            None => how,
        }
    }
}
