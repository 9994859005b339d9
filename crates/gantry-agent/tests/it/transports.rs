//! The transports other than UDP, and the program.

use crate::support::{TestClient, Wire, agent, host};
use gantry::Qos;
use gantry_agent::{Agent, Can, Config, Serial, Tcp};
use gantry_msgs::std_msgs::msg::{String, UInt32};
use gantry_xrce::{
    framing::{LengthPrefixDecoder, SerialDecoder, SerialEncoder, length_prefix},
    wire::StreamId,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, openpt, ptsname, unlockpt},
};
use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::fd::AsFd,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};
use test_support::eventually;

test_support::tests!(
    clients_connect_over_tcp,
    a_tcp_connection_that_ends_is_replaced,
    clients_share_a_serial_line,
    noise_on_a_serial_line_is_survived_and_logged,
    a_slow_line_holds_up_nobody,
    a_client_that_takes_nothing_is_gone,
    a_connection_without_a_session_ends_whatever_comes_on_it,
    a_serial_device_that_comes_back_is_opened_again,
    what_cannot_be_opened_is_said_in_a_sentence,
    the_program_serves_a_pseudoterminal_until_it_is_interrupted
);

const STRING: &str = "std_msgs::msg::dds_::String_";
const UINT32: &str = "std_msgs::msg::dds_::UInt32_";

/// Bytes of a device or a connection, as they come.
struct Bytes<L> {
    line: L,
    /// Read, and not decoded yet.
    read: Vec<u8>,
}

impl<L: AsFd + Read + Write> Bytes<L> {
    fn new(line: L) -> Self {
        Self { line, read: Vec::new() }
    }

    /// Waits for bytes at most so long.
    fn wait(&mut self, timeout: Duration) {
        if !self.read.is_empty() {
            return;
        }
        let timeout = Timespec::try_from(timeout).unwrap();
        let mut fds = [PollFd::new(&self.line, PollFlags::IN)];
        if poll(&mut fds, Some(&timeout)).unwrap() > 0 {
            let mut buffer = [0; 512];
            let length = self.line.read(&mut buffer).unwrap_or(0);
            self.read.extend_from_slice(&buffer[..length]);
        }
    }
}

struct TcpWire {
    bytes: Bytes<TcpStream>,
    decoder: LengthPrefixDecoder,
    buffer: Vec<u8>,
}

impl TcpWire {
    fn connect(tcp: &Tcp) -> Self {
        let bytes = Bytes::new(TcpStream::connect(tcp.address()).unwrap());
        Self { bytes, decoder: LengthPrefixDecoder::new(), buffer: vec![0; 1024] }
    }
}

impl Wire for TcpWire {
    fn send(&mut self, message: &[u8]) {
        let _ = self.bytes.line.write_all(&[&length_prefix(message.len()).unwrap(), message].concat());
    }

    fn receive(&mut self, timeout: Duration) -> Option<Vec<u8>> {
        self.bytes.wait(timeout);
        let mut left = &self.bytes.read[..];
        let message = self.decoder.decode(&mut left, &mut self.buffer).map(<[u8]>::to_vec);
        self.bytes.read = left.to_vec();
        message
    }
}

struct SerialWire {
    bytes: Bytes<File>,
    decoder: SerialDecoder,
    address: u8,
    buffer: Vec<u8>,
}

impl SerialWire {
    fn open(path: &Path, address: u8) -> Self {
        let line = File::options().read(true).write(true).open(path).unwrap();
        Self { bytes: Bytes::new(line), decoder: SerialDecoder::new(address), address, buffer: vec![0; 1024] }
    }
}

impl Wire for SerialWire {
    fn send(&mut self, message: &[u8]) {
        let mut encoder = SerialEncoder::new(self.address, SerialEncoder::AGENT, message.len()).unwrap();
        let mut frame = vec![0; 2 * message.len() + 16];
        let length = encoder.encode(message, &mut frame);
        self.bytes.line.write_all(&frame[..length]).unwrap();
    }

    fn receive(&mut self, timeout: Duration) -> Option<Vec<u8>> {
        self.bytes.wait(timeout);
        let mut left = &self.bytes.read[..];
        let message = self.decoder.decode(&mut left, &mut self.buffer).map(|frame| frame.message.to_vec());
        self.bytes.read = left.to_vec();
        message
    }
}

