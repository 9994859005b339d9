//! Types, child processes and waits that the tests share.

use gantry::{GenericSample, GenericSubscription, Node, PlainMessage, TypeDescription};
use std::{
    process::Command,
    time::{Duration, Instant},
};
pub use test_support::{PATIENCE, Peer, eventually, tests};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A fixed-size message.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

impl PlainMessage for Point {
    const TYPE_NAME: &'static str = "test_msgs/msg/Point";
    const DEFINITION: &'static str = "float64 x\nfloat64 y";
}

/// The type description of [`Point`].
pub fn point() -> TypeDescription {
    TypeDescription {
        name: <Point as PlainMessage>::TYPE_NAME.into(),
        hash: [0; 32],
        definition: <Point as PlainMessage>::DEFINITION.into(),
        payload_bytes: size_of::<Point>(),
    }
}

/// A type without a maximum size, whose hash is known.
pub fn path() -> TypeDescription {
    let definition =
        format!("test_msgs/Point[] points\n{}\nMSG: test_msgs/Point\nfloat64 x\nfloat64 y\n", "=".repeat(80));
    TypeDescription {
        name: "test_msgs/msg/Path".into(),
        hash: [7; 32],
        definition: definition.into(),
        payload_bytes: usize::MAX,
    }
}

/// A path with this number of points, as CDR.
pub fn path_bytes(points: u32) -> Vec<u8> {
    let mut bytes = u64::from(points).to_le_bytes().to_vec(); // the length of the sequence, and padding
    for place in 0..points {
        let x = f64::from(place);
        bytes.extend_from_slice(Point { x, y: -x }.as_bytes());
    }
    bytes
}

pub fn node() -> Node {
    Node::new("tester").unwrap()
}

/// Waits for the next sample.
pub fn receive(subscription: &mut GenericSubscription) -> GenericSample {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(sample) = subscription.take().unwrap() {
            return sample;
        }
        assert!(Instant::now() < deadline, "no sample came");
        subscription.wait(Duration::from_secs(1)).unwrap();
    }
}

/// Starts this program in a role, in the domain 0, and waits until it is ready.
pub fn start_child(role: &str, topic: &str) -> Peer {
    start_child_in(0, role, topic)
}

/// Starts this program in a role, in a domain, and waits until it is ready.
pub fn start_child_in(domain_id: u32, role: &str, topic: &str) -> Peer {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let command = command.args(["--child", role, topic]).env("ROS_DOMAIN_ID", domain_id.to_string());
    let mut child = Peer::start(command);
    assert_eq!(child.line(), "ready");
    child
}
