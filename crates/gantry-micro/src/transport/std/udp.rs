//! UDP.

use crate::transport::Transport;
use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    os::fd::{AsFd, BorrowedFd},
};

/// A transport that sends each message as a UDP datagram to one agent.
#[derive(Debug)]
pub struct UdpTransport {
    socket: UdpSocket,
}

impl UdpTransport {
    /// Makes a socket for the agent at `agent`. The agent need not run yet.
    ///
    /// # Errors
    /// An error of the socket.
    pub fn new(agent: SocketAddr) -> io::Result<Self> {
        let any = if agent.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
        socket.connect(agent)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket })
    }
}

impl AsFd for UdpTransport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Whether the error means that no agent listens now. Such an error is ignored: the session detects by itself that the
/// agent does not answer.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::Interrupted)
}

impl Transport for UdpTransport {
    type Error = io::Error;

    fn send(&mut self, message: &[u8]) -> io::Result<bool> {
        match self.socket.send(message) {
            Ok(_) => Ok(true),
            Err(error) if is_absence(&error) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.socket.recv(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if is_absence(&error) || error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}
