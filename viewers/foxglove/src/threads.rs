//! The threads of the server. Their number is counted, so that the program can wait for their end.

use crate::lock::lock;
use gantry_command::Result;
use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

static COUNT: Mutex<usize> = Mutex::new(0);
static IS_LESS: Condvar = Condvar::new();

/// A guard that counts a thread as running until it is dropped.
struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        *lock(&COUNT) -= 1;
        IS_LESS.notify_all();
    }
}

/// Starts a thread in which all signals are blocked, and counts it.
///
/// # Errors
/// An error of the operating system.
pub fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
    *lock(&COUNT) += 1;
    let running = Running;
    gantry_command::spawn(name, move || {
        let _running = running; // dropped last, after all values that `run` owns
        run();
    })
    .map(drop)
}

/// Waits for the end of all threads; returns `false` if some are still running after `patience`.
#[must_use]
pub fn wait_for_end(patience: Duration) -> bool {
    let waited = IS_LESS.wait_timeout_while(lock(&COUNT), patience, |count| *count > 0);
    !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
}
