//! Gantry between two threads of one process, by its typed API: loaned, written in place, read in place.

use crate::{
    Result,
    message::Message,
    queue::{PATIENCE, Receives, Sends, read},
};
use gantry::{Node, PublishMode, Publisher, PublisherOptions, Qos, SourceTime, Subscription};
use std::time::Duration;

/// Publishes by the typed API.
pub struct Writer {
    publisher: Publisher<Message>,
    /// The publication has the time of sending, and no clock is read.
    at_time_of_sending: bool,
}

/// A publisher and its subscription, made anew for each turn, since the thread behind asynchronous publishers is there for as
/// long as one of them.
pub fn pair(
    depth: usize,
    publish_mode: PublishMode,
    at_time_of_sending: bool,
) -> Result<(Writer, Subscription<Message>)> {
    let topic = format!("/realtime_bench_{}", std::process::id());
    let node = Node::new("realtime_bench")?;
    let qos = Qos::default().reliable().volatile().keep_last(depth as u32);
    let options = PublisherOptions { publish_mode, keep_unused_memory: Duration::MAX, ..PublisherOptions::default() };
    let mut publisher = node.create_publisher_with_options(&topic, qos, options)?;
    let subscription = node.create_subscription(&topic, qos)?;
    if publisher.wait_for_subscriptions(1, PATIENCE)? {
        return Ok((Writer { publisher, at_time_of_sending }, subscription));
    }
    Err(format!("publisher and subscription did not meet within {PATIENCE:?}").into())
}

impl Sends for Writer {
    #[inline(always)]
    fn send(&mut self, number: u64, sent: u64) -> Result<()> {
        let mut loan = self.publisher.loan()?;
        *loan = Message::new(number, sent);
        if self.at_time_of_sending {
            self.publisher.publish_at(loan, SourceTime { monotonic_ns: sent, wall_ns: sent })?;
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
