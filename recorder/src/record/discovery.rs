//! The discovery of topics. It makes a subscription for each selected topic and type that has a publisher.
//!
//! A VOLATILE subscription matches every publisher. A TRANSIENT_LOCAL subscription matches only latched publishers, and
//! gets their history. So a topic may have both subscriptions, and the recorder drops each sample that arrives a second
//! time. No subscription is RELIABLE KEEP_ALL, so publishers do not wait for the recorder.

use crate::{
    describe::channel,
    topics::{Topic, Topics, lock},
};
use gantry::{Durability, GenericSubscription, Gid, Node, Qos, SourceTime, TypeDescription, service_topic};
use gantry_command::{Result, Selection, is_native, say};
use gantry_shm::{EndpointDescription, Participant, Role};
use mcap::Channel;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

/// The depth of the VOLATILE subscriptions. It equals the largest number of samples that a publisher keeps by default
/// for subscriptions with a deeper history than its own.
const DEPTH: u32 = 1024;
/// The smallest and the largest depth of a subscription to latched publishers. Within these limits, the depth is the
/// number of samples that the publishers keep for late subscriptions.
const LATCHED_DEPTH: (u32, u32) = (256, 10_000);
/// The time between two reads of the graph if no change is reported.
const PERIOD: Duration = Duration::from_secs(1);

/// A subscription to a topic, and the channel of its messages.
#[derive(Debug)]
pub struct Source {
    /// The subscription.
    pub subscription: GenericSubscription,
    /// The channel.
    pub channel: Arc<Channel<'static>>,
    /// The topic with its counters.
    pub topic: Arc<Topic>,
    /// The time at which the subscription was made (CLOCK_MONOTONIC). Samples that were published earlier come from
    /// publishers' histories.
    pub since_ns: u64,
}

/// The topics that were found, and their channels.
pub struct Discovery {
    mailbox: Mailbox,
    node: Node,
    participant: Arc<Participant>,
    own: Option<Gid>,
    selection: Selection,
    topics: Arc<Topics>,
    known: BTreeMap<(String, TypeDescription), Known>,
    /// The topics that cannot be recorded. Each has the reason that was printed.
    refused: BTreeMap<String, String>,
}

struct Known {
    channel: Arc<Channel<'static>>,
    topic: Arc<Topic>,
    has_volatile: bool,
    has_latched: bool,
}

/// The new sources that the discovery thread has found and the recorder has not fetched yet. The mailbox is locked
/// while a subscription is made. So each subscription that a publisher can see is in the mailbox, or the recorder has
/// it.
pub type Mailbox = Arc<Mutex<Vec<Source>>>;

impl Discovery {
    /// Makes a discovery that has found no topics yet. It puts new sources into the mailbox.
    ///
    /// # Errors
    /// The domain cannot be joined.
    pub fn new(node: Node, selection: Selection, topics: Arc<Topics>, mailbox: Mailbox) -> Result<Discovery> {
        let participant = Participant::join(node.domain_id())?;
        let own = participant.nodes_of_name(&node.fully_qualified_name())?.first().map(|own| own.description.gid);
        let (known, refused) = (BTreeMap::new(), BTreeMap::new());
        Ok(Discovery { mailbox, node, participant, own, selection, topics, known, refused })
    }

