//! Servers on the network for local clients. For each service name, the bridge has one local server, the *stand-in*. It
//! passes each request to the *counterpart* of the calling client, a client on the network, which calls the servers
//! there. If a local server has the same name, the bridge does not carry the service.

use super::{
    counterpart::Counterpart,
    far_graph::{FarEndpoint, FarGraph},
    mirror::{Mirror, Object, Shown},
};
use crate::rmw::{Client, Ready};
use gantry::Gid;
use gantry_bridge::{Context, FarNodes, Kind, MAX_WAIT, Sources, StandIn, lock};
use gantry_command::say;
use std::{
    collections::{BTreeMap, HashMap, HashSet, hash_map::Entry},
    sync::{Arc, Mutex},
    time::Instant,
};

/// The counterparts (clients on the network) of local clients, by the GIDs of the local clients.
type Counterparts = Mutex<HashMap<Gid, Arc<Counterpart>>>;

/// The services on the network that local clients call, by name.
pub struct Clients {
    sources: Sources,
    services: BTreeMap<String, Service>,
    /// Stand-ins whose server on the network has left, with the time at which it left. They stay for a while, because
    /// another server of the same name may still answer their calls.
    leaving: Vec<(Instant, Arc<StandIn>)>,
    counterparts: Arc<Counterparts>,
    /// The GID of any entity of the bridge.
    own: Gid,
}

struct Service {
    /// The GID of the server on the network; the stand-in belongs to the node that represents this server's node.
    of: Gid,
    stand_in: Arc<StandIn>,
    source: u64,
}

impl Clients {
    /// Creates an empty set of services. `own` is the GID of any entity of the bridge.
    pub fn new(sources: Sources, own: Gid) -> Clients {
        Clients { sources, services: BTreeMap::new(), leaving: Vec::new(), counterparts: Arc::default(), own }
    }

    /// The servers on the network for which the domain has a stand-in.
    pub fn active(&self) -> impl Iterator<Item = Gid> {
        self.services.values().map(|service| service.of)
    }

