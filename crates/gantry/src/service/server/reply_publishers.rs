//! The publishers of a server's replies: one for each client, on a topic that only this client reads.
//!
//! So the replies to a client are kept for that client alone, whatever the others do. The control thread makes a publisher
//! when a client is matched (`reply_watcher`), and a client counts a server as ready when it has mapped that publisher;
//! therefore a client that asks can be answered.

use super::{
    super::service_type::ServiceTypeDescription,
    reply_watcher::{Maker, ReplyWatcher},
};
use crate::{
    error::Result,
    node::{Node, Presence, reply_topic, request_topic},
    topic::{GenericLoan, GenericPublisher, PublishError},
};
use gantry_shm::{Gid, GraphRecord, RequestId, Role};
use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering::Acquire},
};

/// The publishers of one server, as its own thread sees them. They are generic, so that the servers of all types share
/// their code.
pub(super) struct ReplyPublishers {
    clients: BTreeMap<Gid, GenericPublisher>,
    unread: Unread,
    presence: Arc<Presence>,
    watcher: Arc<ReplyWatcher>,
    /// The count of changes to which `clients` belongs.
    seen_changes: u64,
}

/// The publisher for replies to clients that left, which is made for the first of them.
struct Unread {
    publisher: Option<Box<GenericPublisher>>,
    /// Tells other processes the type of the replies until the publisher does.
    record: Option<GraphRecord>,
}

impl ReplyPublishers {
    /// For the clients that are matched with `requests`, now and later.
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
        })
    }

    /// The publisher for a client's replies, or for those that no client reads if it left.
    ///
    /// # Errors
    /// The client left, and there is no room for a publisher.
    #[inline]
    pub(super) fn of(&mut self, client: Gid) -> Result<&mut GenericPublisher> {
        self.find(client);
        match self.clients.get_mut(&client) {
            Some(publisher) => Ok(publisher),
            None => self.unread.publisher(&self.watcher.maker, &self.presence),
        }
    }

    /// The publisher for a client's replies; `None` if the client left.
    pub(super) fn of_present(&mut self, client: Gid) -> Option<&mut GenericPublisher> {
        self.find(client);
        self.clients.get_mut(&client)
    }

    /// Sends a response, which no process reads if the client left.
    pub(super) fn send(
        &mut self,
        request: RequestId,
        response: GenericLoan,
    ) -> std::result::Result<(), PublishError<GenericLoan>> {
        match self.of_present(request.client_gid) {
            Some(publisher) => publisher.publish(response.answering(request)).map(drop),
            None => Ok(()),
        }
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

    /// Adopts the publishers of new clients, and gives back those of clients that left.
    #[inline]
    pub(super) fn update(&mut self) {
        let changes = self.watcher.changes.load(Acquire); // partner: `ReplyWatcher::make`, `ReplyWatcher::let_go`
        if changes != self.seen_changes {
            self.seen_changes = changes;
            self.watcher.hand_over(&mut self.clients);
        }
    }

    /// A client may ask as soon as it has mapped its publisher. One whose publisher is not there counts on other servers, or
    /// left.
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
