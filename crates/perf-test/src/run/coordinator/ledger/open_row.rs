//! A row that is not complete: reports are still added.

use std::collections::{BTreeMap, BTreeSet};

use super::{accounts::Accounts, entry::Entry};
use crate::log::{RowAccounts, RowEntry, TotalEntry, UsedEntry, WorkerRow};
use perf_worker::{
    clock::SECOND_NS,
    endpoint::Endpoint,
    measure::{memory::Memory, resources::Resources, tally::Tally, usage::Usage},
};

/// The sum of the reports of one second, or of the time after the last whole second.
#[derive(Debug, Default)]
pub struct OpenRow {
    /// The sums of the counts.
    pub sums: Tally,
    /// The endpoints that have reported.
    pub reported: BTreeSet<Endpoint>,
    resources: BTreeMap<usize, Resources>,
    /// The number of messages that a publisher refused or skipped, by publisher.
    pub refused: BTreeMap<Endpoint, u64>,
    /// The time at which the last report with a message ended.
    pub until_ns: i64,
}

impl OpenRow {
    /// Adds the counts of `endpoints`, which belong to one worker. `gaps` has the numbers of refused or skipped
    /// messages.
    pub fn enter(&mut self, endpoints: &[Endpoint], gaps: impl IntoIterator<Item = (Endpoint, u64)>, entry: &Entry) {
        let Entry { worker, ref counts, resources, .. } = *entry;
        if !counts.is_empty() {
            self.until_ns = self.until_ns.max(resources.usage.taken_ns);
        }
        self.sums.add(counts);
        for (endpoint, gaps) in gaps {
            *self.refused.entry(endpoint).or_default() += gaps;
        }
        self.reported.extend(endpoints);
        // Each report has the resources of the whole process, so the last report of a process has the newest ones.
        self.resources.insert(worker, resources);
    }

    /// Makes the finished row, which ends at `end_ns`. The resources of the next row count from the end of this row.
    pub fn close(self, end_ns: i64, length_ns: i64, accounts: &mut Accounts, cores: usize) -> RowEntry {
        let (mut usage, mut used, mut instrument_used) = (Usage::default(), Usage::default(), Usage::default());
        let mut memory = Memory::default();
        let accounts = accounts.iter_mut();
        let mut workers = Vec::with_capacity(accounts.len());
        for (worker, account) in accounts.enumerate() {
            let mut of_worker = WorkerRow { core_percent: 0.0, memory: account.row.memory };
            if let Some(at_row) = self.resources.get(&worker) {
                of_worker.core_percent = at_row.usage.core_percent_since(&account.row.usage);
                used.add(&at_row.usage.since(&account.row.usage));
                instrument_used.add(&at_row.instrument.since(&account.row.instrument));
                account.row = *at_row;
                of_worker.memory = at_row.memory;
            }
            workers.push(of_worker);
            usage.add(&account.row.usage);
            memory.add(&account.row.memory);
        }
        RowEntry {
            t_s: end_ns as f64 / SECOND_NS as f64,
            length_s: length_ns as f64 / SECOND_NS as f64,
            total: TotalEntry::new(&self.sums, &self.sums.received),
            used: UsedEntry::from_usage(&used),
            instrument_used: UsedEntry::from_usage(&instrument_used),
            memory,
            core_percent: workers.iter().map(|of| of.core_percent).sum(),
            accounts: RowAccounts { usage, workers, cores },
        }
    }
}
