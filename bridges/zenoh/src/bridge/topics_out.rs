//! Local publishers to far subscriptions: one publisher on the network for each local one, and nothing while no far
//! subscription is there. TRANSIENT_LOCAL publishers are there always, as rmw_zenoh's: far subscriptions ask their
//! caches.

use super::{
    Context,
    far_graph::FarGraph,
    shown::{Shown, ShownEndpoint},
};
use crate::{log::say, payload, wire::Attachment};
use gantry::{Durability, GenericSample, Gid, History, Listener, ListenerSource, Node, Qos, Reliability};
use gantry_bridge::{Carrier, Counts, Kind, Lane, LaneOptions};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};
use zenoh::{
    Wait,
    qos::{CongestionControl, Priority},
    sample::Locality,
};
use zenoh_ext::{AdvancedPublisher, AdvancedPublisherBuilderExt, CacheConfig, MissDetectionConfig};

/// rmw_zenoh's period of the heartbeats by which latched samples that were lost are found.
const HEARTBEAT: Duration = Duration::from_millis(500);
/// The samples of a gating publisher that wait in the bridge; its history has the others.
const GATING_DEPTH: usize = 64;
const LEAST_DEPTH: u32 = 16;
const MOST_DEPTH: u32 = 10_000;
/// The samples that are kept of a KEEP_ALL publisher whose far subscriptions do not gate it.
const KEEP_ALL_DEPTH: u32 = 1024;

/// The publishers that one subscription of the bridge can serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Class {
    is_latched: bool,
    is_gating: bool,
}

/// The way of one class of a topic's publishers.
struct Way {
    number: u64,
    carrier: Arc<Carrier>,
    depth: u32,
}

struct Topic {
    name: String,
    counts: Arc<Counts>,
    ways: BTreeMap<Class, Way>,
    lanes: HashMap<Gid, (Class, Arc<Lane>)>,
}

/// The topics that are carried, by their keys.
pub struct TopicsOut {
    listener: Listener<Box<dyn ListenerSource>>,
    topics: BTreeMap<String, Topic>,
    next_number: u64,
}

impl TopicsOut {
    pub fn new(listener: Listener<Box<dyn ListenerSource>>) -> TopicsOut {
        TopicsOut { listener, topics: BTreeMap::new(), next_number: 0 }
    }

    /// Begins and ends carrying. `passed_over` are the publishers of the domain that no network sees.
    pub fn update(&mut self, context: &Context, node: &Node, far: &FarGraph, shown: &Shown, passed_over: &[Gid]) {
        let mut asked: HashMap<&str, bool> = HashMap::new();
        for (_, entity, endpoint) in far.of_kind(Kind::Subscription) {
            let is_allowed = context.policy.treatment(Kind::Subscription, &endpoint.name).is_allowed;
            if let Some(key) = entity.key.as_deref().filter(|_| is_allowed) {
                *asked.entry(key).or_default() |= is_gating(&endpoint.qos);
            }
        }
        let mut wanted: BTreeMap<&str, Vec<&ShownEndpoint>> = BTreeMap::new();
        for publisher in shown.endpoints().filter(|shown| shown.local.endpoint.kind == Kind::Publisher) {
            if asked.contains_key(publisher.key.as_str()) || is_latched(&publisher.local.endpoint.qos) {
                wanted.entry(&publisher.key).or_default().push(publisher);
            }
        }
        let gone: Vec<String> = self.topics.keys().filter(|key| !wanted.contains_key(key.as_str())).cloned().collect();
        for topic in gone.iter().filter_map(|key| self.topics.remove(key)) {
            topic.ways.values().for_each(|way| self.listener.remove(way.number));
        }
        for (key, publishers) in wanted {
            let is_gated = asked.get(key).copied().unwrap_or_default();
            self.update_topic(context, node, (key, is_gated), &publishers, passed_over);
        }
    }

