//! The ledger of a run: the rows of all endpoints, merged second by second, and the sums of the whole run.
//!
//! Invariants: row `k` is returned once, in order, when every endpoint that is still expected has reported second `k`. The rest after
//! the last whole second is one row at the end. Every report enters the sums, also one that is too late for its row, and the counts of
//! an endpoint that failed later. Subscriptions exclude samples that were sent in the seconds to ignore by themselves; the counts of
//! sent samples are excluded by their second.

use std::collections::{BTreeMap, BTreeSet};

use super::{is_publisher, senders::Senders};
use crate::row::{Row, WorkerRow};
use perf_worker::{
    clock::SECOND_NS,
    endpoint::Endpoint,
    measure::{
        cells::Cells,
        memory::Memory,
        moments::Moments,
        resources::{Measured, Resources},
        tally::{Counts, Received, Relayed, Sent, Tally},
        usage::Usage,
    },
};

/// One report of one endpoint.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Index of the worker process.
    pub worker: usize,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The index of the second from the start.
    pub second: u64,
    /// False for a part of a second.
    pub whole: bool,
    /// Its counts.
    pub counts: Counts,
    /// The usage of the process so far.
    pub resources: Resources,
}

/// One report of all endpoints of a process.
#[derive(Clone, Debug)]
pub struct ProcessEntry {
    /// Index of the worker process.
    pub worker: usize,
    /// Its endpoints.
    pub endpoints: Vec<Endpoint>,
    /// The index of the second from the start.
    pub second: u64,
    /// False for the parts of a second at the ends of its endpoints.
    pub whole: bool,
    /// The sums of their counts.
    pub counts: Counts,
    /// Messages of each publisher that were refused or passed over.
    pub gaps: Vec<(Endpoint, u64)>,
    /// The usage of the process so far.
    pub resources: Resources,
}

/// The place of a report among the rows.
struct Place {
    worker: usize,
    second: u64,
    whole: bool,
}

/// The usage of one worker process.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// At the beginning of the statistics.
    begin: Resources,
    /// At the last whole row within the run.
    end: Option<Resources>,
    /// At the last row that was returned.
    row: Resources,
    latest: Resources,
}

#[derive(Debug, Default)]
struct OpenRow {
    sums: Tally,
    reported: BTreeSet<Endpoint>,
    resources: BTreeMap<usize, Resources>,
    /// Messages that were refused or passed over, by publisher.
    refused: BTreeMap<Endpoint, u64>,
    /// The time of the last report that is not empty.
    until_ns: i64,
}

/// The samples of some publishers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentBy {
    /// Sent after the seconds left out.
    pub counted: u64,
    /// Sent from the first second on.
    pub ever: u64,
    /// Ids used for them and for messages that were refused or passed over.
    pub ids_ever: u64,
    /// Refused or passed over after the seconds left out.
    pub refused: u64,
}

/// The sums of one endpoint, after the seconds left out.
#[derive(Clone, Debug, Default)]
pub struct EndpointSums {
    /// Of a publisher.
    pub sent: Sent,
    /// The delays of its messages from due time to send time.
    pub lateness: Cells,
    /// Of a subscription.
    pub received: Received,
    /// Its latencies from the send time.
    pub latencies: Cells,
    /// Of a relay or a server.
    pub relayed: Relayed,
}

/// The ledger.
#[derive(Debug, Default)]
pub struct Ledger {
    left_out_s: u64,
    cores: usize,
    senders: Senders,
    expected: BTreeSet<Endpoint>,
    open: BTreeMap<u64, OpenRow>,
    next_second: u64,
    /// The end of the whole rows; later counts are in `tail`.
    rows_end: u64,
    tail: OpenRow,
    accounts: Vec<Account>,
    by_endpoint: BTreeMap<Endpoint, EndpointSums>,
    sums: Tally,
    sent: BTreeMap<Endpoint, SentBy>,
    /// Messages of the whole seconds within the run: received, and sent or passed on.
    in_rows: (u64, u64),
    /// Gaps in the ids that rows will still show and that are no losses: each subscription sees one for each refused message.
    refused_gaps: u64,
    /// Samples lost in the rows that were returned.
    lost_in_rows: u64,
    /// CPU time of each second that was returned, percent of one core.
    core_percents: Moments,
    /// Mean latency of each second that was returned and has one.
    mean_latencies: Moments,
}

