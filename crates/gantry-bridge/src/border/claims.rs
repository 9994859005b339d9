//! The nodes that a bridge claims: at first it shows such a node without its endpoints, until all other bridges
//! must have seen the claim.

use std::{
    collections::HashMap,
    hash::Hash,
    time::{Duration, Instant},
};

/// The time after which other bridges have seen a claim, and have given up their claim if their way is worse.
const CLAIM_TIME: Duration = Duration::from_millis(500);

/// Whether a node crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// The node is not shown yet, because its origin may still be unknown.
    Waits,
    /// The node is shown, but its endpoints are not shown yet.
    Claimed,
    /// The node crosses with its endpoints.
    Open,
}

/// The nodes that cross in one direction. Each has the key of its origin, and the time at which it was claimed.
#[derive(Debug)]
pub struct Claims<N>(HashMap<N, (u128, Instant)>);

impl<N> Default for Claims<N> {
    fn default() -> Claims<N> {
        Claims(HashMap::new())
    }
}

impl<N: Clone + Eq + Hash> Claims<N> {
    /// Claims a node with this key, and returns its passage. If `is_contested`, the endpoints wait until other
    /// bridges have seen the claim.
    pub fn claim(&mut self, node: &N, key: u128, is_contested: bool) -> Passage {
        let now = Instant::now();
        let (of, since) = self.0.entry(node.clone()).or_insert((key, now));
        if *of != key {
            (*of, *since) = (key, now);
        }
        if is_contested && since.elapsed() < CLAIM_TIME { Passage::Claimed } else { Passage::Open }
    }

    /// Gives up the claims of all nodes for which `is_claimed` does not hold.
    pub fn retain(&mut self, is_claimed: impl Fn(&N) -> bool) {
        self.0.retain(|node, _| is_claimed(node));
    }
}
