//! Tests of the client's node on a simulated CAN bus. A socket of the test replaces the bus.

use crate::transports::{End, exchange};
use gantry_micro::{Transport, transport::SimulatedCan};
use gantry_xrce::framing::{
    can_fd,
    socket_can::{FRAME_BYTES, Frame},
};
use rustix::{
    io::{read, write},
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, listen, socket_with},
};
use std::{cell::RefCell, io::ErrorKind, os::fd::OwnedFd, path::Path};

const IDENTIFIER: u32 = 0x1234_5678;

/// A replacement of the bus, with at most one node.
struct Bus {
    listener: OwnedFd,
    node: Option<OwnedFd>,
}

impl Bus {
    fn new(path: &Path) -> Self {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let listener = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
        bind(&listener, &SocketAddrUnix::new(path).unwrap()).unwrap();
        listen(&listener, 1).unwrap();
        Self { listener, node: None }
    }

    fn node(&mut self) -> Option<&OwnedFd> {
        if let Ok(node) = accept_with(&self.listener, SocketFlags::NONBLOCK) {
            self.node = Some(node);
        }
        self.node.as_ref()
    }

    fn send(&mut self, frame: Frame<'_>) {
        if let Some(node) = self.node() {
            write(node, &frame.to_bytes().unwrap()).unwrap();
        }
    }
}

impl End for &RefCell<Bus> {
    fn receive(&mut self) -> Vec<Vec<u8>> {
        let (mut bus, mut all, mut bytes) = (self.borrow_mut(), Vec::new(), [0; FRAME_BYTES]);
        let Some(node) = bus.node() else { return all };
        while let Ok(length @ 1..) = read(node, &mut bytes) {
            let frame = Frame::parse(&bytes[..length]).unwrap();
            assert_eq!(frame.identifier, IDENTIFIER);
            all.push(can_fd::decode(frame.data).unwrap().to_vec());
        }
        all
    }

    fn send(&mut self, message: &[u8]) {
        let mut data = [0; can_fd::MAX_FRAME_BYTES];
        let length = can_fd::encode(message, &mut data).unwrap();
        let frame = Frame { identifier: IDENTIFIER, has_bit_rate_switch: true, data: &data[..length] };
        // First sends a frame with the same data and another identifier, which the client must skip.
        self.borrow_mut().send(Frame { identifier: 1, ..frame });
        self.borrow_mut().send(frame);
    }
}

#[test]
fn the_node_connects_again_when_the_bus_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("can0");
    let bus = RefCell::new(Bus::new(&path));
    let transport = SimulatedCan::connect(&path, IDENTIFIER).unwrap();
    exchange::<63>(transport, &bus, |_| {
        std::fs::remove_file(&path).unwrap();
        *bus.borrow_mut() = Bus::new(&path);
    });
}

#[test]
fn a_bus_that_is_not_there_yet_takes_messages_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("can0");
    let mut transport = SimulatedCan::connect(&path, IDENTIFIER).unwrap();
    assert!(transport.send(b"lost").unwrap() && !transport.controller().is_connected());
    let bus = RefCell::new(Bus::new(&path));
    assert!(transport.send(b"arrives").unwrap() && transport.controller().is_connected());
    assert_eq!((&bus).receive(), [b"arrives"]);
    drop(bus);
    assert_eq!(transport.receive(&mut [0; 63]).unwrap(), None);
    assert!(!transport.controller().is_connected());
    // Here the socket file exists without a bus, as after a killed bus.
    assert!(transport.send(b"lost").unwrap());
}

#[test]
fn a_bus_that_takes_nothing_makes_the_sender_wait() {
    let folder = tempfile::tempdir().unwrap();
    let bus = RefCell::new(Bus::new(&folder.path().join("can0")));
    let mut transport = SimulatedCan::connect(folder.path().join("can0"), IDENTIFIER).unwrap();
    let taken = (0..1000).take_while(|_| transport.send(&[7; 63]).unwrap()).count();
    assert!((1..50).contains(&taken), "{taken} frames are on their way");
    assert_eq!((&bus).receive().len(), taken);
    assert!(transport.send(&[8; 63]).unwrap());
    assert_eq!((&bus).receive(), [vec![8; 63]]);
}

#[test]
fn wrong_arguments_are_refused() {
    let invalid = SimulatedCan::connect("/tmp/can0", 1 << 29).unwrap_err();
    assert_eq!(invalid.kind(), ErrorKind::InvalidInput);
    assert!(SimulatedCan::connect("x".repeat(200), 1).is_err());
}
