//! Transports: the ways to clients.

mod can;
mod serial;
mod stream;
mod tcp;
mod udp;

pub use can::{Can, CanFrameBits, CanTiming};
pub use serial::Serial;
pub use tcp::Tcp;
pub use udp::Udp;

use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

/// A client's address on its transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerAddress {
    /// Of UDP and TCP.
    Socket(SocketAddr),
    /// The address in a serial frame, or the identifier of a CAN frame.
    Number(u32),
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(address) => address.fmt(f),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// A way to send messages to clients. Their messages go to [`Port::receive`](crate::Port::receive).
///
/// The agent calls it under the lock of a client, and from any thread: it does not wait for a slow line.
pub trait Transport: Send + Sync {
    /// Sends a message.
    ///
    /// # Errors
    /// The system's.
    fn send(&self, peer: PeerAddress, message: &[u8]) -> io::Result<()>;

    /// Whether the line takes a message now. After it did not, [`Port::has_room`](crate::Port::has_room) tells the
    /// agent that it does.
    fn has_room(&self, _peer: PeerAddress) -> bool {
        true
    }

    /// The client at that address is gone: ends its connection, if there is such a thing.
    fn disconnect(&self, _peer: PeerAddress) {}

    /// The longest message that it carries, in bytes.
    fn max_message_bytes(&self) -> usize;

    /// Its name in the log, as "udp".
    fn name(&self) -> &str;
}

/// The way to one client.
#[derive(Clone)]
pub(crate) struct Line {
    pub transport: Arc<dyn Transport>,
    pub peer: PeerAddress,
}

impl Line {
    pub fn send(&self, message: &[u8]) -> io::Result<()> {
        self.transport.send(self.peer, message)
    }

    pub fn has_room(&self) -> bool {
        self.transport.has_room(self.peer)
    }
}

/// The address at which this machine itself finds a socket that is bound to `address`.
fn local(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.transport.name(), self.peer)
    }
}
