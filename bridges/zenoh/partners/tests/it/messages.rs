//! Messages of tests, and Gantry's side of the bridge.

use crate::support::{Bridge, first_host, free_port, start};
use gantry::{Message, SampleInfo, Subscription};
use std::net::TcpStream;
use test_support::{PATIENCE, eventually};
use xxhash_rust::xxh3::xxh3_64;

/// The samples that a test sends each way.
pub const COUNT: u64 = 20;
/// The images that a test sends each way.
pub const IMAGES: u64 = 4;
pub const WIDTH: u32 = 1920;
pub const HEIGHT: u32 = 1440;
/// The bytes of a row of an image, which has three bytes for a pixel and about 8 MB.
pub const STEP: u32 = 3 * WIDTH;

/// Starts the bridge of the test's host; its port accepts connections.
pub fn bridge(arguments: &[&str]) -> (Bridge, u16) {
    let port = free_port();
    let bridge = start(&first_host(), port, &[], arguments);
    eventually("the bridge listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    (bridge, port)
}

/// The next sample of a subscription.
#[track_caller]
pub fn next<T: Message>(subscription: &mut Subscription<T>) -> (Box<T>, SampleInfo) {
    assert!(subscription.wait(PATIENCE).unwrap(), "a sample arrives");
    subscription.take_copy().unwrap().expect("the sample that `wait` announced")
}

/// The bytes of an image, which differ for each number.
pub fn pixels(number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut words = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_le_bytes()
    });
    (0..STEP * HEIGHT / 8).flat_map(|_| words.next().unwrap()).collect()
}

/// The checksum of an image's bytes.
pub fn checksum(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}
