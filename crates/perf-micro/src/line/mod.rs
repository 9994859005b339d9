//! The line between the board and the agent, with the speed of a real line.
//!
//! The agent's end of a serial or USB line is a pseudo-terminal, and a relay connects the pseudo-terminal with the
//! board. TCP is a relay between two connections. The relay delays each byte by the time that it takes on the line.
//! UDP is the plain loopback interface. CAN FD is the bus that the agent simulates.

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

/// The length of the board's send queue, as the time that its bytes take on the line, s. The kernel makes no queue
/// that is shorter than some hundred bytes.
const QUEUE_S: f64 = 0.02;

/// A line, which exists until this value is dropped.
#[derive(Debug)]
pub struct Line {
    /// The arguments of `gantry-agent`, which name the end of the line that it opens.
    pub agent_arguments: Vec<String>,
    /// The end of the line that the board opens.
    pub board_end: BoardEnd,
    /// The faults of a serial line; other lines have none.
    pub faults: Arc<Faults>,
    /// The threads that move the bytes, unless the kernel or the agent moves them. The threads are dropped
    /// before `_end`.
    _relays: Vec<LineThread>,
    _end: Option<Pseudoterminal>,
}

/// The board's end of a line.
#[derive(Clone, Debug)]
pub enum BoardEnd {
    /// The line of a serial port, whose queue is as short as a microcontroller's.
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
    /// An error, if the system gives no pseudo-terminal, port or thread.
    pub fn open(transport: Transport) -> io::Result<Line> {
        let (faults, agent) = (Arc::<Faults>::default(), SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let (mut relays, mut end) = (Vec::new(), None);
        let (agent_arguments, board_end) = match (transport, transport.speed()) {
            (Transport::Serial | Transport::Usb, Some(speed)) => {
                let (board, line) = UnixStream::pair()?;
                // A pseudo-terminal would hold 64 KiB of the board's bytes, which take seconds on this line.
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

/// The arguments with which the agent opens a network port. The port was free a moment before, and the agent binds it.
fn network(verb: &str, agent: SocketAddr) -> Vec<String> {
    words([verb, "--address", &agent.ip().to_string(), "--port", &agent.port().to_string()])
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).into()
}
