//! Samples of local publishers for subscriptions on the network. A local publisher has a lane (a queue for the
//! network), but only while its topic has a subscription on the network. TRANSIENT_LOCAL publishers always have one,
//! because a later subscription requests their history from the network.

use crate::{
    calls::Sources,
    context::Context,
    counts::Counts,
    graph::{Kind, LocalEndpoint},
    outbound::{Carrier, Lane, LaneOptions},
};
use gantry::{Durability, GenericSample, Gid, History, Node, Qos, Reliability};
use std::{
    collections::{BTreeMap, HashMap, HashSet, btree_map::Entry},
    fmt,
    sync::Arc,
};

/// The number of samples that wait in the bridge for a gating publisher: a RELIABLE KEEP_ALL publisher, which waits for
/// the bridge. Further samples wait in the publisher's history.
const GATING_DEPTH: usize = 64;
const LEAST_DEPTH: u32 = 16;
const MOST_DEPTH: u32 = 10_000;
/// The number of samples that the bridge keeps for a KEEP_ALL publisher that does not wait for the bridge.
const KEEP_ALL_DEPTH: u32 = 1024;

/// Sends a sample to the network, and blocks as long as the network blocks. Returns `false` if the network refused the
/// sample.
pub type Output = Box<dyn Fn(GenericSample) -> bool + Send + Sync>;

/// The reason why the samples of a publisher are not carried.
pub type Refusal = Box<dyn std::error::Error + Send + Sync>;

/// The class of a publisher. One subscription of the bridge serves all publishers of the same topic and class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Class {
    is_latched: bool,
    is_gating: bool,
}

/// The bridge's subscription for one class of a topic's publishers.
struct ClassCarrier {
    number: u64,
    carrier: Arc<Carrier>,
    depth: u32,
}

struct Topic {
    name: String,
    priority: u8,
    counts: Arc<Counts>,
    carriers: BTreeMap<Class, ClassCarrier>,
    lanes: HashMap<Gid, (Class, Arc<Lane>)>,
    /// The publishers whose samples were dropped, because their nodes reached the network through another bridge.
    passed_over: HashSet<Gid>,
}

/// The local publishers of one topic whose samples may be carried.
#[derive(Debug)]
pub struct Outgoing<'a> {
    /// The QoS of the topic's subscriptions on the network.
    pub asked: Vec<Qos>,
    /// The publishers.
    pub publishers: Vec<&'a LocalEndpoint>,
}

/// The topics whose samples are carried to the network, by their keys on the network.
#[derive(Default)]
pub struct TopicsOut {
    /// The threads that take samples, by priority. They also send small samples, so a thread may wait for the network.
    sources: BTreeMap<u8, Sources>,
    topics: BTreeMap<String, Topic>,
}

impl TopicsOut {
    /// Creates an empty set of topics, without threads.
    #[must_use]
    pub fn new() -> TopicsOut {
        TopicsOut::default()
    }

    /// Starts and ends to carry topics and publishers. `open` creates the function that sends a publisher's samples.
    /// `passed_over` are the local publishers that the network does not see. `say` gets a sentence for each publisher
    /// that cannot be carried.
    pub fn update(
        &mut self,
        (context, node): (&Context, &Node),
        mut wanted: BTreeMap<String, Outgoing<'_>>,
        passed_over: &[Gid],
        open: impl Fn(&LocalEndpoint) -> Result<Output, Refusal>,
        say: impl Fn(String),
    ) {
        for topic in wanted.values_mut() {
            let is_asked = !topic.asked.is_empty();
            topic.publishers.retain(|publisher| is_asked || is_latched(&publisher.endpoint.qos));
        }
        wanted.retain(|_, topic| !topic.publishers.is_empty());
        let gone: Vec<String> = self.topics.keys().filter(|key| !wanted.contains_key(*key)).cloned().collect();
        for topic in gone.iter().filter_map(|key| self.topics.remove(key)) {
            let Some(sources) = self.sources.get(&topic.priority) else { continue };
            topic.carriers.values().for_each(|entry| sources.remove(entry.number));
        }
        for (key, outgoing) in wanted {
            let Some(first) = outgoing.publishers.first() else { continue };
            let name = &first.endpoint.name;
            let priority = context.policy.treatment(Kind::Publisher, name).priority;
            let sources = match self.sources.entry(priority) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => match Sources::start(node, &format!("bridge-take-{priority}")) {
                    Ok(sources) => entry.insert(sources),
                    Err(error) => {
                        say(format!("{name} is not carried: {error}"));
                        continue;
                    }
                },
            };
            let topic = self.topics.entry(key).or_insert_with(|| Topic {
                name: name.clone(),
                priority,
                counts: context.counts("out", name),
                carriers: BTreeMap::new(),
                lanes: HashMap::new(),
                passed_over: HashSet::new(),
            });
            let refused = topic.update((context, node), sources, &outgoing, passed_over, &open);
            refused.into_iter().for_each(|error| say(format!("{} is not carried: {error}", topic.name)));
        }
    }

    /// The number of samples that wait for the network, by topic.
    #[must_use]
    pub fn waiting(&self) -> HashMap<&str, usize> {
        let waiting = |topic: &Topic| topic.lanes.values().map(|(_, lane)| lane.waiting()).sum();
        self.topics.values().map(|topic| (topic.name.as_str(), waiting(topic))).collect()
    }

    /// Stops carrying all topics, and ends the threads that take samples.
    pub fn end(&mut self) {
        self.topics.clear();
        self.sources.values_mut().for_each(Sources::end);
    }
}

