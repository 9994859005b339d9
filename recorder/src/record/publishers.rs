//! The publishers whose samples are recorded. For each publisher: the sequence numbers that have arrived, and the
//! number of its pinned samples.

use super::numbers::Numbers;
use gantry::Gid;
use std::collections::HashMap;

/// The largest number of pinned samples of a publisher, in the chunk that is being built and in earlier chunks
/// together.
const PINS: u32 = 2;

/// All publishers, by GID.
#[derive(Debug, Default)]
pub struct Publishers {
    publishers: HashMap<Gid, Publisher>,
    /// The number of the current chunk, which is being built.
    chunk: u64,
}

#[derive(Debug, Default)]
struct Publisher {
    numbers: Numbers,
    /// The sources that have delivered samples of this publisher.
    sources: Vec<usize>,
    /// The number of the chunk that has this publisher's newest pin.
    chunk: u64,
    /// `pins` is the number of pins in the chunk `chunk`. `pins_before` is the number of pins in earlier chunks that
    /// are not written yet.
    pins: u32,
    pins_before: u32,
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

    /// Counts a new pin in the current chunk. Returns `false` if the publisher already has `PINS` pins. `is_idle` means
    /// that all earlier chunks are written.
    pub fn pin(&mut self, publisher: Gid, is_idle: bool) -> bool {
        let publisher = self.publishers.entry(publisher).or_default();
        if is_idle {
            // All earlier chunks are written, so their pins are released.
            publisher.pins_before = 0;
            if publisher.chunk != self.chunk {
                publisher.pins = 0;
            }
        }
        if publisher.chunk != self.chunk {
            // The pins of all chunks that wait for the disk are added up.
            publisher.pins_before += publisher.pins;
            (publisher.chunk, publisher.pins) = (self.chunk, 0);
        }
        let may_pin = publisher.pins + publisher.pins_before < PINS;
        publisher.pins += u32::from(may_pin);
        may_pin
    }

    /// Begins the next chunk, because the current one was passed to the disk.
    pub fn begin_chunk(&mut self) {
        self.chunk += 1;
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
        assert!(publishers.pin(one, true) && publishers.pin(one, false) && !publishers.pin(one, true));
        assert!(publishers.pin(other, true));
        publishers.begin_chunk();
        assert!(!publishers.pin(one, false) && publishers.pin(other, false) && !publishers.pin(other, false));
        assert!(publishers.pin(one, true) && publishers.pin(one, true) && !publishers.pin(one, true));
        // The chunk with the two pins waits for the disk while other chunks follow, so no more pins are allowed.
        publishers.begin_chunk();
        assert!(!publishers.pin(one, false));
        publishers.begin_chunk();
        assert!(!publishers.pin(one, false) && publishers.pin(one, true));
    }
}
