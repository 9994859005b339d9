//! The fuzz target for the agent. The input is a sequence of messages from several addresses, with pauses. At the same
//! time a witness, a correct client, exchanges data, which the messages must not harm.

mod steps;
mod witness;

use gantry::{LogLevel, Node};
use gantry_agent::{Agent, Config, DomainChoice, Limits, PeerAddress, Port, Transport, Types};
use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU16, Ordering::*},
    },
    time::Duration,
};
use steps::Steps;
use witness::Witness;

const LIMITS: Limits = Limits {
    clients: 6,
    clients_of_host: 2,
    silence_ms: 10_000,
    domains: 1,
    objects: 24,
    message_bytes: 2048,
    requests: 4,
    writer_bytes: 1 << 20,
    all_writer_bytes: 4 << 20,
};
/// The number of addresses from which the messages of the input come.
const ADDRESSES: usize = 4;
/// The unit of the pauses. Even the longest pause is shorter than the silence after which the agent drops a client.
const TICK: Duration = Duration::from_millis(40);

/// The fuzz target. The input is a list of steps; see [`steps`]. No step may harm the witness, a client with its own
/// address and key, or use more resources than the limits allow.
pub fn agent(input: &[u8]) {
    static WITNESSED: OnceLock<(Node, Arc<Types>)> = OnceLock::new();
    // This node stays between inputs, so that each input does not have to join the domain again.
    let (_node, types) = WITNESSED.get_or_init(|| {
        gantry::set_log_level(LogLevel::Error);
        (Node::builder("fuzz").domain_id(0).build().unwrap(), Arc::new(Types::standard()))
    });
    let config = Config { domain: DomainChoice::Always(0), types: types.clone(), limits: LIMITS, ..Config::default() };
    let agent = Agent::with_stopped_clock(config).unwrap();
    let lines = Arc::<Lines>::default();
    let port = agent.attach(lines.clone());
    let mut world = World { witness: Witness::new(), agent, port, lines };
    world.meet();
    let mut steps = Steps::new(input);
    while steps.take(&mut world) {
        world.check();
    }
    world.witness.exchange(&world.port, &world.lines);
}

/// The agent, its transport, and the witness.
struct World {
    witness: Witness,
    agent: Agent,
    port: Port,
    lines: Arc<Lines>,
}

impl World {
    fn meet(&mut self) {
        self.witness.spin(&self.port, &self.lines);
        self.witness.begin(&self.port, &self.lines);
    }

    /// Lets time pass for the agent and for the witness.
    fn pass(&mut self, ticks: u8) {
        for _ in 0..ticks {
            self.witness.pass(TICK);
            self.agent.advance(TICK);
            self.witness.spin(&self.port, &self.lines);
        }
    }

    fn check(&mut self) {
        self.witness.spin(&self.port, &self.lines);
        self.witness.check();
        let statistics = self.agent.statistics();
        assert!(statistics.len() <= LIMITS.clients, "{statistics:?}");
        assert!(statistics.iter().all(|client| client.objects <= LIMITS.objects), "{statistics:?}");
        assert!(statistics.iter().any(|client| client.key == witness::KEY), "{statistics:?}");
    }
}

/// The transport of the agent, with a line to each client.
#[derive(Default)]
struct Lines {
    of_addresses: [OfAddress; ADDRESSES],
    to_witness: Mutex<VecDeque<Vec<u8>>>,
}

/// The line to one address of the input.
#[derive(Default)]
struct OfAddress {
    is_full: AtomicBool,
    /// The next expected sequence number of the reliable stream.
    next: AtomicU16,
}

impl Lines {
    fn line(&self, peer: PeerAddress) -> Option<&OfAddress> {
        match peer {
            PeerAddress::Number(number) => self.of_addresses.get(number as usize),
            PeerAddress::Socket(_) => None,
        }
    }

    /// Removes and returns the next message for the witness.
    fn next_to_witness(&self) -> Option<Vec<u8>> {
        self.to_witness.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl Transport for Lines {
    fn send(&self, peer: PeerAddress, message: &[u8]) -> io::Result<()> {
        assert!(message.len() >= 4, "{message:?}");
        match self.line(peer) {
            Some(line) => {
                if let [session, 0x80, low, high, ..] = message
                    && *session >= 0x80
                {
                    // Relaxed: the number orders no other memory.
                    line.next.store(u16::from_le_bytes([*low, *high]).wrapping_add(1), Relaxed);
                }
            }
            None => {
                self.to_witness.lock().unwrap_or_else(PoisonError::into_inner).push_back(message.to_vec());
            }
        }
        Ok(())
    }

    fn has_room(&self, peer: PeerAddress) -> bool {
        self.line(peer).is_none_or(|line| !line.is_full.load(Relaxed)) // Relaxed: orders no other memory
    }

    fn max_message_bytes(&self) -> usize {
        2048
    }

    fn name(&self) -> &str {
        "fuzz"
    }
}
