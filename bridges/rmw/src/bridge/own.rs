//! The bridge's own nodes and endpoints on the network, so that the bridge can leave them out of the network's graph.
//!
//! An RMW returns the GID of a publisher that it creates, but not the GID of a subscription. So the bridge takes the
//! GID from the graph: the first new subscription with the right node and topic is assumed to be the bridge's.

use gantry::Gid;
use gantry_bridge::{Endpoint, Kind};
use std::collections::{HashMap, HashSet};

/// The namespace and the name of a node.
pub type Names = (String, String);

/// The bridge's own nodes and endpoints.
#[derive(Debug, Default)]
pub struct Own {
    nodes: HashMap<Names, usize>,
    publishers: HashSet<Gid>,
    subscriptions: Vec<OwnSubscription>,
    /// The GIDs of the bridge's endpoints that have ended, until the graph does not list them any more.
    leaving: HashSet<Gid>,
    /// The GIDs of all subscriptions in the last reading of the graph. `reading` collects the GIDs of the current
    /// reading.
    seen: HashSet<Gid>,
    reading: HashSet<Gid>,
}

#[derive(Debug)]
struct OwnSubscription {
    /// The GID of the local subscription that this subscription represents.
    of: Gid,
    node: Names,
    topic: String,
    gid: Option<Gid>,
}

impl Own {
    pub fn add_node(&mut self, names: Names) {
        *self.nodes.entry(names).or_default() += 1;
    }

    pub fn remove_node(&mut self, names: &Names) {
        if let Some(count) = self.nodes.get_mut(names) {
            *count = count.saturating_sub(1);
        }
    }

    pub fn has_node(&self, names: &Names) -> bool {
        self.nodes.get(names).is_some_and(|count| *count > 0)
    }

    /// The names of the bridge's nodes, each with the number of nodes that have this name.
    pub fn node_counts(&self) -> HashMap<Names, usize> {
        self.nodes.clone()
    }

    pub fn add_publisher(&mut self, gid: Gid) {
        self.publishers.insert(gid);
    }

    pub fn remove_publisher(&mut self, gid: Gid) {
        self.leaving.extend(self.publishers.take(&gid));
    }

    /// Adds a subscription that was created after the last reading of the graph. `of` is the local subscription that it
    /// represents.
    pub fn add_subscription(&mut self, of: Gid, node: Names, topic: &str) {
        self.subscriptions.push(OwnSubscription { of, node, topic: topic.to_owned(), gid: None });
    }

    /// Sets another local subscription that a subscription of the bridge represents.
    pub fn rename_subscription(&mut self, old: Gid, new: Gid) {
        self.subscriptions.iter_mut().filter(|own| own.of == old).for_each(|own| own.of = new);
    }

    pub fn remove_subscription(&mut self, of: Gid) {
        let index = self.subscriptions.iter().position(|own| own.of == of);
        if let Some(own) = index.map(|index| self.subscriptions.swap_remove(index)) {
            self.leaving.extend(own.gid);
        }
    }

    /// Starts a reading of the graph.
    pub fn begin(&mut self) {
        self.reading.clear();
    }

    /// Ends a reading of the graph. Returns true if a subscription of the bridge was not found in the graph yet.
    pub fn end(&mut self) -> bool {
        std::mem::swap(&mut self.seen, &mut self.reading);
        self.leaving.retain(|gid| self.seen.contains(gid));
        self.subscriptions.iter().any(|own| own.gid.is_none())
    }

    /// True if an endpoint of the graph is the bridge's own.
    pub fn is_own(&mut self, gid: Gid, node: &Names, endpoint: &Endpoint) -> bool {
        if self.publishers.contains(&gid) {
            return true;
        }
        if self.leaving.contains(&gid) {
            self.reading.insert(gid);
            return true;
        }
        if endpoint.kind != Kind::Subscription {
            return false;
        }
        if self.subscriptions.iter().any(|own| own.gid == Some(gid)) {
            self.reading.insert(gid);
            return true;
        }
        let is_new = !self.seen.contains(&gid);
        let is_its = |own: &&mut OwnSubscription| own.gid.is_none() && own.node == *node && own.topic == endpoint.name;
        if is_new && let Some(own) = self.subscriptions.iter_mut().find(is_its) {
            own.gid = Some(gid);
            self.reading.insert(gid);
            return true;
        }
        // A subscription whose node has no name yet may be the bridge's own, so it is not remembered as a foreign one.
        if self.nodes.contains_key(node) || !node.1.is_empty() && !node.1.starts_with("_NODE_NAME_UNKNOWN") {
            self.reading.insert(gid);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry::Qos;

    fn names(name: &str) -> Names {
        ("/".to_owned(), name.to_owned())
    }

    fn reading(own: &mut Own, endpoints: &[(u8, &str)]) -> Vec<u8> {
        own.begin();
        let endpoint = Endpoint {
            kind: Kind::Subscription,
            name: "/chatter".into(),
            type_name: String::new(),
            hash: [0; 32],
            qos: Qos::default(),
        };
        let far = endpoints.iter().filter(|(id, node)| !own.is_own(Gid([*id; 16]), &names(node), &endpoint));
        let far = far.map(|(id, _)| *id).collect();
        own.end();
        far
    }

    #[test]
    fn a_subscription_is_known_by_its_node_topic_and_time() {
        let mut own = Own::default();
        own.add_node(names("listener"));
        assert_eq!(reading(&mut own, &[(1, "listener"), (2, "other")]), [1, 2], "namesakes on other hosts");
        own.add_subscription(Gid([9; 16]), names("listener"), "/chatter");
        assert_eq!(reading(&mut own, &[(1, "listener"), (2, "other")]), [1, 2], "the graph has no new one yet");
        let unknown = (3, "_NODE_NAME_UNKNOWN_");
        assert_eq!(reading(&mut own, &[(1, "listener"), unknown, (2, "other")]), [1, 3, 2], "it has no node yet");
        assert_eq!(reading(&mut own, &[(1, "listener"), (3, "listener"), (2, "other")]), [1, 2]);
        assert_eq!(reading(&mut own, &[(1, "listener"), (3, "listener"), (4, "listener")]), [1, 4]);
        own.remove_subscription(Gid([9; 16]));
        assert_eq!(reading(&mut own, &[(1, "listener"), (3, "listener")]), [1], "it leaves the graph soon");
    }
}
