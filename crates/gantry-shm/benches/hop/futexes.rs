//! The lowest cost of blocking: two futex words and nothing else.
//!
//! Contestants that block are compared with this one. A side stores a word, wakes the other side and sleeps at once.

use crate::{
    Result, area,
    area::APART,
    contestant::{PATIENCE, Pair, Side, silence},
};
use rustix::{io::Errno, thread::futex};
use std::{
    path::Path,
    sync::atomic::{AtomicU32, Ordering::*},
};

pub struct Futexes {
    outgoing: &'static AtomicU32,
    incoming: &'static AtomicU32,
    /// The value that was last taken.
    last: u32,
}

impl Futexes {
    /// Creates one side. The two sides share the file at `path`.
    pub fn new(path: &Path, side: Side) -> Result<Futexes> {
        let halves = area::halves(path, 4 * APART)?;
        let (ping, pong) = (&halves[0], &halves[2 * APART]);
        let (outgoing, incoming) = if side == Side::Ping { (ping, pong) } else { (pong, ping) };
        Ok(Futexes { outgoing, incoming, last: 0 })
    }
}

impl Pair for Futexes {
    #[inline(always)]
    fn send(&mut self, value: u64) -> Result<()> {
        self.outgoing.store(value as u32, Release);
        futex::wake(self.outgoing, futex::Flags::empty(), 1).map_err(|why| format!("cannot wake: {why}"))?;
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self) -> Result<u64> {
        let timeout = futex::Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
        loop {
            let seen = self.incoming.load(Acquire);
            if seen != self.last {
                self.last = seen;
                return Ok(seen.into());
            }
            match futex::wait(self.incoming, futex::Flags::empty(), seen, Some(&timeout)) {
                // The wait ended by a wake-up, a signal, or a change of the word before the sleep: the loop loads the
                // word again.
                Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::TIMEDOUT) => return Err(silence()),
                Err(why) => return Err(format!("cannot wait on a futex: {why}").into()),
            }
        }
    }
}
