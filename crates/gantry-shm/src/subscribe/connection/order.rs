//! The order of the samples of several publishers: the oldest sample comes first, and the oldest samples beyond the
//! subscription's depth are skipped.
//!
//! This is DDS's rule for a topic without a key, which is one instance: a KEEP_LAST reader has room for `depth` samples
//! of all writers together. A sample that waits for its turn stays in its publisher's history.

use super::{Connection, Losses};
use crate::{
    describe::qos::{History, Qos},
    domain::publisher_mapping::MAX_RING_CHANGES,
    error::{Error, Result},
    protocol::reader::{Taken, unpin},
    subscribe::owned_record::places::Places,
};

/// The waiting samples of a list of connections, as the last call of [`Order::oldest`] found them.
pub(crate) struct Order {
    /// The largest number of samples that may wait.
    depth: u64,
    /// The waiting samples of each connection; the list is empty if there is only one connection.
    ahead: Vec<Ahead>,
}

/// The waiting samples of one connection.
#[derive(Clone, Copy, Default)]
struct Ahead {
    /// The sequence of the newest sample.
    newest: u64,
    count: u64,
    /// The time of the connection's oldest waiting sample. It is valid if `timed` is the sequence of this sample.
    time_ns: u64,
    timed: u64,
}

impl Order {
    /// Creates the order of a subscription with this QoS.
    pub(crate) fn new(qos: &Qos) -> Order {
        let depth = if qos.history == History::KeepLast { qos.depth.into() } else { u64::MAX };
        Order { depth, ahead: Vec::new() }
    }

    /// Forgets all connections, and begins again for a list of this number of connections.
    pub(crate) fn reset(&mut self, connections: usize) {
        self.ahead.clear();
        if connections > 1 {
            self.ahead.resize(connections, Ahead::default());
        }
    }

    /// Finds the connection with the oldest sample, and skips the samples for which there is no room. Returns the time
    /// of the sample and the index of the connection. The time is 0 if only one connection has samples, or if the take
    /// will return an error. Costs two loads for each connection and, if several connections have samples, a read of
    /// the time of each one's next sample. Samples with the same time come in the order of their publishers' keys.
    pub(crate) fn oldest(
        &mut self,
        connections: &mut [Connection],
        places: &Places,
        losses: &mut Losses,
    ) -> Option<(u64, usize)> {
        let (mut with_news, mut found) = (0, None);
        for (index, (connection, ahead)) in connections.iter_mut().zip(&mut self.ahead).enumerate() {
            connection.look_ahead(ahead);
            if ahead.count > 0 {
                (with_news, found) = (with_news + 1, Some((0, index)));
            }
        }
        if with_news < 2 {
            return found;
        }
        loop {
            let (mut waiting, mut oldest) = (0, None::<(u64, usize)>);
            for (index, ahead) in self.ahead.iter_mut().enumerate().filter(|(_, ahead)| ahead.count > 0) {
                if connections[index].read_time(ahead, places, losses).is_err() {
                    return Some((0, index)); // the take of this connection returns the error
                }
                if ahead.count == 0 {
                    continue;
                }
                waiting = ahead.count.saturating_add(waiting);
                let is_older = |&(time_ns, other): &(u64, usize)| {
                    let keys = || connections[index].mapping.key.cmp(&connections[other].mapping.key);
                    ahead.time_ns.cmp(&time_ns).then_with(keys).is_lt()
                };
                if oldest.as_ref().is_none_or(is_older) {
                    oldest = Some((ahead.time_ns, index));
                }
            }
            let (_, index) = oldest?;
            if waiting <= self.depth {
                return oldest;
            }
            connections[index].skip(1, losses);
            self.ahead[index].count -= 1;
        }
    }
}

impl Connection {
    #[inline]
    fn look_ahead(&mut self, ahead: &mut Ahead) {
        ahead.newest = self.reader.newest_since(ahead.newest).unwrap_or_else(|| self.newest_in_new_ring());
        ahead.count = self.reader.untaken(ahead.newest);
    }

    /// The sequence of the newest sample after the ring was replaced. If the new ring cannot be read, returns the
    /// sequence of the next sample, because the take of that sample returns the error.
    #[cold]
    fn newest_in_new_ring(&mut self) -> u64 {
        let Ok((ring, newest)) = self.mapping.newest() else { return self.reader.next };
        self.reader.ring = ring;
        newest
    }

    /// Reads the time of the next sample that is not lost.
    #[inline]
    fn read_time(&mut self, ahead: &mut Ahead, places: &Places, losses: &mut Losses) -> Result<(), Box<Error>> {
        if ahead.timed != self.reader.next {
            let time_ns = self.next_time(places, losses)?;
            ahead.count = time_ns.map_or(0, |_| self.reader.untaken(ahead.newest.max(self.reader.next)));
            (ahead.time_ns, ahead.timed) = time_ns.map_or((0, 0), |time_ns| (time_ns, self.reader.next));
        }
        Ok(())
    }

    /// The time of the next sample, if there is one.
    pub(crate) fn next_time(&mut self, places: &Places, losses: &mut Losses) -> Result<Option<u64>, Box<Error>> {
        let (pin, _) = self.free_pin(places)?;
        for _ in 0..MAX_RING_CHANGES {
            let Some(entry) = self.reader.look() else { return Ok(None) };
            let first = self.reader.next;
            let found = self.reader.peek(entry, &pin);
            if self.reader.next > first {
                self.count_losses(first, self.reader.next - first, losses);
            }
            match found {
                Taken::Slot { offset, .. } => {
                    // SAFETY: an aligned header lies at this address (`PublisherMapping::slot`); it is not written
                    // while the slot is pinned (I4).
                    let time_ns = self.mapping.slot(offset, 0).map(|slot| unsafe { slot.as_ref() }.source_time_ns);
                    unpin(&pin);
                    return Ok(Some(time_ns?));
                }
                Taken::Inline(info) => return Ok(Some(info.time_ns)),
                Taken::Moved => self.reader.ring = self.mapping.ring()?,
                Taken::Nothing => return Ok(None),
                Taken::Nonsense { head } => return Err(self.nonsense_head(head)),
                Taken::TooLong { length_bytes } => return Err(self.too_long(length_bytes)),
            }
        }
        Err(self.mapping.always_moved().into())
    }

    /// The number of samples that wait; some may be lost.
    pub(crate) fn untaken(&self) -> u64 {
        // A ring that cannot be read counts as a ring without samples.
        self.mapping.newest().map_or(0, |(_, newest)| self.reader.untaken(newest))
    }

    /// Skips all samples that wait, which the subscription loses.
    pub(crate) fn skip_all(&mut self, losses: &mut Losses) {
        self.skip(self.untaken(), losses);
    }

    /// The size of the publisher's file.
    pub(crate) fn file_bytes(&self) -> usize {
        self.mapping.region.length_bytes()
    }

    /// Skips the next `count` samples, which the subscription loses.
    pub(crate) fn skip(&mut self, count: u64, losses: &mut Losses) {
        self.reader.skip_to(self.reader.next + count);
        self.lost = self.lost.saturating_add(count);
        losses.overwritten = losses.overwritten.saturating_add(count);
        self.record.endpoint.count_lost(count);
    }
}
