//! The publishers of a server's replies: one for each client, on a topic that only this client reads.
//!
//! So a client's replies are kept independently of other clients. The control thread makes a publisher when a client is
//! matched (`reply_watcher`). The client regards the server as ready after it has mapped this publisher, so a server
//! can answer each client that sends it a request.

use super::{
    super::service_type::ServiceTypeDescription,
    reply_watcher::{Maker, ReplyWatcher},
};
use crate::{
    error::Result,
    log,
    node::{Node, Presence, reply_topic, request_topic},
    topic::{GenericLoan, GenericPublisher, PublishError, publisher_name},
};
use gantry_shm::{Gid, GraphRecord, RequestId, Role};
use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering::Acquire},
};

/// The reply publishers of one server, as the server's own thread sees them. They are generic publishers, so that
/// servers of all types share this code.
pub(super) struct ReplyPublishers {
    clients: BTreeMap<Gid, GenericPublisher>,
    unread: Unread,
    presence: Arc<Presence>,
    watcher: Arc<ReplyWatcher>,
    /// The watcher's count of changes at the last update of `clients`.
    seen_changes: u64,
    /// The number of responses that clients lost because they did not take them.
    pub(super) lost_responses: u64,
}

/// The publisher for replies to clients that left. This publisher is made when the first client has left.
struct Unread {
    publisher: Option<Box<GenericPublisher>>,
    /// The graph entry that shows the type of the replies to other processes until the publisher exists.
    record: Option<GraphRecord>,
}

impl ReplyPublishers {
    /// Creates the reply publishers for the current and future clients that are matched with `requests`.
    pub(super) fn new(
        node: &Node,
        service: &str,
        service_type: ServiceTypeDescription,
        requests: &gantry_shm::Subscription,
    ) -> Result<ReplyPublishers> {
        let presence = node.presence().clone();
        let maker = Maker {
            presence: Arc::downgrade(&presence),
            node: node.fully_qualified_name(),
            service: service.to_owned(),
            service_type,
        };
        let (participant, response_type) = (node.participant().clone(), maker.service_type.response.clone());
        let record =
            GraphRecord::publisher(participant, &maker.node, &reply_topic(service), response_type, Maker::qos(1))?;
        let watcher = |_| ReplyWatcher::new(requests.matches(), maker);
        let watcher = node.participant().watch(&request_topic(service), Role::Publisher, watcher)?;
        Ok(ReplyPublishers {
            clients: BTreeMap::new(),
            unread: Unread { publisher: None, record: Some(record) },
            presence,
            watcher,
            seen_changes: 0,
            lost_responses: 0,
        })
    }

    /// The publisher for a client's replies. If the client has left, this is a publisher that no client reads.
    ///
    /// # Errors
    /// The client left, and there is no room for a publisher.
    #[inline]
    pub(super) fn publisher_for(&mut self, client: Gid) -> Result<&mut GenericPublisher> {
        self.find(client);
        match self.clients.get_mut(&client) {
            Some(publisher) => Ok(publisher),
            None => self.unread.publisher(&self.watcher.maker, &self.presence),
        }
    }

    /// The bytes of shared memory of all reply publishers.
    pub(super) fn memory_bytes(&self) -> usize {
        self.clients.values().chain(self.unread.publisher.as_deref()).map(GenericPublisher::memory_bytes).sum()
    }

    /// Calls `publish` with the publisher of the replies to `client`; returns `None` if the client left.
    pub(super) fn publish<R>(&mut self, client: Gid, publish: impl FnOnce(&mut GenericPublisher) -> R) -> Option<R> {
        self.find(client);
        let publisher = self.clients.get_mut(&client)?;
        let published = publish(publisher);
        let lost = publisher.engine.take_lost_samples();
        if lost > 0 {
            self.count_lost(client, lost);
        }
        Some(published)
    }