/// Samples go both ways, more than a line takes at once.
fn exchange(client: &mut TestClient, topic: &str) {
    let mut subscription = host().create_subscription::<UInt32>(topic, Qos::default()).unwrap();
    let mut publisher =
        host().create_publisher::<UInt32>(&format!("{topic}_back"), Qos::default().keep_last(50)).unwrap();
    let writer = client.create_writer(11, &format!("rt/{topic}"), UINT32);
    let reader = client.create_reader(12, &format!("rt/{topic}_back"), UINT32);
    client.read(reader, StreamId::RELIABLE, u16::MAX);
    for data in 0..50 {
        publisher.publish_copy(&UInt32 { data }).unwrap();
        client.write(StreamId::RELIABLE, writer, &[], &data.to_le_bytes());
        client.until("a sample", |_| subscription.take().unwrap().is_some_and(|sample| sample.data == data));
    }
    client.until("all samples", |client| client.data(reader).len() == 50);
    assert!(client.data(reader).iter().zip(0_u32..).all(|(data, number)| *data == number.to_le_bytes()));
}

fn clients_connect_over_tcp() {
    let (agent, _udp, _) = agent(Config::default());
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let mut first = TestClient::open(TcpWire::connect(&tcp), 0x0701);
    let mut second = TestClient::open(TcpWire::connect(&tcp), 0x0702);
    exchange(&mut first, "over_tcp");
    exchange(&mut second, "over_tcp_too");
}

fn a_tcp_connection_that_ends_is_replaced() {
    let (agent, _udp, _) = agent(Config::default());
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let mut client = TestClient::open(TcpWire::connect(&tcp), 0x0703);
    client.wire = Box::new(TcpWire::connect(&tcp));
    // The agent does not know the new connection, and says so.
    let before = client.told.len();
    client.until("connected again", |client| client.told.len() > before && client.session.is_connected());
    client.create_groups();
    exchange(&mut client, "over_another_tcp");
    assert_eq!(agent.statistics().len(), 1);
}

fn clients_share_a_serial_line() {
    let (agent, _udp, _) = agent(Config::default());
    let serial = Serial::pseudoterminal(&agent).unwrap();
    let mut client = TestClient::open(SerialWire::open(serial.path(), 1), 0x0704);
    exchange(&mut client, "over_serial");
    // Each program with the line open gets a part of its bytes, so one follows the other here.
    drop(client);
    let mut other = TestClient::open(SerialWire::open(serial.path(), 2), 0x0705);
    exchange(&mut other, "over_serial_too");
    assert_eq!(agent.statistics().len(), 2);
}

fn noise_on_a_serial_line_is_survived_and_logged() {
    let (agent, _udp, lines) = agent(Config::default());
    let serial = Serial::pseudoterminal(&agent).unwrap();
    let mut client = TestClient::open(SerialWire::open(serial.path(), 1), 0x0706);
    let mut line = File::options().write(true).open(serial.path()).unwrap();
    // A frame with a wrong checksum, the beginning of another one, and bytes of no frame.
    line.write_all(&[0x7e, 1, 0, 2, 0, 5, 5, 0, 0, 0x7e, 1, 0, 0xff, 0, 0x55]).unwrap();
    exchange(&mut client, "over_noise");
    let lines = lines.lock().unwrap();
    assert!(lines.iter().any(|line| line.contains("wrong checksum")), "{lines:?}");
}

fn a_slow_line_holds_up_nobody() {
    let (agent, udp, _) = agent(Config::default());
    let serial = Serial::pseudoterminal(&agent).unwrap();
    let mut slow = TestClient::open(SerialWire::open(serial.path(), 1), 0x0708);
    let reader = slow.create_reader(1, "rt/too_fast", STRING);
    slow.read(reader, StreamId::BEST_EFFORT, u16::MAX);
    let mut publisher = host().create_publisher::<String>("/too_fast", Qos::default().keep_last(100)).unwrap();
    let text = |number: u32| format!("{number:0>150}");
    // The client does not read its line, which takes some kilobytes.
    for number in 0..1000 {
        publisher.publish_copy(&String { data: text(number) }).unwrap();
    }
    let mut other = TestClient::open(crate::support::socket(&udp), 0x0709);
    exchange(&mut other, "beside_a_slow_line");
    // When it reads again, it gets what waited, up to the newest.
    slow.until("the newest sample", |slow| {
        slow.data(reader).last().is_some_and(|data| data.windows(150).any(|window| window == text(999).as_bytes()))
    });
    let statistics = agent.statistics();
    let counts = statistics.iter().find(|client| client.key.0 == 0x0708_u32.to_be_bytes()).unwrap().counts;
    assert_eq!(counts.delivered as usize, slow.data(reader).len());
    assert_eq!(counts.delivered + counts.overwritten, 1000);
}

