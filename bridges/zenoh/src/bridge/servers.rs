//! Local servers for far clients: a queryable for each name, which asks the local servers through one client.

use super::{Context, far_graph::FarGraph, lock};
use crate::{
    log::say,
    payload,
    wire::{Attachment, key_of},
};
use gantry::{
    Attachment as Attached, Collector, GenericClient, GenericResponse, Listener, ListenerSource, Node, Qos,
    ServiceTypeDescription, TakeSource,
};
use gantry_bridge::{Counts, Kind, LocalEndpoint};
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex, Weak},
    time::Duration,
};
use zenoh::{
    Wait,
    query::{Query, Queryable},
    sample::Locality,
};

/// The calls of one service that wait for their servers; beyond them the oldest is given up.
const MAX_CALLS: usize = 1000;

/// The services that local servers offer to the network, by their keys.
pub struct Servers {
    listener: Listener<Box<dyn ListenerSource>>,
    services: BTreeMap<String, (Arc<Service>, Queryable<()>)>,
    next_number: u64,
}

/// One service.
struct Service {
    key: String,
    state: Mutex<State>,
    counts: Arc<Counts>,
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct State {
    client: Option<(u64, GenericClient)>,
    /// Calls that wait until a server is matched.
    waiting: VecDeque<Call>,
    /// Calls that wait for their responses, by the number of the request.
    pending: BTreeMap<u64, Call>,
}

struct Call {
    query: Query,
    attachment: Attachment,
}

impl Servers {
    pub fn new(listener: Listener<Box<dyn ListenerSource>>) -> Servers {
        Servers { listener, services: BTreeMap::new(), next_number: 0 }
    }

    /// Offers the services that came, before the network sees their servers. A client is made when the network has
    /// one.
    pub fn update(&mut self, context: &Context, node: &Node, far: &FarGraph, servers: &[&LocalEndpoint]) {
        let with_key =
            |local: &&LocalEndpoint| Some((key_of(context.network.domain_id, &local.endpoint)?, (*local).clone()));
        let wanted: HashMap<String, LocalEndpoint> = servers.iter().filter_map(with_key).collect();
        let listener = &self.listener;
        self.services.retain(|key, (service, _)| {
            let is_wanted = wanted.contains_key(key);
            if !is_wanted && let Some((number, _)) = &lock(&service.state).client {
                listener.remove(*number);
            }
            is_wanted
        });
        for (key, local) in wanted {
            if !self.services.contains_key(&key) {
                match Service::offer(context, &key, &local.endpoint.name) {
                    Ok(offered) => {
                        self.services.insert(key.clone(), offered);
                    }
                    Err(error) => say(format_args!("service {} is not carried: {error}", local.endpoint.name)),
                }
            }
            let Some((service, _)) = self.services.get(&key) else { continue };
            let is_asked = far.of_kind(Kind::Client).any(|(_, entity, _)| entity.key.as_deref() == Some(&key));
            let mut state = lock(&service.state);
            if state.client.is_none() && (is_asked || !state.waiting.is_empty()) {
                match client(node, &local) {
                    Ok(client) => {
                        state.client = Some((self.next_number, client));
                        let source = Box::new(Source(Arc::downgrade(service)));
                        self.listener.add(self.next_number, source);
                        self.next_number += 1;
                    }
                    Err(error) => say(format_args!("service {} is not carried: {error}", local.endpoint.name)),
                }
            }
            drop(state);
            service.flush();
        }
    }

    /// Whether calls wait for servers that are not matched yet.
    pub fn is_waiting(&self) -> bool {
        self.services.values().any(|(service, _)| !lock(&service.state).waiting.is_empty())
    }

    /// Sends calls whose servers were matched meanwhile.
    pub fn flush(&self) {
        self.services.values().for_each(|(service, _)| _ = service.flush());
    }

    pub fn end(&mut self) {
        self.services.clear();
        self.listener.end();
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

impl Service {
    fn offer(context: &Context, key: &str, name: &str) -> zenoh::Result<(Arc<Service>, Queryable<()>)> {
        let (state, counts) = (Mutex::default(), context.counts("out", name));
        let service = Arc::new(Service { key: key.to_owned(), state, counts, wake: Box::new(context.wake()) });
        let of_query = service.clone();
        let builder = context.network.session.declare_queryable(key.to_owned()).complete(true);
        let builder = builder.allowed_origin(Locality::Remote).callback(move |query| of_query.take(query));
        Ok((service, builder.wait()?))
    }

    fn take(&self, query: Query) {
        let attachment = query.attachment().and_then(|bytes| Attachment::from_bytes(&bytes.to_bytes()));
        let Some(attachment) = attachment.filter(|_| query.payload().is_some()) else {
            return self.counts.malform();
        };
        let mut state = lock(&self.state);
        state.waiting.push_back(Call { query, attachment });
        if state.waiting.len() > MAX_CALLS {
            state.waiting.pop_front();
            self.counts.overwrite();
        }
        drop(state);
        if !self.flush() {
            (self.wake)();
        }
    }

    /// Sends the calls that wait, if a server is matched; `false` if calls go on waiting.
    fn flush(&self) -> bool {
        let mut state = lock(&self.state);
        let State { client, waiting, pending } = &mut *state;
        let is_ready = client.as_mut().is_some_and(|(_, client)| client.service_is_ready().unwrap_or_default());
        let Some((_, client)) = client.as_mut().filter(|_| is_ready) else { return waiting.is_empty() };
        for call in waiting.drain(..) {
            let Some(body) = call.query.payload().and_then(payload::body) else {
                self.counts.malform();
                continue;
            };
            match client.send_request_copy(&body) {
                Ok(id) => {
                    pending.insert(id.sequence, call);
                }
                Err(_) => self.counts.fail(),
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
            let Some((_, client)) = &mut state.client else { return };
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
            self.reply(&call, &response);
        }
    }

    fn reply(&self, call: &Call, response: &GenericResponse) {
        let source_time_ns = response.message_info().source_wall_time_ns.cast_signed();
        let attachment = Attachment { source_time_ns, ..call.attachment };
        let message = payload::of_sample(response.sample());
        let length = message.len();
        match call.query.reply(self.key.clone(), message).attachment(attachment.to_bytes()).wait() {
            Ok(()) => self.counts.carry(length),
            Err(_) => self.counts.fail(),
        }
    }
}

struct Source(Weak<Service>);

impl ListenerSource for Source {
    fn attach(&self, collector: &mut Collector) -> gantry::Result<Option<Attached>> {
        let Some(service) = self.0.upgrade() else { return Ok(None) };
        let mut state = lock(&service.state);
        let Some((_, client)) = &mut state.client else { return Ok(None) };
        collector.attach(client)
    }

    fn on_news(&self) {
        if let Some(service) = self.0.upgrade() {
            service.answer();
        }
    }
}
