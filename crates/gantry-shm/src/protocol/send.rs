//! The word by which an asynchronous publisher notifies the sender thread of samples, so that the sender thread wakes
//! the readers (pair 3 of `protocol`). The word is private memory of the process.

use crate::protocol::sync::{AtomicU64, Fenced, Ordering::Relaxed, Site, full_fence, release};

/// The sequence of one publisher's newest sample, for the sender thread; 0 = none yet. The word has its own cache line,
/// because each load of the sender takes the line from the publisher's core.
#[repr(align(64))]
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// The sequence of the newest sample. W: the publisher. R: the sender.
    newest: AtomicU64,
}

impl Outbox {
    /// Publisher: notifies the sender of a sample whose entry is stored. Release: the store of the entry happens before
    /// the sender's fence, so a waiter whose fence comes after the sender's fence sees the entry (C++20
    /// [atomics.order]). The publisher needs no SeqCst fence.
    #[inline]
    pub(crate) fn notify(&self, sequence: u64) {
        self.newest.store(sequence, release(Site::OutboxStore));
    }

    /// Sender: if there are samples after `seen`, sets `seen` to the newest sequence and executes a fence. The fence
    /// comes after the entries were stored and before the caller reads the topic's sleepers (pair 3).
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
