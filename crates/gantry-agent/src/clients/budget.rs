//! Limits per second: the answers to hosts without a session, the new sessions of a host, and the requests of a client.

use super::Host;
use crate::client::Rate;
use gantry_xrce::time::Instant as AgentInstant;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// The largest number of answers to one host in a second. A client needs one answer.
const MAX_ANSWERS: u32 = 100;
/// The largest number of hosts that are answered in a second. Further hosts have to ask again later.
const MAX_HOSTS: usize = 1000;
const PERIOD: Duration = Duration::from_secs(1);

/// A limit for the answers to each host, so that one host cannot use up the answers for others.
pub struct Budget {
    began: Instant,
    answers: HashMap<Host, u32>,
}

impl Budget {
    pub fn new() -> Self {
        Self { began: Instant::now(), answers: HashMap::new() }
    }

    /// Counts an answer to a host if the limit allows it. Returns whether it does.
    pub fn spend(&mut self, host: Host) -> bool {
        if self.began.elapsed() >= PERIOD {
            self.began = Instant::now();
            self.answers.clear();
        }
        if self.answers.len() >= MAX_HOSTS && !self.answers.contains_key(&host) {
            return false;
        }
        let answers = self.answers.entry(host).or_default();
        *answers += u32::from(*answers <= MAX_ANSWERS);
        *answers <= MAX_ANSWERS
    }
}

/// The limit for the sessions that each host may begin: a few at once for each of its clients, and then one per second
/// for each client. Each session has new limits, so a host could otherwise evade its limits by new sessions.
#[derive(Debug)]
pub struct Logins {
    rates: HashMap<Host, Rate>,
    at_once: u32,
    per_s: u32,
}

/// The number of sessions that a host may begin at once, per client that the host may have.
const LOGINS_AT_ONCE: u32 = 4;

impl Logins {
    pub fn new(clients_of_host: usize) -> Self {
        let clients = u32::try_from(clients_of_host).unwrap_or(u32::MAX).max(1);
        Self { rates: HashMap::new(), at_once: clients.saturating_mul(LOGINS_AT_ONCE), per_s: clients }
    }

    /// Counts a new session of a host if the limit allows it. Returns whether it does.
    pub fn spend(&mut self, host: Host, now: AgentInstant) -> bool {
        if self.rates.len() >= MAX_HOSTS && !self.rates.contains_key(&host) {
            let full_after_us = 1_000_000 * u64::from(LOGINS_AT_ONCE);
            self.rates.retain(|_, rate| now.as_us().saturating_sub(rate.filled_at.as_us()) < full_after_us);
            if self.rates.len() >= MAX_HOSTS {
                return false;
            }
        }
        self.rates.entry(host).or_insert_with(|| Rate::new(self.at_once, self.per_s, now)).spend(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_its_logins() {
        let (at, host) = (AgentInstant::from_us, |number| Host::Node(0, number));
        let mut logins = Logins::new(1);
        assert_eq!([(); 5].map(|()| logins.spend(host(0), at(0))), [true, true, true, true, false]);
        assert!((1..MAX_HOSTS as u32).all(|number| logins.spend(host(number), at(0))));
        assert!(!logins.spend(host(MAX_HOSTS as u32), at(3_999_999)));
        assert!(logins.spend(host(0), at(3_999_999)));
        assert!(logins.spend(host(MAX_HOSTS as u32), at(4_000_000)), "the others may begin as many as at first");
        assert!(logins.rates.len() <= 2);
    }
}
