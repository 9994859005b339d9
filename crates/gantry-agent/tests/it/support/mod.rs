//! Support for the tests: a client without a microcontroller, over a socket or over a faulty pipe in this process, and
//! Gantry nodes on the host.

mod pipe;

pub use pipe::{Faults, GOOD, pipe};

use gantry::Node;
use gantry_agent::{Agent, Config, Level, Log, Udp};
use gantry_xrce::{
    session::{ClientConfig, ClientEvent, ClientSession, Disconnected, Link, WriteError},
    stream::ArraySlots,
    time::Instant,
    wire::{
        ClientKey, Create, DataFormat, DataReader, DataWriter, Delete, DeliveryControl, Entity, Flags, Group, Object,
        ObjectId, ObjectKind, ObjectRequest, Owner, Participant, Qos, QosFlags, ReadData, ReaderQos, RequestId,
        StatusValue, StreamId, Topic, WriterQos,
    },
};
use std::{
    net::{SocketAddr, UdpSocket},
    sync::{Arc, Mutex},
    time::Duration,
};
use test_support::PATIENCE;

pub const MTU_BYTES: usize = 256;
const SLOT_BYTES: usize = MTU_BYTES + 8;
const HISTORY: usize = 8;

type Session =
    ClientSession<ArraySlots<SLOT_BYTES, HISTORY>, ArraySlots<SLOT_BYTES, HISTORY>, Vec<u8>, ArraySlots<SLOT_BYTES, 2>>;

/// The objects that [`TestClient::open`] creates.
pub const PARTICIPANT: ObjectId = ObjectId::new(1, ObjectKind::PARTICIPANT);
pub const PUBLISHER: ObjectId = ObjectId::new(1, ObjectKind::PUBLISHER);
pub const SUBSCRIBER: ObjectId = ObjectId::new(1, ObjectKind::SUBSCRIBER);
pub const WRITER: ObjectId = ObjectId::new(1, ObjectKind::DATA_WRITER);
pub const READER: ObjectId = ObjectId::new(1, ObjectKind::DATA_READER);

/// The events of a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Connected,
    Refused(StatusValue),
    Disconnected(Disconnected),
    Status(ObjectRequest, StatusValue),
    Data(ObjectRequest, Vec<u8>),
}

/// A line to the agent.
pub trait Wire {
    fn send(&mut self, message: &[u8]);
    /// Waits for a message, at most for the time `timeout`.
    fn receive(&mut self, timeout: Duration) -> Option<Vec<u8>>;
}

pub struct TestClient {
    pub session: Session,
    pub wire: Box<dyn Wire>,
    pub events: Vec<Event>,
    origin: std::time::Instant,
    read: u16,
}

impl Wire for UdpSocket {
    fn send(&mut self, message: &[u8]) {
        let _ = UdpSocket::send(self, message); // an error is like the loss of a datagram
    }

    fn receive(&mut self, timeout: Duration) -> Option<Vec<u8>> {
        self.set_read_timeout(Some(timeout.max(Duration::from_micros(1)))).unwrap();
        let mut buffer = [0; 2048];
        let length = self.recv(&mut buffer).ok()?;
        Some(buffer[..length].to_vec())
    }
}

/// A socket that is connected to the agent's socket.
pub fn socket(agent: &Udp) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(SocketAddr::from(([127, 0, 0, 1], agent.address().port()))).unwrap();
    socket
}

/// Starts an agent at a free port. Also returns the lines of its log.
pub fn agent(config: Config) -> (Agent, Udp, Arc<Mutex<Vec<String>>>) {
    agent_at(config, 0)
}

pub fn agent_at(config: Config, port: u16) -> (Agent, Udp, Arc<Mutex<Vec<String>>>) {
    let (config, lines) = logged(config);
    let agent = Agent::new(config).unwrap();
    let udp = Udp::open(&agent, ([127, 0, 0, 1], port).into()).unwrap();
    (agent, udp, lines)
}

/// Starts an agent whose clock is stopped. Also returns the lines of its log.
pub fn stopped_agent(config: Config) -> (Agent, Arc<Mutex<Vec<String>>>) {
    let (config, lines) = logged(config);
    (Agent::with_stopped_clock(config).unwrap(), lines)
}

fn logged(config: Config) -> (Config, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let log = lines.clone();
    let write = move |level: Level, line: &str| log.lock().unwrap().push(format!("{level:?}: {line}"));
    (Config { log: Arc::new(Log::new(Level::Info, write)), ..config }, lines)
}