impl Topic {
    fn update(
        &mut self,
        (context, node): (&Context, &Node),
        sources: &mut Sources,
        outgoing: &Outgoing<'_>,
        passed_over: &[Gid],
        open: impl Fn(&LocalEndpoint) -> Result<Output, Refusal>,
    ) -> Vec<Refusal> {
        let publishers = &outgoing.publishers;
        let is_gated = outgoing.asked.iter().any(is_gating);
        let class = |local: &LocalEndpoint| Class {
            is_latched: is_latched(&local.endpoint.qos),
            is_gating: is_gated && is_gating(&local.endpoint.qos),
        };
        let gids: HashMap<Gid, Class> = publishers.iter().map(|local| (local.gid, class(local))).collect();
        self.lanes.retain(|gid, (class, _)| gids.get(gid) == Some(class));
        let classes: HashSet<Class> = gids.values().copied().collect();
        self.carriers.retain(|class, entry| {
            let is_used = classes.contains(class);
            if !is_used {
                sources.remove(entry.number);
            }
            is_used
        });
        let mut refused = Vec::new();
        for local in publishers {
            if !self.lanes.contains_key(&local.gid) {
                match lane(context, local, class(local), &self.counts, &open) {
                    Ok(lane) => drop(self.lanes.insert(local.gid, (class(local), lane))),
                    Err(error) => refused.push(error),
                }
            }
        }
        // A publisher that was passed over before needs a new subscription, which receives its history.
        let comes_late = |local: &&&LocalEndpoint| self.passed_over.contains(&local.gid);
        for local in publishers.iter().filter(comes_late) {
            if let Some(entry) = self.carriers.get_mut(&class(local)) {
                entry.depth = 0;
            }
        }
        self.passed_over = passed_over.iter().copied().collect();
        let depth = depth(publishers.iter().map(|local| &local.endpoint.qos));
        for class in classes {
            let Some(first) = publishers.first() else { continue };
            let updated = self.update_way((context, node), (class, depth), first, sources);
            refused.extend(updated.err().map(Into::into));
        }
        self.set_lanes(&gids, passed_over);
        refused
    }

    fn update_way(
        &mut self,
        (context, node): (&Context, &Node),
        (class, depth): (Class, u32),
        first: &LocalEndpoint,
        sources: &mut Sources,
    ) -> gantry::Result<()> {
        let is_deep = |entry: &ClassCarrier| entry.depth >= depth || !class.is_latched;
        if self.carriers.get(&class).is_some_and(is_deep) {
            return Ok(());
        }
        let qos = Qos { depth, ..Qos::default() };
        let qos = if class.is_gating { qos.reliable().keep_all() } else { qos.best_effort().keep_last(depth) };
        let qos = if class.is_latched { qos.transient_local() } else { qos };
        let subscription = node.create_generic_subscription(&self.name, first.message_type.clone(), qos)?;
        let carrier = match self.carriers.remove(&class) {
            Some(shallow) => {
                sources.remove(shallow.number);
                shallow.carrier.replace(subscription);
                shallow.carrier
            }
            None => Carrier::new(subscription, context.sender.clone(), self.counts.clone(), context.wake()),
        };
        let number = sources.add(carrier.source());
        self.carriers.insert(class, ClassCarrier { number, carrier, depth });
        Ok(())
    }

    fn set_lanes(&self, gids: &HashMap<Gid, Class>, passed_over: &[Gid]) {
        for (class, entry) in &self.carriers {
            let others = gids.keys().chain(passed_over).map(|gid| (*gid, None));
            let own = self.lanes.iter().filter(|(_, (of_lane, _))| of_lane == class);
            entry.carrier.set_lanes(others.chain(own.map(|(gid, (_, lane))| (*gid, Some(lane.clone())))).collect());
        }
    }
}

fn is_latched(qos: &Qos) -> bool {
    qos.durability == Durability::TransientLocal
}

fn is_gating(qos: &Qos) -> bool {
    qos.reliability == Reliability::Reliable && qos.history == History::KeepAll
}

/// Returns the history depth that a subscription needs to receive the whole history of all these publishers.
fn depth<'a>(publishers: impl Iterator<Item = &'a Qos>) -> u32 {
    publishers.map(history_depth).fold(0, u32::saturating_add).clamp(LEAST_DEPTH, MOST_DEPTH)
}

/// Returns the number of a publisher's samples that a late subscription may receive.
#[must_use]
pub fn history_depth(qos: &Qos) -> u32 {
    if qos.history == History::KeepAll { KEEP_ALL_DEPTH } else { qos.depth }
}

fn lane(
    context: &Context,
    local: &LocalEndpoint,
    class: Class,
    counts: &Arc<Counts>,
    open: impl Fn(&LocalEndpoint) -> Result<Output, Refusal>,
) -> Result<Arc<Lane>, Refusal> {
    let qos = &local.endpoint.qos;
    let treatment = context.policy.treatment(local.endpoint.kind, &local.endpoint.name);
    let output = open(local)?;
    context.sender.prepare(treatment.priority)?;
    let depth = match (class.is_gating, qos.history) {
        (_, History::KeepLast) => qos.depth as usize,
        (true, History::KeepAll) => GATING_DEPTH,
        (false, History::KeepAll) => history_depth(qos).clamp(LEAST_DEPTH, MOST_DEPTH) as usize,
    };
    let options = LaneOptions {
        depth,
        is_gating: class.is_gating,
        min_period: treatment.min_period,
        priority: treatment.priority,
    };
    Ok(Arc::new(Lane::new(options, counts.clone(), output)))
}

impl fmt::Debug for TopicsOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TopicsOut({} topics)", self.topics.len())
    }
}
