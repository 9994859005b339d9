//! The back ends.

use perf_worker::{
    backend::{
        Backend, Capabilities, DaemonCommand, Delivery, DeliveryKind, Description, MatchingKind, Publisher, Session,
        Setting, Settings,
    },
    endpoint::EndpointPlan,
    raw::RAW_HEADER_BYTES,
    run_spec::{Content, Durability, History, Reliability, RunSpec, Strategy, Wait},
};

use crate::announcement::{FOLDER, Topic, clean_up};
use crate::ring::{Layout, PLACES, RingPublisher, RingSubscription};
use crate::stream::{Kind, StreamPublisher, StreamSubscription};
use crate::udp::{UdpPublisher, UdpSubscription};

/// The greatest history depth over shared memory, in messages.
const MOST_DEPTH: u32 = 1000;
/// The length in bytes of the longest message that every kind of stream can buffer. The smallest buffer is the pipe of
/// an unprivileged user.
const BUFFERED_BYTES: usize = 65_536;

/// A baseline.
#[derive(Debug)]
pub struct Baseline {
    name: &'static str,
    transport: Transport,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    /// Shared memory. `complete`: subscriptions may also sleep on a futex, and messages may be written and read in
    /// place.
    Ring {
        complete: bool,
    },
    Stream(Kind),
    Udp,
}

/// Copies through shared memory.
pub static MEMCPY: Baseline = Baseline { name: "memcpy", transport: Transport::Ring { complete: false } };
/// Shared memory and a futex.
pub static SHM_FUTEX: Baseline = Baseline { name: "shm-futex", transport: Transport::Ring { complete: true } };
/// Anonymous pipes.
pub static PIPE: Baseline = Baseline { name: "pipe", transport: Transport::Stream(Kind::Pipe) };
/// Unix-domain stream sockets.
pub static UNIX_SOCKET: Baseline = Baseline { name: "unix-socket", transport: Transport::Stream(Kind::Unix) };
/// TCP over the loopback.
pub static TCP: Baseline = Baseline { name: "tcp", transport: Transport::Stream(Kind::Tcp) };
/// UDP over the loopback.
pub static UDP: Baseline = Baseline { name: "udp", transport: Transport::Udp };

impl Baseline {
    /// The value of the setting `transport`, and the description of this value.
    fn way(&self) -> (&'static str, &'static str) {
        match self.transport {
            Transport::Ring { .. } => ("shared-memory", "messages go through files in /dev/shm"),
            Transport::Stream(Kind::Pipe) => ("pipe", "anonymous pipes of the largest size that the kernel allows"),
            Transport::Stream(Kind::Unix) => ("unix-socket", "Unix-domain stream sockets"),
            Transport::Stream(Kind::Tcp) => ("tcp", "TCP over the loopback with TCP_NODELAY"),
            Transport::Udp => ("udp", "UDP over the loopback with the largest receive buffer that the kernel allows"),
        }
    }

    fn capabilities(&self) -> Capabilities {
        let limited = Capabilities {
            zero_copy: Vec::new(),
            copies: true,
            reliability: vec![Reliability::Reliable],
            durability: vec![Durability::Volatile],
            history: vec![History::KeepAll],
            history_depth_max: None,
            wait: vec![Wait::Spin, Wait::Block, Wait::Adaptive],
            delivery: DeliveryKind::Pull,
            matching: MatchingKind::Count,
            sources: true,
            overwritten: false,
            services: false,
            raw: true,
            phases: true,
            executors: Vec::new(),
        };
        match self.transport {
            Transport::Ring { complete } => Capabilities {
                zero_copy: if complete { vec![Content::Plain, Content::BoundedSequence] } else { Vec::new() },
                reliability: vec![Reliability::Reliable, Reliability::BestEffort],
                history: vec![History::KeepLast],
                history_depth_max: Some(MOST_DEPTH),
                wait: if complete { limited.wait.clone() } else { vec![Wait::Spin] },
                overwritten: true,
                ..limited
            },
            Transport::Stream(_) => limited,
            // UDP is KEEP_ALL, because a full socket drops new messages and keeps the old ones.
            Transport::Udp => Capabilities { reliability: vec![Reliability::BestEffort], ..limited },
        }
    }
}

