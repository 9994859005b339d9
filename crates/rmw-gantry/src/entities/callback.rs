//! The C callbacks of ROS 2 for new messages and events.

use rmw_abi::{bindings::rmw_event_callback_t, failure::Result};
use std::ffi::c_void;

/// A callback for new messages or events, with its argument and a count of the messages that it was called for.
#[derive(Default)]
pub struct Callback {
    function: rmw_event_callback_t,
    user_data: UserData,
    /// The number of messages that the callback was called for, or that were taken before the callback was set.
    notified: u64,
}

/// The argument of a callback. Only the callback's function uses the memory behind the pointer.
struct UserData(*const c_void);

// SAFETY: ROS 2's callbacks accept calls on any thread of the middleware (`rmw/event_callback_type.h`).
unsafe impl Send for UserData {}

impl Default for UserData {
    fn default() -> UserData {
        UserData(std::ptr::null())
    }
}

impl Callback {
    /// Sets the function, or removes it.
    ///
    /// # Safety
    /// The function may be called with `user_data` on any thread, until it is replaced.
    pub unsafe fn set(&mut self, function: rmw_event_callback_t, user_data: *const c_void) {
        (self.function, self.user_data) = (function, UserData(user_data));
    }

    /// True if a function is set.
    pub fn is_set(&self) -> bool {
        self.function.is_some()
    }

    /// Calls the function with `count` if `count` is not 0. The caller holds the lock of the callback during the call,
    /// so no call of an old function runs after its replacement.
    pub fn call(&self, count: u64) {
        if let Some(function) = self.function
            && count > 0
        {
            // SAFETY: the promise of `set`.
            unsafe { function(self.user_data.0, usize::try_from(count).unwrap_or(usize::MAX)) };
        }
    }

    /// Calls the function, if one is set, with the number of messages since the last call. `received` returns the
    /// number of all messages that the endpoint has received.
    pub fn notify(&mut self, received: impl FnOnce() -> Result<u64>) {
        // An error of `received` is ignored here, because the take after the callback returns the same error.
        if self.is_set()
            && let Ok(received) = received()
        {
            let news = received.saturating_sub(self.notified);
            self.notified = self.notified.max(received);
            self.call(news);
        }
    }

    /// Counts the messages up to number `up_to` as announced: they were taken while no callback was set.
    pub fn skip(&mut self, up_to: u64) {
        self.notified = self.notified.max(up_to);
    }
}
