//! The part of the domain that viewers see: channels with their feeds, services and names. An update replaces it by a
//! newer graph and returns messages about the differences.

use crate::{
    domain::{Feed, Graph, Names},
    protocol::{self, Channel, ServiceEntry},
};
use gantry::TypeDescription;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// The largest number of channels in one `advertise` message. Each channel has a schema, so the message would become
/// too long otherwise.
const CHANNELS_AT_ONCE: usize = 100;

/// The channels, services and names that viewers see.
#[derive(Debug)]
pub struct Shown {
    /// Whether viewers may call services. Otherwise services are not shown.
    may_call: bool,
    /// The feeds by topic and type.
    topics: BTreeMap<(String, TypeDescription), Arc<Feed>>,
    /// The services by name.
    services: BTreeMap<String, ServiceEntry>,
    names: [Names; 3],
    /// The numbers of messages that left their publishers' histories before feeds took them, by topic. Topics that no
    /// longer exist are included.
    lost: BTreeMap<String, Arc<AtomicU64>>,
    last_id: u32,
}

/// The effects of an update: messages for viewers, and feeds that ended.
#[derive(Debug, Default)]
pub struct News {
    /// Messages for all viewers.
    pub of_all: Vec<Vec<u8>>,
    /// The message for viewers that subscribe to the connection graph.
    pub of_graph: Option<Vec<u8>>,
    /// The feeds of channels that no longer exist.
    pub gone: Vec<Arc<Feed>>,
}

impl Shown {
    /// Makes an empty set. If `may_call` is false, viewers may not call services, and services are not shown.
    #[must_use]
    pub fn new(may_call: bool) -> Shown {
        Shown {
            may_call,
            topics: BTreeMap::new(),
            services: BTreeMap::new(),
            names: <[Names; 3]>::default(),
            lost: BTreeMap::new(),
            last_id: 0,
        }
    }

    /// Returns the messages that describe all channels and services to a new viewer. The specification also requires a
    /// message if there are no channels.
    #[must_use]
    pub fn all(&self) -> Vec<Vec<u8>> {
        let channels: Vec<&Channel> = self.topics.values().map(|feed| &feed.channel).collect();
        let mut messages: Vec<Vec<u8>> =
            channels.chunks(CHANNELS_AT_ONCE).map(|channels| protocol::advertise(channels.iter().copied())).collect();
        if messages.is_empty() {
            messages.push(protocol::advertise([].into_iter()));
        }
        if self.may_call && !self.services.is_empty() {
            messages.push(protocol::advertise_services(self.services.values()));
        }
        messages
    }

    /// The numbers of messages that left their publishers' histories before feeds took them, by topic.
    #[must_use]
    pub fn lost(&self) -> BTreeMap<String, u64> {
        let lost = self.lost.iter().map(|(topic, lost)| (topic.clone(), lost.load(Relaxed)));
        lost.filter(|(_, lost)| *lost > 0).collect()
    }

    /// Makes the message with the whole connection graph.
    #[must_use]
    pub fn graph(&self) -> Vec<u8> {
        protocol::graph_update(self.names.each_ref(), &[], &[])
    }

    /// Finds the feed of a channel.
    #[must_use]
    pub fn feed(&self, channel_id: u32) -> Option<&Arc<Feed>> {
        self.topics.values().find(|feed| feed.channel.id == channel_id)
    }

    /// All feeds.
    pub fn feeds(&self) -> impl Iterator<Item = &Arc<Feed>> {
        self.topics.values()
    }

    /// Finds a service by its number.
    #[must_use]
    pub fn service(&self, id: u32) -> Option<&ServiceEntry> {
        self.services.values().find(|service| service.id == id)
    }

    /// The names of the services.
    pub fn service_names(&self) -> impl Iterator<Item = &String> {
        self.services.keys()
    }

