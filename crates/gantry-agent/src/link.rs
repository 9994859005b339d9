//! Links to clients: the interface between the agent and its transports.

use std::{fmt, io, net::SocketAddr, sync::Arc};

/// A client's address on its transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerAddress {
    /// The address of a client over UDP or TCP.
    Socket(SocketAddr),
    /// The address in a serial frame, or the CAN identifier of a frame.
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

/// A transport, which sends messages to clients. Messages from clients go to [`Port::receive`](crate::Port::receive).
///
/// The agent calls these methods from any thread. It may hold the lock of a client while it calls `send` or `has_room`,
/// so these two must not wait for a slow line.
pub trait Transport: Send + Sync {
    /// Sends a message.
    ///
    /// # Errors
    /// An error of the operating system.
    fn send(&self, peer: PeerAddress, message: &[u8]) -> io::Result<()>;

    /// Whether the line accepts a message now. If the result is `false`, the transport later calls
    /// [`Port::has_room`](crate::Port::has_room) when there is room again.
    fn has_room(&self, _peer: PeerAddress) -> bool {
        true
    }

    /// Ends the connection to the client at this address, because the client's session has ended. Transports without
    /// connections do nothing.
    fn disconnect(&self, _peer: PeerAddress) {}

    /// The largest length of a message that the transport carries, in bytes.
    fn max_message_bytes(&self) -> usize;

    /// The name of the transport in the log, such as "udp".
    fn name(&self) -> &str;
}

/// The line to one client: its transport, and its address there.
#[derive(Clone)]
pub struct ClientLink {
    pub transport: Arc<dyn Transport>,
    pub peer: PeerAddress,
}

impl ClientLink {
    pub fn send(&self, message: &[u8]) -> io::Result<()> {
        self.transport.send(self.peer, message)
    }

    pub fn has_room(&self) -> bool {
        self.transport.has_room(self.peer)
    }
}

impl fmt::Display for ClientLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.transport.name(), self.peer)
    }
}
