//! The resource usage of `perf_test`'s own threads except the main thread. It is subtracted from the process's usage,
//! so that it does not count as the middleware's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;

use crate::measure::usage::Usage;

/// The usage of each of `perf_test`'s threads, as of its last update.
#[derive(Clone, Default)]
pub struct InstrumentAccount(Arc<Mutex<HashMap<ThreadId, Usage>>>);

impl InstrumentAccount {
    /// Updates the usage of the calling thread. `excepted` is the part that the middleware caused; it is left out.
    pub fn update(&self, excepted: &Usage) {
        // Without this account, the thread's own cost (some microseconds) would count as the middleware's.
        if let Ok(usage) = Usage::of_this_thread() {
            let mut accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            accounts.insert(std::thread::current().id(), usage.without(excepted));
        }
    }

    /// The sum over all threads in this account.
    pub fn usage(&self) -> Usage {
        let mut all = Usage::default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().for_each(|usage| all.add(usage));
        all
    }
}
