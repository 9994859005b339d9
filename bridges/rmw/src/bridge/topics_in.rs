//! Samples of publishers on the network for local subscriptions. A local publisher represents each publisher on the
//! network, but only while its topic has a local subscription.
//!
//! Each local subscription has a counterpart, a subscription on the network. For each publisher on the network, one
//! counterpart takes the samples: the one with the strongest QoS, so that latched samples arrive.

use super::{
    far_graph::{FarEndpoint, FarGraph},
    mirror::{Mirror, Object, Shown},
    router::{Ids, Route, Router},
};
use crate::rmw::{Handle, Ready, Serialized, Subscription};
use gantry::{Durability, Gid, History, Qos, Reliability};
use gantry_bridge::{Context, FarNodes, Inlet, Kind, LINGER};
use gantry_command::say;
use gantry_shm::Participant;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

/// The largest number of samples that are taken from one subscription before other subscriptions get their turn.
const BATCH: usize = 64;

/// The topics whose samples are carried into the domain, by name and type.
pub struct TopicsIn {
    participant: Arc<Participant>,
    topics: BTreeMap<(String, String), Topic>,
    ids: Arc<Ids>,
}

struct Topic {
    router: Arc<Router>,
    inlets: HashMap<Gid, Carried>,
    readers: BTreeMap<Gid, Arc<Reader>>,
    /// The time at which the last local subscription left; `None` while a local subscription exists.
    unused_since: Option<Instant>,
}

/// A publisher on the network whose samples are carried.
struct Carried {
    inlet: Arc<Inlet>,
    /// The local subscription whose counterpart takes the publisher's samples.
    by: Gid,
    /// True if the publisher's history arrived before its newer samples.
    is_whole: bool,
}

/// The counterpart of a local subscription. The thread that waits for the network takes its samples.
struct Reader {
    of: Gid,
    subscription: Arc<Subscription>,
    is_keep_all: bool,
    router: Arc<Router>,
}

impl Ready for Reader {
    fn handle(&self) -> Handle {
        self.subscription.handle()
    }

    fn take(&self, memory: &mut Serialized) -> bool {
        for _ in 0..BATCH {
            match self.subscription.take(memory) {
                Ok(Some(taken)) => self.router.take(self.of, &taken, memory.body()),
                Ok(None) => return true,
                Err(_) => {
                    self.router.counts.fail();
                    return true;
                }
            }
        }
        false
    }
}

impl TopicsIn {
    pub fn new(participant: Arc<Participant>) -> TopicsIn {
        TopicsIn { participant, topics: BTreeMap::new(), ids: Arc::default() }
    }

    /// The publishers on the network whose topic and type have a local subscription, by their GIDs.
    pub fn wanted<'a>(context: &Context, far: &'a FarGraph, mirror: &'a Mirror) -> HashMap<Gid, &'a FarEndpoint> {
        let mut wanted = HashMap::new();
        for shown in mirror.endpoints().filter(|shown| shown.local.endpoint.kind == Kind::Subscription) {
            let publishers = far.other_end(&shown.local.endpoint);
            let is_allowed = |far: &&FarEndpoint| {
                context.policy.treatment(Kind::Publisher, &far.endpoint.name).is_allowed
                    && far.endpoint.qos.incompatible_policy(&shown.local.endpoint.qos).is_none()
            };
            wanted.extend(publishers.filter(is_allowed).map(|far| (far.gid, far)));
        }
        wanted
    }

    /// The publishers on the network that a local publisher represents now.
    pub fn active(&self) -> impl Iterator<Item = Gid> {
        self.topics.values().flat_map(|topic| topic.inlets.keys().copied())
    }

