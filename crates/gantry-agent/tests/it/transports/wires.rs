//! Lines that carry messages in the framings of the transports.

use crate::support::Wire;
use gantry_agent::Tcp;
use gantry_xrce::framing::{LengthPrefixDecoder, SerialDecoder, SerialEncoder, length_prefix};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    net::{AddressFamily, SocketType, bind, connect, socket},
};
use std::{
    fs::File,
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddrV4, TcpStream},
    os::fd::AsFd,
    path::Path,
    time::Duration,
};

/// The byte stream of a device or a connection.
struct Bytes<L> {
    line: L,
    /// The bytes that were read and not decoded yet.
    read: Vec<u8>,
}

impl<L: AsFd + Read + Write> Bytes<L> {
    fn new(line: L) -> Self {
        Self { line, read: Vec::new() }
    }

    /// Waits for bytes, at most for the time `timeout`.
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

pub struct TcpWire {
    bytes: Bytes<TcpStream>,
    decoder: LengthPrefixDecoder,
    buffer: Vec<u8>,
}

impl TcpWire {
    pub fn connect(tcp: &Tcp) -> Self {
        Self::over(TcpStream::connect(tcp.address()).unwrap())
    }

    /// Connects from the address `host`, so that the client seems to be on another machine.
    pub fn connect_from(host: Ipv4Addr, tcp: &Tcp) -> Self {
        Self::over(Self::connection_from(host, tcp))
    }

    /// Like [`Self::connect_from`], without the framing.
    pub fn connection_from(host: Ipv4Addr, tcp: &Tcp) -> TcpStream {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&socket, &SocketAddrV4::new(host, 0)).unwrap();
        connect(&socket, &tcp.address()).unwrap();
        socket.into()
    }

    fn over(line: TcpStream) -> Self {
        let bytes = Bytes::new(line);
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

pub struct SerialWire {
    bytes: Bytes<File>,
    decoder: SerialDecoder,
    address: u8,
    buffer: Vec<u8>,
}

impl SerialWire {
    pub fn open(path: &Path, address: u8) -> Self {
        Self::over(File::options().read(true).write(true).open(path).unwrap(), address)
    }

    /// Makes a wire from the client's end of a line.
    pub fn over(line: File, address: u8) -> Self {
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
