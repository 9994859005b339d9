//! The CPU time and memory that the worker processes used, and the messages for which they used them.

use super::entry::Entry;
use perf_worker::measure::{
    resources::{Measured, Resources},
    tally::Tally,
};

/// The resources that one worker process had used at several points of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// The resources at the beginning of the statistics, after the warm-up and the ignored seconds.
    begin: Resources,
    /// The resources at the end of the last whole second of the run.
    end: Option<Resources>,
    /// The resources at the last row of the worker's endpoints. This row may be after the end of the run, because
    /// endpoints go on until they have received all messages.
    drained: Resources,
    /// The resources at the end of the last row that the ledger has returned.
    pub row: Resources,
    latest: Resources,
}

/// CPU time, and the messages that used it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MessageCost {
    /// The CPU time of all workers without perf_test's own threads, ns.
    pub cpu_ns: i64,
    /// The number of messages that were received in this CPU time.
    pub received: u64,
    /// The number of messages that were sent, or passed on by relays, in this CPU time.
    pub sent: u64,
}

/// The resources of all worker processes, and the messages for which they were used.
#[derive(Debug, Default)]
pub struct Accounts {
    left_out_s: u64,
    workers: Vec<Account>,
    /// The numbers of messages in the whole seconds of the run: received; sent or passed on.
    in_rows: (u64, u64),
}

impl Accounts {
    /// Creates the accounts of `workers` processes. The statistics leave out the first `left_out_s` seconds.
    pub fn new(workers: usize, left_out_s: u64) -> Accounts {
        Accounts { left_out_s, workers: vec![Account::default(); workers], in_rows: (0, 0) }
    }

    /// Records the resources that a worker had used when it got the order to start. It measures from `start_ns` on.
    pub fn begin(&mut self, worker: usize, mut resources: Resources, start_ns: i64) {
        // The order arrives a little before `start_ns`. The time until `start_ns` does not belong to the run.
        resources.usage.taken_ns = resources.usage.taken_ns.max(start_ns);
        if let Some(account) = self.workers.get_mut(worker) {
            *account = Account { begin: resources, end: None, drained: resources, row: resources, latest: resources };
        }
    }

    /// Records the resources of a worker when it ends.
    pub fn end(&mut self, worker: usize, resources: Resources) {
        if let Some(account) = self.workers.get_mut(worker) {
            account.latest = resources;
        }
    }

    /// Records the resources of a worker that came with the counts of its endpoints. Seconds before `rows_end` are
    /// whole seconds of the run.
    pub fn enter(&mut self, entry: &Entry, rows_end: u64) {
        let Entry { worker, second, whole, ref counts, resources } = *entry;
        let Some(account) = self.workers.get_mut(worker) else { return };
        (account.latest, account.drained) = (resources, resources);
        if whole && second < self.left_out_s {
            // These resources include a part of a later second that counts if another endpoint of the same process has
            // already reported that second. They are then not the state at the beginning.
            if account.end.is_none() {
                account.begin = resources;
            }
        } else if whole && second < rows_end {
            account.end = Some(resources);
            self.in_rows.0 += counts.received.samples;
            self.in_rows.1 += counts.sent.samples + counts.relayed.samples;
        }
    }

    /// The accounts, in the order of the workers.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = &mut Account> {
        self.workers.iter_mut()
    }

    /// The resources that a worker has used since it started.
    pub fn worker_resources(&self, worker: usize) -> Resources {
        self.workers.get(worker).map(|account| account.latest).unwrap_or_default()
    }

    /// The CPU time and the number of messages after the left-out seconds. With `drained`, all messages count, even
    /// those that arrive after the run (`sums` has their counts); without it, only the whole seconds of the run count.
    /// If all messages arrived within these seconds, `drained` has no effect: a reader that busy-waits would only add
    /// CPU time without messages. In a run shorter than a second all messages count in either case.
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

    /// The resources that all workers used from the beginning of the statistics to the last whole second.
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
