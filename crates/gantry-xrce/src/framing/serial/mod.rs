//! The framing of DDS-XRCE for serial lines.
//!
//! A frame is the flag 0x7e, the addresses of source and destination, the length of the message (16 bits, little
//! endian), the message, and its CRC-16/ARC (little endian). After the flag, each byte 0x7d or 0x7e is escaped
//! (stuffing): 0x7d is sent, and then the byte exclusive-or 0x20. So 0x7e occurs only at the start of a frame, and the
//! end of a frame needs no flag.
//!
//! The checksum covers the message before the stuffing, but not the addresses and the length.

mod decoder;
mod encoder;

pub use decoder::{SerialCounters, SerialDecoder, SerialFrame};
pub use encoder::SerialEncoder;

const FLAG: u8 = 0x7e;
const ESCAPE: u8 = 0x7d;
const STUFFING: u8 = 0x20;
