//! WebSocket frames that a server sends, so without a mask (RFC 6455, section 5.2).

/// The opcode of a text frame.
pub const TEXT: u8 = 1;
/// The opcode of a binary frame.
pub const BINARY: u8 = 2;
/// The opcode of a frame that begins the closing handshake, or ends it.
pub const CLOSE: u8 = 8;
/// The largest number of bytes before the payload of a frame.
pub const MAX_HEAD_BYTES: usize = 10;

/// Appends the frame's bytes before a payload of `length_bytes` bytes. The frame is a complete WebSocket message.
pub fn head(out: &mut Vec<u8>, opcode: u8, length_bytes: usize) {
    out.push(0x80 | opcode);
    match length_bytes {
        0..126 => out.push(length_bytes as u8),
        126..0x1_0000 => {
            out.push(126);
            out.extend((length_bytes as u16).to_be_bytes());
        }
        _ => {
            out.push(127);
            out.extend((length_bytes as u64).to_be_bytes());
        }
    }
}

/// Makes a complete frame.
#[must_use]
pub fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(MAX_HEAD_BYTES + payload.len());
    head(&mut out, opcode, payload.len());
    out.extend_from_slice(payload);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use tungstenite::protocol::frame::FrameHeader;

    #[test]
    fn a_client_reads_each_head() {
        for length in [0, 125, 126, 127, 65_535, 65_536, 6_220_812] {
            let mut bytes = Vec::new();
            head(&mut bytes, BINARY, length);
            let (header, payload) = FrameHeader::parse(&mut std::io::Cursor::new(&bytes)).unwrap().unwrap();
            assert!(header.is_final && header.mask.is_none() && bytes.len() <= MAX_HEAD_BYTES);
            assert_eq!((u8::from(header.opcode), payload), (BINARY, length as u64));
        }
    }
}