    /// Starts and ends to carry topics and publishers.
    pub fn update(&mut self, context: &Context, nodes: &FarNodes, far: &FarGraph, mirror: &Mirror) {
        let mut subscriptions: BTreeMap<(String, String), Vec<&Shown>> = BTreeMap::new();
        for shown in mirror.endpoints().filter(|shown| shown.local.endpoint.kind == Kind::Subscription) {
            let endpoint = &shown.local.endpoint;
            subscriptions.entry((endpoint.name.clone(), endpoint.type_name.clone())).or_default().push(shown);
        }
        let there: HashSet<Gid> = far.endpoints(Kind::Publisher).map(|far| far.gid).collect();
        self.topics.retain(|key, topic| {
            if subscriptions.contains_key(key) {
                topic.unused_since = None;
                return true;
            }
            topic.readers.clear();
            topic.inlets.retain(|gid, _| there.contains(gid));
            let since = *topic.unused_since.get_or_insert_with(Instant::now);
            since.elapsed() < LINGER || topic.inlets.values().any(|carried| carried.inlet.is_matched())
        });
        let wanted = TopicsIn::wanted(context, far, mirror);
        for (key, shown) in subscriptions {
            let topic = self.topics.entry(key).or_insert_with_key(|(name, _)| Topic {
                router: Arc::new(Router::new(context, name, self.ids.clone())),
                inlets: HashMap::new(),
                readers: BTreeMap::new(),
                unused_since: None,
            });
            topic.update(&self.participant, nodes, &wanted, &shown);
            topic.router.refuse(&far.refused);
        }
    }

    /// The counterparts from which the waiter takes samples.
    pub fn ready(&self) -> impl Iterator<Item = Arc<dyn Ready>> {
        // An RMW without sequence numbers needs all counterparts emptied: samples that stayed in one would be published
        // a second time when it replaces another counterpart, and a KEEP_ALL one would block its publisher. The router
        // drops the samples of all counterparts but one.
        let takes_all = self.ids.are_without_numbers();
        self.topics.values().flat_map(move |topic| {
            let is_used = move |reader: &&Arc<Reader>| {
                takes_all || reader.is_keep_all || topic.inlets.values().any(|carried| carried.by == reader.of)
            };
            topic.readers.values().filter(is_used).map(|reader| reader.clone() as Arc<dyn Ready>)
        })
    }

    /// True if samples wait for their publishers.
    pub fn is_waiting(&self) -> bool {
        self.topics.values().any(|topic| topic.router.is_waiting())
    }

    pub fn end(&mut self) {
        self.topics.clear();
    }
}

impl Topic {
    fn update(
        &mut self,
        participant: &Arc<Participant>,
        nodes: &FarNodes,
        wanted: &HashMap<Gid, &FarEndpoint>,
        shown: &[&Shown],
    ) {
        let router = &self.router;
        self.readers.retain(|gid, _| shown.iter().any(|shown| shown.local.gid == *gid));
        for shown in shown {
            let Object::Subscription(subscription) = &shown.object else { continue };
            self.readers.entry(shown.local.gid).or_insert_with(|| {
                let (subscription, router) = (subscription.clone(), router.clone());
                let is_keep_all = shown.local.endpoint.qos.history == History::KeepAll;
                Arc::new(Reader { of: shown.local.gid, subscription, is_keep_all, router })
            });
        }
        let Some(first) = shown.first().map(|shown| &shown.local) else { return };
        let is_its = |far: &FarEndpoint| {
            far.endpoint.name == first.endpoint.name && far.endpoint.type_name == first.endpoint.type_name
        };
        let publishers: HashMap<Gid, &FarEndpoint> =
            wanted.iter().filter(|(_, far)| is_its(far)).map(|(gid, far)| (*gid, *far)).collect();
        self.inlets.retain(|gid, _| publishers.contains_key(gid));
        for (gid, far) in publishers {
            let current = self.inlets.get(&gid).map(|carried| carried.by);
            let Some(reader) = choose(&far.endpoint.qos, shown, current) else { continue };
            if current == Some(reader.0) {
                continue;
            }
            // A new counterpart receives the history again. Its samples would be published after newer ones or, without
            // sequence numbers, twice.
            let has_numbers = !self.router.ids.are_without_numbers();
            let keeps = !reader.1 || current.is_none_or(|_| self.is_latched(current, shown));
            let keeps = |carried: &&mut Carried| keeps || carried.is_whole && has_numbers;
            if let Some(carried) = self.inlets.get_mut(&gid).filter(keeps) {
                carried.by = reader.0;
                continue;
            }
            let Some(node) = nodes.node(&far.node) else { continue };
            let names = (&*node.fully_qualified_name(), &*far.endpoint.name);
            let counts = self.router.counts.clone();
            let qos = with_history(far.endpoint.qos, shown);
            match Inlet::new(participant.clone(), names, first.message_type.clone(), qos, counts) {
                Ok(inlet) => {
                    let carried = Carried { inlet: Arc::new(inlet), by: reader.0, is_whole: reader.1 };
                    self.inlets.insert(gid, carried);
                }
                Err(error) => say(format_args!("a publisher of {} is not carried: {error}", far.endpoint.name)),
            }
        }
        self.set_routes();
    }

