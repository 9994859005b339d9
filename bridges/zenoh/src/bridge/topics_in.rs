//! Samples of publishers on the network for local subscriptions. A local publisher represents each publisher on the
//! network, but only while its topic has a local subscription.
//!
//! As in rmw_zenoh, a subscription on the network is declared before its token, because a publisher sends as soon as it
//! sees the token.

use super::{
    Context,
    far_graph::{FarEntity, FarGraph},
    router::Router,
};
use crate::{network::FOREVER, wire::key_of};
use gantry::{Durability, Gid, TypeDescription};
use gantry_bridge::{Endpoint, FarNodes, Inlet, Kind, LINGER, LocalGraph};
use gantry_command::say;
use gantry_shm::Participant;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Instant,
};
use zenoh::{Wait, sample::Locality};
use zenoh_ext::{AdvancedSubscriber, AdvancedSubscriberBuilderExt, HistoryConfig, RecoveryConfig};

/// The largest number of samples that the bridge requests from a history. A publisher never keeps more than its depth.
const MAX_HISTORY: usize = 10_000;

struct Topic {
    /// True if the subscription requests the history, because a publisher or a subscription of the topic is
    /// TRANSIENT_LOCAL.
    is_latched: bool,
    /// The time at which the last local subscription left; `None` while a local subscription exists.
    unused_since: Option<Instant>,
    router: Arc<Router>,
    inlets: HashMap<String, Arc<Inlet>>,
    /// Publishers whose samples were dropped, because they reach the domain through another bridge.
    refused: HashSet<Gid>,
    subscriber: Option<AdvancedSubscriber<()>>,
}

/// The topics whose samples are carried into the domain, by their Zenoh keys.
#[derive(Default)]
pub struct TopicsIn {
    topics: BTreeMap<String, Topic>,
}

/// A topic with a local subscription, and the tokens of its publishers on the network.
pub struct Wanted<'a> {
    name: &'a str,
    message_type: &'a TypeDescription,
    is_latched: bool,
    pub publishers: Vec<(&'a str, &'a FarEntity, &'a Endpoint)>,
    /// The publishers whose samples reach the domain through another bridge.
    refused: HashSet<Gid>,
}

impl TopicsIn {
    /// The topics with local subscriptions, by their Zenoh keys.
    pub fn wanted<'a>(context: &Context, far: &'a FarGraph, local: &'a LocalGraph) -> BTreeMap<String, Wanted<'a>> {
        let is_allowed = |kind, endpoint: &Endpoint| context.policy.treatment(kind, &endpoint.name).is_allowed;
        let is_latched = |endpoint: &Endpoint| endpoint.qos.durability == Durability::TransientLocal;
        let mut wanted: BTreeMap<String, Wanted<'_>> = BTreeMap::new();
        for subscription in local.endpoints(Kind::Subscription) {
            let (endpoint, message_type) = (&subscription.endpoint, &subscription.message_type);
            if let Some(key) =
                key_of(context.network.domain_id, endpoint).filter(|_| is_allowed(endpoint.kind, endpoint))
            {
                let (name, publishers) = (&endpoint.name, Vec::new());
                let new = Wanted { name, message_type, is_latched: false, publishers, refused: HashSet::new() };
                wanted.entry(key).or_insert(new).is_latched |= is_latched(endpoint);
            }
        }
        for (text, entity, endpoint) in far.endpoints(Kind::Publisher).filter(|(.., each)| is_allowed(each.kind, each))
        {
            if let Some(wanted) = entity.key.as_ref().and_then(|key| wanted.get_mut(key)) {
                wanted.is_latched |= is_latched(endpoint);
                wanted.publishers.push((text, entity, endpoint));
            }
        }
        for (_, entity, endpoint) in far.refused().filter(|(.., endpoint)| endpoint.kind == Kind::Publisher) {
            if let Some(wanted) = entity.key.as_ref().and_then(|key| wanted.get_mut(key)) {
                wanted.is_latched |= is_latched(endpoint);
                wanted.refused.extend(entity.gids());
            }
        }
        wanted
    }

