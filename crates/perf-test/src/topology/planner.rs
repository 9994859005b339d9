//! The plans of a topology's endpoints: their numbers, names, paces, limits of lateness, and expected counterparts.

use std::collections::BTreeMap;

use super::{
    Topology,
    chains::ChainPaths,
    node_options::NodeOptions,
    process::{Client, Node, NodeQos, Payload, Publisher, Server, Subscription, Trigger},
};
use crate::common::topic::full_name;
use perf_worker::{
    clock::SECOND_NS,
    endpoint::{Endpoint, EndpointPlan},
    pacing::Pace,
    run_spec::{PassBy, RunSpec},
};

/// The numbers of publishers and subscriptions of one topic or service, and the paces of the publishers.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    publishers: u32,
    subscriptions: u32,
    /// The pace that all publishers have in common; `None` if their paces differ or there is no publisher.
    pace: Option<Pace>,
    /// The shortest period among the publishers, ns.
    period_ns: Option<i64>,
    /// The number of messages that all publishers send per second.
    rate_hz: f64,
}

/// The numbers of endpoints of all topics and services. The key is (`false`, name) for a topic and (`true`, name) for a
/// service, because a topic and a service may have the same name.
fn all_ends(topology: &Topology) -> BTreeMap<(bool, &str), Ends> {
    let mut all: BTreeMap<(bool, &str), Ends> = BTreeMap::new();
    for node in topology.processes.iter().flat_map(|process| &process.nodes) {
        for publisher in &node.publishers {
            all.entry((false, &publisher.topic)).or_default().add_publisher(&publisher.trigger, publisher.rate_hz);
        }
        for client in &node.clients {
            all.entry((true, &client.service)).or_default().add_pace(client.pace);
        }
        let received = node.subscriptions.iter().map(|subscription| (false, &*subscription.topic));
        for name in received.chain(node.servers.iter().map(|server| (true, &*server.service))) {
            all.entry(name).or_default().subscriptions += 1;
        }
    }
    all
}

impl Ends {
    /// Adds a publisher. A publisher without a timer has no pace. Its limits of lateness follow from the rate of the
    /// topics that trigger it.
    fn add_publisher(&mut self, trigger: &Trigger, rate_hz: f64) {
        match trigger {
            Trigger::Timer(pace) => self.add_pace(*pace),
            Trigger::Topics(_) => {
                self.pace = None;
                self.publishers += 1;
                self.rate_hz += rate_hz;
                let period_ns = (rate_hz > 0.0).then(|| (SECOND_NS as f64 / rate_hz) as i64);
                period_ns.into_iter().for_each(|period_ns| self.add_period(period_ns));
            }
        }
    }

    /// Adds a publisher or client with this pace.
    fn add_pace(&mut self, pace: Pace) {
        self.pace = if self.publishers == 0 { Some(pace) } else { self.pace.filter(|other| *other == pace) };
        self.publishers += 1;
        self.rate_hz += pace.messages_per_s();
        self.add_period(pace.period_ns().unwrap_or(i64::MAX));
    }

    fn add_period(&mut self, period_ns: i64) {
        self.period_ns = Some(self.period_ns.map_or(period_ns, |shortest_ns| shortest_ns.min(period_ns)));
    }
}

/// Assigns numbers to the endpoints of a topology and creates their plans.
pub struct Planner<'a> {
    spec: &'a RunSpec,
    ends: BTreeMap<(bool, &'a str), Ends>,
    ways: ChainPaths,
    nodes: &'a NodeOptions,
    run_id: &'a str,
    publishers: u32,
    subscriptions: u32,
    servers: u32,
}

fn work_ns(work_us: u32) -> i64 {
    i64::from(work_us) * 1000
}

/// The next unused number of a kind of endpoint.
fn next(count: &mut u32) -> u32 {
    *count += 1;
    *count - 1
}

