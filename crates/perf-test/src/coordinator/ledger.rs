//! The books of a run: rows of all endpoints merged second by second, and the sums of the whole run.
//!
//! Used by the coordinator. Invariants: row `k` is given out once, in order, when every endpoint that
//! is still counted on has reported second `k`; what remains after the last whole second is one row in
//! the end. Everything that is reported enters the sums, also what comes too late for its row and what
//! an endpoint counted before it died. Subscriptions leave out by themselves what was sent in seconds to
//! ignore; of what was sent the second tells.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::SECOND_NS;
use crate::measure::histogram::Latencies;
use crate::measure::tally::{Received, Sent};
use crate::measure::usage::Usage;
use crate::row::Row;
use crate::worker::protocol::{Counts, Endpoint};

/// One report of one endpoint.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Index of the worker process.
    pub worker: usize,
    /// Whose counts.
    pub endpoint: Endpoint,
    /// Which second from the start.
    pub second: u64,
    /// False for a piece of a second.
    pub whole: bool,
    /// What was counted.
    pub counts: Counts,
    /// What the process has used so far.
    pub usage: Usage,
}

/// What one worker process has used.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// When the statistics begin.
    begin: Usage,
    /// At the last row that was given out.
    row: Usage,
    latest: Usage,
}

#[derive(Debug, Default)]
struct OpenRow {
    sent: Sent,
    received: Received,
    reported: BTreeSet<Endpoint>,
    usages: BTreeMap<usize, Usage>,
    /// When the last report was taken that says that something happened.
    until_ns: i64,
}

/// The books.
#[derive(Debug)]
pub struct Ledger {
    ignore_s: u64,
    cores: usize,
    expected: BTreeSet<Endpoint>,
    open: BTreeMap<u64, OpenRow>,
    next_second: u64,
    /// Whole rows end here; what comes after it is in `tail`.
    rows_end: u64,
    tail: OpenRow,
    accounts: Vec<Account>,
    by_endpoint: BTreeMap<Endpoint, Received>,
    sent: Sent,
    sent_samples_ever: u64,
    latencies: Latencies,
}

impl Ledger {
    /// Empty books for these endpoints, living in `workers` processes.
    pub fn new(endpoints: impl IntoIterator<Item = Endpoint>, workers: usize, ignore_s: u32) -> Self {
        Ledger {
            ignore_s: u64::from(ignore_s),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            expected: endpoints.into_iter().collect(),
            open: BTreeMap::new(),
            next_second: 0,
            rows_end: u64::MAX,
            tail: OpenRow::default(),
            accounts: vec![Account::default(); workers],
            by_endpoint: BTreeMap::new(),
            sent: Sent::default(),
            sent_samples_ever: 0,
            latencies: Latencies::new(),
        }
    }

    /// A worker begins to measure, having used `usage` for setting up.
    pub fn begin(&mut self, worker: usize, usage: Usage) {
        if let Some(account) = self.accounts.get_mut(worker) {
            *account = Account { begin: usage, row: usage, latest: usage };
        }
    }

    /// What a worker has used in the end.
    pub fn close_account(&mut self, worker: usize, usage: Usage) {
        if let Some(account) = self.accounts.get_mut(worker) {
            account.latest = usage;
        }
    }

    /// An endpoint reports no more rows.
    pub fn no_more_from(&mut self, endpoint: Endpoint) {
        self.expected.remove(&endpoint);
    }

    /// The measurement ends with the first `rows` whole seconds and a piece of the next one.
    pub fn end_after(&mut self, rows: u64) {
        self.rows_end = rows;
    }

    /// Enters one report.
    pub fn enter(&mut self, entry: Entry) {
        if let Some(account) = self.accounts.get_mut(entry.worker) {
            account.latest = entry.usage;
            if entry.whole && entry.second < self.ignore_s {
                account.begin = entry.usage;
            }
        }
        match &entry.counts {
            Counts::Sent(sent) => {
                self.sent_samples_ever += sent.samples;
                if entry.second >= self.ignore_s {
                    self.sent.merge(sent);
                }
            }
            Counts::Received(received, cells) => {
                self.by_endpoint.entry(entry.endpoint).or_default().merge(received);
                self.latencies.add_cells(cells);
            }
        }
        if !entry.whole || entry.second >= self.rows_end {
            self.tail.enter(entry);
        } else if entry.second >= self.next_second {
            self.open.entry(entry.second).or_default().enter(entry);
        }
    }

