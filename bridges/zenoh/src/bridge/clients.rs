//! Servers on the network for local clients. For each service name, the bridge has one local server, the *stand-in*. It
//! asks all servers on the network, and returns the first reply to the client.

use super::{Context, far_graph::FarGraph, shown::Shown};
use crate::{network::FOREVER, payload, wire::Attachment};
use gantry::{GenericRequest, Gid, Node, RequestId};
use gantry_bridge::{FarNodes, Kind, LocalEndpoint, Sources, StandIn, lock};
use gantry_command::say;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};
use zenoh::{
    Wait,
    qos::{CongestionControl, Priority},
    query::{ConsolidationMode, Querier, QueryTarget, Reply},
    sample::Locality,
};

/// The services on the network that local clients call, by their Zenoh keys.
pub struct Clients {
    sources: Sources,
    services: BTreeMap<String, Service>,
    /// The GID of any entity of the bridge.
    own: Gid,
}

struct Service {
    /// The number that `sources` gave the stand-in.
    source: u64,
    /// The token of a server on the network; the stand-in belongs to the node that represents this server's node.
    token: String,
    asker: Arc<Asker>,
    _stand_in: Arc<StandIn>,
}

/// The part of a stand-in that sends requests to the servers of one name on the network.
struct Asker {
    querier: Querier<'static>,
    /// The GIDs that the local clients have on the network, by their GIDs in the domain.
    clients: Mutex<HashMap<Gid, Gid>>,
    /// The GID of any entity of the bridge.
    own: Gid,
}

impl Clients {
    /// Creates an empty set of services. `own` is the GID of any entity of the bridge.
    pub fn new(sources: Sources, own: Gid) -> Clients {
        Clients { sources, services: BTreeMap::new(), own }
    }

    /// The tokens of the servers on the network for which the domain has a stand-in.
    pub fn tokens(&self) -> impl Iterator<Item = &String> {
        self.services.values().map(|service| &service.token)
    }

    /// Creates stand-ins for new services, and ends stand-ins that are no longer wanted.
    pub fn update(&mut self, context: &Context, nodes: &FarNodes, far: &FarGraph, shown: &Shown) {
        let mut clients: HashMap<&str, (&LocalEndpoint, HashMap<Gid, Gid>)> = HashMap::new();
        for client in shown.endpoints().filter(|shown| shown.local.endpoint.kind == Kind::Client) {
            let entry = clients.entry(&client.key).or_insert_with(|| (&client.local, HashMap::new()));
            entry.1.insert(client.local.gid, client.far_gid);
        }
        let mut wanted: BTreeMap<&str, (&str, &Node)> = BTreeMap::new();
        for (text, entity, endpoint) in far.endpoints(Kind::Server) {
            let Some(key) = entity.key.as_deref().filter(|key| clients.contains_key(*key)) else { continue };
            let Some(node) = nodes.node(&entity.node) else { continue };
            if context.policy.treatment(Kind::Server, &endpoint.name).is_allowed {
                wanted.entry(key).or_insert((text, node));
            }
        }
        let sources = &self.sources;
        self.services.retain(|key, service| {
            let is_wanted = wanted.get(key.as_str()).is_some_and(|(text, _)| *text == service.token);
            if !is_wanted {
                sources.remove(service.source);
            }
            is_wanted
        });
        for (key, (text, node)) in wanted {
            let Some((local, gids)) = clients.remove(key) else { continue };
            if let Some(service) = self.services.get(key) {
                *lock(&service.asker.clients) = gids;
                continue;
            }
            match serve((context, self.own), node, key, local, gids) {
                Ok((asker, stand_in)) => {
                    let source = self.sources.add(stand_in.source());
                    let service = Service { source, token: text.to_owned(), asker, _stand_in: stand_in };
                    self.services.insert(key.to_owned(), service);
                }
                Err(error) => say(format_args!("service {} is not carried: {error}", local.endpoint.name)),
            }
        }
    }

    pub fn end(&mut self) {
        self.services.clear();
        self.sources.end();
    }
}

/// Creates the stand-in for the servers of one key, and the `Asker` that sends its requests.
fn serve(
    (context, own): (&Context, Gid),
    node: &Node,
    key: &str,
    client: &LocalEndpoint,
    gids: HashMap<Gid, Gid>,
) -> Result<(Arc<Asker>, Arc<StandIn>), Box<dyn std::error::Error + Send + Sync>> {
    let name = &client.endpoint.name;
    let treatment = context.policy.treatment(Kind::Client, name);
    let querier = context.network.session.declare_querier(key.to_owned());
    let querier = querier.target(QueryTarget::AllComplete).consolidation(ConsolidationMode::None);
    let querier = querier.congestion_control(CongestionControl::Block).allowed_destination(Locality::Remote);
    let querier = querier.priority(Priority::try_from(treatment.priority)?).express(treatment.is_express);
    // The result of an action may take hours, so its query has no time-out.
    let querier = if name.contains("/_action/get_result") { querier.timeout(FOREVER) } else { querier };
    let asker = Arc::new(Asker { querier: querier.wait()?, clients: Mutex::new(gids), own });
    let of_stand_in = asker.clone();
    let ask = move |stand_in: &Arc<StandIn>, request: GenericRequest| of_stand_in.ask(stand_in, &request);
    let stand_in = StandIn::new(node, client, context.counts("in", name), ask)?;
    Ok((asker, stand_in))
}

impl Asker {
    /// Sends a request to the servers on the network. Requests of the bridge's own clients are ignored: they come from
    /// clients on the network, which have called the servers there themselves.
    fn ask(&self, stand_in: &Arc<StandIn>, request: &GenericRequest) {
        let id = request.id();
        if id.client_gid.is_of_same_process(&self.own) {
            return;
        }
        let clients = lock(&self.clients);
        // Another bridge calls with one client for all of its clients, so this client may have no GID on the network.
        // The request then carries the GID of another client.
        let gid = clients.get(&id.client_gid).or_else(|| clients.values().min()).copied();
        drop(clients);
        let Some(gid) = gid else { return stand_in.counts.disown() };
        let source_time_ns = request.message_info().source_wall_time_ns.cast_signed();
        let attachment = Attachment { sequence: id.sequence.cast_signed(), source_time_ns, gid };
        let (of_reply, is_answered) = (stand_in.clone(), AtomicBool::new(false));
        let builder =
            self.querier.get().payload(payload::from_sample(request.sample())).attachment(attachment.to_bytes());
        let asked = builder.callback(move |reply| answer(&of_reply, id, attachment, &is_answered, &reply)).wait();
        if asked.is_err() {
            stand_in.counts.fail();
        }
    }
}

fn answer(stand_in: &StandIn, id: RequestId, asked: Attachment, is_answered: &AtomicBool, reply: &Reply) {
    // An error reply is a time-out, or an error of a server that is not rmw_zenoh.
    let Ok(sample) = reply.result() else { return stand_in.counts.fail() };
    let attachment = sample.attachment().and_then(|bytes| Attachment::from_bytes(&bytes.to_bytes()));
    let (Some(attachment), Some(length_bytes)) = (attachment, payload::body_length(sample.payload())) else {
        return stand_in.counts.malform();
    };
    if attachment.sequence != asked.sequence {
        return stand_in.counts.malform();
    }
    // Relaxed: the replies to a query arrive one after the other, and no other data depends on the flag.
    if is_answered.swap(true, Relaxed) {
        return stand_in.counts.duplicate();
    }
    stand_in.respond(id, length_bytes, |body| payload::copy_body(sample.payload(), body));
}