impl<'a> Planner<'a> {
    /// Creates the planner of a topology.
    pub fn new(topology: &'a Topology, spec: &'a RunSpec, nodes: &'a NodeOptions, run_id: &'a str) -> Planner<'a> {
        let (ends, ways) = (all_ends(topology), ChainPaths::new(&topology.processes));
        Planner { spec, ends, ways, nodes, run_id, publishers: 0, subscriptions: 0, servers: 0 }
    }

    /// The plans of all endpoints of a node, which belongs to this executor.
    pub fn node(&mut self, node: &Node, executor: u32) -> Vec<EndpointPlan> {
        let first = self.subscriptions;
        let subscriptions = || (first..).map(Endpoint::Subscription).zip(&node.subscriptions);
        let triggers = |topics: &[String]| -> Vec<Endpoint> {
            let of_topics = subscriptions().filter(|(_, of)| topics.contains(&of.topic));
            of_topics.map(|(endpoint, _)| endpoint).collect()
        };
        let mut plans: Vec<EndpointPlan> = Vec::new();
        for of in &node.publishers {
            let (chains, triggers) = match &of.trigger {
                Trigger::Timer(_) => (self.ways.publisher_links(&of.topic), Vec::new()),
                Trigger::Topics(topics) => (self.ways.publisher_links(&of.topic), triggers(topics)),
            };
            plans.push(EndpointPlan { chains, triggers, ..self.publisher(of) });
        }
        for of in &node.subscriptions {
            let chains = self.ways.subscription_links(node, &of.topic);
            plans.push(EndpointPlan { chains, ..self.subscription(of) });
        }
        plans.extend(node.clients.iter().flat_map(|of| self.client(of)));
        plans.extend(node.servers.iter().map(|of| self.server(of)));
        let in_node = |plan| EndpointPlan { node: node.name.clone(), executor, ..plan };
        plans.into_iter().map(in_node).collect()
    }

    fn publisher(&mut self, of: &Publisher) -> EndpointPlan {
        let endpoint = Endpoint::Publisher(next(&mut self.publishers));
        // The limits of lateness follow from this publisher alone. They apply if the middleware can tell publishers
        // apart.
        let mut own = Ends::default();
        own.add_publisher(&of.trigger, of.rate_hz);
        EndpointPlan {
            pass_by: self.nodes.pass_by.unwrap_or(of.pass_by),
            work_ns: work_ns(of.work_us),
            expected: self.ends(false, &of.topic).subscriptions,
            ..self.endpoint(endpoint, &of.topic, (&of.payload, &of.qos), own)
        }
    }

    fn subscription(&mut self, of: &Subscription) -> EndpointPlan {
        let endpoint = Endpoint::Subscription(next(&mut self.subscriptions));
        let ends = self.ends(false, &of.topic);
        EndpointPlan {
            pass_by: match self.nodes.pass_by {
                None => of.pass_by,
                Some(PassBy::UniquePtr) => PassBy::UniquePtr,
                Some(_) => PassBy::SharedPtr,
            },
            work_ns: work_ns(of.work_us),
            publishers: ends.publishers,
            expected: ends.publishers,
            ..self.endpoint(endpoint, &of.topic, (&of.payload, &of.qos), ends)
        }
    }

    /// The plans of a client: its publisher of requests, and its subscription to responses.
    fn client(&mut self, of: &Client) -> [EndpointPlan; 2] {
        let requests = Endpoint::Publisher(next(&mut self.publishers));
        let responses = Endpoint::Subscription(next(&mut self.subscriptions));
        let mut own = Ends::default();
        own.add_pace(of.pace);
        let plan = |endpoint| EndpointPlan {
            pass_by: self.nodes.pass_by.unwrap_or(PassBy::UniquePtr),
            service: true,
            publishers: 1,
            // The requests must match all servers of the service.
            expected: self.ends(true, &of.service).subscriptions,
            ..self.endpoint(endpoint, &of.service, (&of.payload, &of.qos), own)
        };
        [plan(requests), EndpointPlan { answers: Some(requests), ..plan(responses) }]
    }

    fn server(&mut self, of: &Server) -> EndpointPlan {
        let endpoint = Endpoint::Relay(next(&mut self.servers));
        let ends = self.ends(true, &of.service);
        EndpointPlan {
            pass_by: self.nodes.pass_by.unwrap_or(PassBy::UniquePtr),
            service: true,
            work_ns: work_ns(of.work_us),
            publishers: ends.publishers,
            expected: ends.publishers,
            ..self.endpoint(endpoint, &of.service, (&of.payload, &of.qos), ends)
        }
    }

    fn ends(&self, is_service: bool, name: &str) -> Ends {
        self.ends.get(&(is_service, name)).copied().unwrap_or_default()
    }

    /// The plan of an endpoint. `of` are the publishers that matter: the endpoint itself, or the publishers from which
    /// it receives. Their shortest period gives the limits of lateness. If their paces differ, they have no common
    /// schedule, so the plan has no due times.
    fn endpoint(
        &self,
        endpoint: Endpoint,
        topic: &str,
        (payload, qos): (&Payload, &NodeQos),
        of: Ends,
    ) -> EndpointPlan {
        let pace = of.pace.unwrap_or(Pace::hz(0));
        let limits = of.period_ns.map_or(pace, |per_ns| Pace { messages: 1, per_ns });
        EndpointPlan {
            message: payload.message.clone(),
            pace,
            rate_hz: of.rate_hz,
            qos: qos.qos,
            // A timer expires for the first time after a whole period.
            phase_ns: pace.period_ns().unwrap_or(0),
            private: true,
            late_ns: self.nodes.late.limit_ns(limits).unwrap_or(u64::MAX),
            too_late_ns: self.nodes.too_late.limit_ns(limits).unwrap_or(u64::MAX),
            ..EndpointPlan::of_run(self.spec, endpoint, &full_name(topic, Some(self.run_id)))
        }
    }
}
