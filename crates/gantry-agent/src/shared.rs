//! The state that the agent, its transports and its threads share: the clients, and the answers to those without a session.

use crate::{
    budget::Budget,
    client::{Client, KeyText},
    clients::{Address, Clients},
    clock::Clock,
    config::Config,
    context::{ClientCell, Context},
    lock::lock,
    log::{Level, Limiter},
    transport::Line,
};
use gantry_xrce::{
    session::{Peer, farewell, info, welcome},
    wire::{
        self, ClientKey, ClientRepresentation, CreateClient, Header, ObjectId, ObjectRequest, RequestId, ResultStatus,
        StatusValue, Submessage, SubmessageId, VERSION, parse,
    },
};
use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering::*},
    },
};

/// The shortest MTU: a status and its message header fit in it.
const MIN_MTU_BYTES: u16 = 24;
/// The longest message outside of a session.
const GREETING_BYTES: usize = 64;

/// The state that the agent, its transports and its threads share.
pub struct Shared {
    pub context: Arc<Context>,
    pub clients: Mutex<Clients>,
    pub ports: AtomicU32,
    log: Mutex<Limiter>,
    /// Of those without a session, who are told so.
    unknown: Mutex<Budget>,
    /// The agent is dropped. Its transports may live longer.
    pub is_closed: AtomicBool,
}

/// Whether clients send such submessages. Others are not answered: two agents would answer each other without end.
fn is_of_client(id: SubmessageId) -> bool {
    const OF_CLIENTS: [SubmessageId; 9] = [
        SubmessageId::CREATE,
        SubmessageId::GET_INFO,
        SubmessageId::DELETE,
        SubmessageId::WRITE_DATA,
        SubmessageId::READ_DATA,
        SubmessageId::ACKNACK,
        SubmessageId::HEARTBEAT,
        SubmessageId::FRAGMENT,
        SubmessageId::TIMESTAMP,
    ];
    OF_CLIENTS.contains(&id)
}

impl Shared {
    pub fn new(config: Config, clock: Clock) -> Self {
        Self {
            context: Context::new(config, clock),
            clients: Mutex::default(),
            ports: AtomicU32::new(0),
            log: Mutex::new(Limiter::new()),
            unknown: Mutex::new(Budget::new()),
            is_closed: AtomicBool::new(false),
        }
    }

    pub fn log(&self, level: Level, line: fmt::Arguments<'_>) {
        lock(&self.log).log(&*self.context.config.log, level, line);
    }

    /// Takes a message from an address.
    pub fn receive(&self, address: Address, line: Line, message: &[u8]) {
        let (header, first) = match parse(message) {
            Ok((header, mut submessages)) => (header, submessages.next()),
            Err(error) => {
                return self.log(Level::Warning, format_args!("{line}: a message cannot be read: {error}"));
            }
        };
        let client = if header.session.is_none() { None } else { self.find(&header, address, &line) };
        if let Some(client) = client {
            let mut client_guard = lock(&client);
            if client_guard.peer().session == header.session {
                let closed = client_guard.receive(&header, message, &self.context);
                drop(client_guard);
                if let Some(request) = closed {
                    self.remove(&client, "has left");
                    self.reply(&line, farewell(&mut [0; GREETING_BYTES], &header, request));
                }
                return;
            }
        }
        match first {
            Some(Ok(submessage)) => self.without_session(address, &line, &header, &submessage),
            Some(Err(error)) => self.log(Level::Warning, format_args!("{line}: a message cannot be read: {error}")),
            None => {}
        }
    }

    /// The client of a message: its key, or else its address, says which. A key at a new address moves the client there.
    fn find(&self, header: &Header, address: Address, line: &Line) -> Option<Arc<ClientCell>> {
        let mut clients = lock(&self.clients);
        if !header.session.has_key() {
            return clients.at(address);
        }
        let (client, old) = clients.of_key(header.key)?;
        if old != Some(address) && lock(&client).peer().session == header.session {
            let evicted = clients.place(header.key, address);
            lock(&client).move_to(line.clone());
            drop(clients);
            self.log(Level::Info, format_args!("{} has moved to {line}", KeyText(header.key)));
            self.close(evicted, "has lost its address to another one");
        }
        Some(client)
    }

