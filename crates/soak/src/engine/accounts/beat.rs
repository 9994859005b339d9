//! The progress of each thread of a worker process. A thread without progress counts as hung.

use crate::outcome::Result;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// The number of consecutive checks without progress after which a thread counts as hung. The limit is a number of
/// checks and not a time, because a worker that is stopped (SIGSTOP) makes no checks.
const HANG_CHECKS: u32 = 600;

/// The value of `steps` for a resting thread. No thread makes that many steps.
const RESTING: u64 = 1 << 63;

/// The progress of one thread.
#[derive(Default)]
pub struct Beat {
    steps: AtomicU64,
    doing: Mutex<&'static str>,
}

impl Beat {
    /// Begins a step.
    pub fn at(&self, doing: &'static str) {
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = doing;
        self.steps.fetch_add(1, Relaxed);
    }

    /// Marks the thread as resting: it waits for other threads, which are checked themselves.
    pub fn rest(&self) {
        self.steps.store(RESTING, Relaxed);
    }
}

/// The threads whose progress is checked.
#[derive(Default)]
pub struct Beats(Mutex<Vec<Watched>>);

struct Watched {
    beat: Arc<Beat>,
    steps: u64,
    checks: u32,
}

impl Beats {
    /// Adds a thread. It is checked until it drops the returned [`Beat`].
    pub fn add(&self) -> Arc<Beat> {
        let beat = Arc::new(Beat::default());
        let watched = Watched { beat: beat.clone(), steps: 0, checks: 0 };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(watched);
        beat
    }

    /// Checks the progress of all threads. The caller calls this function every 100 ms.
    pub fn check_all(&self) -> Result<()> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|watched| Arc::strong_count(&watched.beat) > 1);
        for watched in all.iter_mut() {
            let steps = watched.beat.steps.load(Relaxed);
            watched.checks = if steps == watched.steps && steps != RESTING { watched.checks + 1 } else { 0 };
            watched.steps = steps;
            if watched.checks >= HANG_CHECKS {
                let doing = *watched.beat.doing.lock().unwrap_or_else(PoisonError::into_inner);
                return Err(format!("a thread hangs: it has been at {doing:?} for {HANG_CHECKS} checks, 100 ms each"));
            }
        }
        Ok(())
    }
}
