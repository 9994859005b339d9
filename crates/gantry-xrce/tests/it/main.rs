//! Tests of the messages that `gantry-xrce` reads and writes, and of its streams and sessions over faulty lines.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod corpus;
mod eprosima_streams;
mod framing;
mod session;
mod streams;
mod wire;

/// Converts a hexadecimal text to bytes. Spaces are ignored.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).unwrap()).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}
