//! Transports: the code that carries messages between the agent and clients.

mod can;
mod device;
mod serial;
mod stream;
mod tcp;
mod udp;

pub use can::Can;
#[cfg(feature = "simulated-can")]
pub use can::{CanFrameBits, CanTiming};
pub use serial::Serial;
pub use tcp::Tcp;
pub use udp::Udp;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The address by which programs on this machine reach a socket that is bound to `address`.
fn local(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
