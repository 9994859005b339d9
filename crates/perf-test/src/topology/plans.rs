//! The workers of a topology: which process has which endpoints, and the plan of each.
//!
//! Publishers and subscriptions are numbered in the order of the topology, whatever the processes are.

use std::collections::{BTreeMap, BTreeSet};

use clap::ValueEnum;
use serde::Serialize;

use super::{
    Topology,
    process::{Node, Payload, Publisher, Subscription, Trigger},
};
use crate::topic::full_name;
use perf_worker::{
    endpoint::{Endpoint, EndpointPlan},
    pacing::Pace,
    run_spec::{PassBy, RunSpec},
    worker::protocol::{PROTOCOL, Plan, times::ROW_DELAY_NS},
};

/// The processes of a topology.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Processes {
    /// One for each file.
    #[default]
    File,
    /// One for each node.
    Node,
    /// One for all.
    One,
}

/// The publishers and subscriptions of a topic.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    publishers: u32,
    subscriptions: u32,
    /// The pace of its publishers; none if they differ, or there are none.
    pace: Option<Pace>,
    /// The shortest period of a publisher, ns.
    period_ns: Option<i64>,
}

impl Topology {
    /// Checks whether it can run.
    ///
    /// # Errors
    /// A sentence about services, triggers, or a side without endpoints.
    pub fn check_runnable(&self) -> Result<(), String> {
        let nodes = || self.processes.iter().flat_map(|process| &process.nodes);
        if let Some(node) = nodes().find(|node| !(node.clients.is_empty() && node.servers.is_empty())) {
            return Err(format!(
                "{} has clients or servers, and a topology with services cannot run yet: leave them out of the file",
                node.name
            ));
        }
        let publishers = || nodes().flat_map(|node| &node.publishers);
        if let Some(publisher) = publishers().find(|of| !matches!(of.trigger, Trigger::Timer(_))) {
            return Err(format!(
                "{}: publishers with `triggered_by` cannot run yet: give it a rate (`freq_hz`)",
                publisher.place
            ));
        }
        let missing = match (publishers().next(), nodes().find(|node| !node.subscriptions.is_empty())) {
            (None, _) => "publisher",
            (_, None) => "subscription",
            _ => return Ok(()),
        };
        Err(format!("the topology has no {missing}: give the files of all its processes"))
    }

    /// The numbers of its publishers and subscriptions.
    #[must_use]
    pub fn endpoint_counts(&self) -> (u32, u32) {
        let counts = self.counts();
        let whole = |count| u32::try_from(count).unwrap_or(u32::MAX);
        (whole(counts.publishers), whole(counts.subscriptions))
    }

    /// The size of the payload of an endpoint, bytes, by the number that the plans give it.
    #[must_use]
    pub fn payload_bytes(&self, endpoint: Endpoint) -> Option<u64> {
        let nodes = self.processes.iter().flat_map(|process| &process.nodes);
        let payload = match endpoint {
            Endpoint::Publisher(index) => {
                nodes.flat_map(|node| &node.publishers).nth(index as usize).map(|of| &of.payload)
            }
            Endpoint::Subscription(index) => {
                nodes.flat_map(|node| &node.subscriptions).nth(index as usize).map(|of| &of.payload)
            }
            Endpoint::Relay(_) => return None,
        };
        payload.map(|payload| payload.payload_bytes)
    }

    /// The plans of the workers of the run `spec`, whose topics have the id `run_id` in their names. `pass_by` replaces that of
    /// all endpoints.
    #[must_use]
    pub fn plans(&self, spec: &RunSpec, processes: Processes, pass_by: Option<PassBy>, run_id: &str) -> Vec<Plan> {
        let ends = self.ends();
        let mut planner = Planner { spec, ends, pass_by, run_id, publishers: 0, subscriptions: 0 };
        let mut plans: Vec<Plan> = Vec::new();
        let plan = |name: &str, endpoints| Plan {
            protocol: PROTOCOL,
            name: name.to_owned(),
            spec: spec.clone(),
            row_delay_ns: ROW_DELAY_NS,
            endpoints,
        };
        let mut executors = 0;
        for process in &self.processes {
            let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
            let mut of_process = Vec::new();
            for node in &process.nodes {
                let number = *numbers.entry(node.executor).or_insert_with(|| {
                    executors += 1;
                    executors - 1
                });
                let endpoints = planner.node(node, number);
                match processes {
                    Processes::Node if !endpoints.is_empty() => plans.push(plan(&node.name, endpoints)),
                    _ => of_process.extend(endpoints),
                }
            }
            match (processes, plans.last_mut()) {
                (Processes::One, Some(all)) => all.endpoints.extend(of_process),
                (Processes::One, None) => plans.push(plan("all nodes", of_process)),
                _ if of_process.is_empty() => {}
                _ => plans.push(plan(&process.name, of_process)),
            }
        }
        plans
    }

