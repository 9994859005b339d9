//! A lock function that ignores poisoning. After a panic, the data behind the lock is still usable, because all code
//! already accepts any data that a client can send.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