/// Checks that a publisher's memory has a place (a queue) for each expected subscription, and that /dev/shm has enough
/// free memory.
fn check_ring(name: &str, spec: &RunSpec) -> Result<(), String> {
    let subscriptions = spec.expected_subscriptions.max(1) as usize;
    if subscriptions > PLACES {
        return Err(format!(
            "{name} has places for {PLACES} subscriptions, and this run has {subscriptions}: give -s {PLACES}"
        ));
    }
    let layout = Layout { message_bytes: spec.message.bytes, depth: spec.qos.depth.max(1) as usize };
    let needed = layout.used_bytes(subscriptions) as u64 * u64::from(spec.publishers);
    let room = rustix::fs::statvfs(FOLDER).map_err(|error| format!("{name} cannot use {FOLDER}: {error}"))?;
    let free = room.f_bavail * room.f_frsize;
    if needed > free {
        return Err(format!(
            "{name} may need {needed} bytes in {FOLDER}, which has {free}: give a smaller \
             --history-depth or -m, or enlarge it"
        ));
    }
    Ok(())
}

impl Backend for Baseline {
    fn name(&self) -> &str {
        self.name
    }

    fn describe(&self) -> Description {
        let (transport, meaning) = self.way();
        let kernel = rustix::system::uname();
        Description {
            version: format!("Linux {}", kernel.release().to_string_lossy()),
            capabilities: self.capabilities(),
            settings: vec![Setting::new("transport", &[transport], meaning)],
        }
    }

    fn check(&self, spec: &RunSpec) -> Result<Vec<DaemonCommand>, String> {
        let name = self.name;
        if !matches!(spec.message.content, Content::Plain | Content::BoundedSequence) {
            return Err(format!("{name} has no types of variable size: add --raw"));
        }
        let bytes = spec.message.bytes;
        if bytes < RAW_HEADER_BYTES {
            return Err(format!(
                "{name} sends a time and an id, {RAW_HEADER_BYTES} bytes, and {} has {bytes}",
                spec.message.name
            ));
        }
        match self.transport {
            Transport::Ring { .. } => check_ring(name, spec)?,
            Transport::Stream(_) if spec.strategy == Strategy::IntraThread && bytes > BUFFERED_BYTES => {
                return Err(format!(
                    "{name} holds up to {BUFFERED_BYTES} bytes, so a thread cannot send {bytes} to itself: \
                     give -e INTER_THREAD"
                ));
            }
            _ => {}
        }
        Ok(Vec::new())
    }

    fn open(&self, spec: &RunSpec) -> Result<Box<dyn Session>, String> {
        let (transport, _) = self.way();
        // All requested options are in effect: the capabilities have excluded every other one.
        let mut effective = spec.options();
        effective.insert("transport".to_owned(), transport.to_owned());
        Ok(Box::new(BaselineSession { name: self.name, transport: self.transport, effective }))
    }

    fn clean_up(&self, _spec: &RunSpec) -> Result<(), String> {
        clean_up(self.name)
    }
}

/// The session of a baseline in a worker process.
struct BaselineSession {
    name: &'static str,
    transport: Transport,
    effective: Settings,
}

impl Session for BaselineSession {
    fn effective(&self) -> Settings {
        self.effective.clone()
    }

    fn publisher(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher>, String> {
        let topic = Topic::new(self.name, spec, plan);
        Ok(match self.transport {
            Transport::Ring { complete } => Box::new(RingPublisher::new(topic, spec, plan, complete)?),
            Transport::Stream(kind) => Box::new(StreamPublisher::new(kind, topic, plan)),
            Transport::Udp => Box::new(UdpPublisher::new(topic, plan)?),
        })
    }

    fn subscription(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Delivery, String> {
        let topic = Topic::new(self.name, spec, plan);
        Ok(Delivery::Pull(match self.transport {
            Transport::Ring { .. } => Box::new(RingSubscription::new(topic, spec, plan)?),
            Transport::Stream(kind) => Box::new(StreamSubscription::new(kind, topic, spec, plan)?),
            Transport::Udp => Box::new(UdpSubscription::new(topic, spec, plan)?),
        }))
    }
}
