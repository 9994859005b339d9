//! The pins of the recorder in publishers' memory. A pin counts until its chunk is written, even if the chunk waits for
//! the disk and its samples were copied.

use gantry::Gid;
use std::collections::HashMap;

/// The largest number of pinned samples of a publisher, in the chunk that is being filled and in earlier chunks
/// together.
const MAX_PINS: usize = 2;

/// The pins by publisher.
#[derive(Debug, Default)]
pub struct Pins {
    /// For each pin, the number of the chunk that has it, or had it.
    chunks: HashMap<Gid, [u64; MAX_PINS]>,
    /// The number of chunks that were passed to the disk. The chunk that is being filled has the next number.
    sent: u64,
}

impl Pins {
    /// Counts a new pin in the current chunk. Returns `false` if the publisher already has `MAX_PINS` pins. `queued` is
    /// the number of earlier chunks that are not written yet.
    pub fn pin(&mut self, publisher: Gid, queued: u64) -> bool {
        let written = self.sent.saturating_sub(queued);
        let pins = self.chunks.entry(publisher).or_default();
        let free = pins.iter_mut().find(|chunk| **chunk <= written);
        free.map(|chunk| *chunk = self.sent + 1).is_some()
    }

    /// Begins the next chunk, because the current one was passed to the disk.
    pub fn begin_chunk(&mut self) {
        self.sent += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_of_the_chunk_that_is_written_count_until_it_is() {
        let (mut pins, one, other) = (Pins::default(), Gid([1; 16]), Gid([2; 16]));
        assert!(pins.pin(one, 0) && pins.pin(one, 0) && !pins.pin(one, 0));
        assert!(pins.pin(other, 0));
        pins.begin_chunk();
        assert!(!pins.pin(one, 1) && pins.pin(other, 1) && !pins.pin(other, 1));
        assert!(pins.pin(one, 0) && pins.pin(one, 0) && !pins.pin(one, 0));
        assert!(pins.pin(other, 0) && !pins.pin(other, 0), "the second pin is in the current chunk");
        // The chunk with the two pins waits for the disk while other chunks follow, so no more pins are allowed.
        pins.begin_chunk();
        assert!(!pins.pin(one, 1));
        pins.begin_chunk();
        assert!(!pins.pin(one, 2) && pins.pin(one, 1));
    }
}
