//! The agent: its clients, and what it answers to those that have no session.

use crate::{
    client::{Client, ClientStatistics, KeyText},
    clients::{Address, Clients},
    config::Config,
    context::{ClientCell, Context},
    error::{Error, Result},
    lock::lock,
    log::{Level, Limiter},
    transport::{Line, PeerAddress, Transport},
};
use gantry_xrce::{
    session::{Peer, farewell, info, welcome},
    wire::{
        ClientKey, ClientRepresentation, CreateClient, Header, ObjectId, ObjectRequest, RequestId, ResultStatus,
        StatusValue, Submessage, SubmessageId, VERSION, parse,
    },
};
use std::{
    fmt, io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::*},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// The shortest MTU: a status and its message header fit in it.
const MIN_MTU_BYTES: u16 = 24;
/// The longest message outside of a session.
const GREETING_BYTES: usize = 64;
/// Those without a session are told so, at most so many times in a second.
const MAX_UNKNOWN: u32 = 200;

/// Connects clients that speak DDS-XRCE with Gantry, until it is dropped.
///
/// Messages are handled on the threads of the transports, those of Gantry on a thread for each domain.
pub struct Agent {
    core: Arc<Core>,
    ticker: Option<JoinHandle<()>>,
}

struct Core {
    context: Arc<Context>,
    clients: Mutex<Clients>,
    ports: AtomicU32,
    log: Mutex<Limiter>,
    unknown: Mutex<(Instant, u32)>,
}

/// The agent as a transport sees it.
#[derive(Clone)]
pub struct Port {
    core: Arc<Core>,
    transport: Arc<dyn Transport>,
    number: u32,
}

impl Agent {
    /// An agent without transports.
    ///
    /// # Errors
    /// Its thread cannot be started.
    pub fn new(config: Config) -> Result<Agent> {
        let core = Arc::new(Core {
            context: Context::new(config),
            clients: Mutex::default(),
            ports: AtomicU32::new(0),
            log: Mutex::new(Limiter::new()),
            unknown: Mutex::new((Instant::now(), 0)),
        });
        let of_thread = core.clone();
        let ticker = thread::Builder::new()
            .name("ticker".to_owned())
            .spawn(move || {
                while of_thread.context.ticker.wait() {
                    of_thread.tick();
                }
            })
            .map_err(|source| Error::Thread { what: "deadlines", source })?;
        Ok(Agent { core, ticker: Some(ticker) })
    }

    /// Adds a transport, whose thread gives the port what it receives.
    #[must_use]
    pub fn attach(&self, transport: Arc<dyn Transport>) -> Port {
        // Relaxed: only the number matters.
        Port { core: self.core.clone(), transport, number: self.core.ports.fetch_add(1, Relaxed) }
    }

    /// The clients and their counters, in the order of their keys.
    #[must_use]
    pub fn statistics(&self) -> Vec<ClientStatistics> {
        let clients = lock(&self.core.clients).all();
        let mut statistics: Vec<ClientStatistics> = clients.iter().map(|client| lock(client).statistics()).collect();
        statistics.sort_by_key(|client| client.key);
        statistics
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.core.context.ticker.end();
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
        let clients = lock(&self.core.clients).clear();
        clients.iter().for_each(|client| lock(client).close(&self.core.context));
        self.core.context.close();
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Agent({} clients)", lock(&self.core.clients).len())
    }
}

impl Port {
    /// Takes a message from a client, whatever its bytes are. Blocks while the client's other messages are handled.
    pub fn receive(&self, peer: PeerAddress, message: &[u8]) {
        let line = Line { transport: self.transport.clone(), peer };
        self.core.receive(Address { port: self.number, peer }, line, message);
    }

    /// The line takes messages to that client again.
    pub fn has_room(&self, peer: PeerAddress) {
        let client = lock(&self.core.clients).at(Address { port: self.number, peer });
        if let Some(client) = client {
            lock(&client).pump(&self.core.context);
        }
    }

    /// The line to that client is gone, as after the end of a TCP connection. Its session stays until it is silent for too long.
    pub fn closed(&self, peer: PeerAddress) {
        lock(&self.core.clients).forget_address(Address { port: self.number, peer });
    }

    /// The transport failed and ends.
    pub fn failed(&self, error: &io::Error) {
        let name = self.transport.name();
        self.core.log(Level::Warning, format_args!("{name} ends: {error}"));
    }
}

impl Core {
    fn log(&self, level: Level, line: fmt::Arguments<'_>) {
        lock(&self.log).log(&*self.context.config.log, level, line);
    }

    fn receive(&self, address: Address, line: Line, message: &[u8]) {
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
                let has_session = header.session.is_none() && lock(&self.clients).at(address).is_some();
                self.reply(line, info(memory, header, request, has_session));
            }
            (SubmessageId::DELETE, Ok(request)) if request.object == ObjectId::CLIENT => {
                self.reply(line, farewell(memory, header, request));
            }
            _ if !header.session.is_none() && self.may_tell_unknown() => {
                let request = request.map_or(RequestId::INVALID, |request| request.request);
                let about_agent = ObjectRequest { request, object: ObjectId::AGENT };
                self.reply(line, info(memory, header, about_agent, false));
            }
            _ => {}
        }
    }

    fn may_tell_unknown(&self) -> bool {
        let mut unknown = lock(&self.unknown);
        if unknown.0.elapsed() >= Duration::from_secs(1) {
            *unknown = (Instant::now(), 0);
        }
        unknown.1 += 1;
        unknown.1 <= MAX_UNKNOWN
    }

    fn reply(&self, line: &Line, message: gantry_xrce::wire::Result<&[u8]>) {
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
        if let Some((client, _)) = clients.of_key(peer.key) {
            let mut client_guard = lock(&client);
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
        let is_occupied = clients.at(address).is_some();
        let max_clients = self.context.config.limits.clients;
        if clients.len() >= max_clients && !is_occupied {
            return StatusValue::RESOURCES;
        }
        let client = Arc::new_cyclic(|this| Mutex::new(Client::new(this.clone(), peer, line.clone(), &self.context)));
        let due = self.context.clock.now().after_us(peer.silence_us);
        let evicted = clients.insert(peer.key, address, client);
        drop(clients);
        self.context.ticker.set_due(self.context.clock.to_std(due));
        self.close(evicted, "has lost its address to another one");
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

    /// Looks at all clients.
    fn tick(&self) {
        let clients = lock(&self.clients).all();
        for client in clients {
            let mut guard = lock(&client);
            if guard.is_gone(self.context.clock.now()) {
                drop(guard);
                self.remove(&client, "is gone: it does not answer");
            } else {
                guard.pump(&self.context);
            }
        }
    }
}
