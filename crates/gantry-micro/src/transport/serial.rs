//! Transport over serial lines, with the framing of DDS-XRCE.

use super::{Chunk, Transport};
use embedded_io::{Read, ReadReady, Write, WriteReady};
use gantry_xrce::framing::{SerialCounters, SerialDecoder, SerialEncoder};

/// A transport over a serial port. If `read_ready` or `write_ready` has returned `true`, the next read or write of the
/// port must not block.
///
/// The frame is written in parts if the port has too little room for it. After lost or damaged bytes, the framing finds
/// the start of the next frame, and counts the dropped bytes.
#[derive(Debug)]
pub struct SerialTransport<P> {
    port: P,
    /// The frame that is being sent.
    encoder: Option<SerialEncoder>,
    outgoing: Chunk,
    decoder: SerialDecoder,
    incoming: Chunk,
}

impl<P> SerialTransport<P> {
    /// Makes a transport over an open port.
    pub fn new(port: P) -> Self {
        let decoder = SerialDecoder::new(SerialEncoder::CLIENT);
        Self { port, encoder: None, outgoing: Chunk::new(), decoder, incoming: Chunk::new() }
    }

    /// The counters of received frames and of damaged bytes.
    pub fn counters(&self) -> SerialCounters {
        self.decoder.counters()
    }

    /// The port.
    pub fn port(&mut self) -> &mut P {
        &mut self.port
    }
}

impl<P: Read + ReadReady + Write + WriteReady> Transport for SerialTransport<P> {
    type Error = P::Error;

    fn send(&mut self, message: &[u8]) -> Result<bool, P::Error> {
        let Self { port, encoder, outgoing, .. } = self;
        loop {
            if outgoing.rest().is_empty() {
                if encoder.is_none() {
                    // The result is never an error, because the messages of a client are short enough for a frame.
                    let new = SerialEncoder::new(SerialEncoder::CLIENT, SerialEncoder::AGENT, message.len());
                    *encoder = new.ok();
                }
                let Some(encoding) = encoder else { return Ok(true) };
                outgoing.fill(|chunk| Ok(encoding.encode(message, chunk)))?;
                if outgoing.rest().is_empty() {
                    *encoder = None;
                    return Ok(true);
                }
            }
            match port.write_ready().and_then(|is_ready| if is_ready { port.write(outgoing.rest()) } else { Ok(0) }) {
                Ok(0) => return Ok(false),
                Ok(written) => outgoing.advance(written),
                Err(error) => {
                    (*encoder, *outgoing) = (None, Chunk::new());
                    return Err(error);
                }
            }
        }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, P::Error> {
        let Self { port, decoder, incoming, .. } = self;
        incoming.receive(port, |bytes| decoder.decode(bytes, buffer).map(|frame| frame.message.len()))
    }
}
