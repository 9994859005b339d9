//! The accounts of the instrument's own threads besides the main one: they are no cost of the middleware.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;

use crate::measure::usage::Usage;

/// The accounts of these threads, each as of its last update.
#[derive(Clone, Default)]
pub struct InstrumentAccount(Arc<Mutex<HashMap<ThreadId, Usage>>>);

impl InstrumentAccount {
    /// Sets this account to the present usage of the calling thread without `excepted`, which the middleware caused.
    pub fn update(&self, excepted: &Usage) {
        // Without an account, the cost of the thread stays with the middleware's; it is some microseconds.
        if let Ok(usage) = Usage::of_this_thread() {
            let mut accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            accounts.insert(std::thread::current().id(), usage.without(excepted));
        }
    }

    /// The usage of all.
    pub fn usage(&self) -> Usage {
        let mut all = Usage::default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().for_each(|usage| all.add(usage));
        all
    }
}
