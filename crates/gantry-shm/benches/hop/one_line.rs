//! One cache line that two processes write in turn: the time that this machine needs to move a cache line between CPUs.
//!
//! The contestant `floor` is compared with this time. One side writes odd numbers, the other side even numbers. With a
//! pause between two loads, the two sides become synchronised, and the line moves once for each hop. Without a pause,
//! the loading side takes the line from the side that is about to write, and the line moves twice, like the entries of
//! the floor. The benchmark shows both variants, and compares the floor with the variant with a pause.

use crate::{
    Result, area,
    contestant::{Pair, Side, poll},
};
use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering::*},
};

/// One side of the contestant.
pub struct OneLine {
    word: &'static AtomicU64,
    side: Side,
    /// The number of loads between two pauses.
    loads: usize,
    /// The value that was last seen or written.
    last: u64,
}

impl OneLine {
    /// Creates one side. The two sides share the file at `path`. `loads` is the number of loads between two pauses.
    pub fn new(path: &Path, side: Side, loads: usize) -> Result<OneLine> {
        Ok(OneLine { word: &area::words(path, 1)?[0], side, loads, last: 0 })
    }
}

impl Pair for OneLine {
    #[inline(always)]
    fn send(&mut self, value: u64) -> Result<()> {
        self.last = 2 * value + u64::from(self.side == Side::Pong);
        self.word.store(self.last, Release);
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self) -> Result<u64> {
        let (word, loads, last) = (self.word, self.loads, self.last);
        self.last = poll(|| Ok((0..loads).map(|_| word.load(Acquire)).find(|&seen| seen != last)))?;
        Ok(self.last / 2)
    }
}
