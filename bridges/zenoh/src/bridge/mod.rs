//! The bridge. After each change, it compares the graph of the domain with the graph of the network, and creates and
//! ends its endpoints accordingly.

mod clients;
mod context;
mod far_graph;
mod mismatches;
mod round_trips;
mod router;
mod servers;
mod shown;
mod status;
mod topics_in;
mod topics_out;

pub use context::Context;

use crate::{
    network::Network,
    wire::{all_tokens, key_of_any_hash},
};
use clients::Clients;
use context::Event;
use far_graph::FarGraph;
use gantry_bridge::{
    Border, Endpoint, FarNodes, IMPATIENCE, Kind, LocalEndpoint, LocalGraph, OnlyBridge, PERIOD, Policy, SETTLE,
    ServiceHashes, Sources, StatusPublisher, TopicsOut, watch_domain,
};
use gantry_command::say;
use mismatches::mismatches;
use round_trips::RoundTrips;
use servers::Servers;
use shown::Shown;
use status::status;
use std::{
    collections::{BTreeSet, HashSet},
    sync::{Arc, atomic::Ordering::Relaxed, mpsc},
    thread,
    time::{Duration, Instant},
};
use topics_in::TopicsIn;
use topics_out::{open, outgoing};
use zenoh::{Wait, sample::SampleKind};

/// The time between two comparisons while claims wait. A claim is a node that is shown without its endpoints, until
/// other bridges have seen it.
const CLAIMING: Duration = Duration::from_millis(50);

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The bridge between one domain and one network.
pub struct Bridge {
    context: Context,
    only_bridge: OnlyBridge,
    border: Border,
    events: mpsc::Receiver<Event>,
    hashes: ServiceHashes,
    far: FarGraph,
    shown: Shown,
    nodes: FarNodes,
    topics_out: TopicsOut,
    topics_in: TopicsIn,
    servers: Servers,
    clients: Clients,
    mismatches: BTreeSet<String>,
    round_trips: RoundTrips,
    status: StatusPublisher,
}

impl Bridge {
    pub fn new(network: Network, only_bridge: OnlyBridge, policy: Policy) -> Result<Bridge, Failure> {
        let (sender, events) = mpsc::channel();
        let context = Context::new(Arc::new(network), policy, sender.clone());
        let of_domain = sender.clone();
        watch_domain(only_bridge.participant.clone(), move || of_domain.send(Event::Look).is_ok())?;
        watch_network(&context, &sender)?;
        gantry::on_shutdown(move || drop(sender.send(Event::End)));
        let node = &only_bridge.node;
        Ok(Bridge {
            topics_out: TopicsOut::new(),
            servers: Servers::new(Sources::start(node, "bridge-servers")?),
            clients: Clients::new(Sources::start(node, "bridge-clients")?, only_bridge.own),
            round_trips: RoundTrips::new(&context.network)?,
            status: StatusPublisher::new(node)?,
            nodes: FarNodes::new(&only_bridge),
            border: Border::new(&only_bridge, context.network.domain_id)?,
            context,
            only_bridge,
            events,
            hashes: ServiceHashes::default(),
            far: FarGraph::default(),
            shown: Shown::default(),
            topics_in: TopicsIn::default(),
            mismatches: BTreeSet::new(),
        })
    }

    /// Runs until a signal ends the program.
    pub fn run(mut self) -> Result<(), Failure> {
        let mut next_status = Instant::now();
        while gantry::ok() {
            if let Err(error) = self.reconcile() {
                say(format_args!("the domain cannot be read now, and is read again: {error}"));
            }
            if Instant::now() >= next_status {
                if let Err(error) = self.publish_status() {
                    say(format_args!("the status is not published: {error}"));
                }
                next_status = Instant::now() + PERIOD;
            }
            if !self.wait() {
                break;
            }
        }
        self.topics_in.end();
        self.clients.end();
        self.servers.end();
        self.topics_out.end();
        self.context.sender.end();
        self.context.network.session.close().wait()
    }

    /// Waits until there is a reason to compare the graphs again. Returns `false` when the program ends.
    fn wait(&mut self) -> bool {
        let period = if self.border.is_claiming() { CLAIMING } else { PERIOD };
        let deadline = Instant::now() + period;
        let first = loop {
            let limit = if self.servers.is_waiting() { IMPATIENCE } else { period };
            match self.events.recv_timeout(limit.min(deadline.saturating_duration_since(Instant::now()))) {
                Ok(event) => break event,
                Err(_) if Instant::now() >= deadline => return true,
                Err(_) => self.servers.flush(),
            }
        };
        thread::sleep(SETTLE);
        let rest: Vec<Event> = self.events.try_iter().collect();
        [first].into_iter().chain(rest).all(|event| self.note(event))
    }

    fn note(&mut self, event: Event) -> bool {
        let network = &self.context.network;
        match event {
            Event::Token(text, true) => {
                if !self.far.add(&text, network.domain_id, &network.session_id) {
                    network.count_malformed();
                }
            }
            Event::Token(text, false) => self.far.remove(&text),
            Event::Look => {}
            Event::End => return false,
        }
        true
    }

