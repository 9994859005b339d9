//! A relay of TCP connections at the speed of a line.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::fd::OwnedFd,
    sync::Arc,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags},
    net::sockopt::set_socket_recv_buffer_size,
};

use super::{
    line_thread::LineThread,
    relay::{both_ways, wait_for},
};
use crate::transport::Speed;

/// The size of the receive buffers: the smallest that the kernel allows, so that a side that sends faster than the line
/// gets back-pressure.
const RECEIVE_BUFFER_BYTES: usize = 2304;

/// Starts a server that forwards one connection at a time to the agent. Returns the address of the server,
/// and its thread.
pub fn relay(agent: SocketAddr, speed: Speed) -> io::Result<(SocketAddr, LineThread)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    // Connections inherit the size of the listener's buffer.
    set_socket_recv_buffer_size(&listener, RECEIVE_BUFFER_BYTES)?;
    let address = listener.local_addr()?;
    Ok((address, LineThread::start("tcp line", move |stop| accept(&listener, agent, speed, &stop))?))
}

fn accept(listener: &TcpListener, agent: SocketAddr, speed: Speed, stop: &OwnedFd) -> io::Result<()> {
    let mut relays: Option<[LineThread; 2]> = None;
    loop {
        // The loop also wakes up after this timeout, to notice that a connection has ended.
        let mut descriptors = [PollFd::new(stop, PollFlags::IN), PollFd::new(listener, PollFlags::IN)];
        wait_for(&mut descriptors, Some(Duration::from_millis(10)))?;
        let [stopped, accepted] = descriptors.map(|descriptor| !descriptor.revents().is_empty());
        if stopped {
            return Ok(());
        }
        if relays.as_ref().is_some_and(|relays| relays.iter().any(LineThread::has_ended)) {
            relays = None; // closes both connections
        }
        if accepted && let Ok((board, _)) = listener.accept() {
            // The board's connection is closed at once if no agent accepts.
            if let Ok(agent) = TcpStream::connect(agent) {
                relays = Some(connect([board, agent], speed)?);
            }
        }
    }
}

fn connect(streams: [TcpStream; 2], speed: Speed) -> io::Result<[LineThread; 2]> {
    for stream in &streams {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        set_socket_recv_buffer_size(stream, RECEIVE_BUFFER_BYTES)?;
    }
    let [board, agent] = streams.map(OwnedFd::from);
    both_ways([&board, &agent], speed, &Arc::default())
}
