//! Handling of SIGINT (Ctrl-C), SIGTERM and SIGHUP: the first signal requests an orderly end, the second ends
//! the program.
//!
//! In both cases the workers' stdin is closed when the program ends, so the workers exit and remove their files.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::common::error::Failure;

/// The exit code after a second signal: 128 + SIGINT, which shells use after Ctrl-C.
const EXIT_INTERRUPTED: i32 = 130;

/// The request that the program end in an orderly way.
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
            // The order of the two registrations matters: the first signal finds the flag clear and sets it, and the
            // second finds it set.
            signal_hook::flag::register_conditional_shutdown(signal, EXIT_INTERRUPTED, flag.clone())
                .and_then(|_| signal_hook::flag::register(signal, flag.clone()))
                .map_err(|error| Failure::Measurement(format!("cannot catch signal {signal}: {error}")))?;
        }
        Ok(Interrupt(flag))
    }

    /// A request that only this program can make, because it does not catch signals.
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
