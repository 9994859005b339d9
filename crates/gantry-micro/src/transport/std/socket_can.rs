//! A transport over SocketCAN, if the kernel has it.

use super::can_frames::{check_identifier, read_frame, write_frame};
use crate::transport::{CanFd, CanFdTransport};
use gantry_xrce::framing::socket_can::{Frame, MAX_IDENTIFIER};
use socketcan::{CanFdSocket, CanFilter, Socket, SocketOptions};
use std::io;

/// A CAN-FD interface of Linux, such as `can0` or `vcan0`.
#[derive(Debug)]
pub struct SocketCan {
    socket: CanFdSocket,
    identifier: u32,
}

impl SocketCan {
    /// Makes a transport over `interface` for the client with the 29-bit `identifier`.
    ///
    /// # Errors
    /// The kernel does not support CAN, has no interface with this name, or the identifier has more than 29 bits.
    pub fn open(interface: &str, identifier: u32) -> io::Result<CanFdTransport<Self>> {
        let identifier = check_identifier(identifier)?;
        let socket = CanFdSocket::open(interface)?;
        socket.set_filters(&[CanFilter::new(identifier, MAX_IDENTIFIER)])?;
        socket.set_nonblocking(true)?;
        Ok(CanFdTransport::new(Self { socket, identifier }))
    }
}

impl CanFd for SocketCan {
    type Error = io::Error;

    fn transmit(&mut self, data: &[u8]) -> io::Result<bool> {
        write_frame(&self.socket, Frame { identifier: self.identifier, has_bit_rate_switch: false, data })
    }

    fn receive(&mut self, data: &mut [u8; 64]) -> io::Result<Option<usize>> {
        read_frame(&self.socket, self.identifier, data)
    }
}
