//! A stand-in: a local server that represents the servers of one name on the network.

use crate::{counts::Counts, graph::LocalEndpoint, lock::lock};
use gantry::{
    Attachment, Collector, GenericRequest, GenericService, ListenerSource, Node, RequestId, ServiceTypeDescription,
};
use std::{
    fmt,
    sync::{Arc, Mutex, Weak},
};

/// The function that sends a request of a local client to the network.
type Ask = dyn Fn(&Arc<StandIn>, GenericRequest) + Send + Sync;

/// A local server that represents the servers of one name on the network.
pub struct StandIn {
    server: Mutex<GenericService>,
    ask: Box<Ask>,
    /// The counters of the service.
    pub counts: Arc<Counts>,
}

impl StandIn {
    /// Creates a server of `node` for clients with the type of `client`. The thread that takes requests calls `ask`
    /// with each request, including requests of the bridge's own clients.
    ///
    /// # Errors
    /// The same as for [`Node::create_generic_service`].
    pub fn new(
        node: &Node,
        client: &LocalEndpoint,
        counts: Arc<Counts>,
        ask: impl Fn(&Arc<StandIn>, GenericRequest) + Send + Sync + 'static,
    ) -> gantry::Result<Arc<StandIn>> {
        let service_type = ServiceTypeDescription {
            name: client.endpoint.type_name.clone(),
            request: client.message_type.clone(),
            response: client.response_type.clone().unwrap_or_default(),
        };
        let server = Mutex::new(node.create_generic_service(&client.endpoint.name, service_type)?);
        Ok(Arc::new(StandIn { server, ask: Box::new(ask), counts }))
    }

    /// Sends a response of `length_bytes` bytes; `write` fills in all of them.
    pub fn respond(&self, id: RequestId, length_bytes: usize, write: impl FnOnce(&mut [u8])) {
        match lock(&self.server).send_response_copy_with(id, length_bytes, write) {
            Ok(()) => self.counts.carry(length_bytes),
            Err(_) => self.counts.fail(),
        }
    }

    /// The server in the form that a listener thread takes, for requests.
    #[must_use]
    pub fn source(self: &Arc<StandIn>) -> Box<dyn ListenerSource> {
        Box::new(Source(Arc::downgrade(self)))
    }

    fn take(self: &Arc<StandIn>) {
        loop {
            // The lock is released before `ask` sends the request, because the reply may arrive at once and needs the
            // lock.
            let request = lock(&self.server).take_request();
            match request {
                Ok(Some(request)) => (self.ask)(self, request),
                Ok(None) => return,
                Err(_) => return self.counts.fail(),
            }
        }
    }
}

struct Source(Weak<StandIn>);

impl ListenerSource for Source {
    fn attach(&self, collector: &mut Collector) -> gantry::Result<Option<Attachment>> {
        let Some(stand_in) = self.0.upgrade() else { return Ok(None) };
        collector.attach(&mut *lock(&stand_in.server))
    }

    fn on_news(&self) {
        if let Some(stand_in) = self.0.upgrade() {
            stand_in.take();
        }
    }
}

impl fmt::Debug for StandIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StandIn")
    }
}
