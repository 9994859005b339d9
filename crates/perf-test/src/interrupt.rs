//! Ctrl-C and its relatives: the first asks for an orderly end, the second ends the program.
//!
//! Installed once by `main`, looked at by the coordinator. Workers see the end of their stdin when
//! the program is gone, so nothing is left behind either way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::Failure;

/// The exit code after a second Ctrl-C, as shells expect it.
const EXIT_INTERRUPTED: i32 = 130;

/// Whether someone wants the program to end.
#[derive(Clone, Debug)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Catches SIGINT, SIGTERM and SIGHUP from now on.
    ///
    /// # Errors
    /// [`Failure::Measurement`] if the system refuses.
    pub fn install() -> Result<Interrupt, Failure> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the first signal finds the flag down and raises it, the second finds it up.
            signal_hook::flag::register_conditional_shutdown(signal, EXIT_INTERRUPTED, flag.clone())
                .and_then(|_| signal_hook::flag::register(signal, flag.clone()))
                .map_err(|error| Failure::Measurement(format!("cannot catch signal {signal}: {error}")))?;
        }
        Ok(Interrupt(flag))
    }

    /// Whether an orderly end was asked for.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
