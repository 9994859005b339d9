//! Transports of a host, which are tested with and serve programs that run there.

mod port;
mod serial_port;
mod socket_can;
mod tcp;
mod udp;

pub use port::Port;
pub use serial_port::open_serial;
pub use socket_can::SocketCan;
pub use tcp::TcpTransport;
pub use udp::UdpTransport;
