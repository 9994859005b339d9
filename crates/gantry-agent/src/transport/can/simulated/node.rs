//! Nodes of a simulated bus: the programs that are connected to its socket, and the agent.

use super::timing::CanTiming;
use gantry_xrce::framing::{
    can_fd,
    socket_can::{FRAME_BYTES, Frame, FrameError},
};
use rustix::{
    io::{Errno, read},
    net::{SendFlags, send},
};
use std::{
    fmt, io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

/// The size of the receive buffer: one byte more than a frame, so that a packet that is too long is detected.
const PACKET_BYTES: usize = FRAME_BYTES + 1;

/// A node: its connection, and the next frame that it sends. Further frames wait in its socket, as in the mailboxes of
/// a real CAN controller.
pub struct Node {
    number: u64,
    socket: OwnedFd,
    head: Option<Head>,
    /// The number of frames on the bus so far when this node last sent a frame.
    last_turn: u64,
    overruns: u64,
}

/// A frame that waits for the bus, at the head of its node's queue.
pub struct Head {
    pub identifier: u32,
    pub bytes: [u8; FRAME_BYTES],
    /// The time from the start of the frame to the earliest start of the next frame.
    pub time: Duration,
}

/// The reason why a node has left the bus.
#[derive(Debug, PartialEq, Eq)]
pub enum Gone {
    Left,
    Refused(FrameError),
}

impl Node {
    /// The number of the agent's node.
    pub const AGENT: u64 = 0;

    /// Makes a node over a non-blocking socket.
    pub fn new(number: u64, socket: OwnedFd) -> Self {
        Self { number, socket, head: None, last_turn: 0, overruns: 0 }
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn has_head(&self) -> bool {
        self.head.is_some()
    }

    /// The rank of the node's frame in arbitration; the lowest rank is sent first. Two frames with the same identifier
    /// would disturb each other on a wire; here they are sent one after the other.
    pub fn rank(&self) -> Option<(u32, u64)> {
        self.head.as_ref().map(|head| (head.identifier, self.last_turn))
    }

    /// Takes the node's next frame, to send it on the bus.
    pub fn take_head(&mut self, turn: u64) -> Option<Head> {
        self.last_turn = turn;
        self.head.take()
    }

    /// Reads the node's next frame, if there is one.
    pub fn read_head(&mut self, timing: CanTiming) -> Result<(), Gone> {
        let mut packet = [0; PACKET_BYTES];
        match read(&self.socket, &mut packet) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Ok(0) | Err(_) => Err(Gone::Left),
            Ok(length) => {
                let frame = Frame::parse(packet.get(..length).unwrap_or_default()).map_err(Gone::Refused)?;
                self.head = Some(Head::new(&frame, timing).map_err(Gone::Refused)?);
                Ok(())
            }
        }
    }

    /// Delivers a frame to the node. If the node does not read and so loses the frame, returns the number of frames
    /// that it has lost so far.
    ///
    /// # Errors
    /// The node has left.
    pub fn deliver(&mut self, frame: &[u8; FRAME_BYTES]) -> io::Result<Option<u64>> {
        match send(&self.socket, frame, SendFlags::NOSIGNAL) {
            Ok(_) => Ok(None),
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::INTR) => {
                self.overruns += 1;
                Ok(Some(self.overruns))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Head {
    /// Pads the data with zeros to the next length that CAN FD allows, as Linux's drivers do.
    fn new(frame: &Frame<'_>, timing: CanTiming) -> Result<Self, FrameError> {
        let mut data = [0; can_fd::MAX_FRAME_BYTES];
        data.iter_mut().zip(frame.data).for_each(|(to, from)| *to = *from);
        let length = can_fd::frame_length(frame.data.len()).unwrap_or(data.len());
        let frame = Frame {
            identifier: frame.identifier,
            has_bit_rate_switch: frame.has_bit_rate_switch && timing.has_bit_rate_switch(),
            data: data.get(..length).unwrap_or_default(),
        };
        Ok(Self { identifier: frame.identifier, bytes: frame.to_bytes()?, time: timing.frame_time(&frame) })
    }
}

impl AsFd for Node {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Self::AGENT => f.write_str("the agent"),
            number => write!(f, "node {number}"),
        }
    }
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left => f.write_str("has left"),
            Self::Refused(error) => write!(f, "is disconnected: {error}"),
        }
    }
}
