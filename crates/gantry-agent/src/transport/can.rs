//! CAN FD over SocketCAN: a message is a frame, and each client has an identifier of 29 bits for both directions.

use super::{PeerAddress, Transport};
use crate::{
    agent::Agent,
    error::{Error, Result},
    port::Port,
};
use gantry_xrce::framing::can_fd;
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, eventfd, poll},
    io::Errno,
    net::{AddressFamily, SocketType, socket},
};
use socketcan::{CanAnyFrame, CanFdFrame, CanFdSocket, EmbeddedFrame, ExtendedId, Frame, Socket};
use std::{
    io,
    os::fd::OwnedFd,
    sync::Arc,
    thread::{self, JoinHandle},
};

/// Clients on a CAN bus, until this is dropped.
#[derive(Debug)]
pub struct Can {
    wake: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

struct Bus {
    socket: CanFdSocket,
    name: String,
}

impl Can {
    /// Takes clients on an interface, such as `can0`.
    ///
    /// # Errors
    /// The kernel has no CAN, or no interface of this name.
    pub fn open(agent: &Agent, interface: &str) -> Result<Can> {
        let failed = |source: io::Error| {
            let advice = match source.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::AFNOSUPPORT) => "; this kernel has no CAN: load its modules with `modprobe can_raw`",
                Some(Errno::NODEV) => "; `ip link` lists the interfaces",
                _ => "",
            };
            Error::Open { what: format!("CAN interface {interface}"), source, advice }
        };
        // Asked first, because an interface that is not there is another error.
        socket(AddressFamily::CAN, SocketType::RAW, None).map_err(|error| failed(error.into()))?;
        let socket = CanFdSocket::open(interface).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| failed(error.into()))?);
        let bus = Arc::new(Bus { socket, name: format!("can {interface}") });
        let port = agent.attach(bus.clone());
        let of_thread = wake.clone();
        let thread = thread::Builder::new()
            .name("can".to_owned())
            .spawn(move || {
                if let Err(error) = bus.receive(&port, &of_thread) {
                    port.failed(&error);
                }
            })
            .map_err(|source| Error::Thread { what: "CAN", source })?;
        Ok(Can { wake, thread: Some(thread) })
    }
}

impl Bus {
    fn receive(&self, port: &Port, wake: &OwnedFd) -> io::Result<()> {
        loop {
            let mut fds = [PollFd::new(&self.socket, PollFlags::IN), PollFd::new(wake, PollFlags::IN)];
            match poll(&mut fds, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let [_, wake] = fds.map(|fd| fd.revents());
            if !wake.is_empty() {
                return Ok(());
            }
            match self.socket.read_frame() {
                Ok(CanAnyFrame::Fd(frame)) if frame.is_extended() => {
                    if let Some(message) = can_fd::decode(frame.data()) {
                        port.receive(PeerAddress::Number(frame.raw_id()), message);
                    }
                }
                Ok(_) => {} // frames of other protocols
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Can {
    fn drop(&mut self) {
        let is_woken = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes()).is_ok();
        if let Some(thread) = self.thread.take()
            && is_woken
        {
            let _ = thread.join();
        }
    }
}

impl Transport for Bus {
    fn send(&self, peer: PeerAddress, message: &[u8]) -> io::Result<()> {
        let PeerAddress::Number(number) = peer else { return Err(io::ErrorKind::AddrNotAvailable.into()) };
        let mut frame = [0; can_fd::MAX_FRAME_BYTES];
        let length = can_fd::encode(message, &mut frame).map_err(io::Error::other)?;
        let data = frame.get(..length).unwrap_or_default();
        let frame = ExtendedId::new(number).and_then(|id| CanFdFrame::new(id, data));
        self.socket.write_frame(&frame.ok_or(io::ErrorKind::InvalidInput)?)
    }

    fn max_message_bytes(&self) -> usize {
        can_fd::MAX_MESSAGE_BYTES
    }

    fn name(&self) -> &str {
        &self.name
    }
}
