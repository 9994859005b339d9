//! `gantry topic explain`: prints a sentence for each pair of a publisher and a subscription.

use crate::{domain::Domain, names::write_pairs, session::Session};
use clap::Args;
use gantry::{Connection, ConnectionState, TopicEndpointInfo};
use gantry_command::Result;
use serde::Serialize;
use std::fmt;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The topic, such as /chatter [default: all topics]
    topic_name: Option<String>,
}

/// The answer for one topic.
#[derive(Serialize)]
pub struct Explanation {
    name: String,
    pairs: Vec<Pair>,
    /// The reason why there is no pair; `None` if there is a pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_pair: Option<String>,
}

/// A publisher and a subscription that could exchange messages.
#[derive(Serialize)]
pub struct Pair {
    is_connected: bool,
    publisher_node: String,
    publisher_process: String,
    subscription_node: String,
    subscription_process: String,
    sentence: String,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let topics = match &self.topic_name {
            Some(name) => vec![domain.topic(name)?.0],
            None => domain.ros_topics()?,
        };
        topics.iter().try_for_each(|topic| session.output.print(&Explanation::new(&domain, topic)?))
    }
}

impl Explanation {
    fn new(domain: &Domain, topic: &str) -> Result<Explanation> {
        let pairs: Vec<Pair> = domain.node.explain(topic)?.into_iter().map(Pair::from).collect();
        let no_pair = match pairs.is_empty() {
            true => Some(no_pair(
                topic,
                &domain.node.publishers_info_by_topic(topic)?,
                &domain.node.subscriptions_info_by_topic(topic)?,
            )),
            false => None,
        };
        Ok(Explanation { name: topic.to_owned(), pairs, no_pair })
    }
}

/// The sentence about a topic that has only publishers or only subscriptions.
pub fn no_pair(topic: &str, publishers: &[TopicEndpointInfo], subscriptions: &[TopicEndpointInfo]) -> String {
    // The types are printed only if the endpoints have different types.
    let list = |ends: &[TopicEndpointInfo]| {
        let is_of_one_type = ends.windows(2).all(|pair| pair[0].topic_type == pair[1].topic_type);
        let shown = |end: &TopicEndpointInfo| match is_of_one_type {
            true => end.node_and_process(),
            false => format!("{} as {}", end.node_and_process(), end.topic_type),
        };
        ends.iter().map(shown).collect::<Vec<_>>().join(", ")
    };
    match (publishers, subscriptions) {
        ([], []) => format!("{topic} has neither publishers nor subscriptions now"),
        (publishers, []) => format!("{topic} has no subscription; it is published by {}", list(publishers)),
        (_, subscriptions) => format!("{topic} has no publisher; subscribed by {}", list(subscriptions)),
    }
}

impl From<Connection> for Pair {
    fn from(mut connection: Connection) -> Pair {
        if let ConnectionState::IncompatibleType(why) | ConnectionState::IncompatibleQos(why) = &mut connection.state {
            // The output already has the topic's name before the sentence, so the name is removed from the sentence.
            let topic = format!("topic {}: ", connection.publisher.topic_name);
            *why = why.strip_prefix(&topic).unwrap_or(why).to_owned();
        }
        Pair {
            is_connected: connection.state == ConnectionState::ZeroCopy,
            publisher_node: connection.publisher.node_fully_qualified_name(),
            publisher_process: connection.publisher.process.clone(),
            subscription_node: connection.subscription.node_fully_qualified_name(),
            subscription_process: connection.subscription.process.clone(),
            sentence: connection.to_string(),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_pairs(f, &self.name, self.pairs.iter().map(|pair| &pair.sentence), self.no_pair.as_deref())
    }
}
