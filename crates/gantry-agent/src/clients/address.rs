//! The addresses and hosts of clients.

use crate::link::PeerAddress;
use std::net::IpAddr;

/// The address of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The number of the client's transport.
    pub port: u32,
    pub peer: PeerAddress,
}

/// The machine of a client, identified by the client's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    Ip(IpAddr),
    /// A node on a transport without IP addresses: the number of the transport, and the node's address on it.
    Node(u32, u32),
}

impl Address {
    pub fn host(self) -> Host {
        match self.peer {
            PeerAddress::Socket(address) => Host::Ip(address.ip().to_canonical()),
            PeerAddress::Number(number) => Host::Node(self.port, number),
        }
    }
}
