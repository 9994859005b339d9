//! The properties of a group that executors read.

use std::sync::atomic::AtomicBool;

/// Whether callbacks of a group may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallbackGroupType {
    /// One at a time.
    MutuallyExclusive,
    /// Any number, each on a thread of its own; but none together with itself, for it is `FnMut`.
    Reentrant,
}

/// What executors know of a group.
pub(crate) struct Group {
    pub(crate) kind: CallbackGroupType,
    pub(crate) priority: i32,
    /// One of a mutually exclusive group runs. W, R: whoever holds the executor's lock.
    pub(crate) is_busy: AtomicBool,
}
