//! Transport over TCP connections and other lossless streams, with a length before each message.

use super::{Chunk, Transport};
use embedded_io::{Read, ReadReady, Write, WriteReady};
use gantry_xrce::framing::{LengthPrefixDecoder, length_prefix};

/// A transport over a connection. If `read_ready` or `write_ready` has returned `true`, the next read or write of the
/// connection must not block.
///
/// After an error of the connection, make a new connection and a new transport. On the old connection, the agent would
/// read the rest of a message as the start of another one.
#[derive(Debug)]
pub struct LengthPrefixTransport<P> {
    port: P,
    /// The number of sent bytes of the current message, including the two bytes of its length.
    sent: usize,
    decoder: LengthPrefixDecoder,
    incoming: Chunk,
}

impl<P> LengthPrefixTransport<P> {
    /// Makes a transport over a connection.
    pub fn new(port: P) -> Self {
        Self { port, sent: 0, decoder: LengthPrefixDecoder::new(), incoming: Chunk::new() }
    }

    /// The number of received messages that were lost because they were longer than the client's `MTU`.
    pub fn too_long(&self) -> u32 {
        self.decoder.too_long()
    }

    /// The connection.
    pub fn port(&mut self) -> &mut P {
        &mut self.port
    }
}

impl<P: Read + ReadReady + Write + WriteReady> Transport for LengthPrefixTransport<P> {
    type Error = P::Error;

    fn send(&mut self, message: &[u8]) -> Result<bool, P::Error> {
        // The result is never an error, because the messages of a client are short enough for the prefix.
        let Ok(prefix) = length_prefix(message.len()) else { return Ok(true) };
        loop {
            let rest = match self.sent.checked_sub(prefix.len()) {
                None => prefix.get(self.sent..),
                Some(sent) => message.get(sent..),
            };
            let rest = rest.unwrap_or_default();
            if rest.is_empty() {
                self.sent = 0;
                return Ok(true);
            }
            if !self.port.write_ready()? {
                return Ok(false);
            }
            let written = self.port.write(rest)?;
            if written == 0 {
                return Ok(false);
            }
            self.sent += written;
        }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, P::Error> {
        let Self { port, decoder, incoming, .. } = self;
        incoming.receive(port, |bytes| decoder.decode(bytes, buffer).map(<[u8]>::len))
    }
}
