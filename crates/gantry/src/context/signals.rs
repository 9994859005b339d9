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
    // The handlers run in this order. A first signal finds the flag clear, sets it, and then wakes the thread, which
    // sets it, too.
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_default(signal, is_last.clone())?;
        flag::register(signal, is_last.clone())?;
    }
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let came_before = is_last.load(SeqCst);
    let serve = move || {
        if came_before {
            shutdown();
        }
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
