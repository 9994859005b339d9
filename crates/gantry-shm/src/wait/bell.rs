//! The bell of a wait set or a collector, to be rung by any thread of this process.

use crate::{
    domain::Domain,
    protocol::{
        collect,
        layout::{WAITER_PLAIN, WaiterLine},
        sleep::WaiterIndex,
        sync::{Ordering::Relaxed, Site, full_fence},
    },
};
use std::sync::{Arc, Weak};

/// A bell, which wakes a collector or a wait set from any thread of this process.
///
/// Ringing neither allocates nor locks, and makes at most one system call (futex), which leaves `errno` alone. A POSIX
/// signal handler may ring ([`Bell::ring`] and [`Bell::ring_all`] are async-signal-safe) while the collector or the
/// wait set exists. If they are dropped during the ring, the ring may be the last user of the domain's memory and then
/// frees it, which a signal handler must not do. Cloning and dropping a bell are not async-signal-safe.
#[derive(Clone, Debug)]
pub struct Bell {
    /// The domain of the waiter. The reference is weak, so that a bell does not keep the domain alive.
    domain: Weak<Domain>,
    index: WaiterIndex,
}

impl Bell {
    pub(crate) fn new(domain: &Arc<Domain>, index: WaiterIndex) -> Bell {
        Bell { domain: Arc::downgrade(domain), index }
    }

    /// Wakes the waiting thread if it sleeps; if several threads sleep, wakes one of them. The caller stores the news
    /// before this call.
    pub fn ring(&self) {
        self.with_line(|line| {
            let fenced = full_fence(Site::NewsFence); // (8): the news is stored before the load of the state
            if line.state.load(Relaxed) == WAITER_PLAIN {
                line.bell.ring();
            } else {
                collect::ring_if_asleep(line, fenced);
            }
        });
    }

    /// Wakes all threads that sleep, even if another ring is about to wake them. The caller stores the news before this
    /// call.
    pub fn ring_all(&self) {
        self.with_line(|line| line.bell.ring());
    }

    fn with_line(&self, ring: impl FnOnce(&WaiterLine)) {
        if let Some(domain) = self.domain.upgrade()
            && domain.epoch.is_current()
        {
            ring(domain.board.waiter(self.index));
        }
    }
}
