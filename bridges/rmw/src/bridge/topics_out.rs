//! The publishers on the network of local publishers.

use super::{
    far_graph::FarGraph,
    mirror::{Mirror, Object, Shown},
};
use gantry::{Gid, History, Qos, Reliability};
use gantry_bridge::{Context, Kind, LocalEndpoint, Outgoing, Output, Refusal};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    thread,
    time::{Duration, Instant},
};

/// The longest time for which a RELIABLE KEEP_ALL publisher waits for the network.
const MAX_BLOCKING: Duration = Duration::from_secs(1);
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(1);
/// The longest time for which a publisher waits until the network has matched it with a far subscription. Some RMWs
/// leave the bridge's own subscriptions out of the count, and look unmatched.
const MAX_MATCHING: Duration = Duration::from_secs(1);

/// The publishers on the network that far subscriptions ask for. The graph has these before their messages arrive, and
/// the first messages of a VOLATILE publisher would be lost.
#[derive(Default)]
pub struct Matches(HashMap<Gid, Match>);

enum Match {
    AwaitedSince(Instant),
    Done,
}

impl Matches {
    /// Whether publishers wait for a far subscription that is in the graph.
    pub fn is_waiting(&self) -> bool {
        self.0.values().any(|found| matches!(found, Match::AwaitedSince(_)))
    }

    /// Whether the messages of a publisher arrive. `own_count` counts the bridge's own subscriptions of the topic.
    fn arrive(&mut self, shown: &Shown, own_count: impl Fn() -> usize) -> bool {
        let Object::Publisher(publisher) = &shown.object else { return false };
        let found = self.0.entry(shown.local.gid).or_insert_with(|| Match::AwaitedSince(Instant::now()));
        if let Match::AwaitedSince(since) = found {
            let is_matched = publisher.matched_count().is_ok_and(|count| count > own_count());
            if !is_matched && since.elapsed() < MAX_MATCHING {
                return false;
            }
            *found = Match::Done;
        }
        true
    }
}

/// The local publishers that the network sees, by name and type, with the QoS of far subscriptions.
pub fn outgoing<'a>(
    context: &Context,
    far: &FarGraph,
    mirror: &'a Mirror,
    matches: &mut Matches,
) -> BTreeMap<String, Outgoing<'a>> {
    let mut outgoing: BTreeMap<String, Outgoing<'_>> = BTreeMap::new();
    let mut asked_for = HashSet::new();
    for shown in mirror.endpoints().filter(|shown| shown.local.endpoint.kind == Kind::Publisher) {
        let endpoint = &shown.local.endpoint;
        let is_allowed = context.policy.treatment(Kind::Subscription, &endpoint.name).is_allowed;
        let asked = far.other_end(endpoint).filter(|_| is_allowed).map(|far| unknown_history(far.endpoint.qos));
        let topic = outgoing.entry(format!("{} {}", endpoint.name, endpoint.type_name));
        let topic = topic.or_insert_with(|| Outgoing { asked: asked.collect(), publishers: Vec::new() });
        if !topic.asked.is_empty() {
            asked_for.insert(shown.local.gid);
            if !matches.arrive(shown, || own_count(mirror, shown)) {
                continue;
            }
        }
        topic.publishers.push(&shown.local);
    }
    matches.0.retain(|gid, _| asked_for.contains(gid));
    outgoing
}

/// The number of the bridge's own subscriptions on the network that match a publisher.
fn own_count(mirror: &Mirror, publisher: &Shown) -> usize {
    let offered = &publisher.local.endpoint;
    let is_its = |shown: &&Shown| {
        let requested = &shown.local.endpoint;
        requested.kind == Kind::Subscription
            && (&requested.name, &requested.type_name) == (&offered.name, &offered.type_name)
            && offered.qos.incompatible_policy(&requested.qos).is_none()
    };
    mirror.endpoints().filter(is_its).count()
}

/// The QoS of a far subscription, whose history DDS does not tell. A KEEP_ALL publisher waits for a RELIABLE one.
fn unknown_history(qos: Qos) -> Qos {
    if qos.reliability == Reliability::Reliable { qos.keep_all() } else { qos }
}

/// The way of a local publisher to the network.
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
                // The history of the network is full; a message of another publisher is never lost for it.
                Err(_) if waits && begin.elapsed() < MAX_BLOCKING && gantry::ok() => thread::sleep(PAUSE),
                Err(_) => return false,
            }
        }
    }))
}
