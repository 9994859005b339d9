//! Locks that ignore poisoning. Data behind a lock is still valid after a panic, because all code already accepts
//! any data that a client can send.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
