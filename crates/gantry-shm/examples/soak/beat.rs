//! What each thread of a worker is doing, so that one that hangs is found.

use crate::Result;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// So many looks in a row at a thread that does not get on mean that it hangs. Looks are counted, not seconds: a worker that
/// is stopped does not look.
const HANG_LOOKS: u32 = 600;

/// Nobody makes so many steps.
const RESTING: u64 = 1 << 63;

/// What one thread is doing.
#[derive(Default)]
pub struct Beat {
    steps: AtomicU64,
    doing: Mutex<&'static str>,
}

impl Beat {
    /// It begins to do that.
    pub fn at(&self, doing: &'static str) {
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = doing;
        self.steps.fetch_add(1, Relaxed);
    }

    /// It waits for other threads that are watched themselves.
    pub fn rest(&self) {
        self.steps.store(RESTING, Relaxed);
    }
}

/// All threads that should get on.
#[derive(Default)]
pub struct Beats(Mutex<Vec<Watched>>);

struct Watched {
    beat: Arc<Beat>,
    steps: u64,
    looks: u32,
}

impl Beats {
    /// One more thread, until it drops its beat.
    pub fn add(&self) -> Arc<Beat> {
        let beat = Arc::new(Beat::default());
        let watched = Watched { beat: beat.clone(), steps: 0, looks: 0 };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(watched);
        beat
    }

    /// Looks at all; to be called every 100 ms.
    pub fn look(&self) -> Result<()> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|watched| Arc::strong_count(&watched.beat) > 1);
        for watched in all.iter_mut() {
            let steps = watched.beat.steps.load(Relaxed);
            watched.looks = if steps == watched.steps && steps != RESTING { watched.looks + 1 } else { 0 };
            watched.steps = steps;
            if watched.looks >= HANG_LOOKS {
                let doing = *watched.beat.doing.lock().unwrap_or_else(PoisonError::into_inner);
                return Err(format!("a thread hangs: it has been at {doing:?} for {HANG_LOOKS} looks, 100 ms each"));
            }
        }
        Ok(())
    }
}