    fn without_session(&self, address: Address, line: &Line, header: &Header, submessage: &Submessage<'_>) {
        let memory = &mut [0; GREETING_BYTES];
        let request = submessage.object_request();
        match (submessage.id, request) {
            (SubmessageId::CREATE_CLIENT, _) if header.session.is_none() => match submessage.read() {
                Ok(CreateClient { client }) => self.create_client(address, line, &client),
                Err(error) => self.log(Level::Warning, format_args!("{line}: a client cannot be read: {error}")),
            },
            (SubmessageId::GET_INFO, Ok(request)) => {
                // Outside of a session it is a question about the agent, and about the client's session.
                let has_session = header.session.is_none() && lock(&self.clients).is_any_at(address);
                self.reply(line, info(memory, header, request, has_session));
            }
            (SubmessageId::DELETE, Ok(request)) if request.object == ObjectId::CLIENT => {
                self.reply(line, farewell(memory, header, request));
            }
            (id, request) if is_of_client(id) && !header.session.is_none() && lock(&self.unknown).spend(address) => {
                let request = request.map_or(RequestId::INVALID, |request| request.request);
                let about_agent = ObjectRequest { request, object: ObjectId::AGENT };
                self.reply(line, info(memory, header, about_agent, false));
            }
            _ => {}
        }
    }

    fn reply(&self, line: &Line, message: wire::Result<&[u8]>) {
        // 64 bytes are enough for each of them.
        if let Ok(message) = message
            && let Err(error) = line.send(message)
        {
            self.log(Level::Warning, format_args!("{line}: an answer could not be sent: {error}"));
        }
    }

    fn create_client(&self, address: Address, line: &Line, representation: &ClientRepresentation<'_>) {
        let mut peer = Peer::new(representation);
        let max_bytes = line.transport.max_message_bytes().saturating_sub(4);
        peer.mtu_bytes = peer.mtu_bytes.min(u16::try_from(max_bytes).unwrap_or(u16::MAX));
        let status = match () {
            () if representation.version[0] != VERSION[0] => StatusValue::INCOMPATIBLE,
            () if peer.key == ClientKey::INVALID || peer.session.is_none() => StatusValue::INVALID_DATA,
            () if peer.mtu_bytes < MIN_MTU_BYTES => StatusValue::INVALID_DATA,
            () => self.accept(address, line, peer),
        };
        if !status.is_ok() {
            let (key, name) = (KeyText(peer.key), status.name());
            self.log(Level::Warning, format_args!("{key} at {line} is refused: {name}"));
        }
        let result = ResultStatus { status, implementation: 0 };
        self.reply(line, welcome(&mut [0; GREETING_BYTES], &peer, result));
    }

    /// Begins a session.
    fn accept(&self, address: Address, line: &Line, peer: Peer) -> StatusValue {
        let mut clients = lock(&self.clients);
        if let Some((client, old)) = clients.of_key(peer.key) {
            let mut client_guard = lock(&client);
            if old == Some(address) && client_guard.has_begun_as(&peer, self.context.clock.now()) {
                return StatusValue::OK;
            }
            if client_guard.peer().session == peer.session {
                client_guard.restart(peer, line.clone(), &self.context);
                drop(client_guard);
                let evicted = clients.place(peer.key, address);
                drop(clients);
                self.log(Level::Info, format_args!("{} has begun its session again at {line}", KeyText(peer.key)));
                self.close(evicted, "has lost its address to another one");
                return StatusValue::OK;
            }
            drop(client_guard);
            let old = clients.remove(peer.key);
            drop(clients);
            self.close(old, "begins another session");
            clients = lock(&self.clients);
        }
        let replaces = !peer.session.has_key() && clients.at(address).is_some();
        let max_clients = self.context.config.limits.clients;
        if self.is_closed.load(Acquire) || clients.len() >= max_clients && !replaces {
            return StatusValue::RESOURCES;
        }
        let client = Arc::new_cyclic(|this| Mutex::new(Client::new(this.clone(), peer, line.clone(), &self.context)));
        let evicted = clients.insert(peer.key, peer.session, address, client);
        drop(clients);
        evicted.into_iter().for_each(|client| self.close(Some(client), "has lost its place to another one"));
        self.log(Level::Info, format_args!("{} has come at {line}", KeyText(peer.key)));
        StatusValue::OK
    }

    fn remove(&self, client: &Arc<ClientCell>, why: &str) {
        let key = lock(client).peer().key;
        let removed = lock(&self.clients).remove_same(key, client);
        self.close(removed, why);
    }

    fn close(&self, client: Option<Arc<ClientCell>>, why: &str) {
        let Some(client) = client else { return };
        let mut client = lock(&client);
        client.close(&self.context);
        self.log(Level::Info, format_args!("{} {why}", KeyText(client.peer().key)));
    }

    /// Looks at all clients, after a deadline has passed.
    pub fn tick(&self) {
        let clients = lock(&self.clients).all();
        for client in clients {
            let mut guard = lock(&client);
            if guard.tick(&self.context) {
                let (key, line) = (guard.peer().key, guard.line().clone());
                drop(guard);
                let address = lock(&self.clients).of_key(key).and_then(|(_, address)| address);
                self.remove(&client, "is gone: it does not answer");
                if address.is_some_and(|address| !lock(&self.clients).is_any_at(address)) {
                    line.transport.disconnect(line.peer);
                }
            }
        }
    }
}
