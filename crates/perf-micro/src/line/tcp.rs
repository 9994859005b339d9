//! A relay of TCP connections at the speed of a line.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::fd::OwnedFd,
    sync::Arc,
    thread::{self, JoinHandle},
};

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    io::Errno,
    net::sockopt::set_socket_recv_buffer_size,
};

use super::{
    faults::Faults,
    relay::{Relay, both_ways},
};
use crate::transport::Speed;

/// The smallest receive buffer, so that a side that sends faster than the line feels it.
const RECEIVE_BUFFER_BYTES: usize = 2304;

/// A server that passes one connection on to the agent, and the next one when that has ended, until this is dropped.
#[derive(Debug)]
pub struct TcpRelay {
    address: SocketAddr,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl TcpRelay {
    pub fn start(agent: SocketAddr, speed: Speed) -> io::Result<TcpRelay> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        // Connections inherit it.
        set_socket_recv_buffer_size(&listener, RECEIVE_BUFFER_BYTES)?;
        let address = listener.local_addr()?;
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let of_thread = stop.clone();
        let thread = thread::Builder::new().name("tcp line".to_owned()).spawn(move || {
            let _ = accept(&listener, agent, speed, &of_thread);
        })?;
        Ok(TcpRelay { address, stop, thread: Some(thread) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for TcpRelay {
    fn drop(&mut self) {
        let is_told = rustix::io::write(&*self.stop, &1_u64.to_ne_bytes()).is_ok();
        if let Some(thread) = self.thread.take()
            && is_told
        {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, agent: SocketAddr, speed: Speed, stop: &OwnedFd) -> io::Result<()> {
    let mut relays: Option<[Relay; 2]> = None;
    loop {
        // An end of a connection is noticed with the next one, or after this time.
        let patience = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        let mut descriptors = [PollFd::new(stop, PollFlags::IN), PollFd::new(listener, PollFlags::IN)];
        match poll(&mut descriptors, Some(&patience)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [stopped, accepted] = descriptors.map(|descriptor| !descriptor.revents().is_empty());
        if stopped {
            return Ok(());
        }
        if relays.as_ref().is_some_and(|relays| relays.iter().any(Relay::has_ended)) {
            relays = None; // closes both connections
        }
        if accepted && let Ok((board, _)) = listener.accept() {
            // Without an agent the board's connection ends at once.
            if let Ok(agent) = TcpStream::connect(agent) {
                relays = Some(connect([board, agent], speed)?);
            }
        }
    }
}

fn connect(streams: [TcpStream; 2], speed: Speed) -> io::Result<[Relay; 2]> {
    for stream in &streams {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        set_socket_recv_buffer_size(stream, RECEIVE_BUFFER_BYTES)?;
    }
    let [board, agent] = streams.map(OwnedFd::from);
    both_ways([&board, &agent], speed, &Faults::default())
}
