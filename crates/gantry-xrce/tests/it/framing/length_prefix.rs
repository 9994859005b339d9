//! The framing of TCP.

use fastrand::Rng;
use gantry_xrce::framing::{LengthPrefixDecoder, TooLong, length_prefix};

#[test]
fn messages_arrive_in_any_chunks() {
    let mut random = Rng::with_seed(1);
    let sent: Vec<Vec<u8>> = [1, 300, 0, 512, 2, 513, 0, 3].map(|bytes| vec![bytes as u8; bytes]).to_vec();
    let mut line = Vec::new();
    for message in &sent {
        line.extend(length_prefix(message.len()).unwrap());
        line.extend(message);
    }
    // Empty messages and the message that is too long are skipped.
    let expected: Vec<_> = sent.into_iter().filter(|message| (1..=512).contains(&message.len())).collect();
    for _ in 0..200 {
        let mut decoder = LengthPrefixDecoder::new();
        let mut buffer = [0; 512];
        let mut found = Vec::new();
        let mut left = &line[..];
        while !left.is_empty() {
            let (mut chunk, rest) = left.split_at(random.usize(1..=left.len().min(600)));
            left = rest;
            while let Some(message) = decoder.decode(&mut chunk, &mut buffer) {
                found.push(message.to_vec());
            }
            assert!(chunk.is_empty());
        }
        assert_eq!(found, expected);
        assert_eq!((decoder.too_long(), decoder.dropped_bytes()), (1, 513));
    }
}

#[test]
fn a_prefix_is_little_endian_and_bounded() {
    assert_eq!(length_prefix(0x0102).unwrap(), [2, 1]);
    assert_eq!(length_prefix(65_535).unwrap(), [255, 255]);
    let error = length_prefix(65_536).unwrap_err();
    assert_eq!(error, TooLong { bytes: 65_536, max_bytes: 65_535 });
    assert_eq!(
        error.to_string(),
        "a message of 65536 bytes does not fit into a frame, which carries 65535; send it in fragments"
    );
}