    /// Reads the graph, and puts new sources into the mailbox.
    ///
    /// # Errors
    /// The graph of the domain cannot be read.
    pub fn look(&mut self) -> Result<()> {
        let own = self.own;
        let is_recorded = |endpoint: &EndpointDescription| {
            endpoint.role == Role::Publisher
                && !own.is_some_and(|own| own.is_of_same_process(&endpoint.gid))
                && service_topic(&endpoint.topic).is_none()
                && self.selection.has(&endpoint.topic)
        };
        let mut found: BTreeMap<(String, TypeDescription), Vec<Qos>> = BTreeMap::new();
        for entry in self.participant.graph()? {
            let endpoint = &entry.description;
            if is_recorded(endpoint) {
                let key = (endpoint.topic.clone(), type_key(&endpoint.message_type));
                found.entry(key).or_default().push(endpoint.qos);
            }
        }
        for ((topic, of_type), offered) in found {
            if let Err(error) = self.add(&topic, of_type, &offered) {
                let why = error.to_string();
                if self.refused.get(&topic) != Some(&why) {
                    say(format_args!("{topic} is not recorded: {why}"));
                    self.refused.insert(topic, why);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, topic: &str, of_type: TypeDescription, offered: &[Qos]) -> Result<()> {
        let next_id =
            u16::try_from(self.known.len() + 1).map_err(|_| "a file has at most 65,535 channels".to_owned())?;
        let key = (topic.to_owned(), of_type.clone());
        let known = self.known.entry(key).or_insert_with(|| {
            let channel = Arc::new(channel(next_id, topic, next_id, &of_type, offered));
            let topic = Arc::new(Topic {
                name: topic.to_owned(),
                type_name: of_type.name.clone(),
                hash: of_type.rihs01().unwrap_or_default(),
                ..Topic::default()
            });
            if of_type.definition.is_empty() {
                let (name, of_type) = (&topic.name, &of_type.name);
                say(format_args!("{name}: no definition of {of_type} is known, so the file has none either"));
            }
            self.topics.add(next_id, topic.clone());
            Known { channel, topic, has_volatile: false, has_latched: false }
        });
        {
            let mut profiles = lock(&known.topic.offered);
            let new: Vec<Qos> = offered.iter().filter(|qos| !profiles.contains(qos)).copied().collect();
            profiles.extend(new);
        }
        let is_latched = |qos: &&Qos| qos.durability == Durability::TransientLocal;
        let latched: Vec<&Qos> = offered.iter().filter(is_latched).collect();
        let avoid_ros_namespace_conventions = is_native(&self.node, topic);
        let base = Qos { avoid_ros_namespace_conventions, ..Qos::default().best_effort() };
        let subscribe = |qos: Qos| -> Result<()> {
            let mut found = lock(&self.mailbox);
            let since_ns = SourceTime::now().monotonic_ns;
            let subscription = self.node.create_generic_subscription(topic, of_type.clone(), qos)?;
            let (channel, topic) = (known.channel.clone(), known.topic.clone());
            found.push(Source { subscription, channel, topic, since_ns });
            Ok(())
        };
        if !latched.is_empty() && !known.has_latched {
            let depth = latched.iter().map(|qos| qos.depth).fold(0, u32::saturating_add);
            subscribe(base.keep_last(depth.clamp(LATCHED_DEPTH.0, LATCHED_DEPTH.1)).transient_local())?;
            known.has_latched = true;
        }
        if latched.len() < offered.len() && !known.has_volatile {
            subscribe(base.keep_last(DEPTH))?;
            known.has_volatile = true;
        }
        Ok(())
    }

    /// The topics that the user has named and that have no publisher yet.
    #[must_use]
    pub fn absent(&self) -> Vec<&str> {
        let names = self.selection.names().iter().map(String::as_str);
        names.filter(|name| !self.known.keys().any(|(topic, _)| topic == name)).collect()
    }

    /// Reads the graph after each change, until the program ends. Calls `wake` after new sources.
    pub fn run(mut self, wake: impl Fn()) {
        let mut seen = self.participant.graph_generation().ok();
        let mut has_failed = false;
        while gantry::ok() {
            match self.look() {
                Ok(()) => {
                    has_failed = false;
                    if !lock(&self.mailbox).is_empty() {
                        wake();
                    }
                }
                Err(error) if !has_failed => {
                    say(format_args!("new topics are not seen: {error}"));
                    has_failed = true;
                }
                Err(_) => {}
            }
            let changed = seen.map(|seen| self.participant.wait_for_graph_change(seen, PERIOD));
            if !matches!(changed, Some(Ok(_))) {
                std::thread::sleep(PERIOD); // avoids a busy loop if each wait fails at once
            }
            if !matches!(changed, Some(Ok(false))) {
                seen = self.participant.graph_generation().ok();
            }
        }
    }
}

/// The type description without the payload length, because publishers of the same type may differ in it.
fn type_key(of_type: &TypeDescription) -> TypeDescription {
    TypeDescription { payload_bytes: usize::MAX, ..of_type.clone() }
}
