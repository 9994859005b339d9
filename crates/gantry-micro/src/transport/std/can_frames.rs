//! Frames of CAN FD over a non-blocking socket, in SocketCAN's format.

use gantry_xrce::framing::socket_can::{FRAME_BYTES, Frame, MAX_IDENTIFIER};
use rustix::{
    io::{Errno, read},
    net::{SendFlags, send},
};
use std::{io, os::fd::AsFd};

/// Returns the CAN identifier, if it has at most 29 bits.
pub fn check_identifier(identifier: u32) -> io::Result<u32> {
    let error = || io::Error::new(io::ErrorKind::InvalidInput, "the identifier of a client has 29 bits");
    (identifier <= MAX_IDENTIFIER).then_some(identifier).ok_or_else(error)
}

/// Sends a frame. Returns `false` if the socket has no room.
pub fn write_frame(socket: impl AsFd, frame: Frame<'_>) -> io::Result<bool> {
    let bytes = frame.to_bytes().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    match send(socket, &bytes, SendFlags::NOSIGNAL) {
        Ok(_) => Ok(true),
        // NOBUFS means that the queue of the interface is full.
        Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Copies the data of the next frame with the identifier into `data`, and returns its length. Skips frames with other
/// identifiers.
pub fn read_frame(socket: impl AsFd, identifier: u32, data: &mut [u8; 64]) -> io::Result<Option<usize>> {
    let mut bytes = [0; FRAME_BYTES];
    loop {
        match read(&socket, &mut bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                let frame = Frame::parse(bytes.get(..length).unwrap_or_default());
                if let Ok(frame) = frame.as_ref()
                    && frame.identifier == identifier
                {
                    data.iter_mut().zip(frame.data).for_each(|(to, from)| *to = *from);
                    return Ok(Some(frame.data.len()));
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
}
