//! `/clock`: publishes the time in the bag, for nodes with `use_sim_time`.

use gantry::{Node, Publisher, Qos};
use gantry_command::Result;
use gantry_msgs::{builtin_interfaces::msg::Time, rosgraph_msgs::msg::Clock};
use std::time::Duration;

/// The publisher of the topic `/clock`.
pub struct ClockPublisher {
    publisher: Publisher<Clock>,
    period_ns: u64,
    due_ns: u64,
}

impl ClockPublisher {
    /// Creates the publisher of `/clock`, which publishes `rate_hz` times per second.
    ///
    /// # Errors
    /// There is no room in shared memory.
    pub fn new(node: &Node, rate_hz: f64) -> Result<ClockPublisher> {
        let publisher = node.create_publisher::<Clock>("/clock", Qos::default())?;
        Ok(ClockPublisher { publisher, period_ns: (1e9 / rate_hz) as u64, due_ns: 0 })
    }

    /// Waits until this number of subscriptions is matched, at most for `timeout`. Returns whether they are matched.
    ///
    /// # Errors
    /// A subscription has another type or incompatible QoS.
    pub fn wait_for_subscriptions(&mut self, count: usize, timeout: Duration) -> Result<bool> {
        Ok(self.publisher.wait_for_subscriptions(count, timeout)?)
    }

    /// The time of CLOCK_MONOTONIC at which the next message is due.
    #[must_use]
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Publishes the time `time_ns` of the bag, if the next message of `/clock` is due.
    ///
    /// # Errors
    /// There is no room in shared memory.
    pub fn publish(&mut self, now_ns: u64, time_ns: u64) -> Result<()> {
        if now_ns < self.due_ns {
            return Ok(());
        }
        let sec = i32::try_from(time_ns / 1_000_000_000).unwrap_or(i32::MAX);
        let nanosec = (time_ns % 1_000_000_000) as u32;
        self.publisher.publish_copy(&Clock { clock: Time { sec, nanosec } })?;
        let next_ns = self.due_ns + self.period_ns;
        // Messages that became due during a delay are skipped.
        self.due_ns = if next_ns > now_ns { next_ns } else { now_ns + self.period_ns };
        Ok(())
    }
}
