//! Tests of transports over real sockets, a pseudo-terminal, and a bus in memory.

use crate::{agent::Agent, world::NODE};
use gantry_micro::{
    Client, EntityState, Instant, Memory, Publisher, Qos, Subscription, Transport,
    transport::{CanFd, CanFdError, CanFdTransport, SocketCan, TcpTransport, UdpTransport, open_serial},
};
use gantry_msgs::{
    gantry_cdr::Message,
    geometry_msgs::msg::{Twist, Vector3},
    std_msgs::msg::String as Text,
};
use gantry_xrce::{
    framing::{LengthPrefixDecoder, SerialDecoder, SerialEncoder, can_fd, length_prefix},
    wire::ObjectKind,
};
use std::{
    cell::RefCell,
    collections::VecDeque,
    convert::Infallible,
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    os::fd::OwnedFd,
    time::{Duration, SystemTime},
};

/// The agent's end of a line.
pub trait End {
    fn receive(&mut self) -> Vec<Vec<u8>>;
    fn send(&mut self, message: &[u8]);
}

pub fn now() -> Instant {
    Instant::from_us(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_micros() as u64)
}

/// Lets a client publish messages and receive messages from the agent, in fragments if `MTU` is small. Then restarts
/// the agent.
pub fn exchange<const MTU: usize>(transport: impl Transport, mut end: impl End, mut lose: impl FnMut(&mut dyn End)) {
    let (mut memory, mut agent) = (Memory::<MTU, 4>::new(), Agent::default());
    let (publisher, subscription) = (Publisher::<Twist>::new(), Subscription::<Text, 4, 128>::new());
    let mut client = Client::new(transport, &mut memory, NODE);
    client.create_publisher(&publisher, "twist", Qos::DEFAULT).unwrap();
    client.create_subscription(&subscription, "text", Qos::DEFAULT).unwrap();
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    let until = |agent: &mut Agent,
                 client: &mut Client<'_, _>,
                 end: &mut dyn End,
                 what: &str,
                 condition: &dyn Fn(&Agent) -> bool| {
        while !condition(agent) {
            assert!(std::time::Instant::now() < deadline, "never: {what}");
            client.spin_once(now(), |_| {}).unwrap();
            end.receive().iter().for_each(|message| agent.receive(message, now()));
            while let Some(message) = agent.transmit(now()) {
                end.send(&message);
            }
        }
    };
    let twist = Twist { linear: Vector3 { x: 125.0, y: 126.0, z: -0.5 }, ..Twist::default() };
    let text = Text { data: "~}".repeat(40) }.to_cdr().unwrap();
    for _ in 0..2 {
        let is_ready = |agent: &Agent| publisher.state() == EntityState::Ready && !agent.reads.is_empty();
        until(&mut agent, &mut client, &mut end, "all is created", &is_ready);
        let body = &twist.to_cdr().unwrap()[4..];
        publisher.publish_bytes(&mut client, body).unwrap();
        until(&mut agent, &mut client, &mut end, "it arrives", &|agent| !agent.written.is_empty());
        assert_eq!(agent.written[0].2, body);
        let received = subscription.counts().received;
        agent.send(ObjectKind::DATA_READER, &[], &text[4..]);
        let arrived = |_: &Agent| subscription.counts().received > received;
        until(&mut agent, &mut client, &mut end, "the answer arrives", &arrived);
        assert_eq!(subscription.take().unwrap().unwrap().data(), "~}".repeat(40));
        agent.restart();
        lose(&mut end);
    }
}

struct Udp {
    socket: UdpSocket,
    client: Option<SocketAddr>,
}

impl End for Udp {
    fn receive(&mut self) -> Vec<Vec<u8>> {
        let (mut all, mut buffer) = (Vec::new(), [0; 2048]);
        while let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
            self.client = Some(from);
            all.push(buffer[..length].to_vec());
        }
        all
    }

    fn send(&mut self, message: &[u8]) {
        self.socket.send_to(message, self.client.unwrap()).unwrap();
    }
}

#[test]
fn udp() {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.set_nonblocking(true).unwrap();
    let transport = UdpTransport::new(socket.local_addr().unwrap()).unwrap();
    exchange::<512>(transport, Udp { socket, client: None }, |_| {});
}

/// A framing: it encodes messages for a byte stream, and decodes them.
pub trait Framing: Default {
    fn decode(&mut self, bytes: &[u8]) -> Vec<Vec<u8>>;
    fn encode(message: &[u8]) -> Vec<u8>;
}

#[derive(Default)]
struct LengthPrefix(LengthPrefixDecoder, Vec<u8>);

impl Framing for LengthPrefix {
    fn decode(&mut self, mut bytes: &[u8]) -> Vec<Vec<u8>> {
        self.1.resize(2048, 0);
        std::iter::from_fn(|| self.0.decode(&mut bytes, &mut self.1).map(<[u8]>::to_vec)).collect()
    }

    fn encode(message: &[u8]) -> Vec<u8> {
        [&length_prefix(message.len()).unwrap(), message].concat()
    }
}

