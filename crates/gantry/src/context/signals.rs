//! SIGINT and SIGTERM: the first one shuts down, on a thread of its own, and the next one has its default action.
//!
//! The handlers are installed once per process. They set a flag and write to a pipe; the rest is done by the thread.

use super::shutdown;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
    iterator::Signals,
};
use std::{
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

/// Set when a shutdown begins: the next signal is not caught.
static IS_LAST: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Has the next signal shut down. The caller holds a lock.
pub(super) fn install() -> io::Result<()> {
    if let Some(is_last) = IS_LAST.get() {
        is_last.store(false, SeqCst);
        return Ok(());
    }
    let is_last = Arc::new(AtomicBool::new(false));
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    for signal in [SIGINT, SIGTERM] {
        // In this order: a first signal finds the flag clear and sets it.
        flag::register_conditional_default(signal, is_last.clone())?;
        flag::register(signal, is_last.clone())?;
    }
    let serve = move || {
        for signal in signals.forever() {
            let name = if signal == SIGINT { "SIGINT" } else { "SIGTERM" };
            crate::log::info("", format_args!("{name}: shuts down; the next one ends the process at once"));
            shutdown();
        }
    };
    thread::Builder::new().name("gantry-signals".to_owned()).spawn(serve)?;
    let _ = IS_LAST.set(is_last); // the caller's lock: nobody else sets it
    Ok(())
}

/// Gives the next signal its default action.
pub(super) fn stop_catching() {
    if let Some(is_last) = IS_LAST.get() {
        is_last.store(true, SeqCst);
    }
}
