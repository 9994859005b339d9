//! Tests of storms, which are messages that cost the agent much time. Meanwhile one client (the witness) writes at 50
//! Hz, and another client pings. Both must keep their sessions, and no message may wait long.

use crate::{
    sessions::create_client,
    support::{Event, PARTICIPANT, PUBLISHER, SUBSCRIBER, TestClient, Wire, agent, host, socket},
    transports::{SerialWire, TcpWire, exchange},
};
use gantry::Qos;
use gantry_agent::{Config, DomainChoice, Serial, Tcp};
use gantry_msgs::std_msgs::msg::UInt32;
use gantry_xrce::wire::{
    ByteOrder, Create, DataReader, DataWriter, Entity, Flags, Group, Header, MessageBuilder, Object, ObjectId,
    ObjectKind, ObjectRequest, Owner, Participant, Representation, RequestId, SessionId, StreamId, SubmessageId, Topic,
    parse,
};
use std::{
    net::UdpSocket,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicBool, Ordering::*},
    thread,
    time::{Duration, Instant},
};
use test_support::PATIENCE;

test_support::tests!(
    storms_over_udp_leave_others_their_data,
    storms_over_tcp_leave_others_their_data,
    storms_on_a_serial_line_leave_others_their_data
);

const UINT32: &str = "std_msgs::msg::dds_::UInt32_";
const PERIOD: Duration = Duration::from_millis(20);
const DURATION: Duration = Duration::from_secs(5);
/// The longest allowed time without a sample or an answer. A busy machine needs far less. Earlier versions of the agent
/// stood still for 31 s to 60 s because of a single message.
pub const LONGEST_GAP: Duration = Duration::from_secs(5);

/// The settings of an agent whose clients choose their domains.
pub fn any_domain_config() -> Config {
    Config { domain: DomainChoice::AsAsked, ..Config::default() }
}

/// Writes a message with a CREATE for each object.
fn creations(objects: impl IntoIterator<Item = (Flags, ObjectId, Object<'static>)>) -> Vec<u8> {
    let mut memory = vec![0; 128 << 10];
    let header = Header::streamless(SessionId::CLIENT);
    let mut builder = MessageBuilder::new(&mut memory, &header, ByteOrder::Little).unwrap();
    for ((flags, object, description), number) in objects.into_iter().zip(100..) {
        let request = ObjectRequest { request: RequestId(number), object };
        builder.add(flags, &Create { request, object: description }).unwrap();
    }
    let length = builder.bytes();
    assert!(length < 65_500, "no datagram has {length} bytes");
    memory.truncate(length);
    memory
}

/// Writes a message that replaces a participant `count` times, each time by a participant in another domain.
pub fn storm(count: u16) -> Vec<u8> {
    creations((0..count).map(|number| {
        let entity = Entity::Participant(Participant::default());
        (Flags::REPLACE, PARTICIPANT, Object::binary(entity, Owner::Domain(20 + (number % 8) as i16)))
    }))
}

/// Writes a message that creates participants by reference to a profile.
fn references(count: u16) -> Vec<u8> {
    creations((0..count).map(|number| {
        let (kind, representation) = (ObjectKind::PARTICIPANT, Representation::Reference("another"));
        (Flags::REPLACE, ObjectId::new(1 + number % 8, kind), Object { kind, representation, owner: Owner::Domain(0) })
    }))
}

/// Writes a message that creates data writers or data readers of the witness's topic.
fn endpoints(kind: ObjectKind, count: u16) -> Vec<u8> {
    let topic = ObjectId::new(1, ObjectKind::TOPIC);
    let described = Topic { name: "rt/amid_storms", type_reference: None, type_name: Some(UINT32) };
    let participant = Object::binary(Entity::Participant(Participant::default()), Owner::Domain(0));
    let first = [
        (PARTICIPANT, participant),
        (topic, Object::binary(Entity::Topic(described), Owner::Object(PARTICIPANT))),
        (PUBLISHER, Object::binary(Entity::Publisher(Group::default()), Owner::Object(PARTICIPANT))),
        (SUBSCRIBER, Object::binary(Entity::Subscriber(Group::default()), Owner::Object(PARTICIPANT))),
    ];
    let endpoints = (0..count).map(|number| {
        let object = if kind == ObjectKind::DATA_WRITER {
            Object::binary(Entity::DataWriter(DataWriter { topic, qos: None }), Owner::Object(PUBLISHER))
        } else {
            Object::binary(Entity::DataReader(DataReader { topic, qos: None }), Owner::Object(SUBSCRIBER))
        };
        (ObjectId::new(1 + number, kind), object)
    });
    creations(first.into_iter().chain(endpoints).map(|(id, object)| (Flags::REPLACE, id, object)))
}

/// The four kinds of storm messages. `count` is the number of creations that fit in a message of the transport.
fn storms(count: u16) -> [Vec<u8>; 4] {
    let endpoints = |kind| endpoints(kind, count * 3 / 5); // such a creation is longer
    [storm(count), endpoints(ObjectKind::DATA_WRITER), endpoints(ObjectKind::DATA_READER), references(count * 3 / 5)]
}

/// Sends a ping until it is answered, because a datagram may be lost. Other messages may come before the answer.
/// Returns the time until the answer.
fn ping(wire: &mut impl Wire) -> Duration {
    let is_answer = |answer: Vec<u8>| parse(&answer).unwrap().1.any(|part| part.unwrap().id == SubmessageId::INFO);
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        wire.send(&[0x81, 0, 0, 0, 2, 1, 8, 0, 0, 0x0a, 0xff, 0xfd, 2, 0, 0, 0]);
        if wire.receive(5 * PERIOD).is_some_and(is_answer) {
            break;
        }
    }
    began.elapsed()
}

