//! The state that the agent, its transports and its threads share: the clients, and the answers to peers without
//! a session.

use crate::{
    client::{Client, ClientCell, KeyText, Next, carry_out_jobs},
    clients::{Address, Budget, Clients, Logins, Places},
    clock::Clock,
    config::Config,
    context::Context,
    link::ClientLink,
    lock::lock,
    log::{Level, Limiter},
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

/// The smallest MTU that a client may have, in bytes: a STATUS submessage and its message header fit in it.
const MIN_MTU_BYTES: u16 = 24;
/// The largest length of a message outside of a session, in bytes.
const GREETING_BYTES: usize = 64;

/// The answer to a client that ends its session, and the line to the client.
type Farewell = (ClientLink, Vec<u8>);

/// The state that the agent, its transports and its threads share.
pub struct AgentState {
    pub context: Arc<Context>,
    pub clients: Mutex<Clients>,
    pub ports: AtomicU32,
    log: Mutex<Limiter>,
    /// The limit for the rate of answers to hosts without a session.
    unknown: Mutex<Budget>,
    logins: Mutex<Logins>,
    /// Whether the `Agent` was dropped. The transports may outlive the `Agent`.
    pub is_closed: AtomicBool,
}

/// The client that sent a message, if the agent can identify it.
enum Sender {
    Known(Arc<ClientCell>),
    Unknown,
    /// The message has the key of a client at another host, and that client may still be alive.
    Doubtful,
}

/// Whether submessages of this kind come from clients. The agent does not answer other kinds, because two agents would
/// answer each other without end.
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

impl AgentState {
    pub fn new(config: Config, clock: Clock) -> Self {
        let logins = Mutex::new(Logins::new(config.limits.clients_of_host));
        Self {
            context: Context::new(config, clock),
            clients: Mutex::default(),
            ports: AtomicU32::new(0),
            log: Mutex::new(Limiter::new()),
            unknown: Mutex::new(Budget::new()),
            logins,
            is_closed: AtomicBool::new(false),
        }
    }

    pub fn log(&self, level: Level, line: fmt::Arguments<'_>) {
        lock(&self.log).log(&self.context.config.log, level, line);
    }

    /// Handles a message from an address.
    pub fn receive(&self, address: Address, line: ClientLink, message: &[u8]) {
        let (header, first) = match parse(message) {
            Ok((header, mut submessages)) => (header, submessages.next()),
            Err(error) => {
                return self.log(Level::Warning, format_args!("{line}: a message cannot be read: {error}"));
            }
        };
        let sender = if header.session.is_none() { Sender::Unknown } else { self.find(&header, address, &line) };
        match sender {
            Sender::Doubtful => return,
            Sender::Known(client) => {
                let mut client_guard = lock(&client);
                if client_guard.peer().session == header.session {
                    let next = client_guard.receive(&header, message, &self.context);
                    drop(client_guard);
                    match next {
                        Next::Nothing => {}
                        Next::Work(client) => {
                            let context = self.context.clone();
                            self.context.run(move || carry_out_jobs(&client, &context));
                        }
                        Next::Close(request) => {
                            let mut memory = [0; GREETING_BYTES];
                            let farewell = farewell(&mut memory, &header, request).map(<[u8]>::to_vec);
                            self.remove(&client, "has left", farewell.ok().map(|farewell| (line, farewell)));
                        }
                    }
                    return;
                }
            }
            Sender::Unknown => {}
        }
        match first {
            Some(Ok(submessage)) => self.without_session(address, &line, &header, &submessage),
            Some(Err(error)) => self.log(Level::Warning, format_args!("{line}: a message cannot be read: {error}")),
            None => {}
        }
    }

    /// Finds the client that sent a message, by the key in the message or, if there is none, by the address. If the key
    /// comes from a new address of the client's host, the client moves to that address. If it comes from another host,
    /// the client moves only after its old address does not answer.
    fn find(&self, header: &Header, address: Address, line: &ClientLink) -> Sender {
        if !header.session.has_key() {
            return lock(&self.clients).heard_at(address).map_or(Sender::Unknown, Sender::Known);
        }
        let found = lock(&self.clients).heard_from(header.key, address);
        let Some((client, old)) = found else { return Sender::Unknown };
        if old == Some(address) {
            return Sender::Known(client);
        }
        let mut guard = lock(&client);
        if guard.peer().session == header.session {
            if old.is_some_and(|old| old.host() != address.host()) && !guard.yields(&self.context) {
                drop(guard);
                self.doubt(header.key, line);
                return Sender::Doubtful;
            }
            guard.move_to(line.clone());
            drop(guard);
            let evicted = lock(&self.clients).place(header.key, address);
            self.log(Level::Info, format_args!("{} has moved to {line}", KeyText(header.key)));
            self.close(evicted, "is removed, because another client now has its address", None);
        } else {
            drop(guard);
        }
        Sender::Known(client)
    }

    fn doubt(&self, key: ClientKey, line: &ClientLink) {
        let why = "the agent asks the client at its known address, and the session stays there if the client answers";
        self.log(Level::Warning, format_args!("{line} uses the key of {}: {why}", KeyText(key)));
    }

    fn without_session(&self, address: Address, line: &ClientLink, header: &Header, submessage: &Submessage<'_>) {
        let memory = &mut [0; GREETING_BYTES];
        let request = submessage.object_request();
        match (submessage.id, request) {
            (SubmessageId::CREATE_CLIENT, _) if header.session.is_none() => match submessage.read() {
                Ok(CreateClient { client }) => self.create_client(address, line, &client),
                Err(error) => self
                    .log(Level::Warning, format_args!("{line}: the description of a client cannot be read: {error}")),
            },
            (SubmessageId::GET_INFO, Ok(request)) if self.may_answer(address) => {
                // A GET_INFO outside of a session asks for the description of the agent, and whether the client has a
                // session.
                let has_session = header.session.is_none() && lock(&self.clients).is_any_at(address);
                self.reply(line, info(memory, header, request, has_session));
            }
            (SubmessageId::GET_INFO, Ok(_)) => {}
            (SubmessageId::DELETE, Ok(request)) if request.object == ObjectId::CLIENT && self.may_answer(address) => {
                self.reply(line, farewell(memory, header, request));
            }
            (id, request) if is_of_client(id) && !header.session.is_none() && self.may_answer(address) => {
                let request = request.map_or(RequestId::INVALID, |request| request.request);
                let about_agent = ObjectRequest { request, object: ObjectId::AGENT };
                self.reply(line, info(memory, header, about_agent, false));
            }
            _ => {}
        }
    }

    fn may_answer(&self, address: Address) -> bool {
        lock(&self.unknown).spend(address.host())
    }

    /// Whether the limit for new sessions allows a host to begin another session now.
    fn may_begin(&self, address: Address) -> bool {
        lock(&self.logins).spend(address.host(), self.context.clock.now())
    }

    fn reply(&self, line: &ClientLink, message: wire::Result<&[u8]>) {
        // 64 bytes are enough for each of these messages, so there is no error.
        if let Ok(message) = message
            && let Err(error) = line.send(message)
        {
            self.log(Level::Warning, format_args!("{line}: an answer could not be sent: {error}"));
        }
    }

    fn create_client(&self, address: Address, line: &ClientLink, representation: &ClientRepresentation<'_>) {
        let mut peer = Peer::new(representation);
        let max_bytes = line.transport.max_message_bytes().saturating_sub(4);
        peer.mtu_bytes = peer.mtu_bytes.min(u16::try_from(max_bytes).unwrap_or(u16::MAX));
        peer.silence_us = peer.silence_us.min(self.context.config.limits.silence_ms.saturating_mul(1000));
        let status = match () {
            () if representation.version[0] != VERSION[0] => StatusValue::INCOMPATIBLE,
            () if peer.key == ClientKey::INVALID || peer.session.is_none() => StatusValue::INVALID_DATA,
            () if !self.context.config.access.admits_key(peer.key) => StatusValue::DENIED,
            () if peer.mtu_bytes < MIN_MTU_BYTES => StatusValue::INVALID_DATA,
            () => match self.accept(address, line, peer) {
                Some(status) => status,
                None => return self.doubt(peer.key, line),
            },
        };
        if !status.is_ok() {
            let (key, name) = (KeyText(peer.key), status.name());
            self.log(Level::Warning, format_args!("{key} at {line} is refused: {name}"));
        }
        let result = ResultStatus { status, implementation: 0 };
        self.reply(line, welcome(&mut [0; GREETING_BYTES], &peer, result));
    }

    /// Begins a session. Returns `None` if a client on another host has the same key and may still be alive.
    fn accept(&self, address: Address, line: &ClientLink, peer: Peer) -> Option<StatusValue> {
        let found = lock(&self.clients).by_key(peer.key);
        if let Some((client, old)) = found {
            let mut guard = lock(&client);
            if old == Some(address) && guard.has_begun_as(&peer, self.context.clock.now()) {
                return Some(StatusValue::OK);
            }
            if old.is_some_and(|old| old.host() != address.host()) && !guard.yields(&self.context) {
                return None;
            }
            let is_same = guard.peer().session == peer.session;
            if !is_same && !self.may_begin(address) {
                return Some(StatusValue::RESOURCES);
            }
            if is_same {
                guard.restart(peer, line.clone(), &self.context);
                drop(guard);
                let evicted = lock(&self.clients).place(peer.key, address);
                self.log(Level::Info, format_args!("{} has begun its session again at {line}", KeyText(peer.key)));
                self.close(evicted, "is removed, because another client now has its address", None);
                return Some(StatusValue::OK);
            }
            drop(guard);
            let old = lock(&self.clients).remove_same(peer.key, &client);
            self.close(old, "is removed, because it begins another session", None);
        } else if !self.may_begin(address) {
            return Some(StatusValue::RESOURCES);
        }
        Some(self.add(address, line, peer))
    }

    fn add(&self, address: Address, line: &ClientLink, peer: Peer) -> StatusValue {
        let client = Arc::new_cyclic(|this| Mutex::new(Client::new(this.clone(), peer, line.clone(), &self.context)));
        let limits = &self.context.config.limits;
        let places = Places { all: limits.clients, of_host: limits.clients_of_host };
        let mut clients = lock(&self.clients);
        if self.is_closed.load(Acquire) {
            return StatusValue::RESOURCES;
        }
        let replaces = !peer.session.has_key() && clients.has_address(address);
        let room = if replaces { Ok(None) } else { clients.make_room(address, places) };
        let Ok(silent) = room else { return StatusValue::RESOURCES };
        let evicted = clients.insert(peer.key, peer.session, address, client);
        drop(clients);
        self.close(
            silent,
            "is removed to make room for a new client, because it has sent nothing or its connection has ended",
            None,
        );
        evicted.into_iter().for_each(|client| {
            self.close(Some(client), "is removed, because a new client has its key or its address", None)
        });
        self.log(Level::Info, format_args!("{} has connected at {line}", KeyText(peer.key)));
        StatusValue::OK
    }

    fn remove(&self, client: &Arc<ClientCell>, why: &str, farewell: Option<Farewell>) {
        let key = lock(client).peer().key;
        let removed = lock(&self.clients).remove_same(key, client);
        self.close(removed, why, farewell);
    }

    /// Destroys the entities of a client, and then sends `farewell`, the answer to the client's DELETE.
    fn close(&self, client: Option<Arc<ClientCell>>, why: &str, farewell: Option<Farewell>) {
        if client.is_none() && farewell.is_none() {
            return;
        }
        let objects = client.map_or_else(Vec::new, |client| {
            let mut client = lock(&client);
            self.log(Level::Info, format_args!("{} {why}", KeyText(client.peer().key)));
            client.close(&self.context)
        });
        let is_cheap = objects.is_empty();
        let end = move || {
            drop(objects);
            // The client repeats its DELETE if this answer is lost.
            let _ = farewell.map(|(line, message)| line.send(&message));
        };
        if is_cheap { end() } else { self.context.run(end) }
    }

    /// Checks all clients, after a deadline has passed.
    pub fn tick(&self) {
        self.context.leave_unused_domains();
        let clients = lock(&self.clients).all();
        for client in clients {
            let mut guard = lock(&client);
            if guard.tick(&self.context) {
                let (key, line) = (guard.peer().key, guard.line().clone());
                drop(guard);
                let address = lock(&self.clients).by_key(key).and_then(|(_, address)| address);
                self.remove(&client, "is removed, because it does not answer", None);
                if address.is_some_and(|address| !lock(&self.clients).is_any_at(address)) {
                    line.transport.disconnect(line.peer);
                }
            }
        }
    }
}
