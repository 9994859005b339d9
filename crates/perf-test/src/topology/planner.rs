//! The plans of endpoints: their numbers, names, paces, limits and partners.

use std::collections::BTreeMap;

use super::{
    Topology,
    chains::Ways,
    node_options::NodeOptions,
    process::{Client, Node, Payload, Publisher, Server, Subscription, Trigger},
};
use crate::common::topic::full_name;
use perf_worker::{
    clock::SECOND_NS,
    endpoint::{Endpoint, EndpointPlan},
    pacing::Pace,
    run_spec::{PassBy, RunSpec},
};

/// The publishers and subscriptions of a topic.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    publishers: u32,
    subscriptions: u32,
    /// The pace of its publishers; none if they differ, or there are none.
    pace: Option<Pace>,
    /// The shortest period of a publisher, ns.
    period_ns: Option<i64>,
    /// Messages per second of all publishers.
    rate_hz: f64,
}

impl Ends {
    /// Those of each topic.
    fn of_topics(topology: &Topology) -> BTreeMap<String, Ends> {
        let mut topics: BTreeMap<String, Ends> = BTreeMap::new();
        for node in topology.processes.iter().flat_map(|process| &process.nodes) {
            for publisher in &node.publishers {
                let ends = topics.entry(publisher.topic.clone()).or_default();
                match publisher.trigger {
                    Trigger::Timer(pace) => ends.add_publisher(pace),
                    Trigger::Topics(_) => ends.add_triggered(publisher.rate_hz),
                }
            }
            for subscription in &node.subscriptions {
                topics.entry(subscription.topic.clone()).or_default().subscriptions += 1;
            }
        }
        topics
    }

    /// Those of each service: its clients as publishers, its server as the subscription.
    fn of_services(topology: &Topology) -> BTreeMap<String, Ends> {
        let mut services: BTreeMap<String, Ends> = BTreeMap::new();
        for node in topology.processes.iter().flat_map(|process| &process.nodes) {
            for client in &node.clients {
                services.entry(client.service.clone()).or_default().add_publisher(client.pace);
            }
            for server in &node.servers {
                services.entry(server.service.clone()).or_default().subscriptions += 1;
            }
        }
        services
    }

    fn add_publisher(&mut self, pace: Pace) {
        self.pace = if self.publishers == 0 { Some(pace) } else { self.pace.filter(|other| *other == pace) };
        self.publishers += 1;
        self.rate_hz += pace.messages_per_s();
        self.add_period(pace.period_ns().unwrap_or(i64::MAX));
    }

    /// A publisher without a schedule; the rate of its triggers decides which messages are late.
    fn add_triggered(&mut self, rate_hz: f64) {
        self.pace = None;
        self.publishers += 1;
        self.rate_hz += rate_hz;
        period_of_ns(rate_hz).into_iter().for_each(|period_ns| self.add_period(period_ns));
    }

    fn add_period(&mut self, period_ns: i64) {
        self.period_ns = Some(self.period_ns.map_or(period_ns, |shortest_ns| shortest_ns.min(period_ns)));
    }
}

/// Numbers endpoints, and plans them.
pub struct Planner<'a> {
    spec: &'a RunSpec,
    topics: BTreeMap<String, Ends>,
    services: BTreeMap<String, Ends>,
    ways: Ways,
    nodes: &'a NodeOptions,
    run_id: &'a str,
    publishers: u32,
    subscriptions: u32,
    servers: u32,
}

/// The mean time between messages of such a rate; none without messages.
fn period_of_ns(rate_hz: f64) -> Option<i64> {
    (rate_hz > 0.0).then(|| (SECOND_NS as f64 / rate_hz) as i64)
}

fn work_ns(work_us: u32) -> i64 {
    i64::from(work_us) * 1000
}

/// The next number of a kind.
fn next(count: &mut u32) -> u32 {
    *count += 1;
    *count - 1
}