    /// Starts and ends to carry topics. A topic without a local subscription stays for a while. A new subscription then
    /// matches the existing local publishers; new publishers would send it latched samples that it has received
    /// already.
    pub fn update(
        &mut self,
        context: &Context,
        participant: &Arc<Participant>,
        nodes: &FarNodes,
        wanted: &BTreeMap<String, Wanted<'_>>,
    ) {
        self.topics.retain(|key, topic| {
            if wanted.contains_key(key.as_str()) {
                topic.unused_since = None;
                return true;
            }
            let since = *topic.unused_since.get_or_insert_with(Instant::now);
            since.elapsed() < LINGER || topic.inlets.values().any(|inlet| inlet.is_matched())
        });
        for (key, wanted) in wanted {
            let mut topic = match self.topics.remove(key) {
                Some(topic) => topic,
                None => Topic::new(context, wanted.name),
            };
            let comes_late = wanted.publishers.iter().any(|(_, entity, _)| topic.refused.contains(&entity.gid));
            topic.set_inlets(participant, nodes, wanted);
            // The older subscription ends first, because otherwise its new samples would arrive before the history. A
            // publisher that was refused before needs a new subscription, which receives its history.
            let is_late = comes_late && wanted.is_latched;
            if topic.subscriber.is_none() || wanted.is_latched != topic.is_latched || is_late {
                topic.subscriber = None;
                match subscribe(context, key, wanted.is_latched, &topic.router) {
                    Ok(subscriber) => (topic.subscriber, topic.is_latched) = (Some(subscriber), wanted.is_latched),
                    Err(error) => say(format_args!("{} is not carried: {error}", wanted.name)),
                }
            }
            self.topics.insert(key.clone(), topic);
        }
    }

    /// The tokens of the publishers on the network that a local publisher represents now.
    pub fn tokens(&self) -> impl Iterator<Item = &String> {
        self.topics.values().flat_map(|topic| topic.inlets.keys())
    }

    pub fn end(&mut self) {
        self.topics.clear();
    }
}

impl Topic {
    fn new(context: &Context, name: &str) -> Topic {
        let (router, inlets) = (Arc::new(Router::new(context, name)), HashMap::new());
        Topic { is_latched: false, unused_since: None, router, inlets, refused: HashSet::new(), subscriber: None }
    }

    fn set_inlets(&mut self, participant: &Arc<Participant>, nodes: &FarNodes, wanted: &Wanted<'_>) {
        let Wanted { message_type, publishers, .. } = wanted;
        let texts: HashSet<&str> = publishers.iter().map(|(text, ..)| *text).collect();
        self.inlets.retain(|text, _| texts.contains(text.as_str()));
        for (text, entity, endpoint) in publishers {
            if self.inlets.contains_key(*text) {
                continue;
            }
            let Some(node) = nodes.node(&entity.node) else { continue };
            let names = (&*node.fully_qualified_name(), &*endpoint.name);
            let counts = self.router.counts.clone();
            match Inlet::new(participant.clone(), names, (*message_type).clone(), endpoint.qos, counts) {
                Ok(inlet) => {
                    self.inlets.insert((*text).to_owned(), Arc::new(inlet));
                }
                Err(error) => say(format_args!("a publisher of {} is not carried: {error}", endpoint.name)),
            }
        }
        let inlets = publishers.iter().filter_map(|(text, entity, _)| Some((*entity, self.inlets.get(*text)?)));
        self.router.set_inlets(inlets, &wanted.refused);
        self.refused.clone_from(&wanted.refused);
    }
}

/// Creates a subscription with rmw_zenoh's options: it receives the history of latched publishers, and recovers lost
/// samples.
fn subscribe(
    context: &Context,
    key: &str,
    is_latched: bool,
    router: &Arc<Router>,
) -> zenoh::Result<AdvancedSubscriber<()>> {
    let router = router.clone();
    let builder = context.network.session.declare_subscriber(key.to_owned());
    let builder = builder.allowed_origin(Locality::Remote).callback(move |sample| router.take(sample)).advanced();
    if !is_latched {
        return builder.wait();
    }
    let history = HistoryConfig::default().detect_late_publishers().max_samples(MAX_HISTORY);
    let builder = builder.history(history).subscriber_detection().query_timeout(FOREVER);
    builder.recovery(RecoveryConfig::default().heartbeat()).wait()
}
