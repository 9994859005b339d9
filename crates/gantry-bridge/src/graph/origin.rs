//! The origin of a node: a key that is the same on all networks, and the ids of the domains that the node came through.
//!
//! A bridge shows the origin of a node as an endpoint of the node on a hidden topic, whose name contains the origin.
//! Any network carries such an endpoint, and other bridges find it at the node.

use super::endpoint::{Endpoint, Kind};
use gantry::{Gid, Message, Qos};
use gantry_msgs::std_msgs::msg::Empty;
use gantry_shm::{GraphRecord, Participant, TypeDescription};
use std::{cmp::Reverse, sync::Arc};

const TOPIC: &str = "/_gantry_origin/";
/// The largest number of domains through which a node is brought. The limit keeps the topic's name short enough.
const MAX_PATH: usize = 8;

/// The origin of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The key, which identifies the node in all domains and networks.
    pub key: u128,
    /// The ids of the domains through which the node came, first domain first.
    pub path: Vec<u64>,
}

impl Origin {
    /// Makes the origin of a node of this domain. Its key is the GID of the node.
    #[must_use]
    pub fn of_node(gid: Gid) -> Origin {
        Origin { key: u128::from_be_bytes(gid.0), path: Vec::new() }
    }

    /// Makes the origin of a node that no bridge brought. Its key is a hash of `texts`, which are the same on all
    /// hosts.
    #[must_use]
    pub fn of_texts(texts: &[&str]) -> Origin {
        // FNV-1a with 128 bits gives the same hash on all hosts.
        let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
        let key = bytes.fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash: u128, byte| {
            (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
        });
        Origin { key, path: Vec::new() }
    }

    /// Returns the origin with the id of one more domain, which shows the node to a network. `None` if the node came
    /// through too many domains.
    #[must_use]
    pub fn shown_by(&self, domain: u64) -> Option<Origin> {
        let path: Vec<u64> = self.path.iter().copied().chain([domain]).collect();
        (path.len() <= MAX_PATH).then_some(Origin { key: self.key, path })
    }

    /// Describes the subscription that shows the origin on a network.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        let path: Vec<String> = self.path.iter().map(|id| format!("{id:016x}")).collect();
        let path = if path.is_empty() { String::new() } else { format!("/b{}", path.join("_")) };
        let name = format!("{TOPIC}k{:032x}{path}", self.key);
        Endpoint {
            kind: Kind::Subscription,
            name,
            type_name: Empty::TYPE_NAME.to_owned(),
            hash: Empty::TYPE_HASH,
            qos: Qos::default(),
        }
    }

    /// Chooses the best of several origins of a node. A network may show an old origin beside the new one, after the id
    /// of a domain has changed or after a bridge was killed.
    #[must_use]
    pub fn best(shown: impl IntoIterator<Item = Origin>) -> Option<Origin> {
        shown.into_iter().min_by_key(|origin| (origin.path.len(), Reverse(origin.path.clone())))
    }

    /// Shows the origin in a domain, until the returned record is dropped. `node` is the full name of the node.
    ///
    /// # Errors
    /// There is no room in shared memory.
    pub fn announce(&self, participant: &Arc<Participant>, node: &str) -> gantry_shm::Result<GraphRecord> {
        let Endpoint { name, type_name, hash, qos, .. } = self.endpoint();
        let message_type = TypeDescription { name: type_name, hash, ..TypeDescription::default() };
        // The record is a publisher, because `gantry doctor` would warn about a subscription without a publisher.
        GraphRecord::publisher(participant.clone(), node, &name, message_type, qos)
    }

    /// True if the topic shows an origin.
    #[must_use]
    pub fn is_topic(name: &str) -> bool {
        name.starts_with(TOPIC)
    }

    /// Parses the origin in the name of a topic; `None` if the name is malformed.
    #[must_use]
    pub fn from_topic(name: &str) -> Option<Origin> {
        let text = name.strip_prefix(TOPIC)?.strip_prefix('k')?;
        let (key, path) = text.split_once("/b").unwrap_or((text, ""));
        let ids = path.split('_').filter(|id| !id.is_empty());
        let path: Option<Vec<u64>> = ids.map(|id| u64::try_from(hexadecimal(id, 16)?).ok()).collect();
        let origin = Origin { key: hexadecimal(key, 32)?, path: path? };
        (origin.path.len() <= MAX_PATH).then_some(origin)
    }
}

fn hexadecimal(text: &str, digits: usize) -> Option<u128> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_number { u128::from_str_radix(text, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_shows_an_origin() {
        let mut origin = Origin::of_texts(&["zenoh", "8b20", "/talker"]);
        for domain in 1..=MAX_PATH as u64 {
            let endpoint = origin.endpoint();
            assert_eq!(Origin::from_topic(&endpoint.name).as_ref(), Some(&origin));
            assert!(Origin::is_topic(&endpoint.name));
            origin = origin.shown_by(domain).unwrap();
        }
        let name = origin.endpoint().name;
        assert!(name.len() < 200, "{name}");
        assert_eq!((Origin::from_topic(&name), origin.shown_by(9)), (Some(origin), None));
    }

    #[test]
    fn another_form_is_none_and_never_a_panic() {
        let name = Origin { key: 7, path: vec![1, 2] }.endpoint().name;
        for cut in 0..name.len() {
            for byte in ["", "/", "_", "é", "k", "b", "+"] {
                let _ = Origin::from_topic(&format!("{}{byte}{}", &name[..cut], &name[cut + 1..]));
            }
        }
        for text in ["", "/chatter", "/_gantry_origin/", "/_gantry_origin/k1", &format!("{name}_0000000000000001x")] {
            assert_eq!(Origin::from_topic(text), None, "{text}");
        }
        assert_ne!(Origin::of_texts(&["a", "bc"]), Origin::of_texts(&["ab", "c"]));
    }
}