    fn update_topic(
        &mut self,
        context: &Context,
        node: &Node,
        (key, is_gated): (&str, bool),
        publishers: &[&ShownEndpoint],
        passed_over: &[Gid],
    ) {
        let Some(first) = publishers.first() else { return };
        let class = |shown: &ShownEndpoint| Class {
            is_latched: is_latched(&shown.local.endpoint.qos),
            is_gating: is_gated && is_gating(&shown.local.endpoint.qos),
        };
        let topic = self.topics.entry(key.to_owned()).or_insert_with(|| Topic {
            name: first.local.endpoint.name.clone(),
            counts: context.counts("out", &first.local.endpoint.name),
            ways: BTreeMap::new(),
            lanes: HashMap::new(),
        });
        let gids: HashMap<Gid, Class> = publishers.iter().map(|shown| (shown.local.gid, class(shown))).collect();
        topic.lanes.retain(|gid, (class, _)| gids.get(gid) == Some(class));
        let classes: HashSet<Class> = gids.values().copied().collect();
        topic.ways.retain(|class, way| {
            let is_used = classes.contains(class);
            if !is_used {
                self.listener.remove(way.number);
            }
            is_used
        });
        for shown in publishers {
            if !topic.lanes.contains_key(&shown.local.gid) {
                match lane(context, shown, class(shown), &topic.counts) {
                    Ok(lane) => {
                        topic.lanes.insert(shown.local.gid, (class(shown), lane));
                    }
                    Err(error) => say(format_args!("{} is not carried: {error}", shown.local.endpoint.name)),
                }
            }
        }
        for class in classes {
            let depth = depth(publishers.iter().map(|shown| &shown.local.endpoint.qos));
            let numbers = (&mut self.next_number, &self.listener);
            if let Err(error) = topic.update_way(context, node, (class, depth), first, numbers) {
                say(format_args!("{} is not carried: {error}", topic.name));
            }
        }
        topic.set_lanes(&gids, passed_over);
    }

    /// The counters of the topics that are carried now.
    pub fn waiting(&self) -> HashMap<&str, usize> {
        let waiting = |topic: &Topic| topic.lanes.values().map(|(_, lane)| lane.waiting()).sum();
        self.topics.values().map(|topic| (topic.name.as_str(), waiting(topic))).collect()
    }

    /// Ends carrying; the listener's thread ends, too.
    pub fn end(&mut self) {
        self.topics.clear();
        self.listener.end();
    }
}

impl Topic {
    fn update_way(
        &mut self,
        context: &Context,
        node: &Node,
        (class, depth): (Class, u32),
        first: &ShownEndpoint,
        (next_number, listener): (&mut u64, &Listener<Box<dyn ListenerSource>>),
    ) -> gantry::Result<()> {
        let is_deep = |way: &Way| way.depth >= depth || !class.is_latched;
        if self.ways.get(&class).is_some_and(is_deep) {
            return Ok(());
        }
        let qos = Qos { depth, ..Qos::default() };
        let qos = if class.is_gating { qos.reliable().keep_all() } else { qos.best_effort().keep_last(depth) };
        let qos = if class.is_latched { qos.transient_local() } else { qos };
        let subscription = node.create_generic_subscription(&self.name, first.local.message_type.clone(), qos)?;
        let number = *next_number;
        *next_number += 1;
        let carrier = match self.ways.remove(&class) {
            Some(shallow) => {
                listener.remove(shallow.number);
                shallow.carrier.replace(subscription);
                shallow.carrier
            }
            None => Carrier::new(subscription, context.sender.clone(), self.counts.clone(), context.wake()),
        };
        listener.add(number, carrier.source());
        self.ways.insert(class, Way { number, carrier, depth });
        Ok(())
    }

