//! The bridge. After each change, it compares the graph of the domain with the graph of the network, and creates and
//! ends its endpoints accordingly.

mod clients;
mod counterpart;
mod far_graph;
mod mirror;
mod mismatches;
mod own;
mod router;
mod servers;
mod topics_in;
mod topics_out;

use crate::rmw::{Library, Node as NetworkNode, Options, Ready, Session, Waiter};
use clients::Clients;
use far_graph::{FarEndpoint, FarGraph};
use gantry::Gid;
use gantry_bridge::{
    Border, Context, FarNodes, IMPATIENCE, Kind, LocalEndpoint, LocalGraph, OnlyBridge, PERIOD, Policy, SETTLE,
    ServiceHashes, Sources, Status, StatusPublisher, TopicsOut, watch_domain,
};
use gantry_command::say;
use mirror::Mirror;
use mismatches::mismatches;
use own::Own;
use servers::Servers;
use std::{
    collections::{BTreeSet, HashSet},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};
use topics_in::TopicsIn;
use topics_out::{open, outgoing};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The first delay before the network's graph is read again, if the last reading was incomplete.
const UNFINISHED: Duration = Duration::from_millis(50);

/// A reason to compare the graphs again, or to end.
enum Event {
    /// The network's graph changed.
    Network,
    /// The domain's graph changed, or a sample waits until the graph has its publisher.
    Look,
    /// The program ends.
    End,
}

/// The bridge between one domain and one network.
pub struct Bridge {
    context: Context,
    only_bridge: OnlyBridge,
    border: Border,
    events: mpsc::Receiver<Event>,
    hashes: ServiceHashes,
    far: FarGraph,
    read_at: Option<Instant>,
    /// The delay before an incomplete graph is read again.
    patience: Duration,
    own: Own,
    nodes: FarNodes,
    mirror: Mirror,
    topics_out: TopicsOut,
    topics_in: TopicsIn,
    servers: Servers,
    clients: Clients,
    mismatches: BTreeSet<String>,
    status: StatusPublisher,
    // Rust drops the fields in this order, which `rmw` needs: the waiter, the node, and then the session.
    waiter: Waiter,
    network: Arc<NetworkNode>,
    session: Arc<Session>,
}

impl Bridge {
    pub fn new(
        library: Arc<Library>,
        options: &Options,
        only_bridge: OnlyBridge,
        policy: Policy,
    ) -> Result<Bridge, Failure> {
        let (sender, events) = mpsc::channel();
        let session = Session::open(library, options)?;
        // The node's name begins with an underscore, so that `ros2 node list` shows the node only with --all.
        let name = only_bridge.node.fully_qualified_name();
        let network = NetworkNode::new(&session, "/", name.trim_start_matches('/'))?;
        let mut own = Own::default();
        own.add_node((network.namespace.clone(), network.name.clone()));
        let (of_network, of_end) = (sender.clone(), sender.clone());
        // A send to a closed channel fails only when the bridge has ended, so the error is ignored.
        let waiter = Waiter::start(
            &network,
            move || drop(of_network.send(Event::Network)),
            move || drop(of_end.send(Event::End)),
        )?;
        let of_context = sender.clone();
        let context = Context::new(policy, move || drop(of_context.send(Event::Look)));
        let of_domain = sender.clone();
        watch_domain(only_bridge.participant.clone(), move || of_domain.send(Event::Look).is_ok())?;
        gantry::on_shutdown(move || drop(sender.send(Event::End)));
        let node = &only_bridge.node;
        Ok(Bridge {
            topics_out: TopicsOut::new(),
            topics_in: TopicsIn::new(only_bridge.participant.clone()),
            servers: Servers::new(Sources::start(node, "bridge-servers")?),
            clients: Clients::new(Sources::start(node, "bridge-clients")?, only_bridge.own),
            status: StatusPublisher::new(node)?,
            nodes: FarNodes::new(&only_bridge),
            border: Border::new(&only_bridge, options.domain_id)?,
            context,
            only_bridge,
            events,
            hashes: ServiceHashes::default(),
            far: FarGraph::default(),
            read_at: None,
            patience: UNFINISHED,
            own,
            mirror: Mirror::default(),
            mismatches: BTreeSet::new(),
            waiter,
            network,
            session,
        })
    }

