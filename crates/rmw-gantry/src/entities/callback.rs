//! The callbacks of C for news.

use super::source::AnySource;
use crate::bindings::rmw_event_callback_t;
use std::ffi::c_void;

/// A callback for news, with its argument, and the news that it was told.
#[derive(Default)]
pub struct Callback {
    function: rmw_event_callback_t,
    user_data: UserData,
    /// The number of messages that it was told, or that came before it was set and were taken.
    told: u64,
}

/// The argument of a callback: only its function knows what it is.
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
    /// It may be called with `user_data` on any thread, until it is replaced.
    pub unsafe fn set(&mut self, function: rmw_event_callback_t, user_data: *const c_void) {
        (self.function, self.user_data) = (function, UserData(user_data));
    }

    /// Whether there is a function.
    pub fn is_set(&self) -> bool {
        self.function.is_some()
    }

    /// Calls the function for `count` news, if there are any. The lock of the callback is held meanwhile, so that none
    /// runs after it was replaced.
    pub fn call(&self, count: u64) {
        if let Some(function) = self.function
            && count > 0
        {
            // SAFETY: the promise of `set`.
            unsafe { function(self.user_data.0, usize::try_from(count).unwrap_or(usize::MAX)) };
        }
    }

    /// Tells the function of the messages of its source that it was not told.
    pub fn tell_of(&mut self, source: &dyn AnySource) {
        // An error is returned by the take, which the callback leads to.
        if self.is_set()
            && let Ok(received) = source.received()
        {
            self.tell(received);
        }
    }

    fn tell(&mut self, received: u64) {
        let news = received.saturating_sub(self.told);
        self.told = self.told.max(received);
        self.call(news);
    }

    /// Counts messages as told that were taken without a callback.
    pub fn skip(&mut self, up_to: u64) {
        self.told = self.told.max(up_to);
    }
}
