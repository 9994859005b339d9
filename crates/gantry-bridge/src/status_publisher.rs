//! The publisher of the bridge's status on `~/status` of its node.

use crate::{
    context::Context,
    status::{Rates, Status, TopicStatus},
};
use gantry::{Node, Publisher, Qos};
use gantry_msgs::std_msgs::msg::{String as Text, StringShape};
use std::collections::HashMap;

/// Publishes the status of a bridge, with the counters and rates of its topics.
#[derive(Debug)]
pub struct StatusPublisher {
    publisher: Publisher<Text>,
    rates: Rates,
}

impl StatusPublisher {
    /// Creates the publisher as a part of the bridge's node.
    ///
    /// # Errors
    /// The same as for [`Node::create_publisher`].
    pub fn new(node: &Node) -> gantry::Result<StatusPublisher> {
        let publisher = node.create_publisher("~/status", Qos::default().keep_last(1).transient_local())?;
        Ok(StatusPublisher { publisher, rates: Rates::default() })
    }

    /// Fills in the topics of a status, and publishes it. `waiting` is the number of samples that wait for the network,
    /// by topic.
    ///
    /// # Errors
    /// There is no room in shared memory.
    pub fn publish(
        &mut self,
        mut status: Status,
        context: &Context,
        waiting: &HashMap<&str, usize>,
    ) -> gantry::Result<()> {
        let topic = |((direction, name), counts): ((&str, String), _)| {
            let counts: std::sync::Arc<crate::counts::Counts> = counts;
            let waiting = if direction == "out" { waiting.get(&*name).copied().unwrap_or_default() } else { 0 };
            let (direction, counts) = (direction.to_owned(), counts.values());
            TopicStatus { name, direction, counts, waiting, ..TopicStatus::default() }
        };
        status.topics = context.all_counts().into_iter().map(topic).collect();
        self.rates.set(&mut status.topics);
        let text = serde_json::to_string(&status).unwrap_or_default();
        let message = self.publisher.loan_with(StringShape { data: &text })?;
        self.publisher.publish(message)?;
        Ok(())
    }
}
