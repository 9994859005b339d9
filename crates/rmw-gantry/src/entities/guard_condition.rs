//! Guard conditions: news that a program makes itself.

use super::wake_up::Attached;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// A flag that wakes `rmw_wait`. Triggering takes no lock and does not allocate: rclpy does it in a signal handler.
#[derive(Debug, Default)]
pub struct GuardCondition {
    is_triggered: AtomicBool,
    pub attached: Attached,
}

impl GuardCondition {
    /// Triggers it; triggers until the next take are one.
    pub fn trigger(&self) {
        self.is_triggered.store(true, Release); // partner: `take`
        self.attached.ring();
    }

    /// Whether it is triggered.
    pub fn is_triggered(&self) -> bool {
        self.is_triggered.load(Acquire)
    }

    /// Whether it was triggered since the last take.
    pub fn take(&self) -> bool {
        self.is_triggered() && self.is_triggered.swap(false, AcqRel)
    }
}
