//! The ways by which a node reaches a domain or a network.

use crate::graph::Origin;
use std::cmp::Reverse;

/// A way of a node; the smallest way is the best one. The order is the same on all hosts and in both directions, so
/// that publishers and subscriptions of a topic cross by the same way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// The number of domains through which the node has come.
    length: usize,
    /// The ids of these domains. Of two ways, the one whose domain started last is better: the other one may belong
    /// to a bridge that was killed, but that its network still shows.
    domains: Reverse<Vec<u64>>,
    /// The network by which the node enters a domain.
    network: String,
}

impl Way {
    /// The way of a node to a network that shows the node with this origin.
    pub fn to_network(origin: &Origin) -> Way {
        Way::to_domain(origin, "")
    }

    /// The way of a node with this origin into a domain, by a network.
    pub fn to_domain(origin: &Origin, network: &str) -> Way {
        let mut domains = origin.path.clone();
        domains.sort_unstable_by_key(|id| Reverse(*id));
        Way { length: domains.len(), domains: Reverse(domains), network: network.to_owned() }
    }

    /// Whether this way leads through more domains than the other way.
    pub fn is_longer(&self, other: &Way) -> bool {
        self.length > other.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_is_the_best_and_then_the_newest() {
        let way = |path: &[u64], network| Way::to_domain(&Origin { key: 1, path: path.to_vec() }, network);
        let ordered =
            [way(&[], "a"), way(&[], "b"), way(&[9], "b"), way(&[7], "a"), way(&[1, 7], "a"), way(&[6, 2], "a")];
        assert!(ordered.is_sorted(), "{ordered:?}");
        assert_eq!(way(&[1, 7], "a"), way(&[7, 1], "a"), "both directions");
        assert!(way(&[1, 2], "a").is_longer(&way(&[9], "a")) && !way(&[7], "a").is_longer(&way(&[9], "a")));
    }
}
