//! The measured code. It has the form of firmware: statics and a loop.

use crate::{
    Line,
    message::{SAMPLE_BYTES, Sample, publish},
    parameters::{
        CLIENTS, HISTORY, IS_RELIABLE, MTU_BYTES, PUBLISHERS, SERVICE_DEPTH, SERVICES, SUBSCRIPTION_DEPTH,
        SUBSCRIPTIONS,
    },
};
use gantry_micro::{
    Client, ClientKey, Instant, Memory, Node, Publisher, Qos, SampleIdentity, Service, ServiceClient, Subscription,
};
use gantry_msgs::example_interfaces::srv::{AddTwoInts, AddTwoInts_Request, AddTwoInts_Response};
use static_cell::StaticCell;

/// The node has no boot nonce, because QEMU's machine has no noise source. A real board draws a nonce at boot.
const NODE: Node<'static> = Node { name: "benchmark", domain_id: 0, key: ClientKey(*b"gbmk"), boot_nonce: None };
const QOS: Qos = if IS_RELIABLE { Qos::DEFAULT } else { Qos::SENSOR_DATA };
/// The number of messages that each publisher, subscription, service and client sends or receives.
const MESSAGES: u32 = 10;
/// The time between two sends. In this time, the endpoints of a new client on the host become matched.
const PERIOD_US: u32 = 50_000;
/// The length of a request in the queue, in bytes: its identity, and two 8-byte numbers.
const REQUEST_BYTES: usize = SampleIdentity::BYTES + 16;
/// The length of a response in the queue, in bytes: the number of its request, and the 8-byte sum.
const RESPONSE_BYTES: usize = 8 + 8;

/// The memory of the session, which is in a static.
pub type SessionMemory = Memory<MTU_BYTES, HISTORY>;
type Session = Client<'static, Line>;
type Samples = Subscription<'static, Sample, SUBSCRIPTION_DEPTH, SAMPLE_BYTES>;
type Server = Service<'static, AddTwoInts, SERVICE_DEPTH, REQUEST_BYTES>;
type Caller = ServiceClient<'static, AddTwoInts, SERVICE_DEPTH, RESPONSE_BYTES>;

/// The entities, which are in a static.
pub struct Entities {
    publishers: [Publisher<'static, Sample>; PUBLISHERS.len()],
    subscriptions: [Samples; SUBSCRIPTIONS.len()],
    services: [Server; SERVICES.len()],
    clients: [Caller; CLIENTS.len()],
}

impl Entities {
    /// Zeros.
    pub const fn new() -> Self {
        Self {
            publishers: [const { Publisher::new() }; _],
            subscriptions: [const { Subscription::new() }; _],
            services: [const { Service::new() }; _],
            clients: [const { ServiceClient::new() }; _],
        }
    }

    fn are_done(&self) -> bool {
        self.publishers.iter().all(|publisher| publisher.counts().sent >= MESSAGES)
            && self.subscriptions.iter().all(|subscription| subscription.counts().received >= MESSAGES)
            && self.services.iter().all(|service| service.counts().sent >= MESSAGES)
            && self.clients.iter().all(|client| client.counts().received >= MESSAGES)
    }
}

/// Runs the program until its end. `line` is the serial line to the agent.
pub fn run(
    line: Line,
    memory: &'static mut SessionMemory,
    entities: &'static Entities,
    mut clock: impl FnMut() -> Instant,
    mut sleep: impl FnMut(),
) {
    let session = connect(line, memory);
    if !create(session, entities) {
        return;
    }
    let (mut publish_at, mut is_closed) = (clock(), false);
    loop {
        let now = clock();
        let _ = session.spin_once(now, |_| {});
        if is_closed && session.deadline().is_none() {
            return;
        }
        if publish_at <= now {
            publish_at = now.after_us(PERIOD_US);
            send(session, entities);
        }
        take(session, entities);
        if !is_closed && session.is_connected() && entities.are_done() {
            session.close(now);
            is_closed = true;
        }
        sleep();
    }
}

/// Connects to the agent. The function is not inlined, so that its stack frame, which has a temporary copy of the
/// client, is freed when it returns.
#[inline(never)]
fn connect(line: Line, memory: &'static mut SessionMemory) -> &'static mut Session {
    static SESSION: StaticCell<Session> = StaticCell::new();
    SESSION.init_with(|| Client::new(line, memory, NODE))
}

/// Creates all entities. Returns whether all of them were created.
#[inline(never)]
fn create(session: &mut Session, entities: &'static Entities) -> bool {
    let mut is_good = true;
    for (publisher, name) in entities.publishers.iter().zip(PUBLISHERS) {
        is_good &= session.create_publisher(publisher, name, QOS).is_ok();
    }
    for (subscription, name) in entities.subscriptions.iter().zip(SUBSCRIPTIONS) {
        is_good &= session.create_subscription(subscription, name, QOS).is_ok();
    }
    for (service, name) in entities.services.iter().zip(SERVICES) {
        is_good &= session.create_service(service, name).is_ok();
    }
    for (client, name) in entities.clients.iter().zip(CLIENTS) {
        is_good &= session.create_service_client(client, name).is_ok();
    }
    is_good
}

/// Sends a message with each publisher, and a request with each client whose last request was answered. If there is no
/// room, a later call sends it.
#[inline(never)]
fn send(session: &mut Session, entities: &'static Entities) {
    for publisher in entities.publishers.iter().filter(|publisher| publisher.counts().sent < MESSAGES) {
        let _ = publish(publisher, session);
    }
    for client in &entities.clients {
        let counts = client.counts();
        // A refused request is sent again: the agent refuses requests until it has found the server.
        if counts.received < MESSAGES && counts.sent == counts.received + counts.refused {
            let _ = client.send_request(session, &AddTwoInts_Request { a: 1, b: 2 });
        }
    }
}

/// Takes all messages and responses, and answers all requests. If there is no room for a response, the host repeats its
/// request.
#[inline(never)]
fn take(session: &mut Session, entities: &'static Entities) {
    for subscription in &entities.subscriptions {
        while let Ok(Some(_)) = subscription.take() {}
    }
    for service in &entities.services {
        while let Ok(Some(request)) = service.take_request() {
            let response = AddTwoInts_Response { sum: request.message.a + request.message.b };
            let _ = service.send_response(session, request.id, &response);
        }
    }
    for client in &entities.clients {
        while let Ok(Some(_)) = client.take_response() {}
    }
}
