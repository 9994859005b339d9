//! One cache line that two processes write in turns: the time that this machine needs to move a line.
//!
//! The floor itself is compared with it. A side writes odd numbers, the other one even ones. With a pause between
//! two looks the two sides fall into step, and the line moves once a hop; without one, the side that looks takes the line from the
//! side that is about to write, and the line moves twice, as the floor's entries do. Both are shown; the first is the one that is compared with.

use crate::{
    Result, area,
    contestant::{Pair, Side, poll},
};
use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering::*},
};

/// One side.
pub struct OneLine {
    word: &'static AtomicU64,
    side: Side,
    /// Looks between two pauses.
    looks: usize,
    /// The value that was last seen or written.
    last: u64,
}

impl OneLine {
    /// Meets the other side in the file at `path`. `looks`: how many between two pauses.
    pub fn new(path: &Path, side: Side, looks: usize) -> Result<OneLine> {
        Ok(OneLine { word: &area::words(path, 1)?[0], side, looks, last: 0 })
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
        let (word, looks, last) = (self.word, self.looks, self.last);
        self.last = poll(|| Ok((0..looks).map(|_| word.load(Acquire)).find(|&seen| seen != last)))?;
        Ok(self.last / 2)
    }
}
