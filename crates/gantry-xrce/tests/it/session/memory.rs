//! Tests that a session accesses its memory only when it needs it, so that a host can allocate the memory late.

use super::bench::KEY;
use gantry_xrce::{
    session::{AgentSession, Link, Peer},
    stream::{Slots, Storage},
    time::Instant,
    wire::{ClientKey, SessionId, Time, parse},
};
use std::{cell::RefCell, collections::BTreeSet, rc::Rc};
use test_support::xrce::streams::HeapSlots;

/// Memory that adds its name to the set `asked` at its first use.
struct Noted<M> {
    memory: M,
    name: &'static str,
    asked: Rc<RefCell<BTreeSet<&'static str>>>,
}

impl<M: Storage> Storage for Noted<M> {
    fn slots(&mut self) -> Slots<'_> {
        self.asked.borrow_mut().insert(self.name);
        self.memory.slots()
    }
}

impl AsMut<[u8]> for Noted<Vec<u8>> {
    fn as_mut(&mut self) -> &mut [u8] {
        self.asked.borrow_mut().insert(self.name);
        &mut self.memory
    }
}

#[test]
fn a_session_asks_for_memory_when_it_needs_it() {
    let asked = Rc::<RefCell<BTreeSet<_>>>::default();
    let slots = |name| Noted { memory: HeapSlots::new(2, 64), name, asked: asked.clone() };
    let assembly = Noted { memory: vec![0; 64], name: "assembly", asked: asked.clone() };
    let link = Link::new(slots("output"), slots("input"), assembly, slots("best effort"));
    let peer = Peer {
        key: KEY,
        session: SessionId::CLIENT,
        mtu_bytes: 64,
        is_extended: false,
        silence_us: 500_000,
        boot_nonce: None,
    };
    let (now, time) = (Instant::from_us(1), Time::from_ns(0));
    let mut agent = AgentSession::new(peer, link, now);
    let mut step = |message: &[u8]| {
        let (header, _) = parse(message).unwrap();
        assert_eq!(header.key, ClientKey::INVALID);
        agent.receive(&header, message, now, time, &mut |_| ());
        while agent.transmit(now, time).is_some() {}
        std::mem::take(&mut *asked.borrow_mut()).into_iter().collect::<Vec<_>>()
    };
    // These messages need no memory: questions outside of streams and in streams, an ACKNACK without missing messages,
    // a heartbeat, and a duplicate.
    assert_eq!(step(&[0x81, 0, 0, 0, 2, 1, 8, 0, 0, 10, 0xff, 0xfd, 2, 0, 0, 0]), [""; 0]);
    assert_eq!(step(&[0x81, 0x80, 0, 0, 2, 1, 8, 0, 0, 10, 0xff, 0xfd, 2, 0, 0, 0]), [""; 0]);
    assert_eq!(step(&[0x81, 1, 0, 0, 2, 1, 8, 0, 0, 10, 0xff, 0xfd, 2, 0, 0, 0]), [""; 0]);
    assert_eq!(step(&[0x81, 0, 0, 0, 10, 1, 5, 0, 0, 0, 0xff, 0xff, 0x80]), [""; 0]);
    assert_eq!(step(&[0x81, 0, 0, 0, 11, 1, 5, 0, 0, 0, 3, 0, 0x80]), [""; 0]);
    assert_eq!(step(&[0x81, 0x80, 0, 0]), [""; 0]);
    // A fragment needs the buffer, and a message that arrives too early needs a slot.
    assert_eq!(step(&[0x81, 0x80, 1, 0, 13, 1, 4, 0, 1, 2, 3, 4]), ["assembly"]);
    assert_eq!(step(&[0x81, 0x80, 3, 0, 2, 1, 8, 0, 0, 10, 0xff, 0xfd, 2, 0, 0, 0]), ["input"]);
}
