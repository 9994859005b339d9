//! The board's transport: all transports of gantry-micro as one type, with a count of the sent bytes.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use gantry_micro::transport::{CanFdTransport, Port, SerialTransport, SimulatedCan, TcpTransport, UdpTransport};
use perf_worker::clock::{SECOND_NS, now_ns};

use crate::{
    line::BoardEnd,
    transport::{CAN_IDENTIFIER, Transport},
};

/// Counters of the messages that a board has sent. The atomics are Relaxed, because no other memory depends on their
/// order.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    counts: Arc<[AtomicU64; 3]>,
}

/// The messages that a board has sent: up to a point in time, or between two points in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// The point in time, or the time between the two points, ns.
    pub time_ns: i64,
    /// The number of messages.
    pub messages: u64,
    /// The bytes of the messages, including the framing.
    pub frame_bytes: u64,
    /// The time that the messages take on the line, ns; 0 if the line has no limited speed.
    pub line_ns: u64,
}

impl Traffic {
    /// The counts until now.
    #[must_use]
    pub fn now(&self) -> Sent {
        let [messages, frame_bytes, line_ns] = &*self.counts;
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (messages, frame_bytes, line_ns) = (load(messages), load(frame_bytes), load(line_ns));
        Sent { time_ns: now_ns(), messages, frame_bytes, line_ns }
    }

    fn count(&self, transport: Transport, message: &[u8]) {
        let line_ns = transport.messages_per_s(message).map_or(0.0, |per_s| SECOND_NS as f64 / per_s);
        let frame_bytes = message.len() + transport.framing_bytes(message.len());
        let of_message = [1, frame_bytes as u64, line_ns as u64];
        self.counts.iter().zip(of_message).for_each(|(count, more)| {
            count.fetch_add(more, Ordering::Relaxed);
        });
    }
}

impl Sent {
    /// The difference to earlier counts.
    #[must_use]
    pub fn since(self, earlier: Sent) -> Sent {
        Sent {
            time_ns: self.time_ns - earlier.time_ns,
            messages: self.messages - earlier.messages,
            frame_bytes: self.frame_bytes - earlier.frame_bytes,
            line_ns: self.line_ns - earlier.line_ns,
        }
    }
}

/// The board's transport.
#[derive(Debug)]
pub struct BoardLine {
    port: BoardPort,
    transport: Transport,
    traffic: Traffic,
}

#[derive(Debug)]
enum BoardPort {
    Serial(SerialTransport<Port<OwnedFd>>),
    Tcp(TcpTransport),
    Udp(UdpTransport),
    Can(CanFdTransport<SimulatedCan>),
}

impl BoardLine {
    /// Opens the board's end of a line. `traffic` counts the messages that it sends.
    ///
    /// # Errors
    /// An error of the port or socket.
    pub fn open(end: &BoardEnd, transport: Transport, traffic: Traffic) -> io::Result<BoardLine> {
        let port = match end {
            BoardEnd::Serial(line) => BoardPort::Serial(SerialTransport::new(Port(line.try_clone()?))),
            BoardEnd::Tcp(agent) => BoardPort::Tcp(TcpTransport::new(*agent)),
            BoardEnd::Udp(agent) => BoardPort::Udp(UdpTransport::new(*agent)?),
            BoardEnd::Can(bus) => BoardPort::Can(SimulatedCan::connect(bus, CAN_IDENTIFIER)?),
        };
        Ok(BoardLine { port, transport, traffic })
    }

    /// True if the line is a bus.
    pub fn is_bus(&self) -> bool {
        matches!(self.port, BoardPort::Can(_))
    }

    /// The file descriptor; `None` while the line is not open.
    pub fn descriptor(&mut self) -> Option<BorrowedFd<'_>> {
        match &mut self.port {
            BoardPort::Serial(port) => Some(port.port().0.as_fd()),
            BoardPort::Tcp(port) => port.descriptor(),
            BoardPort::Udp(port) => Some((*port).as_fd()),
            BoardPort::Can(port) => port.controller().descriptor(),
        }
    }
}

impl gantry_micro::Transport for BoardLine {
    type Error = io::Error;

    fn send(&mut self, message: &[u8]) -> io::Result<bool> {
        let is_sent = match &mut self.port {
            BoardPort::Serial(port) => port.send(message),
            BoardPort::Tcp(port) => port.send(message),
            BoardPort::Udp(port) => port.send(message),
            BoardPort::Can(port) => port.send(message).map_err(io::Error::other),
        }?;
        if is_sent {
            self.traffic.count(self.transport, message);
        }
        Ok(is_sent)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match &mut self.port {
            BoardPort::Serial(port) => port.receive(buffer),
            BoardPort::Tcp(port) => port.receive(buffer),
            BoardPort::Udp(port) => port.receive(buffer),
            BoardPort::Can(port) => port.receive(buffer).map_err(io::Error::other),
        }
    }
}
