//! One cache line that two processes write in turns: what this machine needs to move a line, and nothing else.
//!
//! The measure that the floor itself is held against. A side writes odd numbers, the other one even ones.

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
    /// What was last seen or written.
    last: u64,
}

impl OneLine {
    /// Meets the other side in the file at `path`.
    pub fn new(path: &Path, side: Side) -> Result<OneLine> {
        Ok(OneLine { word: &area::words(path, 1)?[0], side, last: 0 })
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
        let (word, last) = (self.word, self.last);
        self.last = poll(|| Ok(Some(word.load(Acquire)).filter(|&seen| seen != last)))?;
        Ok(self.last / 2)
    }
}
