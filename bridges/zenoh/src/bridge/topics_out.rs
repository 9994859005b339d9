//! The publishers on the network that represent local publishers, with rmw_zenoh's options. A TRANSIENT_LOCAL publisher
//! has a cache, which subscriptions on the network query.

use super::{
    Context,
    far_graph::FarGraph,
    shown::{Shown, ShownEndpoint},
};
use crate::{payload, wire::Attachment};
use gantry::{Durability, GenericSample, Gid, Qos, Reliability};
use gantry_bridge::{Kind, LocalEndpoint, Outgoing, Output, Refusal, history_depth};
use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};
use zenoh::{
    Wait,
    qos::{CongestionControl, Priority},
    sample::Locality,
};
use zenoh_ext::{AdvancedPublisher, AdvancedPublisherBuilderExt, CacheConfig, MissDetectionConfig};

/// The period of heartbeats, as in rmw_zenoh. A TRANSIENT_LOCAL subscription detects lost samples by them.
const HEARTBEAT: Duration = Duration::from_millis(500);
/// The largest number of samples in a cache.
const MOST_DEPTH: u32 = 10_000;

/// The local publishers that the network sees, by their Zenoh keys, with the QoS of the subscriptions on the network.
pub fn outgoing<'a>(context: &Context, far: &FarGraph, shown: &'a Shown) -> BTreeMap<String, Outgoing<'a>> {
    let mut asked: HashMap<&str, Vec<Qos>> = HashMap::new();
    for (_, entity, endpoint) in far.endpoints(Kind::Subscription) {
        let is_allowed = context.policy.treatment(Kind::Subscription, &endpoint.name).is_allowed;
        if let Some(key) = entity.key.as_deref().filter(|_| is_allowed) {
            asked.entry(key).or_default().push(endpoint.qos);
        }
    }
    let mut outgoing: BTreeMap<String, Outgoing<'_>> = BTreeMap::new();
    for publisher in shown.endpoints().filter(|shown| shown.local.endpoint.kind == Kind::Publisher) {
        let topic = outgoing.entry(publisher.key.clone()).or_insert_with(|| Outgoing {
            asked: asked.get(publisher.key.as_str()).cloned().unwrap_or_default(),
            publishers: Vec::new(),
        });
        topic.publishers.push(&publisher.local);
    }
    outgoing
}

/// Creates the function that sends a local publisher's samples to the network.
pub fn open(context: &Context, shown: &Shown, local: &LocalEndpoint) -> Result<Output, Refusal> {
    let shown = shown.endpoint(local.gid).ok_or("its token is gone")?;
    let publisher = declare(context, shown)?;
    let gid: Gid = shown.far_gid;
    // A latched sample is copied, because the cache would otherwise keep it pinned in the memory of its publisher.
    let message =
        if is_latched(&local.endpoint.qos) { |sample| payload::from_sample(&sample) } else { payload::in_place };
    Ok(Box::new(move |sample: GenericSample| {
        let info = sample.message_info();
        let (sequence, source_time_ns) = (info.sequence.cast_signed(), info.source_wall_time_ns.cast_signed());
        let attachment = Attachment { sequence, source_time_ns, gid };
        publisher.put(message(sample)).attachment(attachment.to_bytes()).wait().is_ok()
    }))
}

fn is_latched(qos: &Qos) -> bool {
    qos.durability == Durability::TransientLocal
}

/// Declares the publisher on the network with rmw_zenoh's options, except that it blocks on a slow link. The queue
/// before it then drops samples and counts them; Zenoh would drop them without a count.
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
    history_depth(qos).clamp(1, MOST_DEPTH) as usize
}
