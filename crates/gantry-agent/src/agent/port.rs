//! Ports, through which transports pass messages to the agent.

use super::state::AgentState;
use crate::{
    clients::Address,
    link::{ClientLink, PeerAddress, Transport},
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

/// The object through which one transport passes messages to the agent.
#[derive(Clone)]
pub struct Port {
    pub(crate) state: Arc<AgentState>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) number: u32,
    /// A counter that decides which client of a line uses free room first. It is raised each time a line of this port
    /// has room again, so that the clients take turns.
    pub(crate) turns: Arc<AtomicUsize>,
}

impl Port {
    /// Handles a message from a client, which may have any bytes. Blocks while another message of the same client is
    /// handled.
    pub fn receive(&self, peer: PeerAddress, message: &[u8]) {
        let line = ClientLink { transport: self.transport.clone(), peer };
        if !self.admits(peer) {
            let why = "is dropped, because its address is not allowed; add the address with --allow";
            return self.state.log(Level::Warning, format_args!("{line}: a message {why}"));
        }
        self.state.receive(Address { port: self.number, peer }, line, message);
    }

    /// Notes that the line to this client accepts messages again, and sends the client's waiting messages.
    pub fn has_room(&self, peer: PeerAddress) {
        let address = Address { port: self.number, peer };
        self.serve(|other| other == address);
    }

    /// Notes that the line to a client has ended, for example a TCP connection. The client's session continues until
    /// the client is silent for too long.
    pub fn closed(&self, peer: PeerAddress) {
        lock(&self.state.clients).forget_address(Address { port: self.number, peer });
    }

    /// Notes that the line to all clients of the transport accepts messages again.
    pub(crate) fn has_room_for_all(&self) {
        self.serve(|address| address.port == self.number);
    }

    /// Sends the waiting messages of the clients at the addresses for which `is_asked` returns true.
    fn serve(&self, is_asked: impl Fn(Address) -> bool) {
        let mut clients: Vec<_> = lock(&self.state.clients).among(is_asked).cloned().collect();
        let turn = self.turns.fetch_add(1, Relaxed); // Relaxed: the counter has no partner
        if let Some(first) = turn.checked_rem(clients.len()) {
            clients.rotate_left(first);
        }
        clients.iter().for_each(|client| lock(client).has_room(&self.state.context));
    }

    /// Whether there is a client at this address.
    pub(crate) fn has_client(&self, peer: PeerAddress) -> bool {
        lock(&self.state.clients).is_any_at(Address { port: self.number, peer })
    }

    /// Whether the agent accepts messages from this address.
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

    /// Logs that the transport failed.
    pub(crate) fn failed(&self, error: &io::Error) {
        self.defective(format_args!("failed: {error}"));
    }

    /// Logs that the transport works again, and sends the waiting messages.
    pub(crate) fn restored(&self) {
        self.state.log(Level::Info, format_args!("{}: works again", self.transport.name()));
        self.has_room_for_all();
    }

    /// Logs a problem of the transport.
    pub(crate) fn defective(&self, why: fmt::Arguments<'_>) {
        self.state.log(Level::Warning, format_args!("{}: {why}", self.transport.name()));
    }
}
