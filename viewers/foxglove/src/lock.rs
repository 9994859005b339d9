//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock of which another thread's panic does not matter: all values are whole at any time.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