/// Makes a Gantry node on the host.
pub fn host() -> Node {
    Node::builder("host").domain_id(0).build().unwrap()
}

impl TestClient {
    pub fn new(wire: impl Wire + 'static, key: u32) -> Self {
        let config = ClientConfig { key: ClientKey(key.to_be_bytes()), mtu_bytes: MTU_BYTES as u16, boot_nonce: None };
        let link = Link::new(ArraySlots::new(), ArraySlots::new(), vec![0; 8192], ArraySlots::new());
        let origin = std::time::Instant::now();
        Self { session: ClientSession::new(config, link), wire: Box::new(wire), events: Vec::new(), origin, read: 0 }
    }

    /// Makes a client, connects it, and creates a participant, a publisher and a subscriber.
    pub fn open(wire: impl Wire + 'static, key: u32) -> Self {
        let mut client = Self::new(wire, key);
        client.connect();
        client.create_groups();
        client
    }

    pub fn connect(&mut self) {
        self.session.open(self.now());
        self.until("connected", |client| client.session.is_connected());
    }

    pub fn create_groups(&mut self) {
        let participant = Participant { domain_reference: None, name: Some("micro") };
        let domain = Owner::Domain(0);
        assert_eq!(self.create(PARTICIPANT, Entity::Participant(participant), domain), StatusValue::OK);
        for (id, group) in
            [(PUBLISHER, Entity::Publisher(Group::default())), (SUBSCRIBER, Entity::Subscriber(Group::default()))]
        {
            assert_eq!(self.create(id, group, Owner::Object(PARTICIPANT)), StatusValue::OK);
        }
    }

    pub fn now(&self) -> Instant {
        Instant::from_us(self.origin.elapsed().as_micros() as u64)
    }

    /// Does all work that is due now, and then waits at most the time `longest` for one message.
    pub fn spin(&mut self, longest: Duration) {
        let now = self.now();
        let Self { session, wire, events, .. } = self;
        session.check(now, &mut |event| events.extend(Event::from(event)));
        while let Some(message) = session.transmit(now) {
            wire.send(message);
        }
        let until = session.deadline().map_or(u64::MAX, |at| at.as_us().saturating_sub(now.as_us()));
        let message = wire.receive(longest.min(Duration::from_micros(until)));
        let now = self.now();
        if let Some(message) = message {
            let Self { session, events, .. } = self;
            session.receive(&message, now, &mut |event| events.extend(Event::from(event)));
        }
    }

