//! The bell of a wait set or a collector, to be rung by any thread of this process.

use crate::{
    domain::Domain,
    protocol::{
        collect,
        layout::WAITER_PLAIN,
        sleep::WaiterIndex,
        sync::{Ordering::Relaxed, Site, full_fence},
    },
};
use std::sync::{Arc, Weak};

/// Wakes a collector or a wait set from any thread of this process.
///
/// Ringing neither allocates nor locks, and makes at most one system call.
#[derive(Clone, Debug)]
pub struct Bell {
    /// Weak: a bell does not keep the domain.
    domain: Weak<Domain>,
    index: WaiterIndex,
}

impl Bell {
    pub(crate) fn new(domain: &Arc<Domain>, index: WaiterIndex) -> Bell {
        Bell { domain: Arc::downgrade(domain), index }
    }

    /// Wakes the waiting thread if it sleeps. The news must have been stored before.
    pub fn ring(&self) {
        let Some(domain) = self.domain.upgrade() else { return };
        if !domain.epoch.is_current() {
            return;
        }
        let fenced = full_fence(Site::NewsFence); // (8) the news, then the load whether it sleeps
        let line = domain.board.waiter(self.index);
        if line.state.load(Relaxed) == WAITER_PLAIN { line.bell.ring() } else { collect::ring_if_asleep(line, fenced) }
    }
}
