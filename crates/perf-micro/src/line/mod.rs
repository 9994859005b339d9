//! The line between the board and the agent, with the speed of a real line.
//!
//! A serial or USB line is a socket pair for the board and a pseudo-terminal for the agent; a relay copies the bytes
//! between them. TCP is a relay between two connections. The relay delays each byte by the time that the byte would
//! take on a real line. UDP is the loopback interface without delays. CAN FD is the bus that the agent simulates.

mod faults;
mod line_thread;
mod pace;
mod pseudoterminal;
mod relay;
mod tcp;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::PathBuf,
    sync::Arc,
};

use rustix::net::sockopt::set_socket_send_buffer_size;

use crate::transport::Transport;
pub use faults::{Direction, Faults};
use line_thread::LineThread;
use pseudoterminal::Pseudoterminal;
use relay::both_ways;
pub use relay::wait_for;

/// The length of the board's send queue, as the time in s that its bytes take on the line. The kernel makes no queue
/// shorter than some hundred bytes.
const QUEUE_S: f64 = 0.02;

/// A line, which exists until this value is dropped.
#[derive(Debug)]
pub struct Line {
    /// The arguments of `gantry-agent` for its end of the line.
    pub agent_arguments: Vec<String>,
    /// The end of the line that the board opens.
    pub board_end: BoardEnd,
    /// The faults of a serial line; other lines have none.
    pub faults: Arc<Faults>,
    /// The threads that copy the bytes; empty if the kernel or the agent does so. They are dropped before `_end`, which
    /// they use.
    _relays: Vec<LineThread>,
    _end: Option<Pseudoterminal>,
}

/// The board's end of a line.
#[derive(Clone, Debug)]
pub enum BoardEnd {
    /// A serial line, whose send queue is as short as a microcontroller's.
    Serial(Arc<OwnedFd>),
    /// A TCP server.
    Tcp(SocketAddr),
    /// A UDP server.
    Udp(SocketAddr),
    /// The socket of a simulated CAN bus.
    Can(PathBuf),
}

impl Line {
    /// Opens a line.
    ///
    /// # Errors
    /// The kernel's error, if it refuses a pseudo-terminal, a port or a thread.
    pub fn open(transport: Transport) -> io::Result<Line> {
        let (faults, agent) = (Arc::<Faults>::default(), SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let (mut relays, mut end) = (Vec::new(), None);
        let (agent_arguments, board_end) = match (transport, transport.speed()) {
            (Transport::Serial | Transport::Usb, Some(speed)) => {
                let (board, line) = UnixStream::pair()?;
                // A pseudo-terminal would queue 64 KiB of the board's bytes, which take seconds on this line.
                set_socket_send_buffer_size(&board, (speed.bytes_per_s * QUEUE_S) as usize)?;
                board.set_nonblocking(true)?;
                line.set_nonblocking(true)?;
                let agent = end.insert(Pseudoterminal::open()?);
                relays.extend(both_ways([&line.into(), &agent.end], speed, &faults)?);
                let (path, baud) = (agent.path.display().to_string(), transport.baud().to_string());
                (words(["serial", &path, "--baud", &baud]), BoardEnd::Serial(Arc::new(board.into())))
            }
            (Transport::Tcp, Some(speed)) => {
                let agent = TcpListener::bind(agent)?.local_addr()?;
                let (address, relay) = tcp::relay(agent, speed)?;
                relays.push(relay);
                (network("tcp", agent), BoardEnd::Tcp(address))
            }
            _ => match transport.bit_rates() {
                Some(bit_rates) => {
                    let path = std::env::temp_dir().join(format!("perf_micro_{}.can", std::process::id()));
                    let (bus, [nominal, data]) = (path.display().to_string(), bit_rates.map(|rate| rate.to_string()));
                    let arguments = ["can", "--simulated", &bus, "--bitrate", &nominal, "--dbitrate", &data];
                    (words(arguments), BoardEnd::Can(path))
                }
                None => {
                    let agent = UdpSocket::bind(agent)?.local_addr()?;
                    (network("udp", agent), BoardEnd::Udp(agent))
                }
            },
        };
        Ok(Line { agent_arguments, board_end, faults, _relays: relays, _end: end })
    }
}

/// The arguments with which the agent opens a network port. The line has chosen a free port for it.
fn network(verb: &str, agent: SocketAddr) -> Vec<String> {
    words([verb, "--address", &agent.ip().to_string(), "--port", &agent.port().to_string()])
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).into()
}
