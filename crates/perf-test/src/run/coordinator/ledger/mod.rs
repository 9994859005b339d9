//! The ledger of a run: the rows of all endpoints, merged second by second, and the sums of the whole run.
//!
//! Invariants: row `k` is returned once, in order, when every endpoint that is still expected has reported second `k`,
//! or when the row is overdue. The rest after the last whole second is one row at the end. Samples that were sent in
//! the seconds to ignore do not count: subscriptions leave them out themselves, and the ledger leaves out the
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

/// The ledger.
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
    /// The number of seconds that are whole rows; counts of later seconds are in `tail`.
    rows_end: u64,
    tail: OpenRow,
    /// The resources of the workers.
    pub accounts: Accounts,
    /// The sums of the whole run.
    pub sums: Sums,
    /// The number of gaps in the ids that later rows will show although they are not losses: each subscription sees a
    /// gap for each message that was not sent.
    gaps: u64,
    /// The samples that were lost in the rows that were returned.
    lost_in_rows: u64,
}

impl Ledger {
    /// An empty ledger for the endpoints of `senders` in `workers` processes.
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

    /// Expects no more rows of an endpoint.
    pub fn finish_endpoint(&mut self, endpoint: Endpoint) {
        self.expected.remove(&endpoint);
    }

    /// Ends the measurement after `rows` whole seconds and a part of the next one.
    pub fn end_after(&mut self, rows: u64) {
        self.rows_end = rows;
    }

    /// Enters the row of one endpoint.
    pub fn enter(&mut self, endpoint: Endpoint, entry: &Entry) {
        self.sums.add(endpoint, entry.second, &entry.counts);
        let gaps = unsent_ids(&entry.counts.sent);
        self.enter_process(&[endpoint], (gaps > 0).then_some((endpoint, gaps)), entry);
    }

    /// Adds the row of a process with all its `endpoints` to the row of the run. `gaps` has, for each publisher, the
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

    /// The next row, if every expected endpoint has reported it, or if it is `overdue`.
    pub fn next_row(&mut self, overdue: impl Fn(u64) -> bool) -> Option<RowEntry> {
        loop {
            let second = self.next_second;
            if second >= self.rows_end {
                return None;
            }
            // The sizes are compared first: each report comes here, and with thousands of endpoints a comparison of the
            // sets is expensive.
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

    /// Returns the rest after the last whole second as a row of its true length; `None` if the rest is empty. Call it
    /// once, when all endpoints have finished. The measurement began at `start_ns`, ended at `now_ns` and lost `lost`
    /// samples in all. Losses that no row has shown yet are in this row, so that the losses of all rows add up to
    /// `lost`.
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

    /// Subtracts the gaps of messages that were not sent from the missing samples. If the cores are overloaded, each
    /// publisher has such gaps in each row, so only the publisher's own receivers are searched: a search of all
    /// receivers would take longer than the second of the row.
    fn remove_gaps(&mut self, open: &mut OpenRow) {
        for (publisher, messages) in &open.refused {
            // The subscriptions that still report rows, and at the end also the ones that finished with this row.
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

    /// The publishers of this run from which an endpoint receives, in order.
    pub fn senders_of(&self, endpoint: Endpoint) -> &[Endpoint] {
        self.senders.get(&endpoint).map(Vec::as_slice).unwrap_or_default()
    }

    /// The endpoints of this run that receive from a publisher, in order.
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

    /// The cost of messages: see [`Accounts::message_cost`].
    pub fn message_cost(&self, drained: bool) -> MessageCost {
        self.accounts.message_cost(&self.sums.total, drained)
    }
}

#[cfg(test)]
mod tests;