impl Ledger {
    /// An empty ledger for the endpoints of `senders` in `workers` processes.
    pub fn new(senders: Senders, workers: usize, left_out_s: u32) -> Self {
        Ledger {
            left_out_s: u64::from(left_out_s),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            expected: senders.keys().copied().collect(),
            senders,
            rows_end: u64::MAX,
            accounts: vec![Account::default(); workers],
            ..Ledger::default()
        }
    }

    /// Records the resources that a worker used for its set-up; it begins to measure at `start_ns`.
    pub fn begin(&mut self, worker: usize, mut resources: Resources, start_ns: i64) {
        // The order to start comes a little before it, and the time until then is no time of the run.
        resources.usage.taken_ns = resources.usage.taken_ns.max(start_ns);
        if let Some(account) = self.accounts.get_mut(worker) {
            *account = Account { begin: resources, end: None, row: resources, latest: resources };
        }
    }

    /// Records the resources of a worker at its end.
    pub fn set_final_resources(&mut self, worker: usize, resources: Resources) {
        if let Some(account) = self.accounts.get_mut(worker) {
            account.latest = resources;
        }
    }

    /// Expects no more rows of an endpoint.
    pub fn finish_endpoint(&mut self, endpoint: Endpoint) {
        self.expected.remove(&endpoint);
    }

    /// Ends the measurement after `rows` whole seconds and a part of the next one.
    pub fn end_after(&mut self, rows: u64) {
        self.rows_end = rows;
    }

    /// Enters the row of one endpoint.
    pub fn enter(&mut self, entry: Entry) {
        let Entry { worker, endpoint, second, whole, counts, resources } = entry;
        self.add(endpoint, second, &counts);
        let gaps = unsent_ids(&counts.sent);
        let gaps = (gaps > 0).then_some((endpoint, gaps));
        self.enter_row(Place { worker, second, whole }, &counts, &[endpoint], gaps, resources);
    }

    /// Enters the row of all endpoints of a process.
    pub fn enter_process(&mut self, entry: ProcessEntry) {
        let ProcessEntry { worker, endpoints, second, whole, counts, gaps, resources } = entry;
        self.enter_row(Place { worker, second, whole }, &counts, &endpoints, gaps, resources);
    }

    /// Enters the counts of an endpoint in the whole run, whose rows were those of its process.
    pub fn enter_total(&mut self, endpoint: Endpoint, counts: &Counts) {
        self.add(endpoint, self.left_out_s, counts);
    }

    /// Adds the counts of an endpoint to the sums.
    fn add(&mut self, endpoint: Endpoint, second: u64, counts: &Counts) {
        if is_publisher(&endpoint) {
            let sent = self.sent.entry(endpoint).or_default();
            sent.ever += counts.sent.samples;
            sent.ids_ever += counts.sent.samples + unsent_ids(&counts.sent);
            if second >= self.left_out_s {
                sent.counted += counts.sent.samples;
                sent.refused += unsent_ids(&counts.sent);
            }
        }
        let of = self.by_endpoint.entry(endpoint).or_default();
        of.received.merge(&counts.received);
        of.latencies.add(&counts.latencies);
        self.sums.add_received(counts);
        if second >= self.left_out_s {
            of.sent.merge(&counts.sent);
            of.lateness.add(&counts.lateness);
            of.relayed.merge(&counts.relayed);
            self.sums.add_sent(counts);
        }
    }

    /// Adds counts of these endpoints to the row of their second.
    fn enter_row(
        &mut self,
        place: Place,
        counts: &Counts,
        endpoints: &[Endpoint],
        gaps: impl IntoIterator<Item = (Endpoint, u64)>,
        resources: Resources,
    ) {
        let Place { worker, second, whole } = place;
        if let Some(account) = self.accounts.get_mut(worker) {
            account.latest = resources;
            if whole && second < self.left_out_s {
                // An endpoint of the same process may be further already.
                if account.end.is_none() {
                    account.begin = resources;
                }
            } else if whole && second < self.rows_end {
                account.end = Some(resources);
                self.in_rows.0 += counts.received.samples;
                self.in_rows.1 += counts.sent.samples + counts.relayed.samples;
            }
        }
        let row = if !whole || second >= self.rows_end {
            &mut self.tail
        } else if second >= self.next_second {
            self.open.entry(second).or_default()
        } else {
            return;
        };
        row.enter(worker, counts, endpoints, gaps, resources);
    }

