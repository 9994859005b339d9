//! The resources that the worker processes used.

use super::entry::Place;
use perf_worker::measure::{
    resources::{Measured, Resources},
    tally::{Counts, Tally},
};

/// The usage of one worker process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// At the beginning of the statistics.
    begin: Resources,
    /// At the last whole row within the run.
    end: Option<Resources>,
    /// At the last row that was returned.
    pub row: Resources,
    latest: Resources,
}

/// The usage of all worker processes, and the messages for which they used it.
#[derive(Debug, Default)]
pub struct Accounts {
    left_out_s: u64,
    workers: Vec<Account>,
    /// Messages of the whole seconds within the run: received, and sent or passed on.
    in_rows: (u64, u64),
}

impl Accounts {
    /// Of so many processes, without the first seconds.
    pub fn new(workers: usize, left_out_s: u64) -> Accounts {
        Accounts { left_out_s, workers: vec![Account::default(); workers], in_rows: (0, 0) }
    }

    /// Records the resources that a worker used for its set-up; it begins to measure at `start_ns`.
    pub fn begin(&mut self, worker: usize, mut resources: Resources, start_ns: i64) {
        // The order to start comes a little before it, and the time until then is no time of the run.
        resources.usage.taken_ns = resources.usage.taken_ns.max(start_ns);
        if let Some(account) = self.workers.get_mut(worker) {
            *account = Account { begin: resources, end: None, row: resources, latest: resources };
        }
    }

    /// Records the resources of a worker at its end.
    pub fn end(&mut self, worker: usize, resources: Resources) {
        if let Some(account) = self.workers.get_mut(worker) {
            account.latest = resources;
        }
    }

    /// Enters the resources of a worker with counts of its endpoints; the whole rows end before `rows_end`.
    pub fn enter(&mut self, place: Place, rows_end: u64, counts: &Counts, resources: Resources) {
        let Place { worker, second, whole } = place;
        let Some(account) = self.workers.get_mut(worker) else { return };
        account.latest = resources;
        if whole && second < self.left_out_s {
            // An endpoint of the same process may be further already.
            if account.end.is_none() {
                account.begin = resources;
            }
        } else if whole && second < rows_end {
            account.end = Some(resources);
            self.in_rows.0 += counts.received.samples;
            self.in_rows.1 += counts.sent.samples + counts.relayed.samples;
        }
    }

    /// The accounts by the indices of the workers.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = &mut Account> {
        self.workers.iter_mut()
    }

    /// The resources of a worker since it started.
    pub fn of(&self, worker: usize) -> Resources {
        self.workers.get(worker).map(|account| account.latest).unwrap_or_default()
    }

    /// The cost of the run from the beginning of the statistics to the last whole second. Later the subscriptions may
    /// wait for samples that were lost, which is no cost of a message. A run that ended within its first second has all
    /// of `sums`.
    pub fn measured(&self, sums: &Tally) -> Measured {
        let (mut received, mut sent) = self.in_rows;
        if self.workers.iter().all(|account| account.end.is_none()) {
            let Tally { sent: published, received: taken, relayed, .. } = sums;
            (received, sent) = (taken.samples, published.samples + relayed.samples);
        }
        let mut measured = Measured { received, sent, ..Measured::default() };
        for Account { begin, end, latest, .. } in &self.workers {
            let end = end.as_ref().unwrap_or(latest);
            measured.usage.add(&end.usage.since(&begin.usage));
            measured.instrument.add(&end.instrument.since(&begin.instrument));
            measured.core_percent += end.usage.core_percent_since(&begin.usage);
        }
        measured
    }
}
