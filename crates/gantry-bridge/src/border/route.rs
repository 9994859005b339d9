//! The way of a node: the domains through which it came, and the network from which it enters a domain.

use crate::graph::Origin;
use std::cmp::Reverse;

/// The way by which a node arrives; the smallest way is the best one. The order is the same on all hosts and in both
/// directions, so that publishers and subscriptions of a topic use the same way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// The number of domains through which the node came.
    length: usize,
    /// The ids of these domains, newest first. Between ways of equal length, the one with the newer domain is better:
    /// the older one may belong to a killed bridge that its network still shows.
    domains: Reverse<Vec<u64>>,
    /// The network from which the node enters a domain; empty for the way to a network.
    network: String,
}

impl Route {
    /// Returns the way to a network that shows the node with this origin.
    pub fn to_network(origin: &Origin) -> Route {
        Route::to_domain(origin, "")
    }

    /// Returns the way into a domain, from a network that shows the node with this origin.
    pub fn to_domain(origin: &Origin, network: &str) -> Route {
        let mut domains = origin.path.clone();
        domains.sort_unstable_by_key(|id| Reverse(*id));
        Route { length: domains.len(), domains: Reverse(domains), network: network.to_owned() }
    }

    /// True if this way has more domains than the other way.
    pub fn is_longer(&self, other: &Route) -> bool {
        self.length > other.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_is_the_best_and_then_the_newest() {
        let way = |path: &[u64], network| Route::to_domain(&Origin { key: 1, path: path.to_vec() }, network);
        let ordered =
            [way(&[], "a"), way(&[], "b"), way(&[9], "b"), way(&[7], "a"), way(&[1, 7], "a"), way(&[6, 2], "a")];
        assert!(ordered.is_sorted(), "{ordered:?}");
        assert_eq!(way(&[1, 7], "a"), way(&[7, 1], "a"), "both directions");
        assert!(way(&[1, 2], "a").is_longer(&way(&[9], "a")) && !way(&[7], "a").is_longer(&way(&[9], "a")));
    }
}
