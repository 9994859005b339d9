//! The transports of gantry-micro as one type, with the descriptor on which a thread waits.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use gantry_micro::{
    Transport,
    transport::{CanFdTransport, Port, SerialTransport, SimulatedCan, TcpTransport, UdpTransport, open_serial},
};

use crate::micro::{line::BoardEnd, transport::CAN_IDENTIFIER};

/// The board's transport.
#[derive(Debug)]
pub enum BoardLine {
    /// Over a serial port.
    Serial(SerialTransport<Port<OwnedFd>>),
    /// Over TCP.
    Tcp(TcpTransport),
    /// Over UDP.
    Udp(UdpTransport),
    /// Over a simulated CAN bus.
    Can(CanFdTransport<SimulatedCan>),
}

impl BoardLine {
    /// Opens the board's end of a line.
    ///
    /// # Errors
    /// Those of the port or socket.
    pub fn open(end: &BoardEnd) -> io::Result<BoardLine> {
        Ok(match end {
            BoardEnd::Serial(path, bits_per_s) => BoardLine::Serial(open_serial(path, *bits_per_s)?),
            BoardEnd::Tcp(agent) => BoardLine::Tcp(TcpTransport::new(*agent)),
            BoardEnd::Udp(agent) => BoardLine::Udp(UdpTransport::new(*agent)?),
            BoardEnd::Can(bus) => BoardLine::Can(SimulatedCan::connect(bus, CAN_IDENTIFIER)?),
        })
    }

    /// The descriptor, if the line is open.
    pub fn descriptor(&mut self) -> Option<BorrowedFd<'_>> {
        match self {
            BoardLine::Serial(line) => Some(line.port().0.as_fd()),
            BoardLine::Tcp(line) => line.descriptor(),
            BoardLine::Udp(line) => Some((*line).as_fd()),
            BoardLine::Can(line) => line.controller().descriptor(),
        }
    }
}

impl Transport for BoardLine {
    type Error = io::Error;

    fn send(&mut self, message: &[u8]) -> io::Result<bool> {
        match self {
            BoardLine::Serial(line) => line.send(message),
            BoardLine::Tcp(line) => line.send(message),
            BoardLine::Udp(line) => line.send(message),
            BoardLine::Can(line) => line.send(message).map_err(io::Error::other),
        }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            BoardLine::Serial(line) => line.receive(buffer),
            BoardLine::Tcp(line) => line.receive(buffer),
            BoardLine::Udp(line) => line.receive(buffer),
            BoardLine::Can(line) => line.receive(buffer).map_err(io::Error::other),
        }
    }
}
