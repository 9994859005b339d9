//! Gantry between two threads of one process, by its typed API: loaned, written in place, read in place.

use crate::{
    Result,
    message::Message,
    queue::{PATIENCE, Receives, Sends, read},
};
use gantry::{Node, PublishMode, Publisher, PublisherOptions, Qos, Subscription};
use std::time::Duration;

/// A publisher and its subscription, made anew for each turn, since the thread behind asynchronous publishers is there for as
/// long as one of them.
pub fn pair(depth: usize, publish_mode: PublishMode) -> Result<(Publisher<Message>, Subscription<Message>)> {
    let topic = format!("/realtime_bench_{}", std::process::id());
    let node = Node::new("realtime_bench")?;
    let qos = Qos::default().reliable().volatile().keep_last(depth as u32);
    let options = PublisherOptions { publish_mode, keep_unused_memory: Duration::MAX, ..PublisherOptions::default() };
    let mut publisher = node.create_publisher_with_options(&topic, qos, options)?;
    let subscription = node.create_subscription(&topic, qos)?;
    if publisher.wait_for_subscriptions(1, PATIENCE)? {
        return Ok((publisher, subscription));
    }
    Err(format!("publisher and subscription did not meet within {PATIENCE:?}").into())
}

impl Sends for Publisher<Message> {
    #[inline(always)]
    fn send(&mut self, number: u64, sent: u64) -> Result<()> {
        let mut loan = self.loan()?;
        *loan = Message::new(number, sent);
        self.publish(loan)?;
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
