//! The settings of an agent.

mod access;
mod types;

pub use access::Access;
pub use types::Types;

use crate::log::Log;
use std::{fmt, sync::Arc};

/// The settings of an agent.
#[derive(Clone)]
pub struct Config {
    /// The domain of participants.
    pub domain: DomainChoice,
    /// The types that clients can use.
    pub types: Arc<Types>,
    /// The clients that are taken.
    pub access: Access,
    /// The limits of clients.
    pub limits: Limits,
    /// Where the lines of the log go.
    pub log: Arc<Log>,
}

/// The domain of a participant, beside the one that its client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainChoice {
    /// This domain; a client that asks for another domain is refused.
    Only(u32),
    /// This domain, whatever the client asks for.
    Always(u32),
    /// The domain that the client asks for, any of the user's.
    AsAsked,
}

/// The limits of clients. A request beyond a limit is answered with the status "resources".
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Clients.
    pub clients: usize,
    /// The number of clients of one host. A host is an IP address, or an address on another transport. A host may begin
    /// four times this number of sessions at once, and then this number in each second.
    pub clients_of_host: usize,
    /// The longest silence before the agent asks a client whether it is alive, in milliseconds, whatever the client
    /// states.
    pub silence_ms: u32,
    /// Domains of all clients together: each takes a thread.
    pub domains: usize,
    /// Objects of a client.
    pub objects: usize,
    /// The longest message from a client, in bytes: each client takes this memory once it sends fragments.
    pub message_bytes: usize,
    /// The number of requests of a requester that wait for their replies; beyond it the oldest request is given up.
    pub requests: usize,
    /// Shared memory of the data writers, requests and replies of a client together, in bytes.
    pub writer_bytes: usize,
    /// Shared memory of the data writers, requests and replies of all clients together, in bytes.
    pub all_writer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            clients: 100,
            clients_of_host: 25,
            silence_ms: 10_000,
            domains: 8,
            objects: 256,
            message_bytes: 1 << 20,
            requests: 64,
            writer_bytes: 64 << 20,
            all_writer_bytes: 256 << 20,
        }
    }
}

impl Default for Config {
    /// Domain 0, the standard types, all clients, and no log.
    fn default() -> Self {
        Self {
            domain: DomainChoice::Only(0),
            types: Arc::new(Types::standard()),
            access: Access::default(),
            limits: Limits::default(),
            log: Arc::default(),
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("domain", &self.domain)
            .field("access", &self.access)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
