//! Local publishers to far subscriptions: the publishers on the network that stand for local ones.

use super::{far_graph::FarGraph, mirror::Mirror};
use gantry::{History, Qos, Reliability};
use gantry_bridge::{Context, Kind, LocalEndpoint, Outgoing, Output, Refusal};
use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

/// The longest time for which a RELIABLE KEEP_ALL publisher waits for the network.
const MAX_BLOCKING: Duration = Duration::from_secs(1);
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(1);

/// The local publishers that the network sees, by name and type, each with the QoS of the far subscriptions.
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

/// The QoS of a far subscription, whose history DDS does not announce. A RELIABLE one counts as KEEP_ALL, so that a
/// KEEP_ALL publisher waits for it.
fn unknown_history(qos: Qos) -> Qos {
    if qos.reliability == Reliability::Reliable { qos.keep_all() } else { qos }
}

/// Opens the output through which a local publisher's samples go to the network.
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
                // The history of the network's publisher is full. Only samples of a RELIABLE KEEP_ALL publisher
                // wait here.
                Err(_) if waits && begin.elapsed() < MAX_BLOCKING && gantry::ok() => thread::sleep(PAUSE),
                Err(_) => return false,
            }
        }
    }))
}
