//! How a thread waits for news on a topic: a bounded spin, then a futex on its own bell.
//!
//! Used by subscriptions (a sample, a publisher) and publishers (a subscription). Waiting makes system calls; its first sleep
//! takes the registry lock, and once a second it looks for deaths. No wake-up is lost, because both sides put a SeqCst fence between what they write and what they read (3):
//! the publisher its entry, then the sleepers; the waiter its sleepers bit, then the look. The bell's value is read
//! before that look. A slice of a second bounds what a publisher that was killed between the two left unsaid.

use crate::{
    board::{Board, REGISTRY_PATIENCE, TopicIndex, WaiterIndex},
    error::{Error, Result},
    participant::Participant,
};
use rustix::thread::futex;
use std::{
    sync::{
        Arc,
        atomic::{Ordering::*, fence},
    },
    time::{Duration, Instant},
};

/// Longest spin before a sleep.
const MAX_SPIN: Duration = Duration::from_micros(20);
/// Shortest spin: what a waiter whose spins never helped still tries.
const MIN_SPIN: Duration = Duration::from_nanos(250);
/// Longest sleep, and how often a thread that sleeps looks for deaths.
const SLICE: Duration = Duration::from_secs(1);
/// Looks between two readings of the clock.
const LOOKS_PER_CLOCK: usize = 8;

/// A thread's way to wait; belongs to one endpoint.
pub(crate) struct Waiter {
    participant: Arc<Participant>,
    topic: TopicIndex,
    /// Taken at the first sleep.
    index: Option<WaiterIndex>,
    /// `None`: only one CPU is usable, spinning would keep the other side from running.
    spin: Option<Duration>,
    looked_for_deaths: Instant,
}

impl Waiter {
    pub(crate) fn new(participant: Arc<Participant>, topic: TopicIndex) -> Waiter {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = (cpus > 1).then_some(MAX_SPIN);
        Waiter { participant, topic, index: None, spin, looked_for_deaths: Instant::now() }
    }

    /// Waits until `look` says that there is something, the time is over, or a slice of sleep ended; the caller looks
    /// for itself what it was.
    /// `deadline` is `None` for no limit.
    pub(crate) fn wait(&mut self, deadline: Option<Instant>, mut look: impl FnMut() -> bool) -> Result<()> {
        if look() || self.spin(&mut look) {
            return Ok(());
        }
        let remaining = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
        if remaining.is_zero() {
            return Ok(());
        }
        let index = match self.index {
            Some(index) => index,
            None => match self.participant.take_waiter(remaining.min(REGISTRY_PATIENCE)) {
                Ok(index) => *self.index.insert(index),
                // The time is over before we could sleep.
                Err(Error::RegistryBusy { .. }) if remaining < REGISTRY_PATIENCE => return Ok(()),
                Err(e) => return Err(e),
            },
        };
        let board = &self.participant.board;
        let (line, bell) = (board.line(self.topic), board.bell(index));
        let rings = bell.load(Acquire); // before the last look: a ring after it makes the kernel refuse to sleep
        Board::set_sleeper(line, index);
        fence(SeqCst); // (3) pairs with the fence in Publisher::publish and Board::topic_changed
        if !look() {
            let slice = remaining.min(SLICE);
            let timeout = futex::Timespec { tv_sec: slice.as_secs() as i64, tv_nsec: slice.subsec_nanos().into() };
            // Woken, rung before, out of time, interrupted: the caller looks in every case.
            let _ = futex::wait(bell, futex::Flags::empty(), rings, Some(&timeout));
        }
        Board::clear_sleeper(line, index);
        // Also when there is news: in steady traffic there always is.
        if self.looked_for_deaths.elapsed() >= SLICE {
            self.looked_for_deaths = Instant::now();
            self.participant.look_for_deaths()?;
        }
        Ok(())
    }

    /// Spins as long as spinning has been worth it: the bound doubles when it helps and halves when it does not.
    fn spin(&mut self, look: &mut impl FnMut() -> bool) -> bool {
        let Some(bound) = self.spin else { return false };
        let end = Instant::now() + bound;
        loop {
            for _ in 0..LOOKS_PER_CLOCK {
                if look() {
                    self.spin = Some((bound * 2).min(MAX_SPIN));
                    return true;
                }
                std::hint::spin_loop();
            }
            if Instant::now() >= end {
                self.spin = Some((bound / 2).max(MIN_SPIN));
                return false;
            }
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if let (Some(index), true) = (self.index, self.participant.epoch.is_current()) {
            self.participant.free_waiter(index);
        }
    }
}
