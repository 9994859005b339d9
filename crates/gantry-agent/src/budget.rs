//! Budgets: how many answers go to those that have no session.

use crate::clients::Address;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// The answers to an address in a second: a client needs one.
const MAX_ANSWERS: u32 = 20;
/// The addresses of a second. Further ones are not answered, but may be in the next second.
const MAX_ADDRESSES: usize = 1000;
const PERIOD: Duration = Duration::from_secs(1);

/// A limit to the answers to each address, so that nobody uses up those of others.
pub struct Budget {
    began: Instant,
    answers: HashMap<Address, u32>,
}

impl Budget {
    pub fn new() -> Self {
        Self { began: Instant::now(), answers: HashMap::new() }
    }

    /// Whether an address may be answered. Counts the answer.
    pub fn spend(&mut self, address: Address) -> bool {
        if self.began.elapsed() >= PERIOD {
            self.began = Instant::now();
            self.answers.clear();
        }
        if self.answers.len() >= MAX_ADDRESSES && !self.answers.contains_key(&address) {
            return false;
        }
        let answers = self.answers.entry(address).or_default();
        *answers += u32::from(*answers <= MAX_ANSWERS);
        *answers <= MAX_ANSWERS
    }
}