    /// Runs the client until the condition holds.
    #[track_caller]
    pub fn until(&mut self, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        let limit = std::time::Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(std::time::Instant::now() < limit, "never: {what}: {:?}", self.events);
            self.spin(Duration::from_millis(20));
        }
    }

    /// Sends a request as soon as the session has room for it.
    fn request(&mut self, mut send: impl FnMut(&mut Session) -> Result<RequestId, WriteError>) -> RequestId {
        let mut sent = None;
        self.until("room for a request", |client| {
            sent = send(&mut client.session).ok();
            sent.is_some()
        });
        sent.unwrap()
    }

    /// Waits for the status of a request.
    #[track_caller]
    pub fn status(&mut self, request: RequestId) -> StatusValue {
        let mut found = None;
        self.until("a status", |client| {
            found = client.events.iter().find_map(|event| match event {
                Event::Status(about, status) if about.request == request => Some(*status),
                _ => None,
            });
            found.is_some()
        });
        found.unwrap()
    }

    #[track_caller]
    pub fn create(&mut self, id: ObjectId, entity: Entity<'_>, owner: Owner) -> StatusValue {
        self.create_as(Flags::NONE, id, Object::binary(entity, owner))
    }

    #[track_caller]
    pub fn create_as(&mut self, flags: Flags, object: ObjectId, description: Object<'_>) -> StatusValue {
        let request = self.request(|session| {
            session.request(StreamId::RELIABLE, flags, MTU_BYTES - 4, |request| Create {
                request: ObjectRequest { request, object },
                object: description,
            })
        });
        self.status(request)
    }

    #[track_caller]
    pub fn delete(&mut self, object: ObjectId) -> StatusValue {
        let request = self.request(|session| {
            session.request(StreamId::RELIABLE, Flags::NONE, 16, |request| Delete {
                request: ObjectRequest { request, object },
            })
        });
        self.status(request)
    }

    /// Creates a topic with this number.
    #[track_caller]
    pub fn create_topic(&mut self, number: u16, name: &str, type_name: &str) -> StatusValue {
        let topic = Topic { name, type_reference: None, type_name: Some(type_name) };
        self.create(ObjectId::new(number, ObjectKind::TOPIC), Entity::Topic(topic), Owner::Object(PARTICIPANT))
    }

    /// Creates a topic and a data writer for it, both with this number.
    #[track_caller]
    pub fn create_writer(&mut self, number: u16, topic: &str, type_name: &str) -> ObjectId {
        assert_eq!(self.create_topic(number, topic, type_name), StatusValue::OK);
        let id = ObjectId::new(number, ObjectKind::DATA_WRITER);
        let writer = DataWriter {
            topic: ObjectId::new(number, ObjectKind::TOPIC),
            qos: Some(WriterQos { common: reliable(), ownership_strength: None }),
        };
        assert_eq!(self.create(id, Entity::DataWriter(writer), Owner::Object(PUBLISHER)), StatusValue::OK);
        id
    }

    /// Creates a topic and a data reader for it, both with this number.
    #[track_caller]
    pub fn create_reader(&mut self, number: u16, topic: &str, type_name: &str) -> ObjectId {
        assert_eq!(self.create_topic(number, topic, type_name), StatusValue::OK);
        let id = ObjectId::new(number, ObjectKind::DATA_READER);
        let qos = ReaderQos { common: reliable(), time_based_filter_ms: None, content_filter: None };
        let reader = DataReader { topic: ObjectId::new(number, ObjectKind::TOPIC), qos: Some(qos) };
        assert_eq!(self.create(id, Entity::DataReader(reader), Owner::Object(SUBSCRIBER)), StatusValue::OK);
        id
    }

    /// Requests data of an object. Returns when the agent has the request.
    #[track_caller]
    pub fn read(&mut self, object: ObjectId, stream: StreamId, max_samples: u16) {
        let control = DeliveryControl { max_samples, max_elapsed_s: 0, max_bytes_per_s: 0, min_pace_ms: 0 };
        self.read_controlled(object, stream, control);
    }

    /// Like [`Self::read`], with all fields of the delivery control.
    #[track_caller]
    pub fn read_controlled(&mut self, object: ObjectId, stream: StreamId, control: DeliveryControl) {
        self.request(|session| {
            session.request(StreamId::RELIABLE, Flags::NONE, 40, |request| ReadData {
                request: ObjectRequest { request, object },
                stream,
                format: DataFormat::DATA,
                content_filter: None,
                delivery: Some(control),
            })
        });
        // The agent handles the requests of a stream in order, so when it answers the CREATE below, it has handled the
        // READ_DATA above.
        self.read += 1;
        let id = ObjectId::new(0xf00 + self.read, ObjectKind::PUBLISHER);
        assert_eq!(self.create(id, Entity::Publisher(Group::default()), Owner::Object(PARTICIPANT)), StatusValue::OK);
    }

    /// Writes data as soon as the session has room for it.
    #[track_caller]
    pub fn write(&mut self, stream: StreamId, object: ObjectId, identity: &[u8], data: &[u8]) -> RequestId {
        self.request(|session| session.write(stream, object, identity, data))
    }

    /// The data of an object that has arrived so far.
    pub fn data(&self, object: ObjectId) -> Vec<&[u8]> {
        let data = self.events.iter().filter_map(|event| match event {
            Event::Data(request, data) if request.object == object => Some(&data[..]),
            _ => None,
        });
        data.collect()
    }
}

fn reliable() -> Qos<'static> {
    let flags = QosFlags::RELIABLE | QosFlags::KEEP_LAST;
    Qos { flags, history_depth: Some(100), ..Qos::default() }
}

impl Event {
    fn from(event: ClientEvent<'_>) -> Option<Self> {
        Some(match event {
            ClientEvent::Connected => Self::Connected,
            ClientEvent::Refused(result) => Self::Refused(result.status),
            ClientEvent::Disconnected { reason, .. } => Self::Disconnected(reason),
            ClientEvent::Status { request, result } => Self::Status(request, result.status),
            ClientEvent::Data { request, data, .. } => Self::Data(request, data.to_vec()),
            _ => return None,
        })
    }
}
