//! Messages.

mod byte_orders;
mod captures;
mod defects;
mod entities;
mod quirks;

use gantry_xrce::wire::{ByteOrder, Flags, Header, MessageBuilder, Payload, Submessage, parse};

/// Writes a message with one submessage.
fn message<'p, P: Payload<'p>>(header: Header, order: ByteOrder, flags: Flags, payload: &P) -> Vec<u8> {
    let mut buffer = [0xaa; 1024];
    let mut builder = MessageBuilder::new(&mut buffer, &header, order).unwrap();
    builder.add(flags, payload).unwrap();
    let bytes = builder.bytes();
    buffer[..bytes].to_vec()
}

/// Reads a message that has exactly one submessage.
fn only(message: &[u8]) -> (Header, Submessage<'_>) {
    let (header, mut submessages) = parse(message).unwrap();
    let submessage = submessages.next().unwrap().unwrap();
    assert_eq!(submessages.next(), None);
    (header, submessage)
}
