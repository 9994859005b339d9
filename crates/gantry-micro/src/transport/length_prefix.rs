//! TCP connections and other streams without loss, with the length before each message.

use super::{Chunk, Transport};
use embedded_io::{Read, ReadReady, Write, WriteReady};
use gantry_xrce::framing::{LengthPrefixDecoder, length_prefix};

/// Messages over a connection: bytes that `read_ready` and `write_ready` announce are read and written at once.
///
/// After an error of the connection, make a new connection and a new transport: on the old transport, the agent would
/// take the rest of a message for the beginning of one.
#[derive(Debug)]
pub struct LengthPrefixTransport<P> {
    port: P,
    /// The bytes of the message under way that are sent, the two of its length included.
    sent: usize,
    decoder: LengthPrefixDecoder,
    incoming: Chunk,
}

impl<P> LengthPrefixTransport<P> {
    /// A transport over a connection.
    pub fn new(port: P) -> Self {
        Self { port, sent: 0, decoder: LengthPrefixDecoder::new(), incoming: Chunk::new() }
    }

    /// The number of messages that came and were longer than the client's `MTU`, and are gone.
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
        // The messages of a client are shorter than the prefix can say.
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
