//! The ledger of a run: the rows of figures, one for each second over all endpoints, and the sums of the whole run.
//!
//! Invariants: row `k` is returned once and in order, as soon as every endpoint that still works has reported second
//! `k`, or the row is overdue. The time after the last whole second becomes one more row at the end. Samples that were
//! sent in the seconds to ignore do not count: subscriptions leave them out themselves, and the ledger leaves out the
//! publishers' counts of these seconds.

mod accounts;
mod entry;
mod open_row;
mod sums;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    is_publisher,
    senders::{Receivers, Senders, receivers},
};
use crate::log::RowEntry;
use accounts::{Accounts, MessageCost};
use open_row::OpenRow;
use perf_worker::{clock::SECOND_NS, endpoint::Endpoint};
use sums::{Sums, unsent_ids};

pub use entry::Entry;
pub use sums::EndpointSums;

/// The rows and sums of a run.
#[derive(Debug, Default)]
pub struct Ledger {
    left_out_s: u64,
    /// The number of cores that this program may use.
    pub cores: usize,
    senders: Senders,
    receivers: Receivers,
    expected: BTreeSet<Endpoint>,
    open: BTreeMap<u64, OpenRow>,
    next_second: u64,
    /// The number of whole seconds in the run. Counts of later times are in `tail`.
    rows_end: u64,
    tail: OpenRow,
    /// The CPU time and memory of the workers.
    pub accounts: Accounts,
    /// The sums of the whole run.
    pub sums: Sums,
    /// The number of gaps in the ids that later rows will report although they are no losses. A message that was not
    /// sent uses up an id, so each subscription sees a gap.
    gaps: u64,
    /// The number of lost samples in the rows that were returned so far.
    lost_in_rows: u64,
}

impl Ledger {
    /// Creates an empty ledger. `senders` has the endpoints, `workers` is the number of processes, and `left_out_s` is
    /// the number of seconds that the statistics leave out.
    pub fn new(senders: Senders, workers: usize, left_out_s: u32) -> Self {
        let left_out_s = u64::from(left_out_s);
        Ledger {
            left_out_s,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            expected: senders.keys().copied().collect(),
            receivers: receivers(&senders),
            senders,
            rows_end: u64::MAX,
            accounts: Accounts::new(workers, left_out_s),
            sums: Sums::new(left_out_s),
            ..Ledger::default()
        }
    }

    /// Stops waiting for rows of an endpoint, which has finished or failed.
    pub fn finish_endpoint(&mut self, endpoint: Endpoint) {
        self.expected.remove(&endpoint);
    }

    /// Ends the run after `rows` whole seconds. Counts of later times go to the last row.
    pub fn end_after(&mut self, rows: u64) {
        self.rows_end = rows;
    }

    /// Adds the report of one endpoint.
    pub fn enter(&mut self, endpoint: Endpoint, entry: &Entry) {
        self.sums.add(endpoint, entry.second, &entry.counts);
        let gaps = unsent_ids(&entry.counts.sent);
        self.enter_process(&[endpoint], (gaps > 0).then_some((endpoint, gaps)), entry);
    }

    /// Adds the report of a process, which has the sums over its `endpoints`. `gaps` has, for each publisher, the
    /// number of messages that were refused or skipped.
    pub fn enter_process(
        &mut self,
        endpoints: &[Endpoint],
        gaps: impl IntoIterator<Item = (Endpoint, u64)>,
        entry: &Entry,
    ) {
        self.accounts.enter(entry, self.rows_end);
        let row = if !entry.whole || entry.second >= self.rows_end {
            &mut self.tail
        } else if entry.second >= self.next_second {
            self.open.entry(entry.second).or_default()
        } else {
            return;
        };
        row.enter(endpoints, gaps, entry);
    }

    /// The next row, if every working endpoint has reported it, or if `overdue` returns true for its second.
    pub fn next_row(&mut self, overdue: impl Fn(u64) -> bool) -> Option<RowEntry> {
        loop {
            let second = self.next_second;
            if second >= self.rows_end {
                return None;
            }
            // The sizes are compared first, because this runs for each report and comparing sets of thousands of
            // endpoints is slow.
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
            self.remove_gaps(&mut open);
            let row = open.close((second as i64 + 1) * SECOND_NS, SECOND_NS, &mut self.accounts, self.cores);
            if second >= self.left_out_s {
                self.lost_in_rows += row.total.received.lost();
                return Some(row);
            }
        }
    }

    /// Returns the time after the last whole second as a row; `None` if nothing happened in it. Call it once, when all
    /// endpoints have finished. The measurement lasted from `start_ns` to `now_ns` and lost `lost` samples. This row
    /// gets the losses that no other row has, so that the losses of all rows add up to `lost`.
    pub fn last_row(&mut self, start_ns: i64, now_ns: i64, lost: u64) -> Option<RowEntry> {
        let mut tail = std::mem::take(&mut self.tail);
        self.remove_gaps(&mut tail);
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
        (length_ns > 0).then(|| tail.close(end_ns, length_ns, &mut self.accounts, self.cores))
    }

    /// Subtracts messages that were not sent from the missing samples, because their ids are gaps but no losses. If the
    /// cores are overloaded, each row has such gaps for each publisher. A search of all endpoints for each gap could
    /// take longer than a second, so only the publisher's own receivers are visited.
    fn remove_gaps(&mut self, open: &mut OpenRow) {
        for (publisher, messages) in &open.refused {
            // The subscriptions that see the gap: they still work, or they finished with this row.
            let sees = |of: &&Endpoint| {
                matches!(of, Endpoint::Subscription(_)) && (self.expected.contains(of) || open.reported.contains(of))
            };
            self.gaps += messages * self.receivers_of(*publisher).iter().filter(sees).count() as u64;
        }
        let missed = &mut open.sums.received.missed;
        let gaps = self.gaps.min(*missed);
        self.gaps -= gaps;
        *missed -= gaps;
    }

    /// The publishers of this run whose messages an endpoint receives, in order.
    pub fn senders_of(&self, endpoint: Endpoint) -> &[Endpoint] {
        self.senders.get(&endpoint).map(Vec::as_slice).unwrap_or_default()
    }

    /// The endpoints of this run that receive a publisher's messages, in order.
    pub fn receivers_of(&self, publisher: Endpoint) -> &[Endpoint] {
        self.receivers.get(&publisher).map(Vec::as_slice).unwrap_or_default()
    }

    /// All publishers of this run.
    pub fn publishers(&self) -> impl Iterator<Item = Endpoint> {
        self.senders.keys().copied().filter(is_publisher)
    }

    /// All relays and servers of this run.
    pub fn relays(&self) -> impl Iterator<Item = Endpoint> {
        self.senders.keys().copied().filter(|endpoint| matches!(endpoint, Endpoint::Relay(_)))
    }

    /// The CPU time and the number of messages: see [`Accounts::message_cost`].
    pub fn message_cost(&self, drained: bool) -> MessageCost {
        self.accounts.message_cost(&self.sums.total, drained)
    }
}

#[cfg(test)]
mod tests;
