//! The publishers whose samples are recorded. For each publisher: the sequence numbers that have arrived, and the
//! number of its pinned samples.

use super::numbers::Numbers;
use gantry::Gid;
use std::collections::HashMap;

/// The largest number of pinned samples of a publisher, in the chunk that is being built and in earlier chunks
/// together.
const PINS: usize = 2;

/// All publishers, by GID.
#[derive(Debug, Default)]
pub struct Publishers {
    publishers: HashMap<Gid, Publisher>,
    /// The number of chunks that were passed to the disk. The chunk that is being built has the next number.
    sent_chunks: u64,
}

#[derive(Debug, Default)]
struct Publisher {
    numbers: Numbers,
    /// The sources that have delivered samples of this publisher.
    sources: Vec<usize>,
    /// For each pin, the number of the chunk that has it, or had it.
    pins: [u64; PINS],
}

impl Publishers {
    /// Notes a sample, and returns whether no other source has delivered it before. Two sources may deliver samples in
    /// different orders: the history of a latched publisher may arrive after newer samples from another source.
    /// `lost_before` returns the number of samples that the source lost before its first sample.
    pub fn is_new(&mut self, publisher: Gid, number: u64, source: usize, lost_before: impl FnOnce() -> u64) -> bool {
        let publisher = self.publishers.entry(publisher).or_default();
        let lost_before = if publisher.sources.contains(&source) {
            0
        } else {
            publisher.sources.push(source);
            lost_before()
        };
        publisher.numbers.add(number, lost_before)
    }

    /// The number of samples that none of `sources` has delivered. A publisher counts only if at least one of `sources`
    /// has delivered a sample of it.
    #[must_use]
    pub fn missing(&self, sources: &[usize]) -> u64 {
        let is_theirs = |publisher: &&Publisher| publisher.sources.iter().any(|source| sources.contains(source));
        self.publishers.values().filter(is_theirs).map(|publisher| publisher.numbers.missing()).sum()
    }

    /// Counts a new pin in the current chunk. Returns `false` if the publisher already has `PINS` pins. The pins of a
    /// chunk end when it is written. `queued` is the number of earlier chunks that are not written yet.
    pub fn pin(&mut self, publisher: Gid, queued: u64) -> bool {
        let publisher = self.publishers.entry(publisher).or_default();
        let written = self.sent_chunks.saturating_sub(queued);
        let current = self.sent_chunks + 1;
        let free = publisher.pins.iter_mut().find(|chunk| **chunk <= written);
        free.map(|chunk| *chunk = current).is_some()
    }

    /// Begins the next chunk, because the current one was passed to the disk.
    pub fn begin_chunk(&mut self) {
        self.sent_chunks += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_missing_that_came_by_no_source_of_the_topic() {
        let (mut publishers, one, other) = (Publishers::default(), Gid([1; 16]), Gid([2; 16]));
        assert!(publishers.is_new(one, 4, 0, || 3) && !publishers.is_new(one, 4, 1, || 0));
        assert!(publishers.is_new(one, 6, 1, || panic!("it is not the first one of this source")));
        assert!(publishers.is_new(other, 9, 2, || 8));
        assert_eq!((publishers.missing(&[0, 1]), publishers.missing(&[2])), (4, 8));
    }

    #[test]
    fn pins_of_the_chunk_that_is_written_count_until_it_is() {
        let (mut publishers, one, other) = (Publishers::default(), Gid([1; 16]), Gid([2; 16]));
        assert!(publishers.pin(one, 0) && publishers.pin(one, 0) && !publishers.pin(one, 0));
        assert!(publishers.pin(other, 0));
        publishers.begin_chunk();
        assert!(!publishers.pin(one, 1) && publishers.pin(other, 1) && !publishers.pin(other, 1));
        assert!(publishers.pin(one, 0) && publishers.pin(one, 0) && !publishers.pin(one, 0));
        assert!(publishers.pin(other, 0) && !publishers.pin(other, 0), "the second pin is in the current chunk");
        // The chunk with the two pins waits for the disk while other chunks follow, so no more pins are allowed.
        publishers.begin_chunk();
        assert!(!publishers.pin(one, 1));
        publishers.begin_chunk();
        assert!(!publishers.pin(one, 2) && publishers.pin(one, 1));
    }
}
