//! The resources that the worker processes used.

use super::entry::Entry;
use perf_worker::measure::{
    resources::{Measured, Resources},
    tally::Tally,
};

/// The usage of one worker process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// The resources at the beginning of the statistics.
    begin: Resources,
    /// The resources at the last whole row within the run.
    end: Option<Resources>,
    /// The resources at the last row of the worker's endpoints. This row may be after the run, because endpoints that
    /// receive go on until they have all messages.
    drained: Resources,
    /// The resources at the end of the row that was returned last.
    pub row: Resources,
    latest: Resources,
}

/// The CPU time of some messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MessageCost {
    /// The CPU time of all workers without the instrument's threads, ns.
    pub cpu_ns: i64,
    /// The messages that were received in the time of `cpu_ns`.
    pub received: u64,
    /// The messages that were sent or passed on in the time of `cpu_ns`.
    pub sent: u64,
}

/// The usage of all worker processes, and the messages for which they used it.
#[derive(Debug, Default)]
pub struct Accounts {
    left_out_s: u64,
    workers: Vec<Account>,
    /// The messages of the whole seconds within the run: the received ones, and the ones sent or passed on.
    in_rows: (u64, u64),
}

impl Accounts {
    /// The accounts of `workers` processes, without the first `left_out_s` seconds.
    pub fn new(workers: usize, left_out_s: u64) -> Accounts {
        Accounts { left_out_s, workers: vec![Account::default(); workers], in_rows: (0, 0) }
    }

    /// Records the resources that a worker used for its set-up. The worker begins to measure at `start_ns`.
    pub fn begin(&mut self, worker: usize, mut resources: Resources, start_ns: i64) {
        // The order to start comes a little before `start_ns`, and the time until `start_ns` does not belong to
        // the run.
        resources.usage.taken_ns = resources.usage.taken_ns.max(start_ns);
        if let Some(account) = self.workers.get_mut(worker) {
            *account = Account { begin: resources, end: None, drained: resources, row: resources, latest: resources };
        }
    }

    /// Records the resources of a worker at its end.
    pub fn end(&mut self, worker: usize, resources: Resources) {
        if let Some(account) = self.workers.get_mut(worker) {
            account.latest = resources;
        }
    }

    /// Enters the resources of a worker with the counts of its endpoints. Seconds before `rows_end` are whole
    /// rows of the run.
    pub fn enter(&mut self, entry: &Entry, rows_end: u64) {
        let Entry { worker, second, whole, ref counts, resources } = *entry;
        let Some(account) = self.workers.get_mut(worker) else { return };
        (account.latest, account.drained) = (resources, resources);
        if whole && second < self.left_out_s {
            // If another endpoint of the same process has already reported a second that counts, these resources
            // contain a part of that second, so they are not the beginning.
            if account.end.is_none() {
                account.begin = resources;
            }
        } else if whole && second < rows_end {
            account.end = Some(resources);
            self.in_rows.0 += counts.received.samples;
            self.in_rows.1 += counts.sent.samples + counts.relayed.samples;
        }
    }

    /// The accounts, in the order of the workers' indices.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = &mut Account> {
        self.workers.iter_mut()
    }

    /// The resources of a worker since it started.
    pub fn worker_resources(&self, worker: usize) -> Resources {
        self.workers.get(worker).map(|account| account.latest).unwrap_or_default()
    }

    /// The cost of messages from the beginning of the statistics. With `drained`, it is the cost of all messages
    /// until the last one is received (`sums` has their counts); otherwise it is the cost of the messages within the
    /// whole seconds of the run. If these seconds contain all messages, the cost within them is returned even with
    /// `drained`, because a reader that busy-waits uses CPU time after them without a message. A run shorter than a
    /// second counts all messages in either case.
    pub fn message_cost(&self, sums: &Tally, drained: bool) -> MessageCost {
        let all = (sums.received.samples, sums.sent.samples + sums.relayed.samples);
        let is_short = self.workers.iter().all(|account| account.end.is_none());
        let drained = is_short || (drained && all != self.in_rows);
        let (received, sent) = if drained { all } else { self.in_rows };
        let cpu_ns = |account: &Account| {
            let end = account.end.as_ref().filter(|_| !drained).unwrap_or(&account.drained);
            end.usage.since(&account.begin.usage).cpu_ns()
        };
        MessageCost { cpu_ns: self.workers.iter().map(cpu_ns).sum(), received, sent }
    }

    /// The usage of all workers from the beginning of the statistics to the last whole second.
    pub fn measured(&self) -> Measured {
        let mut measured = Measured::default();
        for Account { begin, end, latest, .. } in &self.workers {
            let end = end.as_ref().unwrap_or(latest);
            measured.usage.add(&end.usage.since(&begin.usage));
            measured.instrument.add(&end.instrument.since(&begin.instrument));
            measured.core_percent += end.usage.core_percent_since(&begin.usage);
        }
        measured
    }
}
