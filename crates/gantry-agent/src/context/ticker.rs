//! The ticker: the thread that checks the clients when a deadline has passed.
//!
//! Each message to a client changes the client's deadline. If each change woke the ticker, there would be a wake-up for
//! each message. So the ticker pauses after each wake-up and then reads all changes at once. It is late for a deadline
//! by at most this pause.

use crate::lock::lock;
use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

const NAP: Duration = Duration::from_millis(1);

/// The earliest deadline of all clients.
pub struct Ticker {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    due: Option<Instant>,
    /// Whether the thread is in its pause. It reads `due` after the pause, so it need not be woken.
    is_napping: bool,
    is_ending: bool,
}

impl Ticker {
    pub fn new() -> Self {
        Self { state: Mutex::default(), changed: Condvar::new() }
    }

    /// Asks for a check of the clients at the time `at`; `None` has no effect.
    pub fn set_due(&self, at: Option<Instant>) {
        let mut state = lock(&self.state);
        if let Some(at) = at
            && state.due.is_none_or(|due| at < due)
        {
            state.due = Some(at);
            if !state.is_napping || at <= Instant::now() {
                drop(state);
                self.changed.notify_one();
            }
        }
    }

    /// Makes [`Self::wait`] return `false`, because the agent ends.
    pub fn end(&self) {
        lock(&self.state).is_ending = true;
        self.changed.notify_all();
    }

    /// Waits until the earliest deadline and removes it. Returns `false` when the agent ends.
    pub fn wait(&self) -> bool {
        let mut state = lock(&self.state);
        let mut is_rested = false;
        loop {
            if state.is_ending {
                return false;
            }
            let left = state.due.map(|due| due.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                state.due = None;
                return true;
            }
            state.is_napping = !is_rested || left.is_some_and(|left| left <= NAP);
            is_rested = state.is_napping;
            state = match left {
                _ if state.is_napping => self.sleep(state, left.unwrap_or(NAP).min(NAP)),
                Some(left) => self.sleep(state, left),
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn sleep<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        sync::{
            Arc,
            atomic::{AtomicU64, Ordering::*},
        },
        thread,
    };
    use test_support::eventually;

    #[test]
    fn each_deadline_is_met_whenever_it_is_set() {
        let (ticker, met) = (Arc::new(Ticker::new()), Arc::<AtomicU64>::default());
        let (of_thread, count) = (ticker.clone(), met.clone());
        let thread = thread::spawn(move || {
            while of_thread.wait() {
                count.fetch_add(1, Relaxed);
            }
        });
        for number in 0..200 {
            // Sets deadlines at different times, up to three pauses from now.
            let (before, after) = (met.load(Relaxed), NAP * (number % 7) / 2);
            let at = Instant::now() + after;
            ticker.set_due(Some(at));
            eventually("the deadline is met", || met.load(Relaxed) > before);
            assert!(Instant::now() >= at, "too early");
        }
        ticker.end();
        assert!(thread.join().is_ok());
    }
}