    /// The next row, if nobody is missing from it; with `overdue` also if somebody is.
    pub fn next_row(&mut self, overdue: impl Fn(u64) -> bool) -> Option<Row> {
        loop {
            let second = self.next_second;
            if second >= self.rows_end {
                return None;
            }
            let complete =
                self.open.get(&second).is_some_and(|row| self.expected.iter().all(|e| row.reported.contains(e)));
            let later_ones = self.open.last_key_value().is_some_and(|(last, _)| *last > second);
            if !complete && !(overdue(second) && (later_ones || self.open.contains_key(&second))) {
                return None;
            }
            self.next_second += 1;
            let open = self.open.remove(&second).unwrap_or_default();
            let row = self.close((second as i64 + 1) * SECOND_NS, SECOND_NS, open);
            if second >= self.ignore_s {
                return Some(row);
            }
        }
    }

    /// What happened after the last whole second, as a row of its true length; nothing if nothing did. To be called
    /// once, when everybody has finished; the measurement began at `start_ns`.
    pub fn last_row(&mut self, start_ns: i64) -> Option<Row> {
        let tail = std::mem::take(&mut self.tail);
        if tail.until_ns == 0 || self.rows_end < self.ignore_s {
            return None;
        }
        let end_ns = tail.until_ns - start_ns;
        let length_ns = end_ns - self.rows_end as i64 * SECOND_NS;
        (length_ns > 0).then(|| self.close(end_ns, length_ns, tail))
    }

    fn close(&mut self, end_ns: i64, length_ns: i64, open: OpenRow) -> Row {
        let (mut usage, mut core_percent) = (Usage::default(), 0.0);
        for (worker, account) in self.accounts.iter_mut().enumerate() {
            if let Some(at_row) = open.usages.get(&worker) {
                core_percent += at_row.core_percent_since(&account.row);
                account.row = *at_row;
            }
            usage.add(&account.row);
        }
        Row { end_ns, length_ns, sent: open.sent, received: open.received, usage, core_percent, cores: self.cores }
    }

    /// Cores that this program may use.
    pub fn cores(&self) -> usize {
        self.cores
    }

    /// What all publishers sent, after the seconds left out.
    pub fn sent(&self) -> Sent {
        self.sent
    }

    /// How many samples were sent from the first second on.
    pub fn sent_samples_ever(&self) -> u64 {
        self.sent_samples_ever
    }

    /// What one subscription received, after the seconds left out.
    pub fn received_by(&self, endpoint: Endpoint) -> Received {
        self.by_endpoint.get(&endpoint).copied().unwrap_or_default()
    }

    /// What all subscriptions received, after the seconds left out.
    pub fn received(&self) -> Received {
        let mut sum = Received::default();
        self.by_endpoint.values().for_each(|received| sum.merge(received));
        sum
    }

    /// The distribution of all latencies, after the seconds left out.
    pub fn latencies(&self) -> &Latencies {
        &self.latencies
    }

    /// What a worker has used since it started.
    pub fn usage_of(&self, worker: usize) -> Usage {
        self.accounts.get(worker).map(|account| account.latest).unwrap_or_default()
    }

    /// CPU time of all workers while they measured: ns, and percent of one core.
    pub fn measured_cpu(&self) -> (i64, f64) {
        let cpu_ns = self.accounts.iter().map(|account| account.latest.cpu_ns() - account.begin.cpu_ns()).sum();
        let percent = self.accounts.iter().map(|account| account.latest.core_percent_since(&account.begin)).sum();
        (cpu_ns, percent)
    }
}

impl OpenRow {
    fn enter(&mut self, entry: Entry) {
        let empty = match &entry.counts {
            Counts::Sent(sent) => {
                self.sent.merge(sent);
                sent.is_empty()
            }
            Counts::Received(received, _) => {
                self.received.merge(received);
                received.is_empty()
            }
        };
        if !empty {
            self.until_ns = self.until_ns.max(entry.usage.taken_ns);
        }
        self.reported.insert(entry.endpoint);
        // The endpoints of one process report one after the other: the last account covers all.
        self.usages.insert(entry.worker, entry.usage);
    }
}

#[cfg(test)]
mod tests;