    /// Chooses one server on the network for each service that a local client calls. The current server stays as long
    /// as it exists, because a change of the stand-in would lose its calls. Otherwise the first server is chosen.
    fn wanted<'a>(
        services: &BTreeMap<String, Service>,
        context: &Context,
        far: &'a FarGraph,
        mirror: &'a Mirror,
    ) -> BTreeMap<&'a str, (&'a FarEndpoint, &'a Shown)> {
        let of_kind = |kind| mirror.endpoints().filter(move |shown| shown.local.endpoint.kind == kind);
        let served: HashSet<&str> = of_kind(Kind::Server).map(|shown| &*shown.local.endpoint.name).collect();
        let mut wanted = BTreeMap::new();
        for shown in of_kind(Kind::Client).filter(|shown| !served.contains(&*shown.local.endpoint.name)) {
            let name = &*shown.local.endpoint.name;
            let present = services.get(name).map(|service| service.of);
            let server = far.other_end(&shown.local.endpoint).min_by_key(|far| (Some(far.gid) != present, far.gid));
            if let Some(server) = server.filter(|_| context.policy.treatment(Kind::Server, name).is_allowed) {
                wanted.entry(name).or_insert((server, shown));
            }
        }
        wanted
    }

    /// Creates stand-ins for new services, and ends stand-ins that are no longer wanted.
    pub fn update(&mut self, context: &Context, nodes: &FarNodes, far: &FarGraph, mirror: &Mirror) {
        self.update_counterparts(context, mirror);
        let wanted = Clients::wanted(&self.services, context, far, mirror);
        let (sources, leaving) = (&self.sources, &mut self.leaving);
        leaving.retain(|(since, _)| since.elapsed() < MAX_WAIT);
        self.services.retain(|name, service| {
            let is_wanted = wanted.get(name.as_str()).is_some_and(|(server, _)| server.gid == service.of);
            if !is_wanted {
                sources.remove(service.source);
                if far.endpoints(Kind::Server).any(|far| far.endpoint.name == *name) {
                    leaving.push((Instant::now(), service.stand_in.clone()));
                }
            }
            is_wanted
        });
        for (name, (server, shown)) in wanted {
            let Some(node) = nodes.node(&server.node).filter(|_| !self.services.contains_key(name)) else { continue };
            match self.stand_in(context, node, shown) {
                Ok(stand_in) => {
                    let source = self.sources.add(stand_in.source());
                    self.services.insert(name.to_owned(), Service { of: server.gid, stand_in, source });
                }
                Err(error) => say(format_args!("service {name} is not carried: {error}")),
            }
        }
    }

    /// Creates counterparts for new local clients, and drops the counterparts of local clients that have left.
    fn update_counterparts(&mut self, context: &Context, mirror: &Mirror) {
        let mut counterparts = lock(&self.counterparts);
        let clients: HashMap<Gid, (&Shown, &Arc<Client>)> = mirror
            .endpoints()
            .filter_map(|shown| match &shown.object {
                Object::Client(client) => Some((shown.local.gid, (shown, client))),
                _ => None,
            })
            .collect();
        // A counterpart and its calls stay if its client on the network now belongs to another local endpoint, which
        // replaced the first one.
        for (_, counterpart) in std::mem::take(&mut *counterparts) {
            let is_its = |(_, (_, client)): &(&Gid, &(&Shown, &Arc<Client>))| Arc::ptr_eq(client, &counterpart.client);
            if let Some((gid, _)) = clients.iter().find(is_its) {
                counterparts.insert(*gid, counterpart);
            }
        }
        for (gid, (shown, client)) in clients {
            let Entry::Vacant(place) = counterparts.entry(gid) else { continue };
            match Counterpart::new(context, &shown.local.endpoint.name, client) {
                Ok(counterpart) => drop(place.insert(Arc::new(counterpart))),
                Err(error) => say(format_args!("a client of {} is not carried: {error}", shown.local.endpoint.name)),
            }
        }
    }

    fn stand_in(&self, context: &Context, node: &gantry::Node, shown: &Shown) -> gantry::Result<Arc<StandIn>> {
        let name = shown.local.endpoint.name.clone();
        let (counts, counterparts, own) = (context.counts("in", &name), self.counterparts.clone(), self.own);
        StandIn::new(node, &shown.with_installed_types(), counts, move |stand_in, request| {
            // Requests of the bridge's own clients come from clients on the network, which have called the servers
            // there themselves.
            let client = request.id().client_gid;
            if client.is_of_same_process(&own) {
                return;
            }
            let counterparts = lock(&counterparts);
            // Another bridge calls with one client for all of its clients, so this client may have no counterpart. Any
            // counterpart for the service can then send the request.
            let of_name = || counterparts.values().find(|counterpart| counterpart.name == name);
            let counterpart = counterparts.get(&client).or_else(of_name).cloned();
            drop(counterparts);
            match counterpart {
                Some(counterpart) => counterpart.ask(&request, stand_in),
                None => stand_in.counts.disown(),
            }
        })
    }

    /// The counterparts, for the thread that waits for responses from the network.
    pub fn ready(&self) -> Vec<Arc<dyn Ready>> {
        if self.services.is_empty() && self.leaving.is_empty() {
            return Vec::new();
        }
        lock(&self.counterparts).values().map(|counterpart| counterpart.clone() as Arc<dyn Ready>).collect()
    }

    /// True if calls wait until a server is matched.
    pub fn is_waiting(&self) -> bool {
        lock(&self.counterparts).values().any(|counterpart| counterpart.is_waiting())
    }

    /// Sends the waiting calls whose server has been matched meanwhile.
    pub fn flush(&self) {
        let counterparts: Vec<_> = lock(&self.counterparts).values().cloned().collect();
        counterparts.iter().for_each(|counterpart| counterpart.flush_waiting());
    }

    pub fn end(&mut self) {
        self.services.clear();
        self.leaving.clear();
        lock(&self.counterparts).clear();
        self.sources.end();
    }
}
