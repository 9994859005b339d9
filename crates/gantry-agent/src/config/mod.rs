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
    /// The rule for the domain of each client's node.
    pub domain: DomainChoice,
    /// The types that clients can use.
    pub types: Arc<Types>,
    /// The rules by which clients are accepted.
    pub access: Access,
    /// The limits for clients.
    pub limits: Limits,
    /// The destination of the log.
    pub log: Arc<Log>,
}

/// The rule for the domain of a client's participant. The client's request to create the participant states a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainChoice {
    /// Always this domain; a client that asks for another domain is refused.
    Only(u32),
    /// Always this domain; the domain that the client asks for is ignored.
    Always(u32),
    /// The domain that the client asks for. It may be any domain of the user that runs the agent.
    AsAsked,
}

/// The limits for clients. A request beyond a limit is answered with the status "resources".
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest number of clients.
    pub clients: usize,
    /// The largest number of clients of one host. A host is an IP address, or an address on another transport. A host
    /// may begin four times this number of sessions at once, and after that this number per second.
    pub clients_of_host: usize,
    /// The longest silence before the agent asks a client for a sign of life, in milliseconds. A client that states a
    /// longer time gets this one.
    pub silence_ms: u32,
    /// The largest number of domains of all clients together. Each domain needs a thread.
    pub domains: usize,
    /// The largest number of objects of a client.
    pub objects: usize,
    /// The largest length of a message from a client, in bytes. Each client that sends fragments needs a buffer of this
    /// size.
    pub message_bytes: usize,
    /// The largest number of requests of a requester that wait for their responses. If there are more, the oldest
    /// request is given up.
    pub requests: usize,
    /// The largest size of the shared memory for the data that one client writes (samples, requests and replies), in
    /// bytes.
    pub writer_bytes: usize,
    /// The largest size of the shared memory for the data that all clients together write, in bytes.
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
    /// The default settings: domain 0, the standard types, all clients, and no log.
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