    /// The next row, if no endpoint is missing from it, or if it is `overdue`.
    pub fn next_row(&mut self, overdue: impl Fn(u64) -> bool) -> Option<Row> {
        loop {
            let second = self.next_second;
            if second >= self.rows_end {
                return None;
            }
            // The sizes first: with thousands of endpoints the comparison of all is dear, and each report would make one.
            let complete = self
                .open
                .get(&second)
                .is_some_and(|row| row.reported.len() >= self.expected.len() && self.expected.is_subset(&row.reported));
            let later_ones = self.open.last_key_value().is_some_and(|(last, _)| *last > second);
            if !complete && !(overdue(second) && (later_ones || self.open.contains_key(&second))) {
                return None;
            }
            self.next_second += 1;
            let mut open = self.open.remove(&second).unwrap_or_default();
            self.remove_refused_gaps(&mut open);
            let row = self.close((second as i64 + 1) * SECOND_NS, SECOND_NS, open);
            if second >= self.left_out_s {
                self.lost_in_rows += row.received.lost();
                self.core_percents.add(row.core_percent);
                if row.received.latency_ns.n > 0 {
                    self.mean_latencies.add(row.received.latency_ns.mean);
                }
                return Some(row);
            }
        }
    }

    /// The rest after the last whole second, as a row of its true length; `None` if it is empty. Call it once, when all endpoints have
    /// finished, at `now_ns`; the measurement began at `start_ns` and lost `lost` samples in all. Losses that no later sample has
    /// shown are in this row, so that the losses of all rows add up to `lost`.
    pub fn last_row(&mut self, start_ns: i64, now_ns: i64, lost: u64) -> Option<Row> {
        let mut tail = std::mem::take(&mut self.tail);
        self.remove_refused_gaps(&mut tail);
        let unseen = lost.saturating_sub(self.lost_in_rows + tail.sums.received.lost());
        if unseen > 0 {
            tail.sums.received.missed += unseen;
            tail.until_ns = tail.until_ns.max(now_ns);
        }
        if tail.until_ns == 0 || self.rows_end < self.left_out_s {
            return None;
        }
        let end_ns = tail.until_ns - start_ns;
        let length_ns = end_ns - self.rows_end as i64 * SECOND_NS;
        (length_ns > 0).then(|| self.close(end_ns, length_ns, tail))
    }

    /// Removes the gaps of refused messages from the missing samples.
    fn remove_refused_gaps(&mut self, open: &mut OpenRow) {
        // The subscriptions that are expected, and at the end those that have finished with this row.
        for (publisher, refused) in &open.refused {
            let sees =
                |of: &&Endpoint| matches!(of, Endpoint::Subscription(_)) && self.senders_of(**of).contains(publisher);
            let receivers = self.expected.union(&open.reported).filter(sees).count();
            self.refused_gaps += refused * receivers as u64;
        }
        let received = &mut open.sums.received;
        let gaps = self.refused_gaps.min(received.missed);
        self.refused_gaps -= gaps;
        received.missed -= gaps;
    }

