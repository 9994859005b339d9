//! A publication: the publisher for a channel on which a viewer publishes.

use super::{GraphReader, body};
use crate::protocol::{CDR, ClientChannel, JSON, ROS2MSG};
use gantry::{GenericPublisher, Node, Qos, TypeDescription};
use gantry_command::{Failure, Result, is_native, message::TopicType};
use gantry_idl::{Definitions, TypeName};
use std::time::Duration;

/// The longest wait until a new publisher is matched with existing subscriptions. Without this wait, they would miss
/// the first message.
const MATCHING: Duration = Duration::from_millis(200);

/// A publisher for a viewer.
pub struct Publication {
    publisher: GenericPublisher,
    message_type: TopicType,
    is_json: bool,
}

impl Publication {
    /// Creates the publisher. The topic's name is resolved by the rules of ROS 2, unless the domain has a topic with
    /// exactly the given name.
    ///
    /// # Errors
    /// The encoding, the name or the type cannot be used.
    pub fn new(node: &Node, graph: &GraphReader, channel: &ClientChannel) -> Result<Publication> {
        let ClientChannel { topic, encoding, .. } = channel;
        if encoding != CDR && encoding != JSON {
            return Err(format!("{topic} cannot be published as '{encoding}': use {CDR} or {JSON}").into());
        }
        let is_native = is_native(node, topic) && graph.has_topic(topic)?;
        let topic = if is_native { topic.clone() } else { node.resolve_topic_name(topic)? };
        let description = message_type(graph, channel, &topic)?;
        let message_type = TopicType::new(&description)?;
        let qos = Qos { avoid_ros_namespace_conventions: is_native, ..Qos::default() };
        let mut publisher = node.create_generic_publisher(&topic, description, qos)?;
        publisher.wait_for_subscriptions(graph.subscription_count(&topic)?, MATCHING)?;
        Ok(Publication { publisher, message_type, is_json: encoding == JSON })
    }

    /// Publishes a message.
    ///
    /// # Errors
    /// The payload is not a message of the type, or there is no room in shared memory.
    pub fn publish(&mut self, payload: &[u8]) -> Result<()> {
        match self.is_json {
            true => {
                let text = std::str::from_utf8(payload).map_err(Failure::new)?;
                self.publisher.publish_copy(&self.message_type.encode(text)?)?;
            }
            false => {
                let message = body(payload)?;
                self.message_type.view(message)?; // subscriptions should not get malformed messages
                self.publisher.publish_copy(message)?;
            }
        }
        Ok(())
    }
}

/// Returns the type of the channel. If a process of the domain uses a type of this name, that type is used; otherwise
/// the type comes from the definition that the viewer sent.
fn message_type(graph: &GraphReader, channel: &ClientChannel, topic: &str) -> Result<TypeDescription> {
    let name = match channel.schema_name.split('/').collect::<Vec<_>>()[..] {
        [package, message] => format!("{package}/msg/{message}"),
        _ => channel.schema_name.clone(),
    };
    if let Some(known) = graph.type_named(&name, topic)? {
        return Ok(known);
    }
    let is_text = channel.schema_encoding.as_deref().is_none_or(|encoding| encoding == ROS2MSG);
    let Some(text) = channel.schema.as_deref().filter(|text| is_text && !text.is_empty()) else {
        return Err(format!(
            "{topic} cannot be published: no process of the domain uses {name}, and the viewer sent no definition of it \
             as {ROS2MSG}"
        )
        .into());
    };
    let broken = |why: String| Failure::new(format!("the definition of {name} cannot be read: {why}"));
    let type_name: TypeName = name.parse().map_err(|error| broken(format!("{error}")))?;
    let definitions = Definitions::from_text(&type_name, text).map_err(|error| broken(error.to_string()))?;
    let hash = definitions.hash(&type_name).unwrap_or_default();
    Ok(TypeDescription { name, hash, definition: text.into(), payload_bytes: usize::MAX })
}
