//! The carrier that uses Gantry's typed API between two threads of one process: messages are loaned, written in place
//! and read in place.

use crate::{
    Result,
    message::Message,
    queue::{PATIENCE, Receives, Sends, read},
};
use gantry::{Clock, Node, PublishMode, Publisher, PublisherOptions, Qos, SourceTime, Subscription};
use std::time::{SystemTime, UNIX_EPOCH};

/// Publishes messages with the typed API.
pub struct Writer {
    publisher: Publisher<Message>,
    /// The wall-clock time minus the steady clock's time. It is used if each message's time comes from the caller;
    /// `None` if the publisher reads the clocks itself.
    wall_offset: Option<u64>,
}

/// Makes a publisher and its subscription. Each turn needs new ones, because an asynchronous publisher starts a thread
/// that lives as long as a publisher uses it.
pub fn pair(
    depth: usize,
    publish_mode: PublishMode,
    at_time_of_sending: bool,
) -> Result<(Writer, Subscription<Message>)> {
    let topic = format!("/realtime_bench_{}", std::process::id());
    let node = Node::new("realtime_bench")?;
    let qos = Qos::default().reliable().volatile().keep_last(depth as u32);
    let options = PublisherOptions { publish_mode, ..Default::default() };
    let mut publisher = node.create_publisher_with_options(&topic, qos, options)?;
    let subscription = node.create_subscription(&topic, qos)?;
    if publisher.wait_for_subscriptions(1, PATIENCE)? {
        let wall_ns = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64;
        let wall_offset = at_time_of_sending.then(|| wall_ns.wrapping_sub(Clock::steady().now().as_nanos() as u64));
        return Ok((Writer { publisher, wall_offset }, subscription));
    }
    Err(format!("publisher and subscription did not meet within {PATIENCE:?}").into())
}

impl Sends for Writer {
    #[inline(always)]
    fn send(&mut self, number: u64, sent: u64) -> Result<()> {
        let mut loan = self.publisher.loan_uninit()?;
        *loan = Message::new(number, sent);
        if let Some(offset) = self.wall_offset {
            self.publisher.publish_at(loan, SourceTime { monotonic_ns: sent, wall_ns: sent.wrapping_add(offset) })?;
        } else {
            self.publisher.publish(loan)?;
        }
        Ok(())
    }
}

impl Receives for Subscription<Message> {
    #[inline(always)]
    fn take(&mut self) -> Result<Option<(u64, u64)>> {
        let Some(sample) = Subscription::take(self)? else { return Ok(None) };
        read(&sample).map(Some)
    }

    #[inline(always)]
    fn wait(&mut self) -> Result<()> {
        Subscription::wait(self, PATIENCE)?;
        Ok(())
    }
}