    /// Creates and ends nodes, endpoints and calls, so that they correspond to both graphs.
    fn reconcile(&mut self) -> Result<(), Failure> {
        let OnlyBridge { node, participant, own, is_hub, .. } = &self.only_bridge;
        let mut local = LocalGraph::read(participant, *own, &mut self.hashes, *is_hub)?;
        self.border.update(&local, self.far.nodes());
        self.far.let_in(&self.border);
        let is_unhashed = |each: &&LocalEndpoint| each.endpoint.kind == Kind::Server && each.endpoint.hash == [0; 32];
        let of_any_hash = |each: &LocalEndpoint| key_of_any_hash(self.context.network.domain_id, &each.endpoint);
        let unhashed: HashSet<String> = local.endpoints.iter().filter(is_unhashed).filter_map(of_any_hash).collect();
        local.endpoints.iter_mut().for_each(|endpoint| self.adopt_hash(endpoint));
        let outgoing_graph = self.border.outgoing(&local);
        let is_allowed = |local: &&LocalEndpoint| {
            self.context.policy.treatment(local.endpoint.kind, &local.endpoint.name).is_allowed
        };
        // Services and subscriptions are declared before their tokens: as soon as the other side sees a token, a client
        // sends requests and a publisher sends its history.
        let servers: Vec<&LocalEndpoint> = outgoing_graph.endpoints(Kind::Server).filter(is_allowed).collect();
        self.servers.update((&self.context, node), &self.far, &servers, &unhashed);
        let wanted_in = TopicsIn::wanted(&self.context, &self.far, &local);
        let publishers =
            wanted_in.values().flat_map(|wanted| wanted.publishers.iter().map(|(text, ..)| (*text).to_owned()));
        let served: HashSet<&str> = servers.iter().map(|server| server.endpoint.name.as_str()).collect();
        // In a hub, clients on the network stay graph records in the domain. By these records, the domain's other
        // bridges see the clients and call their own networks for them.
        let is_caller = |endpoint: &Endpoint| !is_hub && served.contains(endpoint.name.as_str());
        let callers = self.far.endpoints(Kind::Client).filter(|(.., endpoint)| is_caller(endpoint));
        let callers = callers.map(|(text, ..)| text.to_owned());
        let others = self.topics_in.tokens().chain(self.clients.tokens()).cloned();
        let active: HashSet<String> = publishers.chain(callers).chain(others).collect();
        update_far_nodes((&mut self.nodes, &self.border), &self.context, &self.far, &active);
        self.topics_in.update(&self.context, participant, &self.nodes, &wanted_in);
        self.shown.update(&self.context.network, &outgoing_graph, &self.border, &self.context.policy);
        self.clients.update(&self.context, &self.nodes, &self.far, &self.shown);
        let outgoing = outgoing(&self.context, &self.far, &self.shown);
        let open = |local: &LocalEndpoint| open(&self.context, &self.shown, local);
        self.topics_out.update((&self.context, node), outgoing, &outgoing_graph.passed_over, open, say);
        self.shown.declare(&self.context.network);

        let mismatches = mismatches(&self.far, &self.shown);
        mismatches.difference(&self.mismatches).for_each(say);
        self.mismatches = mismatches;
        Ok(())
    }

    /// Sets the type hash of an action's services. They have no `.srv` file from which it could be computed, so it is
    /// copied from a far endpoint with the same name.
    fn adopt_hash(&self, local: &mut LocalEndpoint) {
        let own = &mut local.endpoint;
        if !own.kind.is_of_service() || own.hash != [0; 32] {
            return;
        }
        let other_end = if own.kind == Kind::Server { Kind::Client } else { Kind::Server };
        let is_same = |other: &&Endpoint| other.name == own.name && other.type_name == own.type_name;
        let hash = self.far.endpoints(other_end).map(|(.., other)| other).find(is_same).map(|other| other.hash);
        own.hash = hash.unwrap_or_default();
    }

    fn publish_status(&mut self) -> gantry::Result<()> {
        let mut status = status(&self.context, &self.only_bridge.network);
        status.round_trips = self.round_trips.get();
        self.round_trips.measure(&self.context.network);
        (status.local_nodes, status.far_nodes) = (self.shown.node_count(), self.nodes.count());
        status.mismatches = self.mismatches.iter().cloned().collect();
        self.status.publish(status, &self.context, &self.topics_out.waiting())
    }
}

/// Shows the far nodes and endpoints in the domain. `active` are the tokens of far endpoints that real endpoints in the
/// domain represent already.
fn update_far_nodes(
    (nodes, border): (&mut FarNodes, &Border),
    context: &Context,
    far: &FarGraph,
    active: &HashSet<String>,
) {
    let is_wanted = |text: &str, endpoint: &Endpoint| {
        !active.contains(text) && context.policy.treatment(endpoint.kind, &endpoint.name).is_allowed
    };
    let endpoints = far.all_let_in().filter(|(text, _, endpoint)| is_wanted(text, endpoint));
    let endpoints = endpoints.map(|(_, entity, endpoint)| (entity.gid, &entity.node, endpoint));
    let refused = nodes.update(border.far_nodes(), endpoints, |_| None, say);
    context.network.malformed.fetch_add(refused, Relaxed);
}

/// Sends an event for each token that exists now, and for each token that appears or disappears later.
fn watch_network(context: &Context, events: &mpsc::Sender<Event>) -> Result<(), Failure> {
    let (network, events) = (&context.network, events.clone());
    let liveliness = network.session.liveliness();
    let builder = liveliness.declare_subscriber(all_tokens(network.domain_id)).history(true);
    let builder = builder.callback(move |sample| {
        let text = sample.key_expr().as_str().to_owned();
        drop(events.send(Event::Token(text, sample.kind() == SampleKind::Put))); // an error: the bridge has ended
    });
    builder.background().wait()?;
    Ok(())
}
