//! A contestant: a way of sending messages between two processes, which is measured mostly by ping-pong. Each process
//! has one side of it.
//!
//! The process of `schedule` measures, the process of `play` answers. The loops are generic, so that the compiler makes
//! a separate loop for each contestant; only the call at the start of a turn is dynamic. Invariants:
//! - The first round trips of a turn load code and cache lines into the caches, and are not counted.
//! - No side waits for ever: if the other side is silent for `PATIENCE`, the wait fails.

use crate::{Result, ticks};
use std::time::{Duration, Instant};

/// The number of round trips at the beginning of a turn that are not counted.
pub const WARM_UP: usize = 100;
/// The longest wait for an answer of the other side.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// The number of polls between two readings of the clock.
const POLLS_PER_CLOCK: usize = 1 << 20;

/// The side that a process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The side that starts each round trip, and measures.
    Ping,
    /// The side that answers.
    Pong,
}

/// One side of a measurement.
pub trait Contestant {
    /// Waits until the two sides are connected. Both sides call this method at the same time.
    fn meet(&mut self) -> Result<()>;
    /// Measures `count` samples, in ticks of the clock.
    fn measure(&mut self, count: usize, samples: &mut Vec<u64>) -> Result<()>;
    /// Answers the other side while it measures `count` samples.
    fn answer(&mut self, count: usize) -> Result<()>;
}

/// One side of a ping-pong: it sends and takes.
pub trait Pair {
    /// Waits until the two sides are connected.
    fn meet(&mut self) -> Result<()> {
        Ok(())
    }
    /// Sends a message with `value`.
    fn send(&mut self, value: u64) -> Result<()>;
    /// Waits for the next message, and returns its value.
    fn take(&mut self) -> Result<u64>;
}

/// A ping-pong contestant. Its samples are round trips without a pause between them; the clock is read once for each.
pub struct PingPong<P>(pub P);

impl<P: Pair> Contestant for PingPong<P> {
    fn meet(&mut self) -> Result<()> {
        self.0.meet()
    }

    fn measure(&mut self, count: usize, samples: &mut Vec<u64>) -> Result<()> {
        let mut before = 0;
        for turn in 0..(WARM_UP + count) {
            let value = turn as u64 + 1;
            self.0.send(value)?;
            let answer = self.0.take()?;
            if answer != value {
                return Err(format!(
                    "the answer to message {value} has the value {answer}: a message was lost or damaged"
                )
                .into());
            }
            let now = ticks::now();
            if turn >= WARM_UP {
                samples.push(now - before);
            }
            before = now;
        }
        Ok(())
    }

    fn answer(&mut self, count: usize) -> Result<()> {
        for _ in 0..(WARM_UP + count) {
            let value = self.0.take()?;
            self.0.send(value)?;
        }
        Ok(())
    }
}

/// Polls until there is a value, with a pause instruction between two polls. All contestants that poll use this
/// function.
#[inline(always)]
pub fn poll<T>(mut next: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let mut since = None;
    loop {
        for _ in 0..POLLS_PER_CLOCK {
            if let Some(found) = next()? {
                return Ok(found);
            }
            std::hint::spin_loop();
        }
        if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return Err(silence());
        }
    }
}

/// The error if the other side does not answer.
#[cold]
pub fn silence() -> crate::Error {
    format!("the other process did not answer for {} s; it may have ended or be stopped", PATIENCE.as_secs()).into()
}
