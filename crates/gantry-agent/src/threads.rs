//! Threads of the agent. They block all signals, so that signals are handled on other threads of the program.

use std::{io, thread};

/// Starts a thread.
///
/// # Errors
/// An error of the operating system.
pub fn spawn<T: Send + 'static>(
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<thread::JoinHandle<T>> {
    gantry::with_signals_blocked(|| thread::Builder::new().name(name.into()).spawn(work))
}
