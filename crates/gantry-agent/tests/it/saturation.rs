//! Tests of lines that are always full.

use crate::sessions::create_client;
use gantry_agent::{Agent, Config, PeerAddress, Transport};
use gantry_xrce::wire::{
    ByteOrder, Flags, GetInfo, Header, InfoMask, MessageBuilder, ObjectId, ObjectRequest, Property, RequestId,
    SessionId, Time, Timestamp,
};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::*},
    },
    time::{Duration, Instant},
};
use test_support::eventually;

test_support::tests!(clients_that_keep_their_line_full_stay);

/// A line that accepts one message and then no more until the test empties it.
#[derive(Default)]
struct Narrow {
    is_full: AtomicBool,
    /// The number of messages that the line has accepted for each client.
    taken: [AtomicU64; 3],
}

impl Transport for Narrow {
    fn send(&self, peer: PeerAddress, _message: &[u8]) -> io::Result<()> {
        let PeerAddress::Number(number) = peer else { return Err(io::ErrorKind::AddrNotAvailable.into()) };
        self.is_full.store(true, Relaxed);
        self.taken[number as usize].fetch_add(1, Relaxed);
        Ok(())
    }

    fn has_room(&self, _peer: PeerAddress) -> bool {
        !self.is_full.load(Relaxed)
    }

    fn max_message_bytes(&self) -> usize {
        4096
    }

    fn name(&self) -> &str {
        "narrow"
    }
}

/// Two questions of the client. One answer fills the line, so the other answer has to wait.
fn questions() -> Vec<u8> {
    let mut memory = [0; 128];
    let header = Header::streamless(SessionId::CLIENT);
    let mut builder = MessageBuilder::new(&mut memory, &header, ByteOrder::Little).unwrap();
    let request = ObjectRequest { request: RequestId(10), object: ObjectId::AGENT };
    builder.add(Flags::NONE, &GetInfo { request, mask: InfoMask::ACTIVITY }).unwrap();
    builder.add(Flags::NONE, &Timestamp { transmit: Time::from_ns(0), padding_bytes: 0 }).unwrap();
    let length = builder.bytes();
    memory[..length].to_vec()
}

fn clients_that_keep_their_line_full_stay() {
    let agent = Agent::new(Config::default()).unwrap();
    let line = Arc::new(Narrow::default());
    let port = agent.attach(line.clone());
    let clients = [1, 2].map(PeerAddress::Number);
    // The agent gives up a line that accepts no message for a second, four times the value of this property.
    let property = Property { name: b"uxr_hl", value: b"250" };
    for (peer, key) in clients.into_iter().zip(0x0801..) {
        port.receive(peer, &create_client(SessionId::CLIENT, key, &[property]));
    }
    let questions = questions();
    let taken = |number: usize| line.taken[number].load(Relaxed);
    let began = Instant::now();
    eventually("three seconds are over", || {
        clients.iter().for_each(|&peer| port.receive(peer, &questions));
        for peer in clients {
            line.is_full.store(false, Relaxed);
            port.has_room(peer);
        }
        assert_eq!(agent.statistics().len(), 2, "a client is gone after {:?}", began.elapsed());
        began.elapsed() > Duration::from_secs(3)
    });
    assert!(taken(1) > 100 && taken(2) > 100, "the line took {} and {} messages", taken(1), taken(2));
}
