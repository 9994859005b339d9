//! The publishers whose samples are recorded: for each, the samples that were taken and the number of pinned samples.

use gantry::Gid;
use std::collections::HashMap;

/// The most pins of a publisher in the chunk that is being written and the chunk that is being built, together.
const PINS: u32 = 2;

/// All publishers, by GID.
#[derive(Debug, Default)]
pub struct Publishers {
    publishers: HashMap<Gid, Publisher>,
    /// The number of the chunk that is built.
    chunk: u64,
}

#[derive(Debug, Default)]
struct Publisher {
    /// For each source: its index, and the sequence numbers of the first and the newest sample that it took.
    taken: Vec<(usize, u64, u64)>,
    /// The number of the chunk that has the publisher's newest pin.
    chunk: u64,
    /// The number of pins in the chunk `chunk`; `pins_before` counts the pins in earlier chunks that are not
    /// written yet.
    pins: u32,
    pins_before: u32,
}

impl Publishers {
    /// Notes that `source` took the sample; `false` if the sample was taken before, by this source or another one. The
    /// history of a latched publisher may come after newer samples that another source took.
    pub fn is_new(&mut self, publisher: Gid, sequence: u64, source: usize) -> bool {
        let publisher = self.publishers.entry(publisher).or_default();
        let is_of_other =
            |&(other, first, newest): &(usize, u64, u64)| other != source && (first..=newest).contains(&sequence);
        let came_by_other = publisher.taken.iter().any(is_of_other);
        match publisher.taken.iter_mut().find(|(own, _, _)| *own == source) {
            None => publisher.taken.push((source, sequence, sequence)),
            Some((_, _, newest)) if *newest >= sequence => return false,
            Some((_, _, newest)) => *newest = sequence,
        }
        !came_by_other
    }

    /// Counts a pin in the present chunk; `false` if the publisher has `PINS` pins already. `is_idle`: all chunks
    /// before the present one are written.
    pub fn pin(&mut self, publisher: Gid, is_idle: bool) -> bool {
        let publisher = self.publishers.entry(publisher).or_default();
        if is_idle {
            // The chunks before the present one are written, so their pins are released.
            publisher.pins_before = 0;
            if publisher.chunk != self.chunk {
                publisher.pins = 0;
            }
        }
        if publisher.chunk != self.chunk {
            // The pins of all chunks that wait for the disk add up.
            publisher.pins_before += publisher.pins;
            (publisher.chunk, publisher.pins) = (self.chunk, 0);
        }
        let may_pin = publisher.pins + publisher.pins_before < PINS;
        publisher.pins += u32::from(may_pin);
        may_pin
    }

    /// Begins the next chunk: the present chunk was given to the disk.
    pub fn begin_chunk(&mut self) {
        self.chunk += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_that_comes_late_is_new_up_to_what_the_other_source_has() {
        let (mut publishers, publisher) = (Publishers::default(), Gid([1; 16]));
        let mut taken = |source, numbers: std::ops::RangeInclusive<u64>| {
            numbers.filter(|number| publishers.is_new(publisher, *number, source)).collect::<Vec<_>>()
        };
        assert_eq!(taken(0, 1..=100), Vec::from_iter(1..=100));
        assert_eq!(taken(1, 250..=300), Vec::from_iter(250..=300));
        assert_eq!(taken(0, 101..=310), (101..=249).chain(301..=310).collect::<Vec<_>>());
        assert_eq!(taken(1, 301..=320), Vec::from_iter(311..=320));
    }

    #[test]
    fn pins_of_the_chunk_that_is_written_count_until_it_is() {
        let (mut publishers, one, other) = (Publishers::default(), Gid([1; 16]), Gid([2; 16]));
        assert!(publishers.pin(one, true) && publishers.pin(one, false) && !publishers.pin(one, true));
        assert!(publishers.pin(other, true));
        publishers.begin_chunk();
        assert!(!publishers.pin(one, false) && publishers.pin(other, false) && !publishers.pin(other, false));
        assert!(publishers.pin(one, true) && publishers.pin(one, true) && !publishers.pin(one, true));
        // The chunk with two pins waits for the disk while other chunks follow.
        publishers.begin_chunk();
        assert!(!publishers.pin(one, false));
        publishers.begin_chunk();
        assert!(!publishers.pin(one, false) && publishers.pin(one, true));
    }
}
