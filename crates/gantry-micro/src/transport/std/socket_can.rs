//! SocketCAN, where the kernel has it.

use crate::transport::{CanFd, CanFdTransport};
use socketcan::{CanAnyFrame, CanFdFrame, CanFdSocket, CanFilter, EmbeddedFrame, ExtendedId, Socket, SocketOptions};
use std::io;

/// A CAN-FD interface of Linux, such as `can0` or `vcan0`.
#[derive(Debug)]
pub struct SocketCan {
    socket: CanFdSocket,
    id: ExtendedId,
}

impl SocketCan {
    /// A transport over `interface` for the client with the identifier `id`, of 29 bits.
    ///
    /// # Errors
    /// The kernel has no CAN, or not this interface; the identifier has more than 29 bits.
    pub fn open(interface: &str, id: u32) -> io::Result<CanFdTransport<Self>> {
        let no_id = || io::Error::new(io::ErrorKind::InvalidInput, "the identifier of a client has 29 bits");
        let extended = ExtendedId::new(id).ok_or_else(no_id)?;
        let socket = CanFdSocket::open(interface)?;
        socket.set_filters(&[CanFilter::new(id, ExtendedId::MAX.as_raw())])?;
        socket.set_nonblocking(true)?;
        Ok(CanFdTransport::new(Self { socket, id: extended }))
    }
}

impl CanFd for SocketCan {
    type Error = io::Error;

    fn transmit(&mut self, data: &[u8]) -> io::Result<bool> {
        let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "a frame has at most 64 bytes");
        let frame = CanFdFrame::new(self.id, data).ok_or_else(too_long)?;
        match self.socket.write_frame(&frame) {
            Ok(()) => Ok(true),
            Err(error) if is_busy(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn receive(&mut self, data: &mut [u8; 64]) -> io::Result<Option<usize>> {
        match self.socket.read_frame() {
            Ok(CanAnyFrame::Fd(frame)) => {
                let length = frame.data().len().min(data.len());
                data.iter_mut().zip(frame.data()).for_each(|(to, from)| *to = *from);
                Ok(Some(length))
            }
            // Other frames are none of a client's; a length of 0 has no message.
            Ok(_) => Ok(Some(0)),
            Err(error) if is_busy(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The interface's queue is full, or empty.
fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(rustix::io::Errno::NOBUFS.raw_os_error())
}
