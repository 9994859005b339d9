//! Far servers for local clients: one local server for each name, which asks all far servers and takes the first
//! reply.

use super::{Context, far_graph::FarGraph, far_nodes::FarNodes, lock, shown::Shown};
use crate::{log::say, network::FOREVER, payload, wire::Attachment};
use gantry::{
    Attachment as Attached, Collector, GenericRequest, GenericService, Gid, Listener, ListenerSource, Node, RequestId,
    ServiceTypeDescription,
};
use gantry_bridge::{Counts, Kind, LocalEndpoint};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};
use zenoh::{
    Wait,
    qos::{CongestionControl, Priority},
    query::{ConsolidationMode, Querier, QueryTarget, Reply},
    sample::Locality,
};

/// The services of far servers that local clients ask for, by their keys.
pub struct Clients {
    listener: Listener<Box<dyn ListenerSource>>,
    services: BTreeMap<String, (u64, String, Arc<Service>)>,
    next_number: u64,
}

/// The local server that stands for the far servers of one name.
struct Service {
    server: Mutex<GenericService>,
    querier: Querier<'static>,
    /// The GIDs of the local clients on the network.
    clients: Mutex<HashMap<Gid, Gid>>,
    counts: Arc<Counts>,
}

impl Clients {
    pub fn new(listener: Listener<Box<dyn ListenerSource>>) -> Clients {
        Clients { listener, services: BTreeMap::new(), next_number: 0 }
    }

    /// The tokens of the far servers that have a server here.
    pub fn tokens(&self) -> impl Iterator<Item = &String> {
        self.services.values().map(|(_, token, _)| token)
    }

    /// Begins and ends serving.
    pub fn update(&mut self, context: &Context, nodes: &FarNodes, far: &FarGraph, shown: &Shown) {
        let mut clients: HashMap<&str, (&LocalEndpoint, HashMap<Gid, Gid>)> = HashMap::new();
        for client in shown.endpoints().filter(|shown| shown.local.endpoint.kind == Kind::Client) {
            let entry = clients.entry(&client.key).or_insert_with(|| (&client.local, HashMap::new()));
            entry.1.insert(client.local.gid, client.far_gid);
        }
        let mut wanted: BTreeMap<&str, (&str, &Node)> = BTreeMap::new();
        for (text, entity, endpoint) in far.of_kind(Kind::Server) {
            let Some(key) = entity.key.as_deref().filter(|key| clients.contains_key(*key)) else { continue };
            let Some(node) = nodes.node(entity) else { continue };
            if context.policy.treatment(Kind::Server, &endpoint.name).is_allowed {
                wanted.entry(key).or_insert((text, node));
            }
        }
        let listener = &self.listener;
        self.services.retain(|key, (number, token, _)| {
            let is_wanted = wanted.get(key.as_str()).is_some_and(|(text, _)| text == token);
            if !is_wanted {
                listener.remove(*number);
            }
            is_wanted
        });
        for (key, (text, node)) in wanted {
            let Some((local, gids)) = clients.remove(key) else { continue };
            if let Some((_, _, service)) = self.services.get(key) {
                *lock(&service.clients) = gids;
                continue;
            }
            match Service::new(context, node, key, local, gids) {
                Ok(service) => {
                    let (number, service) = (self.next_number, Arc::new(service));
                    self.next_number += 1;
                    self.listener.add(number, Box::new(Source(Arc::downgrade(&service))));
                    self.services.insert(key.to_owned(), (number, text.to_owned(), service));
                }
                Err(error) => say(format_args!("service {} is not carried: {error}", local.endpoint.name)),
            }
        }
    }

    pub fn end(&mut self) {
        self.services.clear();
        self.listener.end();
    }
}

impl Service {
    fn new(
        context: &Context,
        node: &Node,
        key: &str,
        client: &LocalEndpoint,
        gids: HashMap<Gid, Gid>,
    ) -> Result<Service, Box<dyn std::error::Error + Send + Sync>> {
        let name = &client.endpoint.name;
        let treatment = context.policy.treatment(Kind::Client, name);
        let querier = context.network.session.declare_querier(key.to_owned());
        let querier = querier.target(QueryTarget::AllComplete).consolidation(ConsolidationMode::None);
        let querier = querier.congestion_control(CongestionControl::Block).allowed_destination(Locality::Remote);
        let querier = querier.priority(Priority::try_from(treatment.priority)?).express(treatment.is_express);
        // The result of an action may take hours.
        let querier = if name.contains("/_action/get_result") { querier.timeout(FOREVER) } else { querier };
        let service_type = ServiceTypeDescription {
            name: client.endpoint.type_name.clone(),
            request: client.message_type.clone(),
            response: client.response_type.clone().unwrap_or_default(),
        };
        let server = Mutex::new(node.create_generic_service(name, service_type)?);
        let (clients, counts) = (Mutex::new(gids), context.counts("in", name));
        Ok(Service { server, querier: querier.wait()?, clients, counts })
    }

    fn take(self: &Arc<Service>) {
        loop {
            let mut server = lock(&self.server);
            let request = match server.take_request() {
                Ok(Some(request)) => request,
                Ok(None) => return,
                Err(_) => return self.counts.fail(),
            };
            drop(server);
            self.ask(&request);
        }
    }

    /// Asks the far servers. Requests of the bridge itself come from far clients, which asked them already.
    fn ask(self: &Arc<Service>, request: &GenericRequest) {
        let id = request.id();
        let Some(gid) = lock(&self.clients).get(&id.client_gid).copied() else { return };
        let source_time_ns = request.message_info().source_wall_time_ns.cast_signed();
        let attachment = Attachment { sequence: id.sequence.cast_signed(), source_time_ns, gid };
        let (service, is_answered) = (self.clone(), AtomicBool::new(false));
        let builder =
            self.querier.get().payload(payload::of_sample(request.sample())).attachment(attachment.to_bytes());
        let asked = builder.callback(move |reply| service.answer(id, attachment, &is_answered, &reply)).wait();
        if asked.is_err() {
            self.counts.fail();
        }
    }

    fn answer(&self, id: RequestId, asked: Attachment, is_answered: &AtomicBool, reply: &Reply) {
        // An error of the network: time-out, or a server of another implementation.
        let Ok(sample) = reply.result() else { return self.counts.fail() };
        let attachment = sample.attachment().and_then(|bytes| Attachment::from_bytes(&bytes.to_bytes()));
        let (Some(attachment), Some(length_bytes)) = (attachment, payload::body_length(sample.payload())) else {
            return self.counts.malform();
        };
        if attachment.sequence != asked.sequence {
            return self.counts.malform();
        }
        // Relaxed: one thread at a time gets the replies to a query.
        if is_answered.swap(true, Relaxed) {
            return self.counts.duplicate();
        }
        let copy = |body: &mut [u8]| payload::copy_body(sample.payload(), body);
        match lock(&self.server).send_response_copy_with(id, length_bytes, copy) {
            Ok(()) => self.counts.carry(length_bytes),
            Err(_) => self.counts.fail(),
        }
    }
}

struct Source(Weak<Service>);

impl ListenerSource for Source {
    fn attach(&self, collector: &mut Collector) -> gantry::Result<Option<Attached>> {
        let Some(service) = self.0.upgrade() else { return Ok(None) };
        collector.attach(&mut *lock(&service.server))
    }

    fn on_news(&self) {
        if let Some(service) = self.0.upgrade() {
            service.take();
        }
    }
}
