//! A simulated CAN FD bus. One thread sends one frame after the other; the frame with the lowest identifier goes first.
//!
//! The start and the end of each frame are computed, and do not depend on when the thread runs. So the bus has the
//! throughput of a wire, even if the thread is sometimes late.

mod node;
mod socket_file;
mod timing;

pub use timing::{CanFrameBits, CanTiming};

use super::Can;
use crate::{
    agent::{Agent, Port},
    error::{Error, Result},
    threads,
};
use gantry_xrce::framing::socket_can::FRAME_BYTES;
use node::{Gone, Node};
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, accept_with, socketpair},
    thread::set_current_timer_slack,
};
use socket_file::SocketFile;
use std::{
    io,
    num::NonZeroU64,
    os::fd::OwnedFd,
    path::Path,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// The longest delay that the bus makes up for after its thread was late.
const CATCH_UP: Duration = Duration::from_millis(2);
/// The pause after a node could not be accepted, for example because the process has too many descriptors.
const PAUSE: Duration = Duration::from_millis(250);

impl Can {
    /// Simulates a CAN bus, for kernels without CAN, and serves clients on it.
    ///
    /// Nodes connect to the Unix socket at `path`, of type SEQPACKET. A packet is one frame in SocketCAN's format
    /// (`struct canfd_frame`). The frame with the lowest identifier is sent first, and takes the same time as on a wire
    /// without errors. At its end, all nodes except the sender receive it. A node that sends another kind of packet is
    /// disconnected. A node that does not read loses frames, which are counted and logged.
    ///
    /// The thread of the bus has a timer slack of one nanosecond. The socket file is removed when the returned value is
    /// dropped.
    ///
    /// # Errors
    /// The socket cannot be created, or another bus uses `path`.
    pub fn simulated(agent: &Agent, path: &Path, timing: CanTiming) -> Result<Can> {
        let what = || format!("the simulated CAN bus {}", path.display());
        let socket = SocketFile::bind(path).map_err(|source| {
            let advice = match source.kind() {
                io::ErrorKind::AddrInUse => "; another agent hosts it: choose another path",
                io::ErrorKind::AlreadyExists => "; the file is not a socket: choose another path",
                io::ErrorKind::NotFound => "; create the folder of the path first",
                _ => "",
            };
            Error::Open { what: what(), source, advice }
        })?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (line, end) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
            .map_err(|error| Error::Open { what: what(), source: error.into(), advice: "" })?;
        let name = format!("simulated can {}", path.display());
        let (mut can, port) = Self::start(agent, line, name, timing.has_bit_rate_switch(), None)?;
        can._simulated = Some(SimulatedBus::start(socket, timing, end, port)?);
        Ok(can)
    }
}

/// A bus and its thread. The thread ends when this value is dropped.
#[derive(Debug)]
pub struct SimulatedBus {
    wake: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

struct Simulation {
    socket: SocketFile,
    timing: CanTiming,
    port: Port,
    nodes: Vec<Node>,
    /// The number of nodes that have connected so far, used as the next node's number.
    joined: u64,
    /// The number of frames that were sent so far.
    turns: u64,
    under_way: Option<Transmission>,
    /// The earliest time at which the next frame may start.
    free_at: Instant,
    /// Whether no frame was waiting when the bus became free.
    is_idle: bool,
    /// The time before which no new node is accepted.
    takes_nodes_at: Option<Instant>,
}

/// A frame that is being sent on the bus.
struct Transmission {
    frame: [u8; FRAME_BYTES],
    sender: u64,
    end: Instant,
}

/// The descriptors that are ready.
struct Ready {
    is_ending: bool,
    has_newcomer: bool,
    /// The numbers of the nodes that have a frame.
    nodes: Vec<u64>,
}

impl SimulatedBus {
    /// Starts the thread of a bus. `agent` is the socket of the bus's first node, the agent.
    pub fn start(socket: SocketFile, timing: CanTiming, agent: OwnedFd, port: Port) -> Result<Self> {
        let failed = |source| Error::Thread { what: "a simulated CAN bus", source };
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| failed(error.into()))?);
        let mut simulation = Simulation {
            socket,
            timing,
            port,
            nodes: vec![Node::new(Node::AGENT, agent)],
            joined: 0,
            turns: 0,
            under_way: None,
            free_at: Instant::now(),
            is_idle: true,
            takes_nodes_at: None,
        };
        let of_thread = wake.clone();
        let thread = threads::spawn("can-bus", move || {
            let _ = set_current_timer_slack(NonZeroU64::new(1)); // reduces the delays of the thread
            if let Err(error) = simulation.run(&of_thread) {
                simulation.port.failed(&error);
            }
        })
        .map_err(failed)?;
        Ok(Self { wake, thread: Some(thread) })
    }
}

