//! The framing of CAN-FD.

use gantry_xrce::framing::{
    TooLong,
    can_fd::{MAX_FRAME_BYTES, MAX_MESSAGE_BYTES, decode, encode},
};

#[test]
fn every_length_arrives_in_a_frame_that_can_fd_has() {
    let lengths = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64];
    for bytes in 1..=MAX_MESSAGE_BYTES {
        let message: Vec<u8> = (0..bytes as u8).collect();
        let mut frame = [0xaa; MAX_FRAME_BYTES];
        let length = encode(&message, &mut frame).unwrap();
        assert_eq!(Some(&length), lengths.iter().find(|&&length| length > bytes));
        assert_eq!(usize::from(frame[0]), bytes);
        assert!(frame[1 + bytes..].iter().all(|&byte| byte == 0));
        assert_eq!(decode(&frame[..length]), Some(&message[..]));
        // eProsima's agent and client pass the exact length of the frame to the kernel, without padding.
        assert_eq!(decode(&frame[..1 + bytes]), Some(&message[..]));
        assert_eq!(decode(&frame[..bytes]), None);
    }
    let too_long = TooLong { bytes: 64, max_bytes: 63 };
    assert_eq!(encode(&[0; 64], &mut [0; 64]), Err(too_long));
    assert_eq!(decode(&[]), None);
    assert_eq!(decode(&[0, 1]), None);
    assert_eq!(decode(&[255; 64]), None);
}
