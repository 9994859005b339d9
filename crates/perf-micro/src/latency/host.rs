//! The host of the latency experiment: a node that sends each number back.

use std::time::Duration;

use gantry::{Publisher, Result, Subscription};
use gantry_msgs::std_msgs::msg::Int64;
use perf_worker::clock::{now_ns, real_now_ns};

use super::exchange::Received;

/// The longest sleep without a look at the board.
const PATIENCE: Duration = Duration::from_millis(20);

/// Sends each number of the subscription back while `goes_on`.
///
/// # Errors
/// An error of the subscription or the publisher.
pub fn answer(
    subscription: &mut Subscription<Int64>,
    publisher: &mut Publisher<Int64>,
    goes_on: impl Fn() -> bool,
) -> Result<Vec<Received>> {
    let mut received = Vec::new();
    while goes_on() {
        while let Some(number) = subscription.take()? {
            let (received_ns, real_ns) = (now_ns(), real_now_ns());
            let stamp_ns = number.data;
            let answered_ns = now_ns();
            publisher.publish_copy(&Int64 { data: stamp_ns })?;
            received.push(Received { stamp_ns, received_ns, answered_ns, real_ns });
        }
        subscription.wait(PATIENCE)?;
    }
    Ok(received)
}
