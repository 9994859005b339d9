//! The description of a bag's topics: QoS, channels, `metadata.yaml`.

mod channel;
mod metadata;
mod qos;

pub use channel::{ENCODING, HASH_KEY, PROFILE, QOS_KEY, SCHEMA_ENCODING, channel, message_type, qos_profiles};
pub use metadata::{BagMetadata, FILE_NAME, FileMetadata, TopicMetadata, files_of};
