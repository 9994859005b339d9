//! The properties of a group that executors read.

use std::sync::atomic::AtomicBool;

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
    pub(crate) priority: i32,
    /// A callback of a mutually exclusive group runs. W, R: under the executor's lock.
    pub(crate) is_busy: AtomicBool,
}
