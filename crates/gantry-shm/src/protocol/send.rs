//! The word by which a publisher tells the thread that wakes its readers of samples (pair 3, with a thread in between). It is
//! private memory of their process.

use crate::protocol::sync::{AtomicU64, Ordering::Relaxed, Site, full_fence};

/// The newest sequence of one publisher, for the sender: on a line of its own, since the sender's looks take it from the
/// publisher's core.
#[repr(align(64))]
#[derive(Debug)]
pub(crate) struct Outbox {
    /// Sequence of the newest sample. W: the publisher. R: the sender.
    newest: AtomicU64,
}

impl Outbox {
    /// Nothing was published yet.
    pub(crate) fn new() -> Outbox {
        Outbox { newest: AtomicU64::new(0) }
    }

    /// Publisher, after [`Writer::publish`](super::writer::Writer::publish). Relaxed: the SeqCst fence in there stands between
    /// the entry and this, so a thread that sees this sees the entry.
    #[inline]
    pub(crate) fn notify(&self, sequence: u64) {
        self.newest.store(sequence, Relaxed);
    }

    /// Sender: whether there are samples after `seen`, which becomes the newest. If so, the caller wakes the sleepers of the
    /// topic: the fence stands between the entry and its look at the sleepers (3).
    #[inline]
    pub(crate) fn has_news(&self, seen: &mut u64) -> bool {
        let newest = self.newest.load(Relaxed);
        if newest == *seen {
            return false;
        }
        *seen = newest;
        full_fence(Site::SenderFence);
        true
    }
}
