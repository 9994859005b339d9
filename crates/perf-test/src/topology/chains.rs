//! The chains of a topology. A chain is a path of messages from some first topics through several nodes to a last
//! topic.
//!
//! A chain begins with messages on its first topics and continues with the messages that these trigger. It ends when a
//! subscription to its last topic has received a message. Every later message carries the origin of the chain in its
//! payload: the send times of the oldest and of the newest first message. The payload must have room for it.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::{
    endpoints,
    object::Object,
    process::{Chain, Node, Process, Publisher, Trigger},
};
use perf_worker::nearest::or_nearest;
use perf_worker::{endpoint::ChainLink, run_spec::Content};

const KEYS: &[&str] = &["name", "from", "to"];
/// The size of a chain's origin (two send times) in a payload, bytes.
const ORIGIN_BYTES: u64 = 16;

/// Reads an element of the list `chains`.
///
/// # Errors
/// The reason, as a sentence that starts with the path of the wrong value in the file.
pub fn read(file: &str, place: String, value: &RawValue) -> Result<Chain, String> {
    let object = Object::read(place, value, &[KEYS])?;
    let text = |key| object.text(key)?.ok_or_else(|| object.missing(key));
    let expand = |topic: &str| gantry::expand_topic_name(topic, "chain", "/").map_err(|error| error.to_string());
    let to = expand(&text("to")?).map_err(|sentence| object.problem("to", &sentence))?;
    let from = endpoints::topics(&object, "from", expand)?;
    Ok(Chain { name: text("name")?, from, to, place: format!("{file}: {}", object.place) })
}

/// The chains of a topology with their paths.
#[derive(Clone, Debug, Default)]
pub struct ChainPaths(Vec<ChainPath>);

/// A chain with the topics on its path.
#[derive(Clone, Debug)]
struct ChainPath {
    chain: Chain,
    topics: BTreeSet<String>,
}

impl ChainPaths {
    /// Finds the paths of all chains.
    pub fn new(processes: &[Process]) -> ChainPaths {
        let chains = processes.iter().flat_map(|process| &process.chains);
        ChainPaths(chains.map(|chain| ChainPath { chain: chain.clone(), topics: way(processes, chain) }).collect())
    }

    /// Checks that triggers lead from the first topics of each chain to its last topic, and that the messages have room
    /// for the origin.
    ///
    /// # Errors
    /// The reason, as a sentence that starts with the path of the wrong value in the file.
    pub fn check(&self, processes: &[Process]) -> Result<(), String> {
        let publishers = || processes.iter().flat_map(|process| &process.nodes).flat_map(|node| &node.publishers);
        let subscriptions = || processes.iter().flat_map(|process| &process.nodes).flat_map(|node| &node.subscriptions);
        let mut names = BTreeSet::new();
        for (slot, ChainPath { chain, topics }) in (1..).zip(&self.0) {
            let Chain { name, from, to, place } = chain;
            if !names.insert(name) {
                return Err(format!("{place}.name: there are two chains {name}: give another name"));
            }
            for topic in from.iter().chain([to]) {
                if !publishers().any(|of| of.topic == *topic) {
                    let near = or_nearest(topic, publishers().map(|of| of.topic.as_str()));
                    return Err(format!("{place}: no publisher of `{topic}` is in these files{near}"));
                }
            }
            if !subscriptions().any(|of| of.topic == *to) {
                return Err(format!("{place}.to: no subscription to {to} is in these files, so the chain has no end"));
            }
            if let Some(topic) = from.iter().find(|topic| !topics.contains(*topic)) {
                return Err(format!(
                    "{place}: the messages of {topic} trigger no messages of {to}: publishers with a rate end a chain"
                ));
            }
            let is_short = |of: &&Publisher| payload_bytes(of) < slot * ORIGIN_BYTES;
            let carriers = publishers().filter(|of| topics.contains(&of.topic) && !from.contains(&of.topic));
            if let Some(short) = carriers.into_iter().find(is_short) {
                let (bytes, needed) = (payload_bytes(short), slot * ORIGIN_BYTES);
                return Err(format!(
                    "{}: the payload of {} has {bytes} bytes, and chain {name} needs {needed}: give another msg_type",
                    short.place, short.payload.message.name
                ));
            }
        }
        Ok(())
    }

    /// The chains whose path contains the publishers of this topic.
    pub fn publisher_links(&self, topic: &str) -> Vec<ChainLink> {
        self.links(topic, |_| true)
    }

    /// The chains whose path contains the node's subscription to `topic`. Such a chain either ends at the subscription,
    /// or continues with a publisher of the node that the subscription's messages trigger.
    pub fn subscription_links(&self, node: &Node, topic: &str) -> Vec<ChainLink> {
        let carries_on = |way: &ChainPath| {
            node.publishers.iter().any(|of| {
                way.topics.contains(&of.topic)
                    && matches!(&of.trigger, Trigger::Topics(topics) if topics.iter().any(|other| other == topic))
            })
        };
        self.links(topic, |way| way.chain.to == topic || carries_on(way))
    }

    fn links(&self, topic: &str, is_on: impl Fn(&ChainPath) -> bool) -> Vec<ChainLink> {
        let ways = (0..).zip(&self.0).filter(|(_, way)| way.topics.contains(topic) && is_on(way));
        let link = |(slot, ChainPath { chain, .. }): (u32, &ChainPath)| ChainLink {
            chain: chain.name.clone(),
            slot,
            begins: chain.from.iter().any(|first| first == topic),
            ends: chain.to == topic,
        };
        ways.map(link).collect()
    }
}

/// The number of bytes in the payload of a publisher's messages in which an origin could be written.
fn payload_bytes(publisher: &Publisher) -> u64 {
    match publisher.payload.message.content {
        Content::Fields | Content::Text => 0,
        _ => publisher.payload.payload_bytes,
    }
}

/// The topics on the path of a chain. They follow from its first topics by triggers and lead to its last topic.
fn way(processes: &[Process], chain: &Chain) -> BTreeSet<String> {
    let publishers = || processes.iter().flat_map(|process| &process.nodes).flat_map(|node| &node.publishers);
    let triggers = |of: &Publisher| match &of.trigger {
        Trigger::Topics(topics) => topics.clone(),
        Trigger::Timer(_) => Vec::new(),
    };
    let mut reached: BTreeSet<String> = chain.from.iter().cloned().collect();
    let follows = |reached: &BTreeSet<String>| {
        let next = publishers()
            .find(|of| !reached.contains(&of.topic) && triggers(of).iter().any(|topic| reached.contains(topic)));
        next.map(|of| of.topic.clone())
    };
    while let Some(topic) = follows(&reached) {
        reached.insert(topic);
    }
    let mut way: BTreeSet<String> = reached.iter().filter(|topic| **topic == chain.to).cloned().collect();
    let leads = |way: &BTreeSet<String>| {
        // Topics that trigger a first topic come before the chain, so they are not on its path.
        let on_way = publishers().filter(|of| way.contains(&of.topic) && !chain.from.contains(&of.topic));
        on_way.flat_map(&triggers).find(|topic| reached.contains(topic) && !way.contains(topic))
    };
    while let Some(topic) = leads(&way) {
        way.insert(topic);
    }
    way
}
