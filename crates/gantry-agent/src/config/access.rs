//! The rules by which the agent accepts clients.

use crate::link::PeerAddress;
use gantry_xrce::wire::ClientKey;
use ipnet::IpNet;

/// The addresses and keys of the clients that the agent accepts. Neither an address nor a key proves identity: DDS-XRCE
/// sends keys in clear text, and a datagram may have a forged source address.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The networks from which UDP and TCP clients are accepted. An empty list allows all addresses.
    pub networks: Vec<IpNet>,
    /// The keys of the clients that are accepted. An empty list allows all keys.
    pub keys: Vec<ClientKey>,
}

impl Access {
    /// Whether messages from this address are accepted.
    pub(crate) fn admits_address(&self, peer: PeerAddress) -> bool {
        let PeerAddress::Socket(address) = peer else { return true };
        let ip = address.ip().to_canonical(); // a dual-stack socket reports IPv4 addresses as mapped IPv6 addresses
        self.networks.is_empty() || self.networks.iter().any(|network| network.contains(&ip))
    }

    /// Whether a client with this key may begin a session.
    pub(crate) fn admits_key(&self, key: ClientKey) -> bool {
        self.keys.is_empty() || self.keys.contains(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_limit_the_addresses_of_sockets() {
        let access = Access { networks: vec!["192.168.7.0/24".parse().unwrap()], ..Access::default() };
        let admits = |address: &str| access.admits_address(PeerAddress::Socket(address.parse().unwrap()));
        assert!(admits("192.168.7.20:5000"));
        assert!(admits("[::ffff:192.168.7.20]:5000"), "an address of version 4 at a socket of version 6");
        assert!(!admits("192.168.8.20:5000"));
        assert!(!admits("[::1]:5000"));
        assert!(access.admits_address(PeerAddress::Number(3)), "a line has no such address");
        assert!(Access::default().admits_address(PeerAddress::Socket(([8, 8, 8, 8], 1).into())));
    }

    #[test]
    fn keys_limit_the_clients() {
        let access = Access { keys: vec![ClientKey([0, 0, 0, 7])], ..Access::default() };
        assert!(access.admits_key(ClientKey([0, 0, 0, 7])));
        assert!(!access.admits_key(ClientKey([7, 0, 0, 0])));
        assert!(Access::default().admits_key(ClientKey([7, 0, 0, 0])));
    }
}