    /// Runs until a signal ends the program.
    pub fn run(mut self) -> Result<(), Failure> {
        let mut next_status = Instant::now();
        while gantry::ok() {
            if let Err(error) = self.reconcile() {
                say(format_args!("the graph cannot be read now, and is read again: {error}"));
                self.read_at = None;
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
        self.waiter.end();
        self.topics_in.end();
        self.clients.end();
        self.servers.end();
        self.topics_out.end();
        self.context.sender.end();
        Ok(())
    }

    /// Waits until there is a reason to compare the graphs again. Returns `false` when the program ends.
    fn wait(&mut self) -> bool {
        let is_unfinished = self.is_unfinished();
        if !is_unfinished {
            self.patience = UNFINISHED;
        }
        let period = if self.border.is_claiming() { UNFINISHED } else { PERIOD };
        let period = if is_unfinished { self.patience.min(period) } else { period };
        let deadline = Instant::now() + period;
        let first = loop {
            let has_calls = self.servers.is_waiting() || self.clients.is_waiting();
            let limit = if has_calls { IMPATIENCE } else { period };
            match self.events.recv_timeout(limit.min(deadline.saturating_duration_since(Instant::now()))) {
                Ok(event) => break event,
                Err(_) if Instant::now() >= deadline => {
                    self.read_unfinished();
                    return true;
                }
                Err(_) => {
                    self.servers.flush();
                    self.clients.flush();
                }
            }
        };
        thread::sleep(SETTLE);
        let rest: Vec<Event> = self.events.try_iter().collect();
        for event in [first].into_iter().chain(rest) {
            match event {
                Event::Network => (self.read_at, self.patience) = (None, UNFINISHED),
                Event::Look => {}
                Event::End => return false,
            }
        }
        // An incomplete graph is read again after its delay, even if events arrive all the time.
        self.read_unfinished();
        true
    }

    fn is_unfinished(&self) -> bool {
        self.far.is_incomplete || self.topics_in.is_waiting()
    }

    /// Requests a new reading of an incomplete graph if its delay is over. Each request doubles the delay, because with
    /// some networks the graph is always incomplete.
    fn read_unfinished(&mut self) {
        if self.is_unfinished() && self.read_at.is_some_and(|read_at| read_at.elapsed() >= self.patience) {
            (self.read_at, self.patience) = (None, PERIOD.min(self.patience * 2));
        }
    }

    /// Creates and ends nodes, endpoints and calls, so that they correspond to both graphs.
    fn reconcile(&mut self) -> Result<(), Failure> {
        if self.read_at.is_none() {
            self.far = FarGraph::read(&self.network, &mut self.own)?;
            self.read_at = Some(Instant::now());
        }
        let OnlyBridge { participant, own, is_hub, .. } = &self.only_bridge;
        let local = LocalGraph::read(participant, *own, &mut self.hashes, *is_hub)?;
        self.border.update(&local, self.far.nodes());
        self.far.let_in(&self.border);
        let outgoing_graph = self.border.outgoing(&local);
        self.mirror.update(&self.session, &outgoing_graph, &self.context.policy, &mut self.own);
        self.mirror.show_origins(&self.border, &mut self.own);
        self.servers.update(&self.context, &self.only_bridge.node, &self.far, &self.mirror);
        self.update_far_nodes();
        self.topics_in.update(&self.context, &self.nodes, &self.far, &self.mirror);
        self.clients.update(&self.context, &self.nodes, &self.far, &self.mirror);
        let outgoing = outgoing(&self.context, &self.far, &self.mirror);
        let open = |local: &LocalEndpoint| open(&self.mirror, local);
        self.topics_out.update(
            (&self.context, &self.only_bridge.node),
            outgoing,
            &outgoing_graph.passed_over,
            open,
            say,
        );
        let ready = self.topics_in.ready().chain(self.servers.ready()).chain(self.clients.ready());
        self.waiter.set(ready.map(|object| (number(&object), object)).collect());

        let mismatches = mismatches(&self.far, &self.mirror, &self.border);
        let refused: HashSet<&String> = self.mirror.refused().collect();
        let is_new = |sentence: &&String| !self.mismatches.contains(*sentence) && !refused.contains(*sentence);
        mismatches.iter().filter(is_new).for_each(say);
        self.mismatches = mismatches;
        Ok(())
    }

    fn update_far_nodes(&mut self) {
        let wanted = TopicsIn::wanted(&self.context, &self.far, &self.mirror);
        let served: HashSet<&str> = self.servers.names().map(String::as_str).collect();
        // In a hub, clients on the network stay graph records in the domain. By these records, the domain's other
        // bridges see the clients and call their own networks for them.
        let is_caller = |far: &&FarEndpoint| {
            !self.only_bridge.is_hub && far.endpoint.kind == Kind::Client && served.contains(far.endpoint.name.as_str())
        };
        let active: HashSet<Gid> = wanted
            .into_keys()
            .chain(self.topics_in.active())
            .chain(self.clients.active())
            .chain(self.far.endpoints.iter().filter(is_caller).map(|far| far.gid))
            .collect();
        let policy = &self.context.policy;
        let endpoints = self.far.endpoints.iter().filter(|far| {
            !active.contains(&far.gid) && policy.treatment(far.endpoint.kind, &far.endpoint.name).is_allowed
        });
        let endpoints = endpoints.map(|far| (far.gid, &far.node, &far.endpoint));
        // Other bridges need the types: without them, a bridge to a network that transmits no definitions could not
        // serve the network's clients.
        let service_type = |name: &str| self.mirror.service_type(name);
        self.nodes.update(self.border.far_nodes(), endpoints, service_type, say);
    }

    fn publish_status(&mut self) -> gantry::Result<()> {
        let library = &self.session.library;
        let status = Status {
            network: self.only_bridge.network.clone(),
            domain_id: self.only_bridge.node.domain_id(),
            session: format!("{:?} {}", library.distribution, library.path.display()),
            local_nodes: self.mirror.node_count(),
            far_nodes: self.nodes.count(),
            mismatches: self.mismatches.iter().cloned().collect(),
            ..Status::default()
        };
        self.status.publish(status, &self.context, &self.topics_out.waiting())
    }
}

/// Returns a number that identifies an object to the waiter during the object's life.
fn number(object: &Arc<dyn Ready>) -> u64 {
    Arc::as_ptr(object).cast::<()>().addr() as u64
}
