//! The frames of SocketCAN.

use gantry_xrce::framing::socket_can::{FRAME_BYTES, Frame, FrameError, MAX_IDENTIFIER};

#[test]
fn a_frame_has_the_bytes_of_the_kernel() {
    let frame = Frame { identifier: 0x1234_5678, has_bit_rate_switch: true, data: &[1, 2, 3] };
    let bytes = frame.to_bytes().unwrap();
    assert_eq!(bytes[..4], 0x9234_5678_u32.to_ne_bytes());
    assert_eq!(bytes[4..11], [3, 5, 0, 0, 1, 2, 3]);
    assert_eq!(bytes[11..], [0; 61]);
    assert_eq!(Frame::parse(&bytes), Ok(frame));
    let slow = Frame { identifier: MAX_IDENTIFIER, has_bit_rate_switch: false, data: &[7; 64] };
    assert_eq!(Frame::parse(&slow.to_bytes().unwrap()), Ok(slow));
}

#[test]
fn other_frames_are_refused() {
    let frame = Frame { identifier: 5, has_bit_rate_switch: false, data: &[] };
    let bytes = frame.to_bytes().unwrap();
    for size in [0, 1, 16, FRAME_BYTES - 1] {
        assert_eq!(Frame::parse(&bytes[..size]), Err(FrameError::Size { bytes: size }));
    }
    assert_eq!(Frame::parse(&[0; FRAME_BYTES + 1]), Err(FrameError::Size { bytes: FRAME_BYTES + 1 }));
    // Frames that are refused: one with a standard identifier, a remote request, and an error frame.
    for identifier in [5, 0xc000_0005, 0xa000_0005] {
        let mut other = bytes;
        other[..4].copy_from_slice(&u32::to_ne_bytes(identifier));
        assert_eq!(Frame::parse(&other), Err(FrameError::Identifier { identifier }));
    }
    let mut long = bytes;
    long[4] = 65;
    assert_eq!(Frame::parse(&long), Err(FrameError::Data { bytes: 65 }));
    let identifier = MAX_IDENTIFIER + 1;
    assert_eq!(Frame { identifier, ..frame }.to_bytes(), Err(FrameError::Identifier { identifier }));
    for bytes in [65, 300] {
        assert_eq!(Frame { data: &[0; 300][..bytes], ..frame }.to_bytes(), Err(FrameError::Data { bytes }));
    }
}