impl<'a> Planner<'a> {
    /// Of a topology.
    pub fn new(topology: &Topology, spec: &'a RunSpec, nodes: &'a NodeOptions, run_id: &'a str) -> Planner<'a> {
        let (topics, services) = (Ends::of_topics(topology), Ends::of_services(topology));
        let ways = Ways::of(&topology.processes);
        Planner { spec, topics, services, ways, nodes, run_id, publishers: 0, subscriptions: 0, servers: 0 }
    }

    /// The endpoints of a node, which is in this executor.
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
                Trigger::Timer(_) => (self.ways.of_publishers(&of.topic), Vec::new()),
                Trigger::Topics(topics) => (self.ways.of_publishers(&of.topic), triggers(topics)),
            };
            plans.push(EndpointPlan { chains, triggers, ..self.publisher(of) });
        }
        for of in &node.subscriptions {
            let chains = self.ways.of_subscription(node, &of.topic);
            plans.push(EndpointPlan { chains, ..self.subscription(of) });
        }
        plans.extend(node.clients.iter().flat_map(|of| self.client(of)));
        plans.extend(node.servers.iter().map(|of| self.server(of)));
        let in_node = |plan| EndpointPlan { node: node.name.clone(), executor, ..plan };
        plans.into_iter().map(in_node).collect()
    }

    fn publisher(&mut self, of: &Publisher) -> EndpointPlan {
        let endpoint = Endpoint::Publisher(next(&mut self.publishers));
        let ends = self.topics.get(&of.topic).copied().unwrap_or_default();
        let pace = match of.trigger {
            Trigger::Timer(pace) => pace,
            Trigger::Topics(_) => Pace::hz(0),
        };
        let pass_by = self.nodes.pass_by.unwrap_or(of.pass_by);
        // Each publisher has its own limits, where the middleware tells publishers apart.
        let period_ns = pace.period_ns().or_else(|| period_of_ns(of.rate_hz));
        let plan = self.endpoint(endpoint, &of.topic, &of.payload, (pace, period_ns), of.rate_hz);
        // A timer expires first after one period.
        let phase_ns = pace.period_ns().unwrap_or(0);
        let work_ns = work_ns(of.work_us);
        EndpointPlan { qos: of.qos.qos, pass_by, phase_ns, work_ns, expected: ends.subscriptions, ..plan }
    }

    fn subscription(&mut self, of: &Subscription) -> EndpointPlan {
        let endpoint = Endpoint::Subscription(next(&mut self.subscriptions));
        let ends = self.topics.get(&of.topic).copied().unwrap_or_default();
        // Several paces are no schedule, and so no latency from due times.
        let pace = ends.pace.unwrap_or(Pace::hz(0));
        let plan = self.endpoint(endpoint, &of.topic, &of.payload, (pace, ends.period_ns), ends.rate_hz);
        let phase_ns = pace.period_ns().unwrap_or(0);
        let (publishers, expected) = (ends.publishers, ends.publishers);
        let pass_by = match self.nodes.pass_by {
            None => of.pass_by,
            Some(PassBy::UniquePtr) => PassBy::UniquePtr,
            Some(_) => PassBy::SharedPtr,
        };
        let work_ns = work_ns(of.work_us);
        EndpointPlan { qos: of.qos.qos, pass_by, phase_ns, work_ns, publishers, expected, ..plan }
    }

    /// The requests of a client, and its responses.
    fn client(&mut self, of: &Client) -> [EndpointPlan; 2] {
        let requests = Endpoint::Publisher(next(&mut self.publishers));
        let responses = Endpoint::Subscription(next(&mut self.subscriptions));
        let ends = self.services.get(&of.service).copied().unwrap_or_default();
        let plan = |endpoint| EndpointPlan {
            qos: of.qos.qos,
            pass_by: self.nodes.pass_by.unwrap_or(PassBy::UniquePtr),
            phase_ns: of.pace.period_ns().unwrap_or(0),
            service: true,
            publishers: 1,
            // Its server.
            expected: ends.subscriptions,
            ..self.endpoint(
                endpoint,
                &of.service,
                &of.payload,
                (of.pace, of.pace.period_ns()),
                of.pace.messages_per_s(),
            )
        };
        [plan(requests), EndpointPlan { answers: Some(requests), ..plan(responses) }]
    }

    fn server(&mut self, of: &Server) -> EndpointPlan {
        let endpoint = Endpoint::Relay(next(&mut self.servers));
        let ends = self.services.get(&of.service).copied().unwrap_or_default();
        let pace = ends.pace.unwrap_or(Pace::hz(0));
        EndpointPlan {
            qos: of.qos.qos,
            pass_by: self.nodes.pass_by.unwrap_or(PassBy::UniquePtr),
            phase_ns: pace.period_ns().unwrap_or(0),
            service: true,
            work_ns: work_ns(of.work_us),
            publishers: ends.publishers,
            expected: ends.publishers,
            ..self.endpoint(endpoint, &of.service, &of.payload, (pace, ends.period_ns), ends.rate_hz)
        }
    }

    /// An endpoint with its pace; its own or the shortest period of its publishers, ns, decides which messages are
    /// late.
    fn endpoint(
        &self,
        endpoint: Endpoint,
        topic: &str,
        payload: &Payload,
        (pace, shortest_ns): (Pace, Option<i64>),
        rate_hz: f64,
    ) -> EndpointPlan {
        let limits = shortest_ns.map_or(pace, |per_ns| Pace { messages: 1, per_ns });
        EndpointPlan {
            message: payload.message.clone(),
            pace,
            rate_hz,
            private: true,
            late_ns: self.nodes.late.limit_ns(limits).unwrap_or(u64::MAX),
            too_late_ns: self.nodes.too_late.limit_ns(limits).unwrap_or(u64::MAX),
            ..EndpointPlan::of_run(self.spec, endpoint, &full_name(topic, Some(self.run_id)))
        }
    }
}
