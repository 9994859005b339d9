//! The ways by which a node comes to a place, a domain or a network.

use crate::graph::Origin;
use std::cmp::Reverse;

/// A way; the smallest is the best. The order is the same on all hosts, and for both directions between two places, so
/// that the two ends of a topic come by the same way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// The number of domains that bring the node.
    length: usize,
    /// Their ids: of two ways, the one of the domain that started last, because the other may be of a bridge that was
    /// killed and that its network still shows.
    domains: Reverse<Vec<u64>>,
    /// The network by which it comes into a domain.
    network: String,
}

impl Way {
    /// The way to a network, by which a node has this origin there.
    pub fn to_network(origin: &Origin) -> Way {
        Way::to_domain(origin, "")
    }

    /// The way to a domain by a network.
    pub fn to_domain(origin: &Origin, network: &str) -> Way {
        let mut domains = origin.path.clone();
        domains.sort_unstable_by_key(|id| Reverse(*id));
        Way { length: domains.len(), domains: Reverse(domains), network: network.to_owned() }
    }

    /// Whether this way has more domains than another.
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
