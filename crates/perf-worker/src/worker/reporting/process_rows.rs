//! Rows of a process with very many endpoints. Each second gives one row with the sums over all endpoints. At its end,
//! each endpoint reports its own total counts.
//!
//! A row for each endpoint would be megabytes of JSON per second, and would cost more CPU time than the messages.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    endpoint::Endpoint,
    measure::{resources::Resources, tally::Tally},
    worker::protocol::Report,
};

/// The least number of endpoints in executors with which a process reports sums.
pub const MANY_ENDPOINTS: usize = 512;

/// The rows of a process.
pub struct ProcessRows {
    endpoints: usize,
    /// The sums of whole seconds, by second. The last, incomplete seconds of endpoints are summed in
    /// [`ProcessRows::rest`].
    open: BTreeMap<u64, OpenRow>,
    rest: Option<(u64, OpenRow)>,
    totals: BTreeMap<Endpoint, Tally>,
    /// The endpoints that send no more rows. `ends` has the number of endpoints that ended in each second.
    ended: BTreeSet<Endpoint>,
    ends: BTreeMap<u64, usize>,
}

struct OpenRow {
    sums: Tally,
    /// The number of endpoints' rows in the sums.
    count: usize,
    gaps: Vec<(Endpoint, u64)>,
    resources: Resources,
}

impl OpenRow {
    fn new(resources: Resources) -> OpenRow {
        OpenRow { sums: Tally::coarse(), count: 0, gaps: Vec::new(), resources }
    }

    fn add(&mut self, endpoint: Endpoint, tally: &Tally) {
        self.sums.add(&tally.counts());
        self.count += 1;
        let gaps = tally.sent.refused + tally.sent.skipped;
        self.gaps.extend((gaps > 0).then_some((endpoint, gaps)));
    }

    fn report(self, second: u64, whole: bool) -> Report {
        let OpenRow { sums, gaps, resources, .. } = self;
        Report::ProcessRow { second, whole, counts: Box::new(sums.counts()), gaps, resources }
    }
}

impl ProcessRows {
    /// Creates the rows of a process with `endpoints` endpoints.
    pub fn new(endpoints: usize) -> ProcessRows {
        let (open, totals, ends) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        ProcessRows { endpoints, open, rest: None, totals, ended: BTreeSet::new(), ends }
    }

    /// Adds the row of an endpoint. `resources` are the resources of the process after the second. Returns the rows
    /// that are now complete: for each endpoint, its row has been added or it had ended before.
    pub fn add(
        &mut self,
        endpoint: Endpoint,
        second: u64,
        whole: bool,
        tally: &Tally,
        resources: Resources,
    ) -> Vec<Report> {
        let total = self.totals.entry(endpoint).or_insert_with(Tally::coarse);
        total.add(&tally.counts());
        if !whole {
            let (last, rest) = self.rest.get_or_insert_with(|| (second, OpenRow::new(resources)));
            rest.add(endpoint, tally);
            (*last, rest.resources) = (second.max(*last), resources);
            self.end(endpoint, second);
            return self.complete();
        }
        let row = self.open.entry(second).or_insert_with(|| OpenRow::new(resources));
        row.add(endpoint, tally);
        if row.count + self.ended.len() >= self.endpoints { self.complete() } else { Vec::new() }
    }

    /// Records that an endpoint has no row for `second` and later seconds.
    fn end(&mut self, endpoint: Endpoint, second: u64) {
        if self.ended.insert(endpoint) {
            *self.ends.entry(second).or_default() += 1;
        }
    }

    /// Removes and returns the complete rows, in order.
    fn complete(&mut self) -> Vec<Report> {
        let mut complete = Vec::new();
        while let Some(entry) = self.open.first_entry() {
            let ended: usize = self.ends.range(..=*entry.key()).map(|(_, n)| n).sum();
            if entry.get().count + ended < self.endpoints {
                break;
            }
            let (second, row) = entry.remove_entry();
            complete.push(row.report(second, true));
        }
        complete
    }

    /// Removes and returns the total counts of an endpoint that has finished or failed.
    pub fn total(&mut self, endpoint: Endpoint) -> Option<Report> {
        // An endpoint that failed has not sent a row for its last, incomplete second.
        self.end(endpoint, 0);
        let total = self.totals.remove(&endpoint)?;
        Some(Report::Total { endpoint, counts: Box::new(total.counts()) })
    }

    /// The remaining rows after all endpoints have finished.
    pub fn last(&mut self) -> Vec<Report> {
        let whole = std::mem::take(&mut self.open).into_iter().map(|(second, row)| row.report(second, true));
        let rest = self.rest.take().map(|(second, row)| row.report(second, false));
        whole.chain(rest).collect()
    }

    /// The memory that the total counts of an endpoint use, bytes.
    pub fn memory_bytes(&self, endpoint: Endpoint) -> usize {
        self.totals.get(&endpoint).map_or(0, Tally::memory_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(samples: u64, skipped: u64) -> Tally {
        let mut tally = Tally::coarse();
        (tally.sent.samples, tally.sent.skipped) = (samples, skipped);
        tally.lateness.record(1000);
        tally
    }

    /// For each row: its second, whether it is whole, its number of samples and its number of gaps.
    fn rows(reports: Vec<Report>) -> Vec<(u64, bool, u64, usize)> {
        let row = |report| match report {
            Report::ProcessRow { second, whole, counts, gaps, .. } => (second, whole, counts.sent.samples, gaps.len()),
            other => panic!("{other:?}"),
        };
        reports.into_iter().map(row).collect()
    }

    #[test]
    fn every_message_is_in_one_row_and_in_one_total() {
        let mut process = ProcessRows::new(2);
        let [one, other] = [0, 1].map(Endpoint::Publisher);
        let mut add = |endpoint, second, whole, samples, skipped| {
            rows(process.add(endpoint, second, whole, &sent(samples, skipped), Resources::default()))
        };
        assert!(add(one, 0, true, 5, 0).is_empty());
        assert_eq!(add(other, 0, true, 7, 2), [(0, true, 12, 1)]);
        // A row waits for an endpoint that is behind, but not for an endpoint that has ended.
        assert!(add(one, 1, true, 5, 0).is_empty());
        assert!(add(one, 2, true, 5, 0).is_empty());
        assert_eq!(add(other, 1, true, 3, 0), [(1, true, 8, 0)]);
        assert_eq!(add(other, 2, false, 3, 0), [(2, true, 5, 0)]);
        assert_eq!(add(one, 3, true, 5, 0), [(3, true, 5, 0)]);
        assert!(add(one, 4, false, 1, 0).is_empty());
        assert_eq!(rows(process.last()), [(4, false, 4, 0)]);
        for (endpoint, samples) in [(one, 21), (other, 13)] {
            assert!(process.memory_bytes(endpoint) > size_of::<Tally>());
            let Some(Report::Total { counts, .. }) = process.total(endpoint) else { panic!("no total") };
            assert_eq!((counts.sent.samples, counts.lateness.len()), (samples, 1));
            assert!(process.total(endpoint).is_none());
        }
    }
}
