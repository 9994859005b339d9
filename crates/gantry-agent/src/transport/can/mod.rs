//! CAN FD: each message is one frame, and each client has one 29-bit CAN identifier, which is used in both directions.
//! The bus is a SocketCAN interface or, with the feature `simulated-can`, a simulated bus.

#[cfg(feature = "simulated-can")]
mod simulated;

#[cfg(feature = "simulated-can")]
pub use simulated::{CanFrameBits, CanTiming};

use super::{
    device::{Device, Open},
    stream::Stream,
};
use crate::{
    agent::{Agent, Port},
    error::{Error, Result},
    link::{PeerAddress, Transport},
    threads,
};
use gantry_xrce::framing::{
    can_fd,
    socket_can::{FRAME_BYTES, Frame},
};
use rustix::{
    io::Errno,
    net::{AddressFamily, Protocol, SocketType, socket, sockopt::set_socket_send_buffer_size},
};
use socketcan::{CanFdSocket, Socket};
use std::{
    fs, io,
    num::NonZeroU32,
    os::fd::{AsFd, OwnedFd},
    path::Path,
    sync::Arc,
    thread::JoinHandle,
};

/// The requested size of the send buffer. The kernel raises it to its minimum, which holds about six frames. Further
/// frames then wait in the agent, until the bus accepts them. With the default size, they would wait in the longer
/// queue of the interface and be old when they are sent.
const SEND_BUFFER_BYTES: usize = 1;

/// `CAN_RAW` of `linux/can.h`.
const CAN_RAW: Option<Protocol> = Some(Protocol::from_raw(NonZeroU32::MIN));

/// `CAN_MTU` of `linux/can.h`.
const CLASSIC_MTU: &str = "16";

/// The clients on a CAN bus, which are served until this value is dropped.
#[derive(Debug)]
pub struct Can {
    bus: Arc<Bus>,
    thread: Option<JoinHandle<()>>,
    /// The simulated bus, if this process simulates it.
    #[cfg(feature = "simulated-can")]
    _simulated: Option<simulated::SimulatedBus>,
}

/// The agent's node on a CAN bus.
struct Bus {
    device: Device,
    name: String,
    has_bit_rate_switch: bool,
}

impl Can {
    /// Serves clients on a CAN interface, such as `can0`. If the interface disappears, for example because its adapter
    /// is unplugged, the agent opens the interface again when it is back.
    ///
    /// # Errors
    /// The kernel does not support CAN, has no interface with this name, or the interface supports only classic CAN.
    pub fn open(agent: &Agent, interface: &str) -> Result<Can> {
        let failed = |source: io::Error| {
            let advice = match source.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::AFNOSUPPORT | Errno::PROTONOSUPPORT) => {
                    "; this kernel has no CAN: load its modules with `modprobe can_raw`"
                }
                Some(Errno::NODEV) => "; `ip link` lists the interfaces",
                _ => "",
            };
            Error::Open { what: format!("CAN interface {interface}"), source, advice }
        };
        // This check comes first, so that a kernel without CAN has another error than a missing interface.
        socket(AddressFamily::CAN, SocketType::RAW, CAN_RAW).map_err(|error| failed(error.into()))?;
        let line = open_interface(interface).map_err(failed)?;
        // A classic CAN interface refuses each CAN FD frame, so a client would wait for answers without end.
        if fs::read_to_string(Path::new("/sys/class/net").join(interface).join("mtu"))
            .is_ok_and(|mtu| mtu.trim() == CLASSIC_MTU)
        {
            return Err(Error::Open {
                what: format!("CAN interface {interface}"),
                source: io::Error::other("the interface has classic CAN only"),
                advice: "; `ip link set` enables CAN FD by `fd on`, or by `mtu 72`",
            });
        }
        let of_thread = interface.to_owned();
        let open = move || new_stream(open_interface(&of_thread)?);
        Ok(Self::start(agent, line, format!("can {interface}"), false, Some(Box::new(open)))?.0)
    }

    /// Serves clients on a non-blocking packet socket, which tests use instead of an interface. After an error, `open`
    /// opens the socket again.
    ///
    /// # Errors
    /// The transport's thread cannot be started.
    #[cfg(feature = "testing")]
    pub fn over(agent: &Agent, line: OwnedFd, open: impl Fn() -> io::Result<OwnedFd> + Send + 'static) -> Result<Can> {
        let open: Open = Box::new(move || new_stream(open()?));
        Ok(Self::start(agent, line, "can test".to_owned(), false, Some(open))?.0)
    }

    fn start(
        agent: &Agent,
        line: OwnedFd,
        name: String,
        has_bit_rate_switch: bool,
        open: Option<Open>,
    ) -> Result<(Can, Port)> {
        let failed = |source| Error::Thread { what: "CAN", source };
        let device = Device::new(new_stream(line).map_err(failed)?);
        let bus = Arc::new(Bus { device, name, has_bit_rate_switch });
        let port = agent.attach(bus.clone());
        let (of_thread, its_port) = (bus.clone(), port.clone());
        let thread = threads::spawn("can", move || of_thread.receive(&its_port, open.as_ref())).map_err(failed)?;
        let can = Can {
            bus,
            thread: Some(thread),
            #[cfg(feature = "simulated-can")]
            _simulated: None,
        };
        Ok((can, port))
    }
}

/// Opens an interface of SocketCAN.
fn open_interface(interface: &str) -> io::Result<OwnedFd> {
    let socket = CanFdSocket::open(interface)?;
    socket.set_nonblocking(true)?;
    socket.as_fd().try_clone_to_owned()
}

fn new_stream(line: OwnedFd) -> io::Result<Stream> {
    set_socket_send_buffer_size(&line, SEND_BUFFER_BYTES)?;
    Stream::of_packets(line, FRAME_BYTES)
}

impl Bus {
    fn receive(&self, port: &Port, open: Option<&Open>) {
        let received = &mut |packet: &[u8]| {
            // Frames that are no DDS-XRCE messages belong to other protocols, and are ignored.
            if let Ok(frame) = Frame::parse(packet)
                && let Some(message) = can_fd::decode(frame.data)
            {
                port.receive(PeerAddress::Number(frame.identifier), message);
            }
        };
        self.device.run(port, open, |stream| {
            loop {
                match stream.run(received, &mut || port.has_room_for_all(), &mut || true) {
                    // This socket reports one error for an interface that is down, and works again when the interface
                    // is up.
                    Err(error) if error.kind() == io::ErrorKind::NetworkDown => port.failed(&error),
                    // After any other error, for example because an adapter was unplugged, the socket cannot be used
                    // any more.
                    ended => return ended,
                }
            }
        });
    }
}

impl Drop for Can {
    fn drop(&mut self) {
        self.bus.device.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Transport for Bus {
    fn send(&self, peer: PeerAddress, message: &[u8]) -> io::Result<()> {
        let PeerAddress::Number(identifier) = peer else { return Err(io::ErrorKind::AddrNotAvailable.into()) };
        let mut data = [0; can_fd::MAX_FRAME_BYTES];
        let length = can_fd::encode(message, &mut data).map_err(io::Error::other)?;
        let data = data.get(..length).unwrap_or_default();
        let frame = Frame { identifier, has_bit_rate_switch: self.has_bit_rate_switch, data };
        self.device.send(&frame.to_bytes().map_err(io::Error::other)?)
    }

    fn has_room(&self, _peer: PeerAddress) -> bool {
        self.device.has_room()
    }

    fn max_message_bytes(&self) -> usize {
        can_fd::MAX_MESSAGE_BYTES
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl std::fmt::Debug for Bus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}
