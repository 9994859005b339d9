//! The Zenoh session, and the numbers of the nodes and endpoints that it shows.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};
use zenoh::{Config, Session, Wait, liveliness::LivelinessToken};

/// The time-out for results of actions, which may take hours: practically endless.
pub const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// The bridge's session.
pub struct Network {
    pub session: Session,
    pub domain_id: u32,
    /// The id of the session, in the form that tokens have.
    pub session_id: String,
    /// The next number of a node or an endpoint. Relaxed: the number only has to be unique.
    next_number: AtomicU64,
    /// The number of malformed texts and messages from the network.
    pub malformed: AtomicU64,
}

impl Network {
    pub fn open(config: Config, domain_id: u32) -> zenoh::Result<Network> {
        let session = zenoh::open(config).wait()?;
        let session_id = session.zid().to_string();
        Ok(Network { session, domain_id, session_id, next_number: AtomicU64::new(0), malformed: AtomicU64::new(0) })
    }

    pub fn next_number(&self) -> u64 {
        self.next_number.fetch_add(1, Relaxed)
    }

    /// Declares a liveliness token. The network sees the node or the endpoint until the token is dropped.
    pub fn declare_token(&self, text: &str) -> zenoh::Result<LivelinessToken> {
        self.session.liveliness().declare_token(text.to_owned()).wait()
    }

    pub fn count_malformed(&self) {
        self.malformed.fetch_add(1, Relaxed);
    }
}