fn a_client_that_takes_nothing_is_gone() {
    let (agent, _udp, lines) = agent(Config::default());
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let mut client = TestClient::open(TcpWire::connect(&tcp), 0x070b);
    let reader = client.create_reader(1, "rt/flood", STRING);
    client.read(reader, StreamId::BEST_EFFORT, u16::MAX);
    let mut publisher = host().create_publisher::<String>("/flood", Qos::default()).unwrap();
    // It sends no more than it reads, until the buffers of the system are full.
    eventually("the client is gone", || {
        publisher.publish_copy(&String { data: "x".repeat(150) }).unwrap();
        agent.statistics().is_empty()
    });
    eventually("a line in the log", || lines.lock().unwrap().iter().any(|line| line.contains("is gone")));
}

fn a_connection_without_a_session_ends_whatever_comes_on_it() {
    let (agent, _udp, _) = agent(Config::default());
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let mut connection = TcpStream::connect(tcp.address()).unwrap();
    connection.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    eventually("the connection ends", || {
        let is_sent = connection.write_all(&[0]).is_ok();
        !is_sent || matches!(connection.read(&mut [0]), Ok(0))
    });
}

/// A pseudoterminal as a device: what the agent opens is the path, and this end is the client's.
fn device() -> (File, std::path::PathBuf) {
    let end = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    unlockpt(&end).unwrap();
    let path = ptsname(&end, Vec::new()).unwrap();
    (File::from(end), path.to_str().unwrap().into())
}

impl SerialWire {
    fn over(line: File) -> Self {
        Self { bytes: Bytes::new(line), decoder: SerialDecoder::new(1), address: 1, buffer: vec![0; 1024] }
    }
}

fn a_serial_device_that_comes_back_is_opened_again() {
    let (agent, _udp, lines) = agent(Config::default());
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("ttyUSB0");
    let (end, path) = device();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let serial = Serial::open(&agent, &link, 115_200).unwrap();
    assert_eq!(serial.path(), link);
    let mut client = TestClient::open(SerialWire::over(end), 0x070a);
    // The device is pulled out and plugged in again; while it is away, nobody is there.
    let (end, path) = device();
    client.wire = Box::new(SerialWire::over(end));
    eventually("the device is gone", || lines.lock().unwrap().iter().any(|line| line.contains("failed")));
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    eventually("the device is back", || lines.lock().unwrap().iter().any(|line| line.contains("works again")));
    client.until("connected", |client| client.session.is_connected());
    assert_eq!(agent.statistics().len(), 1);
    exchange(&mut client, "over_a_device_that_came_back");
}

fn what_cannot_be_opened_is_said_in_a_sentence() {
    let agent = Agent::new(Config::default()).unwrap();
    let tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let in_use = Tcp::open(&agent, tcp.address()).unwrap_err().to_string();
    assert!(in_use.contains(&tcp.address().to_string()) && in_use.contains("choose another --port"), "{in_use}");
    let missing = Serial::open(&agent, Path::new("/dev/ttyNone"), 115_200).unwrap_err().to_string();
    assert!(missing.contains("/dev/ttyNone at 115200 baud") && missing.contains("plugged in"), "{missing}");
    let no_bus = Can::open(&agent, "can_none").unwrap_err().to_string();
    assert!(no_bus.contains("can_none") && (no_bus.contains("modprobe") || no_bus.contains("ip link")), "{no_bus}");
}

fn the_program_serves_a_pseudoterminal_until_it_is_interrupted() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_gantry-agent"))
        .args(["pty", "--domain", "0", "--verbose"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut path = std::string::String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut path).unwrap();
    let mut client = TestClient::open(SerialWire::open(Path::new(path.trim()), 1), 0x0707);
    exchange(&mut client, "over_program");
    kill_process(Pid::from_child(&program), Signal::INT).unwrap();
    eventually("the program ends", || program.try_wait().unwrap().is_some());
    assert!(program.wait().unwrap().success());
    let mut log = std::string::String::new();
    program.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("client 00000707 has come at serial"), "{log}");
}
