//! A lock that ignores poisoning: the data is valid after each statement, so also after a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. May block.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
