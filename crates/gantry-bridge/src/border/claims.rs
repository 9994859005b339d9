//! Claims of nodes. A bridge claims a node by showing it without its endpoints, until all other bridges must have seen
//! the claim. So two bridges never carry the same node at the same time.

use std::{
    collections::HashMap,
    hash::Hash,
    time::{Duration, Instant},
};

/// The time within which other bridges see a claim, and give up their claim of the same node if their way to it is
/// worse.
const CLAIM_TIME: Duration = Duration::from_millis(500);

/// The state of a node at the border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// The node is not shown yet, because its origin may not have arrived.
    Waits,
    /// The node is shown, but its endpoints are not shown yet.
    Claimed,
    /// The node and its endpoints are shown.
    Open,
}

/// The claimed nodes of one direction, each with the key of its origin and the time of its claim.
#[derive(Debug)]
pub struct Claims<N>(HashMap<N, (u128, Instant)>);

impl<N> Default for Claims<N> {
    fn default() -> Claims<N> {
        Claims(HashMap::new())
    }
}

impl<N: Clone + Eq + Hash> Claims<N> {
    /// Claims a node with this origin key, and returns the node's state. If `is_contested`, the endpoints wait until
    /// other bridges have seen the claim.
    pub fn claim(&mut self, node: &N, key: u128, is_contested: bool) -> Passage {
        let now = Instant::now();
        let (of, since) = self.0.entry(node.clone()).or_insert((key, now));
        if *of != key {
            (*of, *since) = (key, now);
        }
        if is_contested && since.elapsed() < CLAIM_TIME { Passage::Claimed } else { Passage::Open }
    }

    /// Gives up the claims of all nodes for which `is_claimed` returns false.
    pub fn retain(&mut self, is_claimed: impl Fn(&N) -> bool) {
        self.0.retain(|node, _| is_claimed(node));
    }
}
