//! Transport over TCP. After a lost connection, it makes a new one.

use super::{Port, is_absence};
use crate::transport::{LengthPrefixTransport, Transport};
use rustix::{
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt},
};
use std::{
    io,
    net::SocketAddr,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

/// The size of the send buffer, so that only a few messages wait in the kernel. The default size is megabytes. A
/// publisher that is faster than the line would then get no error for a long time, and its messages would arrive
/// minutes late.
const SEND_BUFFER_BYTES: usize = 8192;

/// A transport over a TCP connection to one agent. If the connection is lost, the next message opens a new one.
#[derive(Debug)]
pub struct TcpTransport {
    agent: SocketAddr,
    connection: Option<LengthPrefixTransport<Port<OwnedFd>>>,
}

impl TcpTransport {
    /// Makes a transport to the agent at `agent`. The agent need not run yet.
    pub fn new(agent: SocketAddr) -> Self {
        Self { agent, connection: None }
    }

    /// The socket of the connection, whose handshake may still be in progress; `None` if there is no connection.
    pub fn descriptor(&mut self) -> Option<BorrowedFd<'_>> {
        self.connection.as_mut().map(|connection| connection.port().0.as_fd())
    }

    fn connect(&self) -> io::Result<LengthPrefixTransport<Port<OwnedFd>>> {
        let family = if self.agent.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(family, SocketType::STREAM, flags, None)?;
        // Disables Nagle's algorithm, so that the socket sends each message at once.
        sockopt::set_tcp_nodelay(&socket, true)?;
        sockopt::set_socket_send_buffer_size(&socket, SEND_BUFFER_BYTES)?;
        match connect(&socket, &self.agent) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(LengthPrefixTransport::new(Port(socket))),
            Err(error) => Err(error.into()),
        }
    }
}

impl Transport for TcpTransport {
    type Error = io::Error;

    fn send(&mut self, message: &[u8]) -> io::Result<bool> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => {
                let new = self.connect()?;
                self.connection.insert(new)
            }
        };
        match connection.send(message) {
            Err(error) => {
                self.connection = None;
                if is_absence(&error) { Ok(true) } else { Err(error) }
            }
            sent => sent,
        }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(connection) = &mut self.connection else { return Ok(None) };
        match connection.receive(buffer) {
            Err(error) => {
                self.connection = None;
                if is_absence(&error) { Ok(None) } else { Err(error) }
            }
            received => received,
        }
    }
}
