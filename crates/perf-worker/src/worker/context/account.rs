//! The accounts of the instrument's own threads except the main thread. The usage of these threads is no cost of
//! the middleware.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;

use crate::measure::usage::Usage;

/// The usage of each of these threads, as of its last update.
#[derive(Clone, Default)]
pub struct InstrumentAccount(Arc<Mutex<HashMap<ThreadId, Usage>>>);

impl InstrumentAccount {
    /// Sets the account of the calling thread to its present usage without `excepted`, which the middleware caused.
    pub fn update(&self, excepted: &Usage) {
        // Without this account, the cost of the thread, some microseconds, would count as the middleware's.
        if let Ok(usage) = Usage::of_this_thread() {
            let mut accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            accounts.insert(std::thread::current().id(), usage.without(excepted));
        }
    }

    /// The sum over all these threads.
    pub fn usage(&self) -> Usage {
        let mut all = Usage::default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().for_each(|usage| all.add(usage));
        all
    }
}
