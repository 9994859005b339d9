//! The host's side of a run: a node with the opposite endpoint for each endpoint of the program. For example, it has a
//! subscription for each publisher and a client for each service.

use std::time::{Duration, Instant};

use gantry::{Client, Message, Node, Qos, RequestId, Service};
use gantry_msgs::{
    example_interfaces::srv::{AddTwoInts, AddTwoInts_Request, AddTwoInts_Response},
    std_msgs::msg::{Int32, String as Text},
};

use super::variant::{Kind, Variant};

/// The time between two messages of each publisher.
const PERIOD: Duration = Duration::from_millis(20);
/// The time after which a request without a response is repeated: the program drops a response for which its
/// session has no room.
const PATIENCE: Duration = Duration::from_millis(300);

/// A function that takes a message, and returns false if there is none.
type Take = Box<dyn FnMut() -> gantry::Result<bool>>;
/// A function that publishes a message.
type Publish = Box<dyn FnMut() -> gantry::Result<()>>;

/// The endpoints of the host; one thread calls them all.
pub struct Peer {
    next: Instant,
    /// For each topic, its subscription and the number of messages that it has received.
    subscriptions: Vec<(String, Take, u64)>,
    publishers: Vec<Publish>,
    callers: Vec<Caller>,
    servers: Vec<Service<AddTwoInts>>,
}

/// A client of one of the program's services, and its last request.
struct Caller {
    client: Client<AddTwoInts>,
    asked: Option<(RequestId, Instant)>,
}

impl Caller {
    /// Takes a response. Sends the next request if the last request was answered or has waited for too long.
    fn step(&mut self) -> gantry::Result<()> {
        // An error means that the program has ended; so does an error of the request below.
        if !matches!(self.client.take_response(), Ok(None)) {
            self.asked = None;
        }
        match self.asked {
            Some((_, at)) if at.elapsed() < PATIENCE => return Ok(()),
            Some((request, _)) => drop(self.client.remove_pending_request(request)),
            None => {}
        }
        if self.client.service_is_ready()? {
            let asked = self.client.send_request_copy(&AddTwoInts_Request { a: 1, b: 2 });
            self.asked = asked.ok().map(|request| (request, Instant::now()));
        }
        Ok(())
    }
}

impl Peer {
    /// Creates the endpoints for a variant of the program.
    ///
    /// # Errors
    /// An error of the library.
    pub fn open(variant: &Variant, domain_id: u32) -> gantry::Result<Peer> {
        match variant.text_bytes {
            None => Peer::with_message(variant, domain_id, &Int32 { data: 1 }),
            Some(bytes) => Peer::with_message(variant, domain_id, &Text { data: "x".repeat(bytes as usize) }),
        }
    }

    fn with_message<M: Message + Clone + 'static>(
        variant: &Variant,
        domain_id: u32,
        message: &M,
    ) -> gantry::Result<Peer> {
        let node = Node::builder("peer").domain_id(domain_id).build()?;
        let topics = |kind: Kind| {
            let count = if variant.has_one_topic { variant.count(kind).min(1) } else { variant.count(kind) };
            (0..count).map(move |index| format!("/{}s_{index}", kind.name()))
        };
        // A best-effort subscription matches both reliable and best-effort publishers.
        let subscribe = |topic: String| {
            let mut subscription = node.create_subscription::<M>(&topic, Qos::sensor_data())?;
            let take: Take = Box::new(move || Ok(subscription.take()?.is_some()));
            Ok((topic, take, 0))
        };
        let advertise = |topic: String| {
            let (mut publisher, message) = (node.create_publisher::<M>(&topic, Qos::default())?, message.clone());
            let publish: Publish = Box::new(move || publisher.publish_copy(&message).map(drop));
            Ok(publish)
        };
        Ok(Peer {
            next: Instant::now(),
            subscriptions: topics(Kind::Publisher).map(subscribe).collect::<gantry::Result<_>>()?,
            publishers: topics(Kind::Subscription).map(advertise).collect::<gantry::Result<_>>()?,
            callers: topics(Kind::Service)
                .map(|name| Ok(Caller { client: node.create_client(&name)?, asked: None }))
                .collect::<gantry::Result<_>>()?,
            servers: topics(Kind::Client).map(|name| node.create_service(&name)).collect::<gantry::Result<_>>()?,
        })
    }

    /// Takes all messages, and answers all requests. Once in each `PERIOD`, also publishes messages and sends requests.
    ///
    /// # Errors
    /// An error of the library.
    pub fn step(&mut self) -> gantry::Result<()> {
        for (_, take, received) in &mut self.subscriptions {
            while take()? {
                *received += 1;
            }
        }
        for server in &mut self.servers {
            while let Some(request) = server.take_request()? {
                let response = AddTwoInts_Response { sum: request.a + request.b };
                // The call fails if the client has ended in the meantime; the response is then not needed.
                let _ = server.send_response_copy(request.id(), &response);
            }
        }
        if self.next > Instant::now() {
            return Ok(());
        }
        self.next = Instant::now() + PERIOD;
        self.publishers.iter_mut().try_for_each(|publish| publish())?;
        self.callers.iter_mut().try_for_each(Caller::step)
    }

    /// The topics from which no message has come.
    pub fn silent(&self) -> Vec<String> {
        self.subscriptions.iter().filter(|(.., received)| *received == 0).map(|(topic, ..)| topic.clone()).collect()
    }
}
