//! The MCAP channel of a topic, and the message type of a channel.

use super::qos::{from_yaml, to_yaml};
use gantry::{Qos, TypeDescription};
use mcap::{Channel, Schema};
use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

/// The MCAP profile of the files, which means ROS 2's conventions for channels and schemas.
pub const PROFILE: &str = "ros2";
/// The encoding of messages.
pub const ENCODING: &str = "cdr";
/// The encoding of schemas: a `.msg` text, followed by the texts of its nested types.
pub const SCHEMA_ENCODING: &str = "ros2msg";
/// The key under which a channel's metadata has the QoS of the publishers, as in rosbag2.
pub const QOS_KEY: &str = "offered_qos_profiles";
/// The key under which a channel's metadata has the hash of the type.
pub const HASH_KEY: &str = "topic_type_hash";

/// Makes the channel of a topic.
#[must_use]
pub fn channel(id: u16, topic: &str, schema_id: u16, of_type: &TypeDescription, offered: &[Qos]) -> Channel<'static> {
    let data = Cow::Owned(of_type.definition.as_bytes().to_vec());
    let schema = Schema { id: schema_id, name: of_type.name.clone(), encoding: SCHEMA_ENCODING.to_owned(), data };
    let mut metadata = BTreeMap::from([(QOS_KEY.to_owned(), to_yaml(offered, ""))]);
    metadata.extend(of_type.rihs01().map(|hash| (HASH_KEY.to_owned(), hash)));
    let (topic, message_encoding) = (topic.to_owned(), ENCODING.to_owned());
    Channel { id, topic, schema: Some(Arc::new(schema)), message_encoding, metadata }
}

/// The type of a channel's messages, in the form in which Gantry's publishers describe it.
#[must_use]
pub fn message_type(channel: &Channel<'_>) -> TypeDescription {
    let schema = channel.schema.as_ref();
    let is_text = |schema: &&Arc<Schema<'_>>| schema.encoding == SCHEMA_ENCODING;
    let definition = schema.filter(is_text).map(|schema| String::from_utf8_lossy(&schema.data).into_owned());
    TypeDescription {
        name: schema.map(|schema| schema.name.clone()).unwrap_or_default(),
        hash: channel.metadata.get(HASH_KEY).and_then(|text| hash(text)).unwrap_or_default(),
        definition: definition.unwrap_or_default().into(),
        payload_bytes: usize::MAX,
    }
}

/// The QoS that the topic's publishers offered while it was recorded.
#[must_use]
pub fn qos_profiles(channel: &Channel<'_>) -> Vec<Qos> {
    channel.metadata.get(QOS_KEY).map(|text| from_yaml(text)).unwrap_or_default()
}

fn hash(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_prefix("RIHS01_").filter(|digits| digits.len() == 64 && digits.is_ascii())?;
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(digits.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_describes_the_type_and_the_qos() {
        let of_type = TypeDescription {
            name: "my_robot/msg/Range".into(),
            hash: std::array::from_fn(|index| index as u8 * 7),
            definition: "float64 range_m".into(),
            payload_bytes: usize::MAX,
        };
        let offered = [Qos::sensor_data(), Qos::default().transient_local()];
        let channel = channel(3, "/range", 1, &of_type, &offered);
        assert_eq!((message_type(&channel), qos_profiles(&channel)), (of_type, offered.to_vec()));
    }
}