    fn set_lanes(&self, gids: &HashMap<Gid, Class>, passed_over: &[Gid]) {
        for (class, way) in &self.ways {
            let others = gids.keys().chain(passed_over).map(|gid| (*gid, None));
            let own = self.lanes.iter().filter(|(_, (of_lane, _))| of_lane == class);
            way.carrier.set_lanes(others.chain(own.map(|(gid, (_, lane))| (*gid, Some(lane.clone())))).collect());
        }
    }
}

fn is_latched(qos: &Qos) -> bool {
    qos.durability == Durability::TransientLocal
}

fn is_gating(qos: &Qos) -> bool {
    qos.reliability == Reliability::Reliable && qos.history == History::KeepAll
}

/// The depth of a subscription that gets the whole history of all these publishers.
fn depth<'a>(publishers: impl Iterator<Item = &'a Qos>) -> u32 {
    let of_one = |qos: &Qos| if qos.history == History::KeepAll { KEEP_ALL_DEPTH } else { qos.depth };
    publishers.map(of_one).fold(0, u32::saturating_add).clamp(LEAST_DEPTH, MOST_DEPTH)
}

fn lane(
    context: &Context,
    shown: &ShownEndpoint,
    class: Class,
    counts: &Arc<Counts>,
) -> Result<Arc<Lane>, Box<dyn std::error::Error + Send + Sync>> {
    let (qos, treatment) = (&shown.local.endpoint.qos, shown.treatment);
    let publisher = declare(context, shown)?;
    context.sender.prepare(treatment.priority)?;
    let depth = match class.is_gating {
        true => GATING_DEPTH,
        false => depth([qos].into_iter()) as usize,
    };
    let depth = if qos.history == History::KeepLast { qos.depth as usize } else { depth };
    let options = LaneOptions {
        depth,
        is_gating: class.is_gating,
        min_period: treatment.min_period,
        priority: treatment.priority,
    };
    let gid = shown.far_gid;
    // A cache would hold the slots of the samples that it keeps.
    let message = if class.is_latched { |sample| payload::of_sample(&sample) } else { payload::in_place };
    Ok(Arc::new(Lane::new(options, counts.clone(), move |sample: GenericSample| {
        let info = sample.message_info();
        let (sequence, source_time_ns) = (info.sequence.cast_signed(), info.source_wall_time_ns.cast_signed());
        let attachment = Attachment { sequence, source_time_ns, gid };
        publisher.put(message(sample)).attachment(attachment.to_bytes()).wait().is_ok()
    })))
}

/// The publisher on the network, as rmw_zenoh's, except that it waits for a slow link: the lane drops and counts, where
/// Zenoh would drop without a count.
fn declare(context: &Context, shown: &ShownEndpoint) -> zenoh::Result<AdvancedPublisher<'static>> {
    let (qos, treatment) = (&shown.local.endpoint.qos, shown.treatment);
    let reliability = match qos.reliability {
        Reliability::Reliable => zenoh::qos::Reliability::Reliable,
        Reliability::BestEffort => zenoh::qos::Reliability::BestEffort,
    };
    let builder = context.network.session.declare_publisher(shown.key.clone());
    let builder = builder.congestion_control(CongestionControl::Block).reliability(reliability);
    let priority = Priority::try_from(treatment.priority)?;
    let builder = builder.priority(priority).express(treatment.is_express).allowed_destination(Locality::Remote);
    if !is_latched(qos) {
        return builder.advanced().wait();
    }
    let cache = CacheConfig::default().max_samples(depth_of_cache(qos));
    let builder = builder.cache(cache).publisher_detection();
    match qos.reliability {
        Reliability::Reliable => {
            builder.sample_miss_detection(MissDetectionConfig::default().sporadic_heartbeat(HEARTBEAT)).wait()
        }
        Reliability::BestEffort => builder.wait(),
    }
}

fn depth_of_cache(qos: &Qos) -> usize {
    let depth = if qos.history == History::KeepAll { KEEP_ALL_DEPTH } else { qos.depth };
    depth.clamp(1, MOST_DEPTH) as usize
}
