//! The word by which a publisher notifies the thread that wakes its readers of samples (pair 3, with a thread in
//! between). It is private memory of their process.

use crate::protocol::sync::{AtomicU64, Fenced, Ordering::Relaxed, Site, full_fence, release};

/// The newest sequence of one publisher, 0 = none yet, for the sender. It is on a line of its own, since the sender's
/// loads take the line from the publisher's core.
#[repr(align(64))]
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// Sequence of the newest sample. W: the publisher. R: the sender.
    newest: AtomicU64,
}

impl Outbox {
    /// Publisher: notifies the sender of a sample whose entry is stored. Release: the entry happens before the sender's
    /// fence, so a waiter whose fence comes after the sender's fence sees the entry (C++20 [atomics.order]); the
    /// publisher needs no SeqCst fence.
    #[inline]
    pub(crate) fn notify(&self, sequence: u64) {
        self.newest.store(sequence, release(Site::OutboxStore));
    }

    /// Sender: executes a fence if there are samples after `seen`, and sets `seen` to the newest. The fence comes
    /// between the entries and the caller's wake of the topic's sleepers (3).
    #[inline]
    pub(crate) fn take_news(&self, seen: &mut u64) -> Option<Fenced> {
        let newest = self.newest.load(Relaxed);
        if newest == *seen {
            return None;
        }
        *seen = newest;
        Some(full_fence(Site::SenderFence))
    }
}
