//! The methods of a node that read its clock and make timers, callback groups and callbacks.

use super::{Node, callback_group::CallbackGroup};
use crate::{
    callback::{CallbackGroupType, CallbackHandle},
    error::Result,
    time::{Tick, Timer},
    wait::TakeSource,
};
use std::time::{Duration, SystemTime};

impl Node {
    /// The node's time: the time of day ([`now`](crate::now)), or the time of the topic `/clock` if the parameter
    /// `use_sim_time` is true.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.clock().now()
    }

    /// Makes a timer on the node's clock with the given period. The timer uses the steady clock, or the topic `/clock`
    /// if the parameter `use_sim_time` is true. [`Timer`] has constructors for other clocks.
    ///
    /// # Errors
    /// A period of 0.
    pub fn create_timer(&self, period: Duration) -> Result<Timer> {
        Timer::new(self.clock(), period)
    }

    /// Makes a timer with a callback, which this node's executor calls at each tick. The returned handle can cancel and
    /// reset the timer.
    ///
    /// # Errors
    /// A period of 0.
    pub fn create_timer_with_callback(
        &self,
        period: Duration,
        mut callback: impl FnMut(Tick) + Send + 'static,
    ) -> Result<Timer> {
        let timer = self.create_timer(period)?;
        self.add_callback(timer.clone(), move |_, tick| callback(tick));
        Ok(timer)
    }

    /// Makes a group for callbacks of this node.
    #[must_use]
    pub fn create_callback_group(&self, kind: CallbackGroupType) -> CallbackGroup {
        CallbackGroup::new(self.clone(), kind)
    }

    /// Adds a callback to the node's default group, which is mutually exclusive; see [`CallbackGroup::add_callback`].
    pub fn add_callback<W>(
        &self,
        waitable: W,
        callback: impl FnMut(&mut W, W::Taken) + Send + 'static,
    ) -> CallbackHandle
    where
        W: TakeSource + 'static,
        W::Taken: Send,
    {
        self.callbacks().add(self.default_group(), waitable, callback)
    }
}