    fn ends(&self) -> BTreeMap<String, Ends> {
        let mut topics: BTreeMap<String, Ends> = BTreeMap::new();
        let mut paces: BTreeMap<&str, BTreeSet<(u32, i64)>> = BTreeMap::new();
        for node in self.processes.iter().flat_map(|process| &process.nodes) {
            for publisher in &node.publishers {
                let ends = topics.entry(publisher.topic.clone()).or_default();
                ends.publishers += 1;
                let Trigger::Timer(pace) = publisher.trigger else { continue };
                ends.pace = Some(pace);
                let period_ns = pace.period_ns().unwrap_or(i64::MAX);
                ends.period_ns = Some(ends.period_ns.map_or(period_ns, |shortest_ns| shortest_ns.min(period_ns)));
                paces.entry(&publisher.topic).or_default().insert((pace.messages, pace.per_ns));
            }
            for subscription in &node.subscriptions {
                topics.entry(subscription.topic.clone()).or_default().subscriptions += 1;
            }
        }
        for (topic, _) in paces.into_iter().filter(|(_, of)| of.len() > 1) {
            if let Some(ends) = topics.get_mut(topic) {
                ends.pace = None;
            }
        }
        topics
    }
}

/// Numbers endpoints, and plans them.
struct Planner<'a> {
    spec: &'a RunSpec,
    ends: BTreeMap<String, Ends>,
    pass_by: Option<PassBy>,
    run_id: &'a str,
    publishers: u32,
    subscriptions: u32,
}

impl Planner<'_> {
    fn node(&mut self, node: &Node, executor: u32) -> Vec<EndpointPlan> {
        let publishers: Vec<EndpointPlan> = node.publishers.iter().map(|of| self.publisher(of)).collect();
        let subscriptions: Vec<EndpointPlan> = node.subscriptions.iter().map(|of| self.subscription(of)).collect();
        let in_node = |plan| EndpointPlan { node: node.name.clone(), executor, ..plan };
        publishers.into_iter().chain(subscriptions).map(in_node).collect()
    }

    fn publisher(&mut self, of: &Publisher) -> EndpointPlan {
        let endpoint = Endpoint::Publisher(self.publishers);
        self.publishers += 1;
        let ends = self.ends.get(&of.topic).copied().unwrap_or_default();
        let pace = match of.trigger {
            Trigger::Timer(pace) => pace,
            Trigger::Topics(_) => Pace::hz(0),
        };
        let pass_by = self.pass_by.unwrap_or(of.pass_by);
        let plan = self.endpoint(endpoint, &of.topic, &of.payload, pace);
        // A timer expires first after one period.
        let phase_ns = pace.period_ns().unwrap_or(0);
        EndpointPlan { qos: of.qos.qos, pass_by, phase_ns, expected: ends.subscriptions, ..plan }
    }

    fn subscription(&mut self, of: &Subscription) -> EndpointPlan {
        let endpoint = Endpoint::Subscription(self.subscriptions);
        self.subscriptions += 1;
        let ends = self.ends.get(&of.topic).copied().unwrap_or_default();
        // Several paces are no schedule, and so no latency from due times.
        let pace = ends.pace.unwrap_or(Pace::hz(0));
        let plan = self.endpoint(endpoint, &of.topic, &of.payload, pace);
        let phase_ns = pace.period_ns().unwrap_or(0);
        let (publishers, expected) = (ends.publishers, ends.publishers);
        let pass_by = match self.pass_by {
            None => of.pass_by,
            Some(PassBy::UniquePtr) => PassBy::UniquePtr,
            Some(_) => PassBy::SharedPtr,
        };
        EndpointPlan { qos: of.qos.qos, pass_by, phase_ns, publishers, expected, ..plan }
    }

    fn endpoint(&self, endpoint: Endpoint, topic: &str, payload: &Payload, pace: Pace) -> EndpointPlan {
        let shortest = match endpoint {
            Endpoint::Publisher(_) => pace.period_ns(),
            // Each publisher has its own limits, where the middleware tells publishers apart.
            _ => self.ends.get(topic).and_then(|ends| ends.period_ns),
        };
        let limits = shortest.map_or(pace, |per_ns| Pace { messages: 1, per_ns });
        EndpointPlan {
            message: payload.message.clone(),
            pace,
            private: true,
            late_ns: self.spec.late.limit_ns(limits),
            too_late_ns: self.spec.too_late.limit_ns(limits),
            ..EndpointPlan::of_run(self.spec, endpoint, &full_name(topic, Some(self.run_id)))
        }
    }
}
