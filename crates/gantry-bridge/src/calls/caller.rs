//! A caller: the client of the bridge that asks the local servers of one service for far clients.

use crate::{counts::Counts, graph::LocalEndpoint, lock::lock};
use gantry::{
    Attachment, Collector, GenericClient, GenericResponse, ListenerSource, Node, Qos, RequestId,
    ServiceTypeDescription, TakeSource,
};
use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

/// The calls of one service that wait for their servers; beyond them the oldest is given up.
const MAX_CALLS: usize = 1000;

/// A call of a far client.
pub trait Call: Send + 'static {
    /// Sends the request; `None`: it has another form.
    fn send(&self, client: &mut GenericClient) -> Option<gantry::Result<RequestId>>;

    /// Hands the response to the network, and returns its length; `None`: the network refused it.
    fn answer(self, response: &GenericResponse) -> Option<usize>;
}

/// The client of the bridge for one service, with the calls that wait.
pub struct Caller<C> {
    state: Mutex<State<C>>,
    /// The counters of the service.
    pub counts: Arc<Counts>,
    wake: Box<dyn Fn() + Send + Sync>,
}

struct State<C> {
    client: Option<GenericClient>,
    /// Calls that wait until a server is matched.
    waiting: VecDeque<C>,
    /// Calls that wait for their responses, by the number of the request.
    pending: BTreeMap<u64, C>,
}

impl<C: Call> Caller<C> {
    /// A caller without a client: [`Caller::connect`] makes it. `wake` is called when a call waits.
    pub fn new(counts: Arc<Counts>, wake: impl Fn() + Send + Sync + 'static) -> Arc<Caller<C>> {
        let state = State { client: None, waiting: VecDeque::new(), pending: BTreeMap::new() };
        Arc::new(Caller { state: Mutex::new(state), counts, wake: Box::new(wake) })
    }

    /// Makes the client, if there is none and `is_asked` or calls wait, and returns its source, for the thread that
    /// takes responses.
    ///
    /// # Errors
    /// As [`Node::create_generic_client_with_qos`].
    pub fn connect(
        self: &Arc<Caller<C>>,
        node: &Node,
        server: &LocalEndpoint,
        is_asked: bool,
    ) -> gantry::Result<Option<Box<dyn ListenerSource>>> {
        let mut state = lock(&self.state);
        if state.client.is_some() || !is_asked && state.waiting.is_empty() {
            return Ok(None);
        }
        state.client = Some(client(node, server)?);
        Ok(Some(Box::new(Source(Arc::downgrade(self)))))
    }

    /// Takes a call: it is sent as soon as a server is matched.
    pub fn call(&self, call: C) {
        let mut state = lock(&self.state);
        state.waiting.push_back(call);
        if state.waiting.len() > MAX_CALLS {
            state.waiting.pop_front();
            self.counts.overwrite();
        }
        drop(state);
        if !self.flush() {
            (self.wake)();
        }
    }

    /// Whether calls wait for servers that are not matched yet.
    pub fn is_waiting(&self) -> bool {
        !lock(&self.state).waiting.is_empty()
    }

    /// Sends the calls that wait, if a server is matched; `false` if calls go on waiting.
    pub fn flush(&self) -> bool {
        let mut state = lock(&self.state);
        let State { client, waiting, pending } = &mut *state;
        let is_ready = client.as_mut().is_some_and(|client| client.service_is_ready().unwrap_or_default());
        let Some(client) = client.as_mut().filter(|_| is_ready) else { return waiting.is_empty() };
        for call in waiting.drain(..) {
            match call.send(client) {
                Some(Ok(id)) => {
                    pending.insert(id.sequence, call);
                }
                Some(Err(_)) => self.counts.fail(),
                None => self.counts.malform(),
            }
            if pending.len() > MAX_CALLS {
                pending.pop_first();
                self.counts.overwrite();
            }
        }
        true
    }

    /// Answers the calls whose responses came.
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
            let Some(call) = state.pending.remove(&response.id().sequence) else { continue };
            drop(state);
            match call.answer(&response) {
                Some(length_bytes) => self.counts.carry(length_bytes),
                None => self.counts.fail(),
            }
        }
    }
}

impl<C> Drop for Caller<C> {
    /// Counts the calls that get no response any more.
    fn drop(&mut self) {
        let state = lock(&self.state);
        (0..state.waiting.len() + state.pending.len()).for_each(|_| self.counts.disown());
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
    // As in ROS 2: the bridge follows its calls itself.
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
