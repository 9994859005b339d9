//! The mock: a middleware for tests of the instrument. Its messages have exactly the latency, the losses and the faults
//! of a [`MockScript`].
//!
//! The endpoints of the mock are in real worker processes and find each other through the file system, without Gantry.
//! A message with the stamp `t` counts as received at `t` + latency, even if the machine was late; so results can be
//! compared exactly. The message is not available before that time.

mod daemon;
mod executor;
mod in_flight;
mod listener;
mod message;
mod service;
mod transport;

use std::collections::VecDeque;
use std::io::{ErrorKind, Write};
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use executor::MockExecutor;
use in_flight::InFlight;
use listener::MockListener;
use message::{LONGEST_BYTES, Message, PAYLOAD_BYTES};
use perf_worker::{
    backend::{
        Backend, Capabilities, Client, DaemonCommand, Delivery, Description, DeviceMemory, Draft, Executor, Matched,
        Matching, MatchingKind, OtherClock, Publisher, Sent, Server, Session, Setting, Settings, Stamp, Subscription,
        Taken,
    },
    clock::{SECOND_NS, now_ns, sleep_until},
    endpoint::{Endpoint, EndpointPlan},
    run_spec::{Content, Durability, History, MockScript, Qos, RunSpec, Wait, is_nth},
};
use transport::{Kind, Socket, TopicKey};

/// The memory of a microcontroller that the mock pretends to have measured.
const DEVICE: DeviceMemory = DeviceMemory {
    text_bytes: 65_536,
    data_bytes: 1024,
    bss_bytes: 16_384,
    stack_peak_bytes: 2048,
    heap_peak_bytes: 40_000,
};

/// The back end `Mock`.
#[derive(Debug)]
pub struct Mock;

impl Backend for Mock {
    fn name(&self) -> &str {
        "Mock"
    }

    fn describe(&self) -> Description {
        let colour = Setting::new("colour", &["blue", "red"], "has no effect: it tests that settings arrive");
        let executors = vec!["single".to_owned()];
        let capabilities = Capabilities { phases: true, executors, ..Capabilities::all() };
        Description { version: env!("CARGO_PKG_VERSION").to_owned(), capabilities, settings: vec![colour] }
    }

    fn check(&self, spec: &RunSpec) -> Result<Vec<DaemonCommand>, String> {
        Ok(spec.mock.daemon.into_iter().map(daemon::command).collect())
    }

    fn open(&self, spec: &RunSpec) -> Result<Box<dyn Session>, String> {
        let none = Settings::new();
        let settings = self.describe().resolve("Mock", if spec.mock.deaf { &none } else { &spec.settings })?;
        let options = if spec.mock.deaf { default_options(spec) } else { spec.options() };
        let device = spec.mock.device.then_some(DEVICE);
        Ok(Box::new(MockSession { effective: options.into_iter().chain(settings).collect(), device }))
    }

    fn clean_up(&self, _: &RunSpec) -> Result<(), String> {
        transport::clean_up()
    }
}

/// The options of the run, all with default values except the history depth.
fn default_options(spec: &RunSpec) -> Settings {
    let (reliability, durability, history) = Default::default();
    let qos = Qos { reliability, durability, history, ..spec.qos };
    RunSpec { qos, zero_copy: false, raw: false, wait: Wait::default(), ..spec.clone() }.options()
}

/// The session of the mock in one process. Its endpoints share nothing.
struct MockSession {
    effective: Settings,
    device: Option<DeviceMemory>,
}

impl Session for MockSession {
    fn effective(&self) -> Settings {
        self.effective.clone()
    }

    fn device_memory(&self) -> Option<DeviceMemory> {
        self.device
    }

