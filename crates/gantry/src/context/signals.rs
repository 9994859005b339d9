//! The handling of SIGINT and SIGTERM: the first signal shuts the program down, on a thread of this library, and the
//! next signal has its default action.
//!
//! The handlers are installed once per process. They set a flag and write to a pipe; the thread that reads the pipe
//! does the rest.

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

/// A flag: while it is set, a signal ends the process. It is set until [`install`] has started the thread, and again
/// from the start of a shutdown.
static IS_LAST: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// Set after the thread that shuts the program down was started.
static IS_SERVED: OnceLock<()> = OnceLock::new();

/// Makes the next signal start a shutdown. After an error, signals have their default actions. The caller holds a lock,
/// so that two threads cannot install the handlers at the same time.
pub(super) fn install() -> io::Result<()> {
    let is_last = match IS_LAST.get() {
        Some(is_last) => is_last.clone(),
        None => set_flag()?,
    };
    if IS_SERVED.get().is_none() {
        serve(Signals::new([SIGINT, SIGTERM])?)?;
        let _ = IS_SERVED.set(()); // cannot fail: the caller's lock keeps other threads out
    }
    is_last.store(false, SeqCst);
    Ok(())
}

/// Registers the handlers that set the flag. While the flag is set, as it is after this call, a signal ends
/// the process.
fn set_flag() -> io::Result<Arc<AtomicBool>> {
    let is_last = Arc::new(AtomicBool::new(true));
    // The handlers run in the order of their registration. At the first signal, the first handler finds the flag clear
    // and does nothing, the second handler sets the flag, and the handler of `Signals` wakes the thread.
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_default(signal, is_last.clone())?;
        flag::register(signal, is_last.clone())?;
    }
    Ok(IS_LAST.get_or_init(|| is_last).clone())
}

/// Starts the thread that shuts the program down after a signal.
fn serve(mut signals: Signals) -> io::Result<()> {
    let serve = move || {
        for signal in signals.forever() {
            let name = if signal == SIGINT { "SIGINT" } else { "SIGTERM" };
            crate::log::info(
                "",
                format_args!("{name}: the program shuts down; a second signal ends the process at once"),
            );
            shutdown();
        }
    };
    thread::Builder::new().name("gantry-signals".to_owned()).spawn(serve).map(drop)
}

/// Gives the next signal its default action.
pub(super) fn stop_catching() {
    if let Some(is_last) = IS_LAST.get() {
        is_last.store(true, SeqCst);
    }
}
