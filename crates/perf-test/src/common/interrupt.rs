//! Handling of SIGINT (Ctrl-C), SIGTERM and SIGHUP: the first signal requests an orderly end, a second signal exits at
//! once.
//!
//! In both cases the workers' standard input closes when the program ends, so the workers exit and remove their files.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::common::error::Failure;

/// The exit code after a second signal: 128 + SIGINT, as shells report a program that Ctrl-C ended.
const EXIT_INTERRUPTED: i32 = 130;

/// A flag that requests an orderly end of the program.
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
            // The order of the two registrations matters. At the first signal the conditional shutdown finds the flag
            // clear and does nothing, then the second handler sets the flag. At the second signal the shutdown finds
            // the flag set.
            signal_hook::flag::register_conditional_shutdown(signal, EXIT_INTERRUPTED, flag.clone())
                .and_then(|_| signal_hook::flag::register(signal, flag.clone()))
                .map_err(|error| Failure::Measurement(format!("cannot catch signal {signal}: {error}")))?;
        }
        Ok(Interrupt(flag))
    }

    /// Creates a flag that only [`request`](Self::request) sets, and no signal.
    #[must_use]
    pub fn of_program() -> Interrupt {
        Interrupt(Arc::default())
    }

    /// Requests an orderly end.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether an orderly end was requested.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
