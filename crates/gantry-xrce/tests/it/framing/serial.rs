//! The serial framing.

use crate::hex;
use fastrand::Rng;
use gantry_xrce::framing::{SerialCounters, SerialDecoder, SerialEncoder, TooLong};

/// Encodes a message as a frame, in chunks of `chunk_bytes` bytes.
fn frame(source: u8, destination: u8, message: &[u8], chunk_bytes: usize) -> Vec<u8> {
    let mut encoder = SerialEncoder::new(source, destination, message.len()).unwrap();
    let mut chunk = vec![0; chunk_bytes];
    let mut frame = Vec::new();
    loop {
        let written = encoder.encode(message, &mut chunk);
        frame.extend(&chunk[..written]);
        if written < chunk_bytes {
            assert_eq!(encoder.encode(message, &mut chunk), 0);
            return frame;
        }
    }
}

/// Decodes bytes in random chunks, and returns the messages that the decoder finds.
fn messages(decoder: &mut SerialDecoder, bytes: &[u8], random: &mut Rng) -> Vec<Vec<u8>> {
    let mut buffer = [0; 64];
    let mut found = Vec::new();
    let mut left = bytes;
    while !left.is_empty() {
        let (mut chunk, rest) = left.split_at(random.usize(1..=left.len()));
        left = rest;
        while let Some(frame) = decoder.decode(&mut chunk, &mut buffer) {
            assert_eq!(frame.source, 1);
            found.push(frame.message.to_vec());
        }
        assert!(chunk.is_empty());
    }
    found
}

/// The number of bytes that the decoder has counted.
fn accounted(decoder: &SerialDecoder) -> usize {
    let counters = decoder.counters();
    (counters.frame_bytes + counters.dropped_bytes + decoder.pending_bytes()) as usize
}

/// Compares frames with frames that eProsima's client and agent sent.
#[test]
fn captures_are_reproduced() {
    let ping = hex("8000000002010800000afffd02000000");
    let capture = hex("7e 01 00 1000 8000000002010800000afffd02000000 cf12");
    let answer = hex("8100000006011c00000afffd0001010d585243450100010f00010d000100000000000000");
    let data: Vec<u8> = (0x60..0x90).collect();
    let write = [hex("81010000070134 00 000a0015"), data].concat();
    for chunk_bytes in [1, 2, 3, 42, 100] {
        assert_eq!(frame(1, 0, &ping, chunk_bytes), capture);
        // The checksum of this answer is 7e9b, and its byte 7e needs stuffing.
        assert!(frame(0, 1, &answer, chunk_bytes).ends_with(&hex("00000000 9b7d5e")));
        let stuffed = hex(
            "7e00003c008101000007013400000a0015606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d5d7d5e7f80
             8182838485868788898a8b8c8d8e8f43d7",
        );
        assert_eq!(frame(0, 0, &write, chunk_bytes), stuffed);
        let stuffed_checksum = hex("7e000010008101ea000701080000f40015e90e62637d5e1d");
        assert_eq!(frame(0, 0, &hex("8101ea000701080000f40015e90e6263"), chunk_bytes), stuffed_checksum);
    }
    let mut decoder = SerialDecoder::new(SerialEncoder::AGENT);
    assert_eq!(messages(&mut decoder, &capture, &mut Rng::with_seed(1)), [ping]);
}

#[test]
fn every_byte_survives_in_any_chunks() {
    let mut random = Rng::with_seed(2);
    // The addresses 7d and 7e and some lengths need stuffing as well.
    let sent: Vec<Vec<u8>> = [0, 1, 0x3f, 0x40, 0x3e].map(|bytes| vec![0x7e; bytes]).to_vec();
    let sent: Vec<_> = (0..4u8).map(|quarter| Vec::from_iter(quarter * 64..=quarter * 64 + 63)).chain(sent).collect();
    for address in [0, 0x7d, 0x7e] {
        let mut decoder = SerialDecoder::new(address);
        let line: Vec<u8> = sent.iter().flat_map(|message| frame(1, address, message, random.usize(1..50))).collect();
        assert_eq!(line.iter().filter(|&&byte| byte == 0x7e).count(), sent.len());
        assert_eq!(messages(&mut decoder, &line, &mut random), sent);
        let expected =
            SerialCounters { frames: sent.len() as u32, frame_bytes: line.len() as u32, ..SerialCounters::default() };
        assert_eq!(decoder.counters(), expected);
    }
    for bytes in [0x7d, 0x7e, 0x7d7e, 65_535] {
        let message = vec![0x55; bytes];
        let mut buffer = vec![0; bytes];
        let mut decoder = SerialDecoder::new(0);
        let decoded =
            decoder.decode(&mut &frame(1, 0, &message, 42)[..], &mut buffer).map(|frame| frame.message.to_vec());
        assert_eq!(decoded.unwrap(), message);
    }
    assert_eq!(SerialEncoder::new(1, 0, 65_536).unwrap_err(), TooLong { bytes: 65_536, max_bytes: 65_535 });
}

