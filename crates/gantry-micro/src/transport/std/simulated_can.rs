//! A simulated CAN bus, for kernels without SocketCAN.

use super::{
    can_frames::{check_identifier, read_frame, write_frame},
    is_absence,
};
use crate::transport::{CanFd, CanFdTransport};
use gantry_xrce::framing::socket_can::Frame;
use rustix::{
    io::Errno,
    net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with,
        sockopt::set_socket_send_buffer_size,
    },
};
use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

/// The requested size of the send buffer. The kernel raises it to its minimum, which holds about six frames, similar to
/// the mailboxes of a CAN controller.
const SEND_BUFFER_BYTES: usize = 1;

/// A node of the simulated bus of `gantry-agent can --simulated PATH`. If the bus is gone, for example because the
/// agent has ended, the node tries to connect again with each frame that it sends.
#[derive(Debug)]
pub struct SimulatedCan {
    bus: SocketAddrUnix,
    socket: Option<OwnedFd>,
    identifier: u32,
}

impl SimulatedCan {
    /// Makes a transport over the bus at `path` for the client with the 29-bit `identifier`. The bus need not exist
    /// yet.
    ///
    /// # Errors
    /// The path belongs to another program than a bus, or is too long for a socket address; or the identifier has more
    /// than 29 bits.
    pub fn connect(path: impl AsRef<Path>, identifier: u32) -> io::Result<CanFdTransport<Self>> {
        let bus = SocketAddrUnix::new(path.as_ref())?;
        let mut node = Self { bus, socket: None, identifier: check_identifier(identifier)? };
        node.open()?;
        Ok(CanFdTransport::new(node))
    }

    /// Whether the node is connected to the bus. The node notices the end of the bus only when it sends or receives.
    pub fn is_connected(&self) -> bool {
        self.socket.is_some()
    }

    /// The socket, if the node is connected.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.socket.as_ref().map(AsFd::as_fd)
    }

    /// Connects to the bus, if the bus exists.
    fn open(&mut self) -> io::Result<()> {
        if self.socket.is_some() {
            return Ok(());
        }
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        set_socket_send_buffer_size(&socket, SEND_BUFFER_BYTES)?;
        match connect(&socket, &self.bus) {
            Ok(()) => self.socket = Some(socket),
            // Too many nodes are connecting at the same time. The node tries again with its next frame.
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return lost(error.into(), ()),
        }
        Ok(())
    }
}

/// Handles the error of a failed call. If there is no bus, the call succeeds with `result`, as if a frame was lost: the
/// session detects that the agent does not answer.
fn lost<T>(error: io::Error, result: T) -> io::Result<T> {
    if is_absence(&error) { Ok(result) } else { Err(error) }
}

impl CanFd for SimulatedCan {
    type Error = io::Error;

    fn transmit(&mut self, data: &[u8]) -> io::Result<bool> {
        self.open()?;
        let Some(socket) = &self.socket else { return Ok(true) };
        // A bus with only one bit rate clears the bit rate switch.
        let frame = Frame { identifier: self.identifier, has_bit_rate_switch: true, data };
        write_frame(socket, frame).or_else(|error| {
            self.socket = None;
            lost(error, true)
        })
    }

    fn receive(&mut self, data: &mut [u8; 64]) -> io::Result<Option<usize>> {
        let Some(socket) = &self.socket else { return Ok(None) };
        read_frame(socket, self.identifier, data).or_else(|error| {
            self.socket = None;
            lost(error, None)
        })
    }
}
