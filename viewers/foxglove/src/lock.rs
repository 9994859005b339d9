//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if another thread has panicked while it held the lock: the values behind the locks of this
/// program are consistent at any time.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
