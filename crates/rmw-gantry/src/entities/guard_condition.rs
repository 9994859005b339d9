//! Guard conditions: news that a program makes itself.

use super::wake_up::Flag;
use std::sync::Arc;

/// A flag that wakes `rmw_wait`; wait sets may keep it longer than its handle.
#[derive(Debug, Default)]
pub struct GuardCondition {
    pub flag: Arc<Flag>,
}
