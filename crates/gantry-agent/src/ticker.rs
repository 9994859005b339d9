//! The ticker: the thread that looks at the clients when a deadline has passed.

use crate::lock::lock;
use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Instant,
};

/// The earliest deadline of all clients.
pub struct Ticker {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    due: Option<Instant>,
    is_ending: bool,
}

impl Ticker {
    pub fn new() -> Self {
        Self { state: Mutex::default(), changed: Condvar::new() }
    }

    /// A client is to be looked at by then.
    pub fn set_due(&self, at: Option<Instant>) {
        let mut state = lock(&self.state);
        if let Some(at) = at
            && state.due.is_none_or(|due| at < due)
        {
            state.due = Some(at);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Ends [`Self::wait`] for good.
    pub fn end(&self) {
        lock(&self.state).is_ending = true;
        self.changed.notify_all();
    }

    /// Waits until the earliest deadline, which is then forgotten. Returns `false` at the end.
    pub fn wait(&self) -> bool {
        let mut state = lock(&self.state);
        loop {
            if state.is_ending {
                return false;
            }
            let now = Instant::now();
            state = match state.due {
                Some(due) if due <= now => {
                    state.due = None;
                    return true;
                }
                Some(due) => {
                    let waited = self.changed.wait_timeout(state, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}
