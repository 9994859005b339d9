//! The nodes that a bridge claims: it shows them without their endpoints until other bridges must have seen it.

use std::{
    collections::HashMap,
    hash::Hash,
    time::{Duration, Instant},
};

/// The time until other bridges have seen a claim, and have given up a worse one.
const CLAIM_TIME: Duration = Duration::from_millis(500);

/// Whether a node crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// The node is not shown yet: its origin may be unknown.
    Waits,
    /// The node is shown, and its endpoints are not yet.
    Claimed,
    /// The node crosses with its endpoints.
    Open,
}

/// The nodes that cross in one direction, since when each was claimed.
#[derive(Debug)]
pub struct Claims<N>(HashMap<N, (u128, Instant)>);

impl<N> Default for Claims<N> {
    fn default() -> Claims<N> {
        Claims(HashMap::new())
    }
}

impl<N: Clone + Eq + Hash> Claims<N> {
    /// The passage of a node with this key, which is claimed from now on. With `is_contested` it waits until the claim
    /// is known.
    pub fn claim(&mut self, node: &N, key: u128, is_contested: bool) -> Passage {
        let now = Instant::now();
        let (of, since) = self.0.entry(node.clone()).or_insert((key, now));
        if *of != key {
            (*of, *since) = (key, now);
        }
        if is_contested && since.elapsed() < CLAIM_TIME { Passage::Claimed } else { Passage::Open }
    }

    /// Gives up the claims of other nodes.
    pub fn retain(&mut self, is_claimed: impl Fn(&N) -> bool) {
        self.0.retain(|node, _| is_claimed(node));
    }
}
