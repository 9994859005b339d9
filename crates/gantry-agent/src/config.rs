//! The settings of an agent.

use crate::{log::Sink, types::Types};
use std::{fmt, sync::Arc};

/// The settings of an agent.
#[derive(Clone)]
pub struct Config {
    /// The domain of all participants; `None`: each client chooses.
    pub domain_id: Option<u32>,
    /// The types that clients can use.
    pub types: Arc<Types>,
    /// The limits of clients.
    pub limits: Limits,
    /// Where the lines of the log go. It is called by the agent's threads, and must not block.
    pub log: Arc<Sink>,
}

/// The limits of clients. A request beyond a limit is answered with the status "resources".
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Clients.
    pub clients: usize,
    /// Domains of all clients together: each takes a thread.
    pub domains: usize,
    /// Objects of a client.
    pub objects: usize,
    /// The longest message from a client, in bytes: each client takes so much memory once it sends fragments.
    pub message_bytes: usize,
    /// Requests of a requester that wait for their replies; the oldest one is given up.
    pub requests: usize,
    /// Memory that each data writer of a client may use, in bytes.
    pub writer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { clients: 100, domains: 8, objects: 256, message_bytes: 1 << 20, requests: 64, writer_bytes: 64 << 20 }
    }
}

impl Default for Config {
    /// The standard types, and no log.
    fn default() -> Self {
        Self {
            domain_id: None,
            types: Arc::new(Types::standard()),
            limits: Limits::default(),
            log: Arc::new(|_, _| {}),
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("domain_id", &self.domain_id)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
