//! The listener: it accepts connections, and starts two threads for each one: a reader and a writer.

use super::{Hub, connection};
use crate::{threads::spawn, viewer::Viewer};
use gantry_command::{Context, Result, say};
use rustix::net::{Shutdown, shutdown, sockopt};
use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

/// The pause after accepting has failed, for example because the process has no free file descriptors.
const PAUSE: Duration = Duration::from_secs(1);
/// TCP keep-alive: the silence before the first probe, the time between probes, and the number of probes.
const KEEP_ALIVE: (Duration, Duration, u32) = (Duration::from_secs(30), Duration::from_secs(10), 3);

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: Arc<TcpListener>,
    is_over: Arc<AtomicBool>,
    /// The address on which the socket listens.
    pub address: SocketAddr,
}

impl Listener {
    /// Listens on this host and port.
    ///
    /// # Errors
    /// The port cannot be used.
    pub fn new(host: &str, port: u16) -> Result<Listener> {
        let socket = TcpListener::bind((host, port)).context(|| {
            format!("the server cannot listen on {host}:{port} (another one may do: --port chooses another port)")
        })?;
        let address = socket.local_addr().context(|| "the listening socket has no address".to_owned())?;
        Ok(Listener { socket: Arc::new(socket), is_over: Arc::default(), address })
    }

    /// Starts the thread that accepts viewers.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(&self, hub: &Arc<Hub>) -> Result<()> {
        let (socket, is_over, hub) = (self.socket.clone(), self.is_over.clone(), hub.clone());
        spawn("foxglove-accept", move || accept(&hub, &socket, &is_over))
    }

    /// Stops accepting viewers.
    pub fn end(&self) {
        self.is_over.store(true, SeqCst);
        let _ = shutdown(&self.socket, Shutdown::Read); // makes `accept` return
    }
}

/// A connection from its acceptance until its reader thread ends.
struct Connection {
    hub: Arc<Hub>,
    viewer: Arc<Viewer>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.viewer.close(); // ends the writer thread, which may wait
        self.hub.disconnect(&self.viewer);
    }
}

fn accept(hub: &Arc<Hub>, listener: &TcpListener, is_over: &AtomicBool) {
    for number in 1.. {
        let accepted = listener.accept();
        if is_over.load(SeqCst) {
            return;
        }
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                say(format_args!("a viewer is not accepted: {error}"));
                thread::sleep(PAUSE);
                continue;
            }
        };
        if let Err(error) = start(hub, number, stream, address) {
            say(format_args!("viewer {address} is not accepted: {error}"));
        }
    }
}

/// Starts the reader and writer threads of a connection. If the reader cannot be started, the writer ends, too.
fn start(hub: &Arc<Hub>, number: u64, stream: TcpStream, address: SocketAddr) -> Result<()> {
    let socket = || "its socket cannot be used".to_owned();
    stream.set_nodelay(true).context(socket)?;
    keep_alive(&stream).context(socket)?;
    let reading = stream.try_clone().context(socket)?;
    let viewer = hub.connect(number, address, stream)?;
    let connection = Connection { hub: hub.clone(), viewer: viewer.clone() };
    spawn("foxglove-write", move || viewer.write())?;
    spawn("foxglove-read", move || connection::read(&connection.hub, &connection.viewer, reading))
}

/// Turns on TCP keep-alive, so that the connection of a viewer whose host is gone ends.
fn keep_alive(stream: &TcpStream) -> rustix::io::Result<()> {
    let (idle, interval, count) = KEEP_ALIVE;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, idle)?;
    sockopt::set_tcp_keepintvl(stream, interval)?;
    sockopt::set_tcp_keepcnt(stream, count)
}
