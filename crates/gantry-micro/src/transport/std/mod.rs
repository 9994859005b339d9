//! Transports for programs that run on a host, such as tests.

mod can_frames;
mod port;
mod serial_port;
#[cfg(feature = "simulated-can")]
mod simulated_can;
mod socket_can;
mod tcp;
mod udp;

pub use port::Port;
pub use serial_port::open_serial;
#[cfg(feature = "simulated-can")]
pub use simulated_can::SimulatedCan;
pub use socket_can::SocketCan;
pub use tcp::TcpTransport;
pub use udp::UdpTransport;

use std::io;

/// Whether the error means that the connection is lost or that no agent listens. Such an error is ignored: the session
/// detects by itself that the agent does not answer.
fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, NotConnected, NotFound, UnexpectedEof,
    };
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionRefused | ConnectionReset | NotConnected | NotFound | UnexpectedEof
    )
}
