//! The properties of a group that executors read.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

/// The rule for running the callbacks of a group at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallbackGroupType {
    /// One callback of the group runs at a time.
    MutuallyExclusive,
    /// Callbacks of the group may run at the same time on different threads. One callback never runs concurrently with
    /// itself: it is `FnMut`.
    Reentrant,
}

/// The properties of a group that executors read.
pub(crate) struct Group {
    pub(crate) kind: CallbackGroupType,
    priority: AtomicI32,
    /// A callback of a mutually exclusive group runs. W, R: under the executor's lock.
    pub(crate) is_busy: AtomicBool,
}

impl Group {
    pub(crate) fn new(kind: CallbackGroupType) -> Group {
        Group { kind, priority: AtomicI32::new(0), is_busy: AtomicBool::new(false) }
    }

    /// Callbacks of higher priority run first.
    pub(crate) fn priority(&self) -> i32 {
        self.priority.load(Relaxed)
    }

    pub(crate) fn set_priority(&self, priority: i32) {
        self.priority.store(priority, Relaxed);
    }
}
