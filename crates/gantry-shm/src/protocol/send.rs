//! How the thread that wakes readers for a publisher learns of its samples (pair 3, with a thread in between).
//!
//! Used by `publisher` (announcing) and `sender` (looking). The word is private memory of the process that both run in.

use crate::protocol::sync::{AtomicU64, Ordering::Relaxed, Site, full_fence};

/// What one publisher tells the sender: on a line of its own, which the sender's looks take from the publisher's core.
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
    /// the entry and this, so whoever sees this sees the entry.
    #[inline]
    pub(crate) fn notify(&self, sequence: u64) {
        self.newest.store(sequence, Relaxed);
    }

    /// Sender: whether there are samples after `seen`, which becomes the newest. If so, the caller then wakes who sleeps on the
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
