//! A lock that a panic of another thread does not poison: each guarded value is whole between two statements.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. May block.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