    fn close(&mut self, end_ns: i64, length_ns: i64, open: OpenRow) -> Row {
        let (mut usage, mut used, mut instrument_used) = (Usage::default(), Usage::default(), Usage::default());
        let mut memory = Memory::default();
        let mut workers = Vec::with_capacity(self.accounts.len());
        for (worker, account) in self.accounts.iter_mut().enumerate() {
            let mut of_worker = WorkerRow { core_percent: 0.0, memory: account.row.memory };
            if let Some(at_row) = open.resources.get(&worker) {
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
        let Tally { sent, lateness, received, latencies, responses, relayed, .. } = open.sums;
        Row {
            end_ns,
            length_ns,
            sent,
            received,
            relayed,
            latencies,
            responses,
            lateness,
            usage,
            used,
            instrument_used,
            memory,
            core_percent: workers.iter().map(|of| of.core_percent).sum(),
            workers,
            cores: self.cores,
        }
    }

    /// Cores that this program may use.
    pub fn cores(&self) -> usize {
        self.cores
    }

    /// All endpoints, after the seconds left out.
    pub fn sums(&self) -> &Tally {
        &self.sums
    }

    /// The sum over these publishers.
    pub fn sent_by(&self, publishers: &[Endpoint]) -> SentBy {
        let each = publishers.iter().filter_map(|publisher| self.sent.get(publisher));
        each.fold(SentBy::default(), |sum, of| SentBy {
            counted: sum.counted + of.counted,
            ever: sum.ever + of.ever,
            ids_ever: sum.ids_ever + of.ids_ever,
            refused: sum.refused + of.refused,
        })
    }

    /// The publishers of this run from which an endpoint receives, in order.
    pub fn senders_of(&self, endpoint: Endpoint) -> &[Endpoint] {
        self.senders.get(&endpoint).map(Vec::as_slice).unwrap_or_default()
    }

    /// All publishers of this run.
    pub fn publishers(&self) -> impl Iterator<Item = Endpoint> {
        self.senders.keys().copied().filter(is_publisher)
    }

    /// All relays and servers of this run.
    pub fn relays(&self) -> impl Iterator<Item = Endpoint> {
        self.senders.keys().copied().filter(|endpoint| matches!(endpoint, Endpoint::Relay(_)))
    }

    /// The counts of one subscription, after the seconds left out.
    pub fn received_by(&self, endpoint: Endpoint) -> Received {
        self.by_endpoint.get(&endpoint).map(|of| of.received).unwrap_or_default()
    }

    /// The sums of one endpoint.
    pub fn sums_of(&self, endpoint: Endpoint) -> EndpointSums {
        self.by_endpoint.get(&endpoint).cloned().unwrap_or_default()
    }

    /// The resources of a worker since it started.
    pub fn resources_of(&self, worker: usize) -> Resources {
        self.accounts.get(worker).map(|account| account.latest).unwrap_or_default()
    }

    /// The cost of the run from the beginning of the statistics to the last whole second. Later the subscriptions may wait for
    /// samples that were lost, which is no cost of a message. A run that ended within its first second has all that there is.
    pub fn measured(&self) -> Measured {
        let (mut received, mut sent) = self.in_rows;
        if self.accounts.iter().all(|account| account.end.is_none()) {
            let Tally { sent: published, received: taken, relayed, .. } = &self.sums;
            (received, sent) = (taken.samples, published.samples + relayed.samples);
        }
        let mut measured = Measured { received, sent, ..Measured::default() };
        for Account { begin, end, latest, .. } in &self.accounts {
            let end = end.as_ref().unwrap_or(latest);
            measured.usage.add(&end.usage.since(&begin.usage));
            measured.instrument.add(&end.instrument.since(&begin.instrument));
            measured.core_percent += end.usage.core_percent_since(&begin.usage);
        }
        measured
    }

    /// Statistics of the seconds that were returned: mean latencies in ns, CPU time in percent of one core.
    pub fn seconds(&self) -> (Moments, Moments) {
        (self.mean_latencies, self.core_percents)
    }
}

/// Ids that a publisher used up without sending: of refused messages, and of those that its timer passed over.
fn unsent_ids(sent: &Sent) -> u64 {
    sent.refused + sent.skipped
}

impl OpenRow {
    fn enter(
        &mut self,
        worker: usize,
        counts: &Counts,
        endpoints: &[Endpoint],
        gaps: impl IntoIterator<Item = (Endpoint, u64)>,
        resources: Resources,
    ) {
        if !counts.is_empty() {
            self.until_ns = self.until_ns.max(resources.usage.taken_ns);
        }
        self.sums.add(counts);
        for (endpoint, gaps) in gaps {
            *self.refused.entry(endpoint).or_default() += gaps;
        }
        self.reported.extend(endpoints);
        // The endpoints of one process report in turn: the last account covers all.
        self.resources.insert(worker, resources);
    }
}

#[cfg(test)]
mod constant_memory;
#[cfg(test)]
mod tests;
