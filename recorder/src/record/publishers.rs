//! The publishers whose samples are recorded: the newest number of each, and the number of its pins.

use gantry::{Gid, SampleInfo};
use std::collections::HashMap;

/// The most pins of a publisher, in the chunk that is written and in the next one together.
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
    /// The number of the newest sample.
    newest: u64,
    /// The number of the chunk with the last pin.
    chunk: u64,
    /// The pins in this chunk, and in the ones before that are not written yet.
    pins: u32,
    pins_before: u32,
}

impl Publishers {
    /// Whether the sample came by no other subscription before.
    pub fn is_new(&mut self, sample: &SampleInfo) -> bool {
        let publisher = self.publishers.entry(sample.publisher_gid).or_default();
        let is_new = sample.sequence > publisher.newest;
        publisher.newest = publisher.newest.max(sample.sequence);
        is_new
    }

    /// Counts a pin in the present chunk; `false` if the publisher has as many as it may. `is_idle` says that the chunk
    /// before is written.
    pub fn pin(&mut self, publisher: Gid, is_idle: bool) -> bool {
        let publisher = self.publishers.entry(publisher).or_default();
        if is_idle {
            // Chunks before the present one are written.
            publisher.pins_before = 0;
            if publisher.chunk != self.chunk {
                publisher.pins = 0;
            }
        }
        if publisher.chunk != self.chunk {
            // More than one chunk may wait.
            publisher.pins_before += publisher.pins;
            (publisher.chunk, publisher.pins) = (self.chunk, 0);
        }
        let may_pin = publisher.pins + publisher.pins_before < PINS;
        publisher.pins += u32::from(may_pin);
        may_pin
    }

    /// Begins the next chunk: the present one is given to the disk.
    pub fn begin_chunk(&mut self) {
        self.chunk += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_of_the_chunk_that_is_written_count_until_it_is() {
        let (mut publishers, one, other) = (Publishers::default(), Gid([1; 16]), Gid([2; 16]));
        assert!(publishers.pin(one, true) && publishers.pin(one, false) && !publishers.pin(one, true));
        assert!(publishers.pin(other, true));
        publishers.begin_chunk();
        assert!(!publishers.pin(one, false) && publishers.pin(other, false) && !publishers.pin(other, false));
        assert!(publishers.pin(one, true) && publishers.pin(one, true) && !publishers.pin(one, true));
        // The chunk with two pins waits for the disk while others follow.
        publishers.begin_chunk();
        assert!(!publishers.pin(one, false));
        publishers.begin_chunk();
        assert!(!publishers.pin(one, false) && publishers.pin(one, true));
    }
}