    fn is_latched(&self, reader: Option<Gid>, shown: &[&Shown]) -> bool {
        let of_reader = shown.iter().find(|shown| Some(shown.local.gid) == reader);
        // A subscription that has left may have been latched, so its counterpart counts as latched.
        of_reader.is_none_or(|shown| shown.local.endpoint.qos.durability == Durability::TransientLocal)
    }

    fn set_routes(&self) {
        self.router.change(|routes| {
            routes.retain(|gid, _| self.inlets.contains_key(gid));
            for (gid, Carried { inlet, by, .. }) in &self.inlets {
                match routes.get_mut(gid) {
                    Some(route) if Arc::ptr_eq(&route.inlet, inlet) => route.reader = *by,
                    _ => drop(routes.insert(*gid, Route::new(inlet.clone(), *by))),
                }
            }
        });
    }
}

/// Returns the QoS of a publisher on the network with an assumed history, because DDS does not announce the history
/// depth. A volatile publisher gets the largest depth of the local subscriptions. If a RELIABLE one of them is
/// KEEP_ALL, the publisher is KEEP_ALL, too.
fn with_history(publisher: Qos, shown: &[&Shown]) -> Qos {
    let requested = || shown.iter().map(|shown| &shown.local.endpoint.qos);
    let wants_all = |qos: &Qos| qos.reliability == Reliability::Reliable && qos.history == History::KeepAll;
    if publisher.durability != Durability::Volatile || publisher.history == History::KeepAll {
        return publisher;
    }
    if publisher.reliability == Reliability::Reliable && requested().any(wants_all) {
        return publisher.keep_all();
    }
    let deepest = requested().map(|qos| qos.depth).max().unwrap_or_default();
    publisher.keep_last(publisher.depth.max(deepest))
}

/// Chooses the counterpart that takes the samples of a publisher on the network; the flag is true if it requests the
/// history. The current counterpart stays, except if it is not latched and another one is. Without a current one, the
/// counterpart with the strongest QoS is chosen.
fn choose(publisher: &Qos, shown: &[&Shown], current: Option<Gid>) -> Option<(Gid, bool)> {
    let is_latched = |shown: &Shown| {
        publisher.durability == Durability::TransientLocal
            && shown.local.endpoint.qos.durability == Durability::TransientLocal
    };
    let strength = |shown: &Shown| {
        let qos = &shown.local.endpoint.qos;
        let is_current = current == Some(shown.local.gid);
        (
            is_latched(shown),
            is_current,
            qos.reliability == Reliability::Reliable,
            qos.history == History::KeepAll,
            qos.depth,
            std::cmp::Reverse(shown.local.gid),
        )
    };
    let compatible = shown.iter().filter(|shown| publisher.incompatible_policy(&shown.local.endpoint.qos).is_none());
    compatible.max_by_key(|shown| strength(shown)).map(|shown| (shown.local.gid, is_latched(shown)))
}
