//! The callbacks of C for news.

use rmw_abi::{bindings::rmw_event_callback_t, failure::Result};
use std::ffi::c_void;

/// A callback for new messages or events, with its argument, and the number of messages that it has been called for.
#[derive(Default)]
pub struct Callback {
    function: rmw_event_callback_t,
    user_data: UserData,
    /// The number of messages that the callback has been called for, or that were taken before the callback was set.
    notified: u64,
}

/// The argument of a callback, which only the callback's function uses.
struct UserData(*const c_void);

// SAFETY: ROS 2's callbacks are called on any thread of the middleware (`rmw/event_callback_type.h`).
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

    /// Whether there is a function.
    pub fn is_set(&self) -> bool {
        self.function.is_some()
    }

    /// Calls the function with `count` if `count` is not 0. The lock of the callback is held meanwhile, so that no call
    /// runs after the callback was replaced.
    pub fn call(&self, count: u64) {
        if let Some(function) = self.function
            && count > 0
        {
            // SAFETY: the promise of `set`.
            unsafe { function(self.user_data.0, usize::try_from(count).unwrap_or(usize::MAX)) };
        }
    }

    /// Calls the function, if there is one, with the number of messages since the last call. `received` returns
    /// the number of messages that were ever available to the callback's source.
    pub fn notify(&mut self, received: impl FnOnce() -> Result<u64>) {
        // An error of `received` is ignored here: the take that follows the callback returns it.
        if self.is_set()
            && let Ok(received) = received()
        {
            let news = received.saturating_sub(self.notified);
            self.notified = self.notified.max(received);
            self.call(news);
        }
    }

    /// Counts messages that were taken while no callback was set, as if the callback had been called for them.
    pub fn skip(&mut self, up_to: u64) {
        self.notified = self.notified.max(up_to);
    }
}
