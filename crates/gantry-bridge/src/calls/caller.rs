//! A caller: the bridge's client that calls the local servers of one service for clients on the network.

use super::queue::{Calls, MAX_CALLS, Sent};
use crate::{counts::Counts, graph::LocalEndpoint, lock::lock};
use gantry::{
    Attachment, Collector, GenericClient, GenericResponse, ListenerSource, Node, Qos, RequestId,
    ServiceTypeDescription, TakeSource,
};
use std::{
    fmt,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

/// A call of a client on the network.
pub trait Call: Send + 'static {
    /// The length of the request in bytes.
    fn length_bytes(&self) -> usize;

    /// Sends the request to the local servers; `None` if the request is malformed.
    fn send(&self, client: &mut GenericClient) -> Option<gantry::Result<RequestId>>;

    /// Sends the response to the network, and returns its length; `None` if the network refused it.
    fn answer(self, response: &GenericResponse) -> Option<usize>;
}

/// The bridge's client of one service, and the calls that wait for a server or a response.
pub struct Caller<C> {
    state: Mutex<State<C>>,
    /// The counters of the service.
    pub counts: Arc<Counts>,
    wake: Box<dyn Fn() + Send + Sync>,
}

struct State<C> {
    client: Option<GenericClient>,
    calls: Calls<C, C>,
}

impl<C: Call> Caller<C> {
    /// Creates a caller without a client, which [`Caller::connect`] creates later. The caller calls `wake` when a call
    /// has to wait for a server.
    pub fn new(counts: Arc<Counts>, wake: impl Fn() + Send + Sync + 'static) -> Arc<Caller<C>> {
        let state = State { client: None, calls: Calls::new(counts.clone()) };
        Arc::new(Caller { state: Mutex::new(state), counts, wake: Box::new(wake) })
    }

    /// Creates the client if it does not exist, and the network has a client of the service (`is_asked`) or calls wait.
    /// Returns a new client as a source of responses, for the thread that takes them.
    ///
    /// # Errors
    /// The same as for [`Node::create_generic_client_with_qos`].
    pub fn connect(
        self: &Arc<Caller<C>>,
        node: &Node,
        server: &LocalEndpoint,
        is_asked: bool,
    ) -> gantry::Result<Option<Box<dyn ListenerSource>>> {
        let mut state = lock(&self.state);
        if state.client.is_some() || !is_asked && !state.calls.is_waiting() {
            return Ok(None);
        }
        state.client = Some(client(node, server)?);
        Ok(Some(Box::new(Source(Arc::downgrade(self)))))
    }

    /// Accepts a call, and sends it as soon as a server is matched.
    pub fn call(&self, call: C) {
        let length_bytes = call.length_bytes();
        lock(&self.state).calls.push(call, length_bytes);
        if !self.flush() {
            (self.wake)();
        }
    }

    /// True if calls wait until a server is matched.
    pub fn is_waiting(&self) -> bool {
        lock(&self.state).calls.is_waiting()
    }

    /// Sends the waiting calls if a server is matched. Returns `false` if calls still wait.
    pub fn flush(&self) -> bool {
        let mut state = lock(&self.state);
        let State { client, calls } = &mut *state;
        let is_ready = client.as_mut().is_some_and(|client| client.service_is_ready().unwrap_or_default());
        let Some(client) = client.as_mut().filter(|_| is_ready) else {
            calls.retain(|_| true, |_| true);
            return !calls.is_waiting();
        };
        calls.send(|call| match call.send(client) {
            Some(Ok(id)) => Sent::As(id.sequence, call),
            Some(Err(_)) => Sent::Refused,
            None => Sent::Malformed,
        });
        true
    }

    /// Answers the calls whose responses have arrived.
    fn answer(&self) {
        loop {
            let mut state = lock(&self.state);
            let Some(client) = &mut state.client else { return };
            let response = match client.take_next() {
                Ok(Some(Ok(response))) => response,
                Ok(None) => return,
                Ok(Some(Err(_))) | Err(_) => {
                    self.counts.fail();
                    return;
                }
            };
            let Some(call) = state.calls.answer(response.id().sequence) else { continue };
            drop(state);
            match call.answer(&response) {
                Some(length_bytes) => self.counts.carry(length_bytes),
                None => self.counts.fail(),
            }
        }
    }
}

fn client(node: &Node, server: &LocalEndpoint) -> gantry::Result<GenericClient> {
    let service_type = ServiceTypeDescription {
        name: server.endpoint.type_name.clone(),
        request: server.message_type.clone(),
        response: server.response_type.clone().unwrap_or_default(),
    };
    let qos = Qos::default().keep_last(MAX_CALLS as u32);
    let mut client = node.create_generic_client_with_qos(&server.endpoint.name, service_type, qos)?;
    // A call without a server is not an error, as in ROS 2: `Calls` keeps the calls that wait for a server.
    client.set_requires_server(false);
    client.set_max_blocking_time(Duration::ZERO);
    Ok(client)
}

struct Source<C>(Weak<Caller<C>>);

impl<C: Call> ListenerSource for Source<C> {
    fn attach(&self, collector: &mut Collector) -> gantry::Result<Option<Attachment>> {
        let Some(caller) = self.0.upgrade() else { return Ok(None) };
        let mut state = lock(&caller.state);
        let Some(client) = &mut state.client else { return Ok(None) };
        collector.attach(client)
    }

    fn on_news(&self) {
        if let Some(caller) = self.0.upgrade() {
            caller.answer();
        }
    }
}

impl<C> fmt::Debug for Caller<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Caller")
    }
}
