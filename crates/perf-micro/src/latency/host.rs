//! The host of the latency experiment: a node that sends each number back.

use std::time::Duration;

use gantry::{Publisher, Result, Subscription};
use gantry_msgs::std_msgs::msg::Int64;
use perf_worker::clock::{now_ns, real_now_ns};

use super::exchange::Received;

/// The longest sleep without a look at the board.
const PATIENCE: Duration = Duration::from_millis(20);

/// The node's subscription and publisher.
#[derive(Debug)]
pub struct Host {
    pub subscription: Subscription<Int64>,
    pub publisher: Publisher<Int64>,
}

impl Host {
    /// Answers while `goes_on`.
    ///
    /// # Errors
    /// An error of the subscription or the publisher.
    pub fn answer(&mut self, goes_on: impl Fn() -> bool) -> Result<Vec<Received>> {
        let mut received = Vec::new();
        while goes_on() {
            while let Some(number) = self.subscription.take()? {
                let (received_ns, real_ns) = (now_ns(), real_now_ns());
                let stamp_ns = number.data;
                let answered_ns = now_ns();
                self.publisher.publish_copy(&Int64 { data: stamp_ns })?;
                received.push(Received { stamp_ns, received_ns, answered_ns, real_ns });
            }
            self.subscription.wait(PATIENCE)?;
        }
        Ok(received)
    }
}