    /// Replaces the shown part of the domain by this graph, and returns the changes.
    pub fn update(&mut self, graph: Graph) -> News {
        let mut news = News::default();
        self.update_topics(graph.topics, &mut news);
        self.update_services(graph.services, &mut news);
        if self.names != graph.names {
            news.of_graph = Some(difference(&self.names, &graph.names));
            self.names = graph.names;
        }
        news
    }

    fn update_topics(&mut self, topics: BTreeMap<(String, TypeDescription), Option<u32>>, news: &mut News) {
        self.topics.retain(|key, feed| {
            let is_there = topics.contains_key(key);
            if !is_there {
                news.gone.push(feed.clone());
            }
            is_there
        });
        if !news.gone.is_empty() {
            let ids: Vec<u32> = news.gone.iter().map(|feed| feed.channel.id).collect();
            news.of_all.push(protocol::unadvertise(&ids));
        }
        let mut new = Vec::new();
        for ((topic, message_type), latched) in topics {
            match self.topics.get(&(topic.clone(), message_type.clone())) {
                Some(feed) => feed.set_latched(latched),
                None => {
                    self.last_id += 1;
                    let channel =
                        Channel { id: self.last_id, topic: topic.clone(), message_type: message_type.clone() };
                    new.push(channel.clone());
                    let lost = self.lost.entry(topic.clone()).or_default().clone();
                    self.topics.insert((topic, message_type), Arc::new(Feed::new(channel, latched, lost)));
                }
            }
        }
        // A counter is removed only if it is 0 and no feed shares it. A removed feed may still run, and count until it
        // ends.
        self.lost.retain(|_, lost| Arc::strong_count(lost) > 1 || lost.load(Relaxed) > 0);
        news.of_all.extend(new.chunks(CHANNELS_AT_ONCE).map(|channels| protocol::advertise(channels.iter())));
    }

    fn update_services(&mut self, services: BTreeMap<String, gantry::ServiceTypeDescription>, news: &mut News) {
        let (mut gone, mut of_services) = (Vec::new(), Vec::new());
        self.services.retain(|name, entry| {
            let is_there = services.get(name) == Some(&entry.service_type);
            if !is_there {
                gone.push(entry.id);
            }
            is_there
        });
        if !gone.is_empty() {
            of_services.push(protocol::unadvertise_services(&gone));
        }
        let mut new = Vec::new();
        for (name, service_type) in services {
            if !self.services.contains_key(&name) {
                self.last_id += 1;
                let entry = ServiceEntry { id: self.last_id, name: name.clone(), service_type };
                new.push(entry.clone());
                self.services.insert(name, entry);
            }
        }
        if !new.is_empty() {
            of_services.push(protocol::advertise_services(new.iter()));
        }
        if self.may_call {
            news.of_all.extend(of_services);
        }
    }
}

/// Makes the message with the differences between two graphs.
fn difference(before: &[Names; 3], now: &[Names; 3]) -> Vec<u8> {
    let changed = |index: usize| {
        let is_new = |(name, nodes): &(&String, &BTreeSet<String>)| before[index].get(*name) != Some(*nodes);
        now[index].iter().filter(is_new).map(|(name, nodes)| (name.clone(), nodes.clone())).collect::<Names>()
    };
    let mut lists = [0, 1, 2].map(changed);
    // A topic may have lost all its publishers but still have subscriptions, or the reverse. Such a topic still exists,
    // so one of its lists of nodes becomes empty.
    for (index, other) in [(0, 1), (1, 0)] {
        for name in
            before[index].keys().filter(|name| !now[index].contains_key(*name) && now[other].contains_key(*name))
        {
            lists[index].insert(name.clone(), BTreeSet::new());
        }
    }
    let is_there = |name: &String| now[0].contains_key(name) || now[1].contains_key(name);
    let gone: BTreeSet<&String> = before[..2].iter().flat_map(Names::keys).filter(|name| !is_there(name)).collect();
    let gone: Vec<&String> = gone.into_iter().collect();
    let gone_services: Vec<&String> = before[2].keys().filter(|name| !now[2].contains_key(*name)).collect();
    protocol::graph_update(lists.each_ref(), &gone, &gone_services)
}
