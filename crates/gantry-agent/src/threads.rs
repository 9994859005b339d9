//! Threads of the agent. They run no signal handler of the program that has it.

use std::{io, thread};

/// Starts a thread.
///
/// # Errors
/// The system's.
pub fn spawn<T: Send + 'static>(
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<thread::JoinHandle<T>> {
    gantry::with_signals_blocked(|| thread::Builder::new().name(name.into()).spawn(work))
}