/// Lets the witness write for some seconds. Meanwhile calls `storm` repeatedly with the number of the call, and lets
/// another client ping.
fn amid_storms(witness: &mut TestClient, mut pinger: impl Wire + Send, mut storm: impl FnMut(usize) + Send) {
    let mut subscription = host().create_subscription::<UInt32>("/amid_storms", Qos::default()).unwrap();
    let writer = witness.create_writer(21, "rt/amid_storms", UINT32);
    pinger.send(&create_client(SessionId::CLIENT, 0x0d00_0001, &[]));
    assert!(pinger.receive(PATIENCE).is_some());
    let is_over = AtomicBool::new(false);
    let (mut written, mut taken, mut longest_gap) = (0_u32, 0_u32, Duration::ZERO);
    let slowest_ping = thread::scope(|scope| {
        scope.spawn(|| (0..).take_while(|_| !is_over.load(Relaxed)).for_each(&mut storm));
        let pings = scope.spawn(|| {
            let runs = std::iter::repeat_with(|| is_over.load(Relaxed)).take_while(|is_over| !is_over);
            runs.map(|_| ping(&mut pinger)).max()
        });
        let result = catch_unwind(AssertUnwindSafe(|| {
            let (began, mut last) = (Instant::now(), Instant::now());
            let mut next = began;
            while began.elapsed() < DURATION {
                if Instant::now() >= next && witness.session.write(StreamId::RELIABLE, writer, &[], &[0; 4]).is_ok() {
                    written += 1;
                    next = Instant::now() + PERIOD;
                }
                witness.spin(next.saturating_duration_since(Instant::now()).min(PERIOD));
                while subscription.take().unwrap().is_some() {
                    (longest_gap, last, taken) = (longest_gap.max(last.elapsed()), Instant::now(), taken + 1);
                }
            }
            longest_gap = longest_gap.max(last.elapsed());
        }));
        is_over.store(true, Relaxed); // set even after a panic, so that the scope ends
        result.unwrap_or_else(|panic| resume_unwind(panic));
        pings.join().unwrap().unwrap_or_default()
    });
    assert!(written > 25 && taken > written / 2, "{taken} of {written} samples arrived");
    assert!(longest_gap < LONGEST_GAP, "no sample came for {longest_gap:?}");
    assert!(slowest_ping < LONGEST_GAP, "a ping took {slowest_ping:?}");
}

/// The number of logins of the witness.
fn logins(witness: &TestClient) -> usize {
    witness.events.iter().filter(|event| matches!(event, Event::Connected)).count()
}

fn storms_over_udp_leave_others_their_data() {
    const KEY: u32 = 0x0d01;
    let (_agent, udp, _) = agent(any_domain_config());
    let mut witness = TestClient::open(socket(&udp), KEY);
    // These source addresses look like other machines to the agent.
    let at = |host: &str| {
        let socket = UdpSocket::bind((host, 0)).unwrap();
        socket.connect(udp.address()).unwrap();
        socket
    };
    let mut hostile = at("127.0.0.2");
    let storms = storms(2000);
    Wire::send(&mut hostile, &create_client(SessionId::CLIENT, 0x0d00_0d01, &[]));
    amid_storms(&mut witness, at("127.0.0.3"), |number| {
        Wire::send(&mut hostile, &storms[number % storms.len()]);
        Wire::send(&mut hostile, &create_client(SessionId::CLIENT, KEY, &[]));
        thread::sleep(PERIOD);
    });
    assert_eq!(logins(&witness), 1, "the witness lost its session");
    exchange(&mut witness, "amid_udp_after");
}

fn storms_over_tcp_leave_others_their_data() {
    const KEY: u32 = 0x0d02;
    const HOSTILE: u32 = 0x0d00_0d02;
    let (agent, _udp, _) = agent(any_domain_config());
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let mut witness = TestClient::open(TcpWire::connect(&tcp), KEY);
    let [mut hostile, mut ally, pinger] = [2, 2, 3].map(|host| TcpWire::connect_from([127, 0, 0, host].into(), &tcp));
    let storms = storms(2000);
    hostile.send(&create_client(SessionId::CLIENT, HOSTILE, &[]));
    amid_storms(&mut witness, pinger, |number| {
        hostile.send(&storms[number % storms.len()]);
        // A second connection sends the key of a client whose session is busy. This must not delay the other clients.
        ally.send(&create_client(SessionId::CLIENT, HOSTILE, &[]));
        ally.send(&create_client(SessionId::CLIENT, KEY, &[]));
        hostile.receive(PERIOD);
        // The session continues on its first connection.
        hostile.send(&create_client(SessionId::CLIENT, HOSTILE, &[]));
        ally.receive(Duration::ZERO);
    });
    assert_eq!(logins(&witness), 1, "the witness lost its session");
    exchange(&mut witness, "amid_tcp_after");
}

fn storms_on_a_serial_line_leave_others_their_data() {
    const KEY: u32 = 0x0d03;
    let (agent, udp, _) = agent(any_domain_config());
    let serial = Serial::pseudoterminal(&agent).unwrap();
    let mut witness = TestClient::open(SerialWire::open(serial.path(), 1), KEY);
    let mut hostile = SerialWire::open(serial.path(), 2); // never reads, so that the witness gets all frames
    let storms = storms(12);
    hostile.send(&create_client(SessionId::CLIENT, 0x0d00_0d03, &[]));
    amid_storms(&mut witness, socket(&udp), |number| {
        hostile.send(&storms[number % storms.len()]);
        hostile.send(&create_client(SessionId::CLIENT, KEY, &[]));
        thread::sleep(PERIOD);
    });
    assert_eq!(logins(&witness), 1, "the witness lost its session");
    exchange(&mut witness, "amid_serial_after");
}
