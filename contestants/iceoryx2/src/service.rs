//! The services of a topic: publish-subscribe for messages, and an event to wake subscriptions that sleep.

use iceoryx2::{
    prelude::{Alignment, Node, ServiceName, ipc},
    service::port_factory::{event, publish_subscribe},
};
use perf_worker::{
    endpoint::EndpointPlan,
    run_spec::{Durability, History, RunSpec, Wait},
};

/// The publish-subscribe service of the messages.
pub type Messages = publish_subscribe::PortFactory<ipc::Service, [u8], ()>;
/// The event service that wakes subscriptions.
pub type Wakeups = event::PortFactory<ipc::Service>;

/// The length of the buffer of a KEEP_ALL subscription, in messages; iceoryx2's buffers have a fixed length.
const KEEP_ALL_BUFFER: usize = 64;
/// The alignment of a message in bytes: a message is a struct that begins with 8-byte numbers, its time and its id.
const ALIGNMENT: usize = 8;
/// iceoryx2's default limit of publishers in a publish-subscribe service. A service of a run has at least the default
/// limits, so that other programs can open it.
const DEFAULT_PUBLISHERS: u32 = 2;
/// iceoryx2's default limit of subscriptions in a publish-subscribe service.
const DEFAULT_SUBSCRIPTIONS: u32 = 8;
/// iceoryx2's default limit of notifiers, and of listeners, in an event service.
const DEFAULT_WAKEUPS: u32 = 16;
/// iceoryx2's default limit of the nodes that open a service.
const DEFAULT_NODES: u32 = 20;

/// The numbers of publishers, subscriptions and nodes that a topic of this run needs.
struct Limits {
    publishers: u32,
    subscriptions: u32,
    nodes: u32,
}

impl Limits {
    fn new(spec: &RunSpec) -> Limits {
        let publishers = spec.publishers.max(spec.expected_publishers);
        let subscriptions = spec.subscriptions.max(spec.expected_subscriptions);
        Limits { publishers, subscriptions, nodes: DEFAULT_NODES.max(publishers + subscriptions + 1) }
    }
}

/// Opens or creates the services of the topic. The event service is `None` if subscriptions busy-wait.
///
/// # Errors
/// The reason, as a sentence: the name is not valid, or the services exist with other options.
pub fn open(
    node: &Node<ipc::Service>,
    spec: &RunSpec,
    plan: &EndpointPlan,
) -> Result<(Messages, Option<Wakeups>), String> {
    let topic = format!("{}{}", spec.domain_id, plan.topic);
    let name = ServiceName::new(&topic).map_err(|error| failed("name a service", &topic, error))?;
    let alignment = Alignment::new(ALIGNMENT).ok_or("an alignment must be a power of two")?;
    let (limits, depth) = (Limits::new(spec), plan.qos.depth as usize);
    let (buffer, is_bounded) = match plan.qos.history {
        History::KeepLast => (depth, true),
        History::KeepAll => (KEEP_ALL_BUFFER, false),
    };
    let history = if plan.qos.durability == Durability::TransientLocal { depth } else { 0 };
    let messages = node
        .service_builder(&name)
        .publish_subscribe::<[u8]>()
        .payload_alignment(alignment)
        .enable_safe_overflow(is_bounded)
        .subscriber_max_buffer_size(buffer)
        .history_size(history)
        .max_publishers(limits.publishers.max(DEFAULT_PUBLISHERS) as usize)
        .max_subscribers(limits.subscriptions.max(DEFAULT_SUBSCRIPTIONS) as usize)
        .max_nodes(limits.nodes as usize)
        .open_or_create()
        .map_err(|error| failed("open the messages of", &topic, error))?;
    if spec.wait == Wait::Spin {
        return Ok((messages, None));
    }
    let wakeups = node
        .service_builder(&name)
        .event()
        .max_notifiers(limits.publishers.max(DEFAULT_WAKEUPS) as usize)
        .max_listeners(limits.subscriptions.max(DEFAULT_WAKEUPS) as usize)
        .max_nodes(limits.nodes as usize)
        .open_or_create()
        .map_err(|error| failed("open the event of", &topic, error))?;
    Ok((messages, Some(wakeups)))
}

/// Formats the sentence of a failure.
pub fn failed(act: &str, topic: &str, error: impl std::fmt::Debug) -> String {
    format!("iceoryx2 cannot {act} {topic}: {error:?}; programs of one topic need the same options")
}

/// Allocates the user's own message for the copy path; `None` with zero copy. Every page is written once, so that the
/// measurement has no page faults.
pub fn own_message(spec: &RunSpec, plan: &EndpointPlan) -> Option<Vec<u8>> {
    (!spec.zero_copy).then(|| {
        let mut message = vec![0; plan.message.bytes];
        std::hint::black_box(&mut message).fill(0);
        message
    })
}