impl Drop for SimulatedBus {
    fn drop(&mut self) {
        let is_woken = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes()).is_ok();
        if let Some(thread) = self.thread.take()
            && is_woken
        {
            let _ = thread.join();
        }
    }
}

impl Simulation {
    fn run(&mut self, wake: &OwnedFd) -> io::Result<()> {
        loop {
            let ready = self.wait(wake)?;
            if ready.is_ending {
                return Ok(());
            }
            if ready.has_newcomer {
                self.take_node();
            }
            self.read_heads(&ready.nodes);
            let now = Instant::now();
            if let Some(sent) = self.under_way.take_if(|sent| sent.end <= now) {
                self.deliver(&sent);
                self.free_at = sent.end + self.timing.intermission();
            }
            if self.under_way.is_none() {
                self.arbitrate(now);
            }
        }
    }

    /// Waits for a new node, for a frame from a node without a pending frame, or for the end of the frame on the bus.
    fn wait(&mut self, wake: &OwnedFd) -> io::Result<Ready> {
        let now = Instant::now();
        self.takes_nodes_at = self.takes_nodes_at.filter(|&at| at > now);
        let due = self.under_way.as_ref().map(|sent| sent.end).into_iter().chain(self.takes_nodes_at).min();
        let timeout = due.and_then(|due| Timespec::try_from(due.saturating_duration_since(now)).ok());
        let listening = if self.takes_nodes_at.is_some() { PollFlags::empty() } else { PollFlags::IN };
        let silent: Vec<&Node> = self.nodes.iter().filter(|node| !node.has_head()).collect();
        let mut fds = vec![PollFd::new(wake, PollFlags::IN), PollFd::new(&self.socket, listening)];
        fds.extend(silent.iter().map(|node| PollFd::new(*node, PollFlags::IN)));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut is_ready = fds.iter().map(|fd| !fd.revents().is_empty());
        Ok(Ready {
            is_ending: is_ready.next() == Some(true),
            has_newcomer: is_ready.next() == Some(true),
            nodes: silent
                .iter()
                .zip(is_ready)
                .filter_map(|(node, is_ready)| is_ready.then_some(node.number()))
                .collect(),
        })
    }

    fn take_node(&mut self) {
        match accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            // At most as many nodes are accepted as the agent accepts clients, plus the agent's own node.
            Ok(_) if self.nodes.len() > self.port.max_clients() => {
                let count = self.nodes.len();
                self.port.defective(format_args!(
                    "a node is refused, because the bus has {count} nodes already (the agent included)"
                ));
            }
            Ok(socket) => {
                self.joined += 1;
                self.nodes.push(Node::new(self.joined, socket));
            }
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => {}
            Err(error) => {
                self.port.defective(format_args!("a node could not connect: {error}"));
                self.takes_nodes_at = Some(Instant::now() + PAUSE);
            }
        }
    }

    fn read_heads(&mut self, ready: &[u64]) {
        let Self { nodes, timing, port, .. } = self;
        nodes.retain_mut(|node| {
            if !ready.contains(&node.number()) {
                return true;
            }
            let read = node.read_head(*timing);
            if let Err(gone @ Gone::Refused(_)) = &read {
                port.defective(format_args!("{node} {gone}"));
            }
            read.is_ok()
        });
    }

    fn deliver(&mut self, sent: &Transmission) {
        let Self { nodes, port, .. } = self;
        nodes.retain_mut(|node| {
            if node.number() == sent.sender {
                return true;
            }
            let delivered = node.deliver(&sent.frame);
            // A line is logged only when the number of lost frames is a power of two, to keep the log short.
            if let Ok(Some(overruns)) = delivered
                && overruns.is_power_of_two()
            {
                port.defective(format_args!(
                    "{node} does not read its frames, and has lost {overruns} frames (overrun)"
                ));
            }
            delivered.is_ok()
        });
    }

    /// Begins to send the waiting frame with the lowest identifier, if a frame waits. The bus is free, or will be free
    /// soon.
    fn arbitrate(&mut self, now: Instant) {
        let winner = self.nodes.iter_mut().filter_map(|node| Some((node.rank()?, node))).min_by_key(|(rank, _)| *rank);
        let turn = self.turns + 1;
        let Some((sender, head)) = winner.and_then(|(_, node)| Some((node.number(), node.take_head(turn)?))) else {
            self.is_idle = true;
            return;
        };
        self.turns = turn;
        let latest = if self.is_idle { Some(now) } else { now.checked_sub(CATCH_UP) };
        let start = latest.map_or(self.free_at, |latest| latest.max(self.free_at));
        self.is_idle = false;
        let end = start + head.time.saturating_sub(self.timing.intermission());
        self.under_way = Some(Transmission { frame: head.bytes, sender, end });
    }
}
