//! A subscription of `gantry` with a filter. The filter refuses messages that do not pass the content filter and, if
//! the subscription ignores local publications, messages of its own process. No wait and no callback reports a refused
//! message, and it does not count as lost.
//!
//! A filter has to read a message, and this read takes the message out of the history. Messages that pass are kept here
//! until the program takes them. As in DDS, the depth of a KEEP_LAST subscription counts only the messages that pass.

use super::{content_filter::ContentFilter, source::Receive};
use gantry::{GenericSample, GenericSubscription, Gid, History, Qos, Waitable};
use std::collections::VecDeque;

/// The largest number of messages that one call filters; it is larger than any history. The limit ends the call even if
/// a publisher is faster than the filter.
const MAX_LOOKED_AT: usize = 1_000_000;

/// The largest number of messages that a KEEP_ALL subscription keeps here. Further messages stay in the history, so
/// that they block their publisher as KEEP_ALL requires.
const KEPT_OF_ALL: usize = 64;

/// A subscription of `gantry` with its filter.
pub struct FilteredSubscription {
    pub library: GenericSubscription,
    /// The subscription's own gid, if the subscription ignores the messages of its own process; otherwise `None`.
    ignored: Option<Gid>,
    filter: Option<ContentFilter>,
    /// The messages that passed the filter, oldest first.
    kept: VecDeque<GenericSample>,
    /// The largest number of messages in `kept`.
    depth: usize,
    is_keep_last: bool,
    /// An error of `gantry` while messages were filtered. The next take returns the error.
    failure: Option<gantry::Error>,
    counts: Counts,
}

/// Numbers of messages.
#[derive(Default)]
struct Counts {
    taken: u64,
    refused: u64,
    /// The number of messages that passed, but that newer messages displaced before they were taken.
    displaced: u64,
    /// The number of messages that passed, but were dropped because a filter that was set later refused them.
    withdrawn: u64,
}

impl FilteredSubscription {
    pub fn new(library: GenericSubscription, qos: &Qos, ignores_own_process: bool) -> FilteredSubscription {
        let is_keep_last = qos.history == History::KeepLast;
        FilteredSubscription {
            ignored: ignores_own_process.then(|| library.gid()),
            library,
            filter: None,
            kept: VecDeque::new(),
            depth: if is_keep_last { qos.depth as usize } else { KEPT_OF_ALL },
            is_keep_last,
            failure: None,
            counts: Counts::default(),
        }
    }

    pub fn filter(&self) -> Option<&ContentFilter> {
        self.filter.as_ref()
    }

    /// Sets or removes the content filter. Messages in `kept` have passed the old filter, and have to pass the new one,
    /// too.
    pub fn set_filter(&mut self, filter: Option<ContentFilter>) -> gantry::Result<()> {
        let before = self.received()?;
        self.filter = filter;
        // Reserves memory for most depths, so that `look` does not allocate.
        self.kept.reserve(self.depth.min(KEPT_OF_ALL + 1));
        let kept = self.kept.len();
        let (filter, ignored) = (&self.filter, self.ignored);
        self.kept.retain(|sample| passes(filter.as_ref(), ignored, sample));
        self.counts.refused += (kept - self.kept.len()) as u64;
        let after = self.received()?;
        self.counts.withdrawn += before.saturating_sub(after);
        Ok(())
    }

    /// Takes the next message that passes the filter. Data path: allocates only if more messages are kept than ever
    /// before.
    pub fn take(&mut self) -> gantry::Result<Option<GenericSample>> {
        if self.looks_before_take() {
            self.look();
        }
        let sample = match (self.kept.pop_front(), self.failure.take()) {
            (Some(sample), failure) => {
                self.failure = failure;
                Some(sample)
            }
            (None, Some(failure)) => return Err(failure),
            (None, None) if self.is_selective() => None,
            (None, None) => self.library.take()?,
        };
        self.counts.taken += u64::from(sample.is_some());
        Ok(sample)
    }

    /// Fills `kept` from the history if `kept` of a KEEP_ALL subscription is empty. Returns true if messages passed the
    /// filter; no callback has announced them yet.
    pub fn has_room_filled(&mut self) -> bool {
        let has_room = !self.is_keep_last && self.is_selective() && self.kept.is_empty();
        if has_room {
            self.look();
        }
        has_room && !self.kept.is_empty()
    }

    /// The number of messages that passed the filter, or were lost before the filter saw them, and that the program did
    /// not get.
    pub fn lost(&self) -> u64 {
        self.library.lost() + self.counts.displaced
    }

    /// The number of messages that `received` counted and that cannot be taken any more.
    pub fn gone(&self) -> u64 {
        let Counts { taken, displaced, withdrawn, .. } = self.counts;
        taken + displaced + withdrawn + self.library.overwritten() + self.library.expired()
    }

    fn is_selective(&self) -> bool {
        self.filter.is_some() || self.ignored.is_some()
    }

    /// True if a take or a wait has to filter the history first. For a KEEP_ALL subscription this is so only if `kept`
    /// is empty; [`Self::has_room_filled`] then announces the messages that pass.
    fn looks_before_take(&self) -> bool {
        self.is_selective() && (self.is_keep_last || self.kept.is_empty())
    }

    /// Takes the messages out of the history, and keeps the ones that pass. Returns `false` if the call ended at the
    /// limit [`MAX_LOOKED_AT`].
    fn look(&mut self) -> bool {
        for _ in 0..MAX_LOOKED_AT {
            let is_full = !self.is_keep_last && self.kept.len() >= self.depth;
            if is_full || self.failure.is_some() {
                return true;
            }
            match self.library.take() {
                Ok(None) => return true,
                Err(failure) => self.failure = Some(failure),
                Ok(Some(sample)) if passes(self.filter.as_ref(), self.ignored, &sample) => {
                    if self.kept.len() >= self.depth {
                        self.kept.pop_front();
                        self.counts.displaced += 1;
                    }
                    self.kept.push_back(sample);
                }
                Ok(Some(_)) => self.counts.refused += 1,
            }
        }
        false
    }
}

impl Receive for FilteredSubscription {
    /// True if there is a message to take. Control path if publishers came or went; otherwise data path.
    fn is_ready(&mut self) -> gantry::Result<bool> {
        let mut has_more = self.library.is_ready()?; // also connects to new publishers, which a take does not always do
        if has_more && self.is_selective() {
            has_more = self.looks_before_take() && !self.look();
        }
        Ok(has_more || !self.kept.is_empty() || self.failure.is_some())
    }

    /// The number of all messages that this subscription received, without refused messages.
    fn received(&mut self) -> gantry::Result<u64> {
        let received = self.library.received()?;
        if !self.is_selective() {
            return Ok(received.saturating_sub(self.counts.refused) + self.counts.withdrawn);
        }
        self.look();
        Ok(self.gone() + self.kept.len() as u64)
    }

    fn waitable(&mut self) -> &mut dyn Waitable {
        &mut self.library
    }
}

fn passes(filter: Option<&ContentFilter>, ignored: Option<Gid>, sample: &GenericSample) -> bool {
    let is_ignored = ignored.is_some_and(|own| own.is_of_same_process(&sample.message_info().publisher_gid));
    !is_ignored && filter.is_none_or(|filter| filter.passes(sample.bytes()))
}