#[test]
fn a_decoder_is_in_step_after_noise() {
    let mut random = Rng::with_seed(3);
    let mut decoder = SerialDecoder::new(0);
    let mut bytes = 0;
    for round in 0..5_000u32 {
        let mut noise = vec![0; random.usize(..80)];
        random.fill(&mut noise);
        let message = round.to_le_bytes();
        let line = [&noise[..], &frame(1, 0, &message, 42)].concat();
        bytes += line.len();
        let mut left = &line[..];
        let mut buffer = [0; 64];
        let mut last = None;
        while let Some(found) = decoder.decode(&mut left, &mut buffer) {
            last = Some(found.message.to_vec());
        }
        assert_eq!(last.as_deref(), Some(&message[..]), "after {noise:02x?}");
        assert_eq!(accounted(&decoder), bytes);
        assert_eq!(decoder.pending_bytes(), 0);
    }
    let counters = decoder.counters();
    assert!(counters.incomplete > 0 && counters.for_others > 0 && counters.dropped_bytes > 0);
}

#[test]
fn each_drop_has_its_counter() {
    let good = frame(1, 0, b"good", 42);
    let mut random = Rng::with_seed(4);
    let is = |bad: &[u8], expected: SerialCounters, random: &mut Rng| {
        let mut decoder = SerialDecoder::new(0);
        let found = messages(&mut decoder, &[bad, &good].concat(), random);
        assert_eq!(found, [b"good"]);
        let always = SerialCounters {
            frames: 1,
            frame_bytes: good.len() as u32,
            dropped_bytes: bad.len() as u32,
            ..SerialCounters::default()
        };
        assert_eq!(decoder.counters(), SerialCounters { ..expected }.and(always));
    };
    let none = SerialCounters::default();
    let mut damaged = frame(1, 0, b"message", 42);
    damaged[6] ^= 1;
    is(&damaged, SerialCounters { crc_errors: 1, ..none }, &mut random);
    is(&frame(1, 7, b"message", 42), SerialCounters { for_others: 1, ..none }, &mut random);
    is(&frame(1, 0, &[0; 65], 42), SerialCounters { too_long: 1, ..none }, &mut random);
    let whole = frame(1, 0, &[0x7d, 0x7e, 1], 42);
    for cut in 1..whole.len() {
        is(&whole[..cut], SerialCounters { incomplete: 1, ..none }, &mut random);
    }
    is(b"noise", none, &mut random);
}

trait And {
    fn and(self, other: Self) -> Self;
}

impl And for SerialCounters {
    fn and(self, other: Self) -> Self {
        Self {
            crc_errors: self.crc_errors,
            for_others: self.for_others,
            too_long: self.too_long,
            incomplete: self.incomplete,
            ..other
        }
    }
}

/// Checks that each single-bit error in a frame is detected, except in the source address, which no checksum covers.
#[test]
fn a_flipped_bit_never_delivers_another_message() {
    let message = hex("8180010007011d00000e00157e7d0000");
    let whole = frame(1, 0, &message, 42);
    for bit in 0..8 * whole.len() {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let mut decoder = SerialDecoder::new(0);
        let mut buffer = [0; 64];
        if let Some(found) = decoder.decode(&mut &damaged[..], &mut buffer) {
            assert_eq!(found.message, message);
            assert_eq!(bit / 8, 1);
        }
        assert_eq!(accounted(&decoder), damaged.len());
    }
}