    /// Counts responses that a client lost, and logs the first, the tenth, the hundredth lost response and so on.
    #[cold]
    pub(super) fn count_lost(&mut self, client: Gid, count: u64) {
        let before = self.lost_responses.checked_ilog10();
        self.lost_responses += count;
        if self.lost_responses.checked_ilog10() == before {
            return;
        }
        let Maker { node, service, .. } = &self.watcher.maker;
        let client = publisher_name(self.presence.participant(), &request_topic(service), client);
        let lost = self.lost_responses;
        log::warn(
            node,
            format_args!(
                "{lost} responses of {service} are lost, the last of them to {client}: this client does not take its \
                 responses, and all memory for responses is in use; take responses in the client, or send fewer \
                 requests"
            ),
        );
    }

    /// Sends a response. If the client has left, no process reads the response. If the client's publisher was made
    /// after the loan, the response is copied: the client sent its request before this server had made the publisher,
    /// because another server was ready.
    pub(super) fn send(
        &mut self,
        request: RequestId,
        response: GenericLoan,
    ) -> std::result::Result<(), PublishError<GenericLoan>> {
        self.send_with(request, response, GenericPublisher::publish)
    }

    /// Sends a response as [`ReplyPublishers::send`] does. `publish_loan` publishes a response that needs no copy.
    pub(super) fn send_with(
        &mut self,
        request: RequestId,
        response: GenericLoan,
        publish_loan: impl FnOnce(&mut GenericPublisher, GenericLoan) -> std::result::Result<u64, PublishError<GenericLoan>>,
    ) -> std::result::Result<(), PublishError<GenericLoan>> {
        let is_unread = self.unread.publisher.as_ref().is_some_and(|unread| unread.owns(&response));
        let publish = |publisher: &mut GenericPublisher| match is_unread {
            true => publisher
                .publish_copy_for(request, response.bytes().len(), |body| gantry_cdr::copy(body, response.bytes()))
                .map_err(|error| PublishError { loan: response, error: Box::new(error) }),
            false => publish_loan(publisher, response.answering(request)),
        };
        self.publish(request.client_gid, publish).map_or(Ok(()), |published| published.map(drop))
    }

    #[inline]
    fn find(&mut self, client: Gid) {
        self.update();
        if !self.clients.contains_key(&client) {
            self.wait_for(client);
        }
    }

    /// A sentence for each client that is not matched.
    pub(super) fn mismatches(&self, requests: &gantry_shm::Subscription) -> Vec<String> {
        let sentences = self.watcher.maker.mismatches();
        if sentences.is_empty() { requests.mismatches() } else { sentences }
    }

    /// Takes the publishers of new clients from the watcher, and returns the publishers of clients that left.
    #[inline]
    pub(super) fn update(&mut self) {
        let changes = self.watcher.changes.load(Acquire); // partner: `ReplyWatcher::make`, `ReplyWatcher::let_go`
        if changes != self.seen_changes {
            self.seen_changes = changes;
            self.watcher.hand_over(&mut self.clients);
        }
    }

    /// Waits for the publisher of a client that is not in `clients`. A client may send a request as soon as it has
    /// mapped its publisher; a client without a publisher relies on another server, or has left.
    #[cold]
    fn wait_for(&mut self, client: Gid) {
        self.watcher.wait_until_made(client);
        self.update();
    }
}

impl Unread {
    #[cold]
    fn publisher(&mut self, maker: &Maker, presence: &Arc<Presence>) -> Result<&mut GenericPublisher> {
        let publisher = match self.publisher.take() {
            Some(publisher) => publisher,
            None => Box::new(maker.publisher(presence, &reply_topic(&maker.service), 1)?),
        };
        self.record = None;
        Ok(self.publisher.insert(publisher))
    }
}

impl Drop for ReplyPublishers {
    fn drop(&mut self) {
        self.watcher.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        node::client_reply_topic,
        service::{request_qos, server::reply_watcher::Maker},
    };
    use gantry_msgs::std_srvs::srv::Trigger;
    use gantry_shm::{PublisherOptions, Qos, TypeDescription};

    const CLIENT: Gid = Gid([7; 16]);
    const RESPONSE_BYTES: usize = 64 << 10;
    /// The depth of the test's client, which never has more requests in flight.
    const DEPTH: u32 = 5;

