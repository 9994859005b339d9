//! UDP: each message is one datagram.

use crate::{
    agent::{Agent, Port},
    error::{Error, Result},
    link::{PeerAddress, Transport},
    threads,
};
use rustix::net::{SendFlags, sendto};
use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::*},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// The longest datagram, in bytes.
const MAX_BYTES: usize = 65_507;

/// The pause after an error of the socket: without it, the next attempt would fail at once.
const PAUSE: Duration = Duration::from_millis(100);

/// The clients over UDP. They are served until this value is dropped.
#[derive(Debug)]
pub struct Udp {
    address: SocketAddr,
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

struct Socket(UdpSocket);

impl Udp {
    /// Serves clients at an address of this machine. With port 0, the system chooses a free port.
    ///
    /// # Errors
    /// The address is in use, or does not belong to this machine.
    pub fn open(agent: &Agent, address: SocketAddr) -> Result<Udp> {
        let failed = |source| {
            let advice = match io::Error::kind(&source) {
                io::ErrorKind::AddrInUse => "; another agent may run: choose another --port",
                _ => "",
            };
            Error::Open { what: format!("UDP at {address}"), source, advice }
        };
        let socket = UdpSocket::bind(address).map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        let receiver = socket.try_clone().map_err(failed)?;
        let port = agent.attach(Arc::new(Socket(socket)));
        let is_ending = Arc::new(AtomicBool::new(false));
        let of_thread = is_ending.clone();
        let thread = threads::spawn("udp", move || receive(|buffer| receiver.recv_from(buffer), &port, &of_thread))
            .map_err(|source| Error::Thread { what: "UDP", source })?;
        Ok(Udp { address, is_ending, thread: Some(thread) })
    }

    /// The address of the socket, with the port that was chosen.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Passes each datagram that a socket receives to the port, until the transport ends.
fn receive(
    mut receive_from: impl FnMut(&mut [u8]) -> io::Result<(usize, SocketAddr)>,
    port: &Port,
    is_ending: &AtomicBool,
) {
    let mut buffer = vec![0; MAX_BYTES];
    let mut is_failing = false;
    loop {
        let received = receive_from(&mut buffer);
        if is_ending.load(Acquire) {
            return;
        }
        match received {
            Ok((length, sender)) => {
                if std::mem::take(&mut is_failing) {
                    port.restored();
                }
                port.receive(PeerAddress::Socket(sender), buffer.get(..length).unwrap_or_default());
            }
            // A client that is gone (ICMP "port unreachable") or a signal causes this error, which needs no reaction.
            Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::Interrupted) => {}
            // Other errors, such as an interface that is down or a lack of memory, are temporary. Only the first one in
            // a row is logged.
            Err(error) => {
                if !std::mem::replace(&mut is_failing, true) {
                    port.failed(&error);
                }
                thread::park_timeout(PAUSE);
            }
        }
    }
}

impl Drop for Udp {
    fn drop(&mut self) {
        self.is_ending.store(true, Release); // partner: `receive`
        let to = super::local(self.address);
        let from: SocketAddr =
            if to.is_ipv4() { (Ipv4Addr::UNSPECIFIED, 0).into() } else { (Ipv6Addr::UNSPECIFIED, 0).into() };
        // An empty datagram to its own socket wakes the thread, which then ends. If the datagram cannot be sent, the
        // thread cannot be joined and is left running.
        let is_woken = UdpSocket::bind(from).and_then(|waker| waker.send_to(&[], to)).is_ok();
        if let Some(thread) = self.thread.take()
            && is_woken
        {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Transport for Socket {
    fn send(&self, peer: PeerAddress, message: &[u8]) -> io::Result<()> {
        match peer {
            PeerAddress::Socket(address) => {
                sendto(&self.0, message, SendFlags::DONTWAIT, &address)?;
                Ok(())
            }
            PeerAddress::Number(_) => Err(io::ErrorKind::AddrNotAvailable.into()),
        }
    }

    fn max_message_bytes(&self) -> usize {
        MAX_BYTES
    }

    fn name(&self) -> &str {
        "udp"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Level, Log};
    use rustix::io::Errno;
    use std::sync::Mutex;

    /// A transport that records the messages that are sent.
    #[derive(Default)]
    struct Sent(Mutex<Vec<Vec<u8>>>);

    impl Transport for Sent {
        fn send(&self, _peer: PeerAddress, message: &[u8]) -> io::Result<()> {
            self.0.lock().unwrap().push(message.to_vec());
            Ok(())
        }

        fn max_message_bytes(&self) -> usize {
            MAX_BYTES
        }

        fn name(&self) -> &str {
            "failing"
        }
    }

    #[test]
    fn a_socket_that_fails_is_read_again_and_said_to_fail_once() {
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let log = lines.clone();
        let log = Log::new(Level::Info, move |_, line| log.lock().unwrap().push(line.to_owned()));
        let agent = Agent::new(Config { log: Arc::new(log), ..Config::default() }).unwrap();
        let transport = Arc::new(Sent::default());
        let (port, is_ending) = (agent.attach(transport.clone()), AtomicBool::new(false));
        // A GET_INFO about the agent arrives after three failures of the socket.
        let question = [0x80, 0, 0, 0, 2, 1, 8, 0, 0, 0x0a, 0xff, 0xfd, 2, 0, 0, 0];
        let mut left = vec![Ok(&question[..]), Err(Errno::NOBUFS), Err(Errno::NETDOWN), Err(Errno::NETDOWN)];
        let next = |buffer: &mut [u8]| {
            let Some(next) = left.pop() else {
                is_ending.store(true, Release);
                return Ok((0, ([127, 0, 0, 1], 1).into()));
            };
            let bytes = next?;
            buffer[..bytes.len()].copy_from_slice(bytes);
            Ok((bytes.len(), ([127, 0, 0, 1], 1).into()))
        };
        receive(next, &port, &is_ending);
        assert_eq!(transport.0.lock().unwrap().len(), 1, "the question has no answer");
        let lines = lines.lock().unwrap();
        let count = |words: &str| lines.iter().filter(|line| line.contains(words)).count();
        assert_eq!((count("failing: failed"), count("failing: works again")), (1, 1), "{lines:?}");
    }
}