    fn publisher(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher>, String> {
        Ok(Box::new(MockPublisher::new(spec, plan)?))
    }

    fn subscription(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Delivery, String> {
        let subscription = MockSubscription::new(spec, plan)?;
        if spec.mock.push {
            return Ok(Delivery::Push(Box::new(MockListener::new(subscription))));
        }
        Ok(Delivery::Pull(Box::new(subscription)))
    }

    fn executor(&self, _: &RunSpec, _: u32) -> Result<Box<dyn Executor>, String> {
        Ok(Box::new(MockExecutor::default()))
    }

    fn client(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Client, String> {
        service::client(spec, plan)
    }

    fn server(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Server, String> {
        service::server(spec, plan)
    }
}

/// An endpoint, and the search for its matching endpoints.
struct MockEndpoint {
    socket: Socket,
    key: TopicKey,
    others: Kind,
    script: MockScript,
    created_ns: i64,
}

impl MockEndpoint {
    fn new(spec: &RunSpec, plan: &EndpointPlan, kind: Kind) -> Result<MockEndpoint, String> {
        // The suffix separates a topic from a service of the same name.
        let suffix = if plan.service { " service" } else { "" };
        let key = TopicKey::new(spec.domain_id, &format!("{}{suffix}", plan.topic));
        let socket = Socket::new(&key, kind)?;
        Ok(MockEndpoint { socket, key, others: kind.other(), script: spec.mock.clone(), created_ns: now_ns() })
    }

    /// Sockets that are connected to the matching endpoints; empty while the script hides them.
    fn others(&self) -> Result<Vec<UnixDatagram>, String> {
        if self.script.mismatch || now_ns() < self.created_ns + self.script.match_ns {
            return Ok(Vec::new());
        }
        transport::connect_all(&self.key, self.others)
    }

    fn matching(&self, count: usize) -> Matching {
        match self.script.matching {
            None | Some(MatchingKind::Count) => Matching::Count(count),
            Some(MatchingKind::Any) => Matching::Any(count > 0),
            Some(MatchingKind::Unknown) => Matching::Unknown,
        }
    }

    fn mismatches(&self) -> Vec<String> {
        if self.script.mismatch { vec!["the script of the mock says mismatch".to_owned()] } else { Vec::new() }
    }
}

struct MockPublisher {
    endpoint: MockEndpoint,
    subscriptions: Vec<UnixDatagram>,
    source: [u8; 16],
    /// True if the publisher belongs to a relay, which sends back the messages of another topic.
    relays: bool,
    /// The clock of the times in the publisher's messages; `None` for the host's clock.
    clock: Option<OtherClock>,
    /// True if the times of the phases are recorded.
    marks: bool,
    last_id: u64,
    length_bytes: u64,
    payload: Vec<u8>,
    /// The last messages, which late subscriptions get.
    history: VecDeque<Vec<u8>>,
    /// The number of messages that the history keeps.
    depth: usize,
}

impl MockPublisher {
    /// Sends a message. The call blocks until the subscription's queue has room.
    fn send(subscription: &UnixDatagram, bytes: &[u8]) -> Result<(), String> {
        match subscription.send(bytes) {
            Ok(_) => Ok(()),
            // The subscription has ended; `matched` will remove it from the list.
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotConnected) => Ok(()),
            Err(error) => Err(format!("a subscription of the mock does not take messages: {error}")),
        }
    }

    fn is_known(&self, subscription: &UnixDatagram) -> bool {
        let path = |socket: &UnixDatagram| Some(socket.peer_addr().ok()?.as_pathname()?.to_owned());
        let wanted = path(subscription);
        self.subscriptions.iter().any(|known| path(known) == wanted)
    }
}

impl MockPublisher {
    fn new(spec: &RunSpec, plan: &EndpointPlan) -> Result<MockPublisher, String> {
        let endpoint = MockEndpoint::new(spec, plan, Kind::Publisher)?;
        let is_text = plan.message.content == Content::Text;
        let (index, relays) = match plan.endpoint {
            Endpoint::Relay(index) => (index, true),
            Endpoint::Publisher(index) | Endpoint::Subscription(index) => (index, false),
        };
        let mut source = [0; 16];
        source[..4].copy_from_slice(&std::process::id().to_ne_bytes());
        source[4..8].copy_from_slice(&index.to_ne_bytes());
        source[8..].copy_from_slice(&endpoint.created_ns.to_ne_bytes());
        Ok(MockPublisher {
            endpoint,
            subscriptions: Vec::new(),
            source,
            relays,
            clock: spec.mock.clock_of_publisher(index),
            marks: spec.phases,
            last_id: plan.message.last_id,
            length_bytes: plan.message.bytes as u64,
            history: VecDeque::new(),
            depth: match (plan.qos.durability, plan.qos.history) {
                (Durability::Volatile, _) => 0,
                (Durability::TransientLocal, History::KeepLast) => plan.qos.depth as usize,
                (Durability::TransientLocal, History::KeepAll) => usize::MAX,
            },
            payload: vec![0; if is_text { 0 } else { PAYLOAD_BYTES.min(plan.message.bytes) }],
        })
    }
}

impl Matched for MockPublisher {
    fn matched(&mut self) -> Result<Matching, String> {
        let others = self.endpoint.others()?;
        for late in others.iter().filter(|other| !self.history.is_empty() && !self.is_known(other)) {
            self.history.iter().try_for_each(|bytes| Self::send(late, bytes))?;
        }
        self.subscriptions = others;
        Ok(self.endpoint.matching(self.subscriptions.len()))
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.endpoint.mismatches()
    }

    fn source(&self) -> Option<[u8; 16]> {
        (!self.endpoint.script.nameless).then_some(self.source)
    }

    fn clock(&self) -> Option<OtherClock> {
        self.clock
    }
}

impl Publisher for MockPublisher {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        let script = &self.endpoint.script;
        // Only the stamp has the id. The time is read again below, at the end of the preparation.
        let Stamp { id, time_ns, .. } = draft.stamp();
        let is_probe = time_ns == 0;
        if now_ns() < self.endpoint.created_ns + script.mute_ns {
            return Ok(Sent::default());
        }
        if is_nth(id, script.refuse) && !is_probe {
            return Err(format!("the script of the mock refuses message {id}"));
        }
        if let Some(stall) = script.stall.filter(|stall| stall.number == id && !self.relays) {
            sleep_until(now_ns() + stall.time_ns);
        }
        if script.print {
            // The write fails only if the console is closed.
            let _ = writeln!(std::io::stdout().lock(), "the mock publishes message {id}");
        }
        if !self.payload.is_empty() {
            draft.write(&mut self.payload);
        }
        let stamp = draft.stamp();
        let (time_ns, departed_ns) = if is_probe {
            (stamp.time_ns, now_ns())
        } else if self.relays {
            // The latency of the second direction starts at the relay's reception. The time in the message stays the
            // publisher's.
            let sent_ns = OtherClock::host_ns(self.clock, stamp.time_ns);
            (stamp.time_ns, sent_ns + script.latency_of_ns(id))
        } else {
            (stamp.time_ns - OtherClock::host_ns(self.clock, 0), stamp.time_ns)
        };
        let id = id & self.last_id;
        let message = Message::new(self.source, id, time_ns, departed_ns, self.length_bytes, &self.payload);
        let (bytes, length) = message.to_bytes();
        self.subscriptions.iter().try_for_each(|subscription| Self::send(subscription, &bytes[..length]))?;
        if self.depth > 0 && !is_probe {
            let oldest = if self.history.len() >= self.depth { self.history.pop_front() } else { None };
            let mut kept = oldest.unwrap_or_default();
            kept.clear();
            kept.extend_from_slice(&bytes[..length]);
            self.history.push_back(kept);
        }
        let marked_ns = script.serialise_ns.filter(|_| self.marks);
        let serialised_ns = marked_ns.map(|serialise_ns| stamp.time_ns + serialise_ns);
        Ok(Sent { loaned: !script.copy, wire_bytes: script.wire_bytes, serialised_ns })
    }
}

struct MockSubscription {
    endpoint: MockEndpoint,
    in_flight: InFlight,
    /// True if each message is copied, even with zero copy.
    copies: bool,
    /// True if the times of the phases are recorded.
    marks: bool,
    /// True if delivered messages lack the id of their publisher.
    nameless: bool,
}

impl MockSubscription {
    fn new(spec: &RunSpec, plan: &EndpointPlan) -> Result<MockSubscription, String> {
        let endpoint = MockEndpoint::new(spec, plan, Kind::Subscription)?;
        let script = match plan.endpoint {
            Endpoint::Subscription(index) => spec.mock.for_subscription(index),
            Endpoint::Publisher(_) | Endpoint::Relay(_) => spec.mock.clone(),
        };
        let MockScript { copy: copies, nameless, .. } = script;
        Ok(MockSubscription { endpoint, in_flight: InFlight::new(script), copies, nameless, marks: spec.phases })
    }

    /// Fetches a message from the socket. Returns false if there is none.
    fn fetch(&mut self) -> Result<bool, String> {
        let mut bytes = [0; LONGEST_BYTES];
        match self.endpoint.socket.inner.recv(&mut bytes) {
            Ok(length) => {
                let message = Message::from_bytes(&bytes[..length]);
                self.in_flight
                    .arrived(message.ok_or_else(|| format!("the mock received {length} bytes that are no message"))?);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(format!("the mock cannot receive: {error}")),
        }
    }
}

impl Matched for MockSubscription {
    fn matched(&mut self) -> Result<Matching, String> {
        self.endpoint.others().map(|others| self.endpoint.matching(others.len()))
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.endpoint.mismatches()
    }

    fn clock(&self) -> Option<OtherClock> {
        let MockScript { reception_clock, .. } = self.endpoint.script;
        reception_clock
    }
}

impl Subscription for MockSubscription {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        // Due messages are delivered before further ones are fetched. So the queue stays short, and the senders wait
        // instead.
        loop {
            if let Some(delivered) = self.in_flight.next(now_ns()) {
                let message = &delivered.message;
                let shown = |time_ns: i64| time_ns - OtherClock::host_ns(self.clock(), 0);
                let marked = |time_ns: Option<i64>| time_ns.filter(|_| self.marks).map(shown);
                reader(&Taken {
                    source: if self.nameless { [0; 16] } else { message.source },
                    time_ns: message.time_ns,
                    id: message.id,
                    received_ns: shown(delivered.received_ns),
                    arrived_ns: marked(delivered.arrived_ns),
                    in_hand_ns: marked(delivered.in_hand_ns),
                    length_bytes: message.length_bytes,
                    wire_bytes: self.endpoint.script.wire_bytes,
                    overwritten: self.in_flight.overwritten(),
                    loaned: !self.copies,
                    payload: message.payload(),
                });
                return Ok(true);
            }
            if !self.fetch()? {
                return Ok(false);
            }
        }
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        let now_ns = now_ns();
        let longest_ns = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX);
        let next_ns = self.in_flight.next_ns().map_or(longest_ns, |next_ns| next_ns - now_ns);
        let wait_ns = next_ns.clamp(0, longest_ns);
        let timeout = Timespec { tv_sec: wait_ns / SECOND_NS, tv_nsec: wait_ns % SECOND_NS };
        let mut sockets = [PollFd::new(&self.endpoint.socket.inner, PollFlags::IN)];
        match poll(&mut sockets, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(format!("the mock cannot wait: {error}")),
        }
    }

    fn overwritten(&self) -> u64 {
        self.in_flight.overwritten()
    }
}
