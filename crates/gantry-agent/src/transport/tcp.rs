//! TCP: the length of each message precedes the message.

use super::stream::Stream;
use crate::{
    agent::{Agent, Port},
    error::{Error, Result},
    link::{PeerAddress, Transport},
    lock::lock,
    threads,
};
use gantry_xrce::framing::{LengthPrefixDecoder, length_prefix};
use rustix::net::{
    Shutdown, shutdown,
    sockopt::{set_socket_send_buffer_size, set_tcp_quickack},
};
use std::{
    collections::{HashMap, hash_map::Entry},
    io,
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    os::fd::AsFd,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::*},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// The longest message, in bytes.
const MAX_BYTES: usize = 65_535;
/// The size of a connection's send buffer in the kernel. It is small, because data that waits there for long is old
/// when it arrives.
const SEND_BUFFER_BYTES: usize = 16 << 10;
/// The pause after a connection could not be accepted, for example because the process has too many descriptors.
/// Without the pause, the next attempt would fail at once.
const PAUSE: Duration = Duration::from_millis(100);

/// The clients over TCP. They are served until this value is dropped.
#[derive(Debug)]
pub struct Tcp {
    address: SocketAddr,
    shared: Arc<Connections>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Connections {
    connections: Mutex<HashMap<SocketAddr, Arc<Stream>>>,
    is_ending: AtomicBool,
}

impl Tcp {
    /// Serves clients at an address of this machine. With port 0, the system chooses a free port.
    ///
    /// # Errors
    /// The address is in use, or does not belong to this machine.
    pub fn open(agent: &Agent, address: SocketAddr) -> Result<Tcp> {
        let failed = |source| {
            let advice = match io::Error::kind(&source) {
                io::ErrorKind::AddrInUse => "; another agent may run: choose another --port",
                _ => "",
            };
            Error::Open { what: format!("TCP at {address}"), source, advice }
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Arc::<Connections>::default();
        let port = agent.attach(shared.clone());
        let of_thread = shared.clone();
        let thread = threads::spawn("tcp", move || of_thread.accept(&listener, &port))
            .map_err(|source| Error::Thread { what: "TCP", source })?;
        Ok(Tcp { address, shared, thread: Some(thread) })
    }

    /// The address of the socket, with the port that was chosen.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Connections {
    fn accept(self: &Arc<Self>, listener: &TcpListener, port: &Port) {
        let mut threads: Vec<(IpAddr, JoinHandle<()>)> = Vec::new();
        loop {
            let accepted = listener.accept();
            if self.is_ending.load(Acquire) {
                break;
            }
            threads.retain(|(_, thread)| !thread.is_finished());
            let is_taken = accepted.is_ok();
            let began = accepted.and_then(|(connection, peer)| {
                let ip = peer.ip().to_canonical();
                let of_ip = threads.iter().filter(|(other, _)| *other == ip).count();
                if let Some(why) = refusal(port, PeerAddress::Socket(peer), threads.len(), of_ip) {
                    return Err(io::Error::other(format!("{peer} is refused: {why}")));
                }
                Ok((ip, self.begin(connection, peer, port.clone())?))
            });
            match began {
                Ok(thread) => threads.push(thread),
                Err(error) => port.defective(format_args!("a connection failed: {error}")),
            }
            if !is_taken {
                thread::park_timeout(PAUSE);
            }
        }
        lock(&self.connections).values().for_each(|stream| stream.end());
        threads.into_iter().for_each(|(_, thread)| drop(thread.join()));
    }

    fn begin(self: &Arc<Self>, connection: TcpStream, peer: SocketAddr, port: Port) -> io::Result<JoinHandle<()>> {
        connection.set_nodelay(true)?;
        connection.set_nonblocking(true)?;
        set_socket_send_buffer_size(&connection, SEND_BUFFER_BYTES)?;
        let stream = Arc::new(Stream::new(connection.into())?);
        let replaced = lock(&self.connections).insert(peer, stream.clone());
        if let Some(replaced) = replaced {
            replaced.end(); // the client has connected again from the same port, so its old connection is dead
        }
        let (shared, of_thread) = (self.clone(), stream.clone());
        let began = threads::spawn("tcp-client", move || {
            let address = PeerAddress::Socket(peer);
            let mut decoder = LengthPrefixDecoder::new();
            let mut buffer = vec![0; MAX_BYTES];
            let received = &mut |mut bytes: &[u8]| {
                // eProsima's client writes a length and its message one after the other. The client's system
                // (Nagle's algorithm) holds the message back until the length is acknowledged. The kernel of this
                // machine delays the acknowledgement by 40 ms unless TCP_QUICKACK is set after each read.
                let _ = set_tcp_quickack(&*of_thread, true);
                while let Some(message) = decoder.decode(&mut bytes, &mut buffer) {
                    port.receive(address, message);
                }
            };
            // The end of a connection is not an error: the client's session ends by a request or by silence.
            let _ = of_thread.run(received, &mut || port.has_room(address), &mut || port.has_client(address));
            // The address of the client is removed first, because another connection may get this address as soon as it
            // is free.
            if shared.is_current(peer, &of_thread) {
                port.closed(address);
            }
            shared.forget(peer, &of_thread);
            let _ = shutdown(of_thread.as_fd(), Shutdown::Both); // an error means that the connection has already ended
        });
        began.inspect_err(|_| self.forget(peer, &stream))
    }

    /// Whether a connection is the newest one from its address.
    fn is_current(&self, peer: SocketAddr, stream: &Arc<Stream>) -> bool {
        lock(&self.connections).get(&peer).is_some_and(|current| Arc::ptr_eq(current, stream))
    }

    /// Removes a connection from the table, unless a newer connection has its address.
    fn forget(&self, peer: SocketAddr, stream: &Arc<Stream>) {
        if let Entry::Occupied(entry) = lock(&self.connections).entry(peer)
            && Arc::ptr_eq(entry.get(), stream)
        {
            entry.remove();
        }
    }
}

/// The reason to refuse a new connection, if there is one. `connections` is the number of all connections, and `of_ip`
/// is the number from the same IP address.
fn refusal(port: &Port, peer: PeerAddress, connections: usize, of_ip: usize) -> Option<String> {
    if !port.admits(peer) {
        return Some("its address is not allowed; add the address with --allow".to_owned());
    }
    // The limit is twice the number of clients, because a client may connect again before its old connection has ended.
    let (most, most_of_ip) = (2 * port.max_clients(), 2 * port.max_clients_of_host());
    if of_ip >= most_of_ip {
        return Some(format!("its address has {of_ip} connections already, which is the limit for one host"));
    }
    (connections >= most).then(|| format!("the agent has {connections} connections already, which is its limit"))
}

impl Drop for Tcp {
    fn drop(&mut self) {
        self.shared.is_ending.store(true, Release); // partner: `accept`
        // A connection to its own socket wakes the thread, which then ends. If this connection fails, the thread cannot
        // be joined and is left running.
        let is_woken = TcpStream::connect(super::local(self.address)).is_ok();
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = is_woken.then(|| thread.join());
        }
    }
}

impl Transport for Connections {
    fn send(&self, peer: PeerAddress, message: &[u8]) -> io::Result<()> {
        let stream = self.stream(peer).ok_or(io::ErrorKind::NotConnected)?;
        let prefix = length_prefix(message.len()).map_err(io::Error::other)?;
        stream.send(&[&prefix, message].concat())
    }

    fn has_room(&self, peer: PeerAddress) -> bool {
        // The result is `true` if the connection is gone, so that the next `send` reports the error.
        self.stream(peer).is_none_or(|stream| stream.has_room())
    }

    fn disconnect(&self, peer: PeerAddress) {
        if let Some(stream) = self.stream(peer) {
            stream.end();
        }
    }

    fn max_message_bytes(&self) -> usize {
        MAX_BYTES
    }

    fn name(&self) -> &str {
        "tcp"
    }
}

impl Connections {
    fn stream(&self, peer: PeerAddress) -> Option<Arc<Stream>> {
        match peer {
            PeerAddress::Socket(address) => lock(&self.connections).get(&address).cloned(),
            PeerAddress::Number(_) => None,
        }
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} connections", lock(&self.connections).len())
    }
}
