//! The properties of a callback group that executors read.

use crate::wait::lock;
use gantry_shm::SchedulingPolicy;
use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicI32, Ordering::Relaxed},
};

/// The rule that decides whether callbacks of a group may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallbackGroupType {
    /// Only one callback of the group runs at a time.
    MutuallyExclusive,
    /// Callbacks of the group may run at the same time on different threads. One callback never runs concurrently with
    /// itself: it is `FnMut`.
    Reentrant,
}

/// The properties of a callback group that executors read.
pub(crate) struct Group {
    pub(crate) kind: CallbackGroupType,
    priority: AtomicI32,
    /// Whether the executor of the node also runs this group.
    is_added_with_node: AtomicBool,
    thread: Mutex<ThreadOptions>,
    /// Whether a callback of this mutually exclusive group runs. The flag is written and read under the
    /// executor's lock.
    pub(crate) is_busy: AtomicBool,
}

/// The scheduling policy and CPUs of a group's thread, for an executor with one thread per group. By default, the
/// thread inherits both from the thread that spins.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadOptions {
    pub(crate) policy: Option<SchedulingPolicy>,
    /// The CPUs on which the thread may run; if the list is empty, the thread inherits the CPUs of the thread
    /// that spins.
    pub(crate) cpus: Vec<usize>,
}

impl Group {
    pub(crate) fn new(kind: CallbackGroupType) -> Group {
        Group {
            kind,
            priority: AtomicI32::new(0),
            is_added_with_node: AtomicBool::new(true),
            thread: Mutex::default(),
            is_busy: AtomicBool::new(false),
        }
    }

    /// The priority of the group. Callbacks of groups with a higher priority run first.
    pub(crate) fn priority(&self) -> i32 {
        self.priority.load(Relaxed)
    }

    pub(crate) fn set_priority(&self, priority: i32) {
        self.priority.store(priority, Relaxed);
    }

    pub(crate) fn is_added_with_node(&self) -> bool {
        self.is_added_with_node.load(Relaxed)
    }

    pub(crate) fn set_added_with_node(&self, is_added: bool) {
        self.is_added_with_node.store(is_added, Relaxed);
    }

    pub(crate) fn thread(&self) -> ThreadOptions {
        lock(&self.thread).clone()
    }

    pub(crate) fn set_thread(&self, change: impl FnOnce(&mut ThreadOptions)) {
        change(&mut lock(&self.thread));
    }
}
