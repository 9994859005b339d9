//! Ports: the interface of the agent for its transports.

use super::state::AgentState;
use crate::{
    clients::Address,
    link::{Line, PeerAddress, Transport},
    lock::lock,
    log::Level,
};
use std::{
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::*},
    },
};

/// The interface of the agent for one transport.
#[derive(Clone)]
pub struct Port {
    pub(crate) state: Arc<AgentState>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) number: u32,
    /// The number of times that a line of this port had room again. The number decides which client of a line is
    /// the first one to use the room, so that the clients take turns.
    pub(crate) turns: Arc<AtomicUsize>,
}

impl Port {
    /// Takes a message from a client, with arbitrary bytes. Blocks while another message of the same client is handled.
    pub fn receive(&self, peer: PeerAddress, message: &[u8]) {
        let line = Line { transport: self.transport.clone(), peer };
        if !self.admits(peer) {
            let why = "is left out: this address is not one of those that are allowed";
            return self.state.log(Level::Warning, format_args!("{line}: a message {why}"));
        }
        self.state.receive(Address { port: self.number, peer }, line, message);
    }

    /// Notes that the line to this client accepts messages again, and sends the waiting messages.
    pub fn has_room(&self, peer: PeerAddress) {
        let address = Address { port: self.number, peer };
        self.serve(|other| other == address);
    }

    /// Notes that the line to a client is gone, as after the end of a TCP connection. The client's session
    /// continues until the client is silent for too long.
    pub fn closed(&self, peer: PeerAddress) {
        lock(&self.state.clients).forget_address(Address { port: self.number, peer });
    }

    /// Notes that the line to all clients of the transport accepts messages again.
    pub(crate) fn has_room_for_all(&self) {
        self.serve(|address| address.port == self.number);
    }

    /// Lets the clients at the addresses for which `is_asked` holds send their waiting messages.
    fn serve(&self, is_asked: impl Fn(Address) -> bool) {
        let mut clients: Vec<_> = lock(&self.state.clients).among(is_asked).cloned().collect();
        let turn = self.turns.fetch_add(1, Relaxed); // only the number matters
        if let Some(first) = turn.checked_rem(clients.len()) {
            clients.rotate_left(first);
        }
        clients.iter().for_each(|client| lock(client).has_room(&self.state.context));
    }

    /// Whether there is a client at this address.
    pub(crate) fn has_client(&self, peer: PeerAddress) -> bool {
        lock(&self.state.clients).is_any_at(Address { port: self.number, peer })
    }

    /// Whether messages from this address are accepted.
    pub(crate) fn admits(&self, peer: PeerAddress) -> bool {
        self.state.context.config.access.admits_address(peer)
    }

    /// The largest number of clients that the agent accepts.
    pub(crate) fn max_clients(&self) -> usize {
        self.state.context.config.limits.clients
    }

    /// The largest number of clients of one host that the agent accepts.
    pub(crate) fn max_clients_of_host(&self) -> usize {
        self.state.context.config.limits.clients_of_host
    }

    /// The transport failed.
    pub(crate) fn failed(&self, error: &io::Error) {
        self.defective(format_args!("failed: {error}"));
    }

    /// The transport works again.
    pub(crate) fn restored(&self) {
        self.state.log(Level::Info, format_args!("{}: works again", self.transport.name()));
        self.has_room_for_all();
    }

    /// Something is wrong with the transport.
    pub(crate) fn defective(&self, why: fmt::Arguments<'_>) {
        self.state.log(Level::Warning, format_args!("{}: {why}", self.transport.name()));
    }
}