    /// Makes a node with a server of this name, whose responses may have any size. The last returned value is the type
    /// of the responses.
    fn server(name: &str) -> (Node, gantry_shm::Subscription, ReplyPublishers, TypeDescription) {
        let node = Node::builder("reply_tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap();
        let of_any_size = TypeDescription { name: "response".into(), payload_bytes: usize::MAX, ..Default::default() };
        let service_type = ServiceTypeDescription {
            response: of_any_size.clone(),
            ..ServiceTypeDescription::for_service::<Trigger>()
        };
        let requests = node.subscription_on(&request_topic(name), service_type.request.clone(), request_qos(DEPTH));
        let requests = requests.unwrap().engine;
        let replies = ReplyPublishers::new(&node, name, service_type, &requests).unwrap();
        (node, requests, replies, of_any_size)
    }

    #[test]
    fn a_response_that_was_loaned_before_its_client_had_a_publisher_arrives() {
        let (node, _requests, mut replies, response_type) = server("/early");
        let request = RequestId { client_gid: CLIENT, sequence: 1 };
        let mut early = replies.publisher_for(CLIENT).unwrap().loan(1).unwrap();
        early.bytes_mut()[0] = 42;
        let foreign = replies.publisher_for(CLIENT).unwrap().loan(1).unwrap();
        let topic = client_reply_topic("/early", CLIENT);
        let publisher =
            node.publisher_on(&topic, response_type.clone(), Maker::qos(2 * DEPTH), Maker::options(DEPTH)).unwrap();
        let mut client = node.subscription_on(&topic, response_type, Qos::default().reliable()).unwrap();
        assert_eq!(client.publisher_count().unwrap(), 1);
        replies.clients.insert(CLIENT, publisher);
        replies.send(request, early).unwrap();
        let response = client.take().unwrap().unwrap();
        assert_eq!((response.bytes(), response.message_info().request), (&[42][..], Some(request)));
        let (_node, _requests, mut other, _) = server("/other");
        other.clients.append(&mut replies.clients);
        assert!(other.send(request, foreign).is_err(), "it is another server's");
    }

    /// The test sets a small memory limit, because the default limit is reached only after a gigabyte.
    #[test]
    fn a_client_that_takes_no_response_loses_the_oldest_and_stops_no_server() {
        let (node, _requests, mut replies, of_any_size) = server("/map");
        let topic = client_reply_topic("/map", CLIENT);
        let options = PublisherOptions { max_memory_bytes: Some(8 * RESPONSE_BYTES), ..Maker::options(DEPTH) };
        let publisher = node.publisher_on(&topic, of_any_size.clone(), Maker::qos(2 * DEPTH), options).unwrap();
        let mut client = node.subscription_on(&topic, of_any_size, Qos::default().reliable().keep_last(1000)).unwrap();
        assert_eq!(client.publisher_count().unwrap(), 1);
        replies.clients.insert(CLIENT, publisher);
        const SENT: u64 = 30;
        for sequence in 1..=SENT {
            let request = RequestId { client_gid: CLIENT, sequence };
            let response = replies.publisher_for(CLIENT).unwrap().loan(RESPONSE_BYTES).unwrap();
            replies.send(request, response).unwrap();
        }
        let taken: Vec<_> = std::iter::from_fn(|| client.take().unwrap()).collect();
        let sequences: Vec<u64> = taken.iter().map(|sample| sample.message_info().sequence).collect();
        assert!(sequences.len() >= 4, "as many as there is memory for: {sequences:?}");
        assert_eq!(sequences, (SENT + 1 - sequences.len() as u64..=SENT).collect::<Vec<_>>(), "the newest are there");
        assert_eq!(replies.lost_responses, SENT - sequences.len() as u64);
        assert_eq!(client.overwritten(), replies.lost_responses, "the client counts them, too");
        // A client that holds responses until no memory is left makes the next loan fail.
        let held = std::iter::from_fn(|| replies.publisher_for(CLIENT).unwrap().loan(RESPONSE_BYTES).ok()).count();
        assert!(held <= 2, "{held}");
        drop(taken);
        assert!(replies.publisher_for(CLIENT).unwrap().loan(RESPONSE_BYTES).is_ok());
    }
}