pub struct Serial(SerialDecoder, Vec<u8>);

impl Default for Serial {
    fn default() -> Self {
        Self(SerialDecoder::new(SerialEncoder::AGENT), vec![0; 2048])
    }
}

impl Framing for Serial {
    fn decode(&mut self, mut bytes: &[u8]) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.0.decode(&mut bytes, &mut self.1).map(|frame| frame.message.to_vec())).collect()
    }

    fn encode(message: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 2 * message.len() + 20];
        let mut encoder = SerialEncoder::new(SerialEncoder::AGENT, SerialEncoder::CLIENT, message.len()).unwrap();
        let length = encoder.encode(message, &mut bytes);
        bytes.truncate(length);
        bytes
    }
}

pub struct Stream<S, F> {
    pub stream: S,
    pub framing: F,
}

impl<S: Read + Write, F: Framing> End for Stream<S, F> {
    fn receive(&mut self) -> Vec<Vec<u8>> {
        let (mut all, mut buffer) = (Vec::new(), [0; 100]);
        while let Ok(length @ 1..) = self.stream.read(&mut buffer) {
            all.extend(self.framing.decode(&buffer[..length]));
        }
        all
    }

    fn send(&mut self, message: &[u8]) {
        // The bytes are written one by one, so that the client gets parts of a message.
        for byte in F::encode(message) {
            match self.stream.write_all(&[byte]) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return,
                result => result.unwrap(),
            }
        }
    }
}

/// The agent's end of TCP: a listener that accepts a connection when it has none.
struct Accepting {
    listener: TcpListener,
    stream: Option<Stream<TcpStream, LengthPrefix>>,
}

impl End for Accepting {
    fn receive(&mut self) -> Vec<Vec<u8>> {
        if let Ok((stream, _)) = self.listener.accept() {
            stream.set_nonblocking(true).unwrap();
            self.stream = Some(Stream { stream, framing: LengthPrefix::default() });
        }
        self.stream.as_mut().map(End::receive).unwrap_or_default()
    }

    fn send(&mut self, message: &[u8]) {
        if let Some(stream) = &mut self.stream {
            stream.send(message);
        }
    }
}

#[test]
fn tcp_connects_again() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let transport = TcpTransport::new(listener.local_addr().unwrap());
    let end = RefCell::new(Accepting { listener, stream: None });
    struct Shared<'a>(&'a RefCell<Accepting>);
    impl End for Shared<'_> {
        fn receive(&mut self) -> Vec<Vec<u8>> {
            self.0.borrow_mut().receive()
        }
        fn send(&mut self, message: &[u8]) {
            self.0.borrow_mut().send(message);
        }
    }
    // The restart of the agent also closes its end of the connection.
    exchange::<512>(transport, Shared(&end), |_| end.borrow_mut().stream = None);
}

#[test]
fn pseudo_terminal() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let transport = open_serial(path, 115_200).unwrap();
    rustix::io::ioctl_fionbio(&master, true).unwrap();
    exchange::<512>(transport, Stream { stream: std::fs::File::from(master), framing: Serial::default() }, |_| {});
}

/// A bus in memory: a queue of frames for each direction.
#[derive(Default)]
struct Bus {
    there: RefCell<VecDeque<Vec<u8>>>,
    back: RefCell<VecDeque<Vec<u8>>>,
}

impl CanFd for &Bus {
    type Error = Infallible;

    fn transmit(&mut self, data: &[u8]) -> Result<bool, Infallible> {
        self.there.borrow_mut().push_back(data.to_vec());
        Ok(true)
    }

    fn receive(&mut self, data: &mut [u8; 64]) -> Result<Option<usize>, Infallible> {
        Ok(self.back.borrow_mut().pop_front().map(|frame| {
            data[..frame.len()].copy_from_slice(&frame);
            frame.len()
        }))
    }
}

impl End for &Bus {
    fn receive(&mut self) -> Vec<Vec<u8>> {
        self.there.borrow_mut().drain(..).map(|frame| can_fd::decode(&frame).unwrap().to_vec()).collect()
    }

    fn send(&mut self, message: &[u8]) {
        let mut frame = [0; 64];
        let length = can_fd::encode(message, &mut frame).unwrap();
        self.back.borrow_mut().push_back(frame[..length].to_vec());
    }
}

#[test]
fn can_fd_carries_everything_in_fragments() {
    let bus = Bus::default();
    exchange::<63>(CanFdTransport::new(&bus), &bus, |_| {});
}

#[test]
fn can_fd_refuses_a_message_that_is_longer_than_a_frame() {
    let bus = Bus::default();
    let error = CanFdTransport::new(&bus).send(&[0; 64]).unwrap_err();
    assert!(matches!(error, CanFdError::TooLong(_)) && error.to_string().contains("64 bytes"), "{error}");
}

#[test]
fn socket_can_needs_an_interface() {
    assert!(SocketCan::open("no_such_can", 1).is_err());
    assert_eq!(SocketCan::open("no_such_can", 1 << 29).unwrap_err().kind(), ErrorKind::InvalidInput);
}
