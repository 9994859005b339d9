//! Transports: the lines that carry messages to the agent.

mod can_fd;
mod length_prefix;
mod serial;
#[cfg(feature = "std")]
mod std;

#[cfg(feature = "simulated-can")]
pub use self::std::SimulatedCan;
#[cfg(feature = "std")]
pub use self::std::{Port, SocketCan, TcpTransport, UdpTransport, open_serial};
pub use can_fd::{CanFd, CanFdError, CanFdTransport};
pub use length_prefix::LengthPrefixTransport;
pub use serial::SerialTransport;

use embedded_io::{Read, ReadReady};

/// A line to the agent that carries whole messages. No method blocks.
pub trait Transport {
    /// An error of the line.
    type Error: core::fmt::Debug;

    /// Sends a message, or as much of it as the line accepts without blocking. Returns whether the whole message was
    /// sent. If not, the caller repeats the call with the same message.
    ///
    /// # Errors
    /// An error of the line; the message is lost.
    fn send(&mut self, message: &[u8]) -> Result<bool, Self::Error>;

    /// Receives the next message into the start of `buffer`, and returns its length; `None` if no message is complete.
    /// Pass the same buffer in each call, because it may already hold a part of a message.
    ///
    /// # Errors
    /// An error of the line.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Self::Error>;
}

/// Bytes between a line and its framing: received but not decoded yet, or encoded but not sent yet.
#[derive(Debug)]
struct Chunk {
    bytes: [u8; Self::BYTES],
    begin: u8,
    end: u8,
}

impl Chunk {
    const BYTES: usize = 32;

    const fn new() -> Self {
        Self { bytes: [0; Self::BYTES], begin: 0, end: 0 }
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.begin.into()..self.end.into()).unwrap_or_default()
    }

    /// Fills the chunk, which must be empty, with the bytes that `read` writes into it.
    fn fill<E>(&mut self, read: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<(), E> {
        (self.begin, self.end) = (0, 0);
        self.end = read(&mut self.bytes)?.min(Self::BYTES) as u8;
        Ok(())
    }

    fn advance(&mut self, bytes: usize) {
        self.begin = (usize::from(self.begin) + bytes).min(self.end.into()) as u8;
    }

    /// Receives bytes from a port until `decode` finds a message, and returns the length of the message. Bytes after
    /// the message stay in the chunk.
    fn receive<P: Read + ReadReady>(
        &mut self,
        port: &mut P,
        mut decode: impl FnMut(&mut &[u8]) -> Option<usize>,
    ) -> Result<Option<usize>, P::Error> {
        loop {
            let mut rest = self.rest();
            let before = rest.len();
            let length = decode(&mut rest);
            let after = rest.len();
            self.advance(before - after);
            if length.is_some() {
                return Ok(length);
            }
            if !port.read_ready()? {
                return Ok(None);
            }
            self.fill(|chunk| port.read(chunk))?;
            if self.rest().is_empty() {
                return Ok(None);
            }
        }
    }
}
