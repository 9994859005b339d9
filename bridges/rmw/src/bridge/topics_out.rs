//! Samples of local publishers for subscriptions on the network: the publishers on the network that represent the local
//! ones.

use super::{far_graph::FarGraph, mirror::Mirror};
use gantry::{History, Qos, Reliability};
use gantry_bridge::{Context, Kind, LocalEndpoint, Outgoing, Output, Refusal};
use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

/// The longest time for which a sample of a RELIABLE KEEP_ALL publisher waits for room on the network.
const MAX_BLOCKING: Duration = Duration::from_secs(1);
/// The time between two attempts to publish such a sample.
const PAUSE: Duration = Duration::from_millis(1);

/// The local publishers that the network sees, by topic name and type, with the QoS of the subscriptions on the
/// network.
pub fn outgoing<'a>(context: &Context, far: &FarGraph, mirror: &'a Mirror) -> BTreeMap<String, Outgoing<'a>> {
    let mut outgoing: BTreeMap<String, Outgoing<'_>> = BTreeMap::new();
    for shown in mirror.endpoints().filter(|shown| shown.local.endpoint.kind == Kind::Publisher) {
        let endpoint = &shown.local.endpoint;
        let is_allowed = context.policy.treatment(Kind::Subscription, &endpoint.name).is_allowed;
        let asked = far.other_end(endpoint).filter(|_| is_allowed).map(|far| unknown_history(far.endpoint.qos));
        let topic = outgoing.entry(format!("{} {}", endpoint.name, endpoint.type_name));
        let topic = topic.or_insert_with(|| Outgoing { asked: asked.collect(), publishers: Vec::new() });
        topic.publishers.push(&shown.local);
    }
    outgoing
}

/// Returns the QoS of a subscription on the network with an assumed history, because DDS does not announce it. A
/// RELIABLE subscription counts as KEEP_ALL, so that a KEEP_ALL publisher waits for it.
fn unknown_history(qos: Qos) -> Qos {
    if qos.reliability == Reliability::Reliable { qos.keep_all() } else { qos }
}

/// Creates the function that sends a local publisher's samples to the network.
pub fn open(mirror: &Mirror, local: &LocalEndpoint) -> Result<Output, Refusal> {
    let publisher = mirror.publisher(local.gid).ok_or("its publisher on the network is gone")?.clone();
    let waits =
        local.endpoint.qos.reliability == Reliability::Reliable && local.endpoint.qos.history == History::KeepAll;
    Ok(Box::new(move |sample| {
        let length_bytes = sample.message_info().length_bytes;
        let begin = Instant::now();
        loop {
            match publisher.publish(length_bytes, |body| _ = sample.copy_to(body)) {
                Ok(()) => return true,
                // The history of the publisher on the network is full. Only a sample of a RELIABLE KEEP_ALL publisher
                // waits and is tried again.
                Err(_) if waits && begin.elapsed() < MAX_BLOCKING && gantry::ok() => thread::sleep(PAUSE),
                Err(_) => return false,
            }
        }
    }))
}
