//! The plans of a topology's workers: the processes, and the endpoints of each process.
//!
//! Endpoints are numbered in the order of the topology; the division into processes has no influence. A client consists
//! of a publisher of requests and a subscription to its responses. A server is a relay.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Topology,
    node_options::{NodeOptions, Processes},
    planner::Planner,
    process::{Node, Payload},
};
use perf_worker::{
    endpoint::Endpoint,
    run_spec::RunSpec,
    worker::protocol::{PROTOCOL, Plan, times::ROW_DELAY_NS},
};

impl Topology {
    /// Checks that the topology can be measured.
    ///
    /// # Errors
    /// The reason, as a sentence: the topology has no publisher or no subscription.
    pub fn check_runnable(&self) -> Result<(), String> {
        let missing = match self.endpoint_counts() {
            (0, _) => "publisher and no client",
            (_, 0) => "subscription and no client",
            _ => return Ok(()),
        };
        Err(format!("the topology has no {missing}: give the files of all its processes"))
    }

    /// The numbers of publishers and subscriptions. A client counts as both.
    #[must_use]
    pub fn endpoint_counts(&self) -> (u32, u32) {
        let counts = self.counts();
        let whole = |count| u32::try_from(count).unwrap_or(u32::MAX);
        (whole(counts.publishers + counts.clients), whole(counts.subscriptions + counts.clients))
    }

    /// The payload size of an endpoint, bytes; `None` if there is no such endpoint.
    #[must_use]
    pub fn payload_bytes(&self, endpoint: Endpoint) -> Option<u64> {
        let nodes = self.processes.iter().flat_map(|process| &process.nodes);
        // The planner numbers the clients of a node after the node's own publishers and subscriptions.
        nodes
            .flat_map(|node| payloads(node, endpoint))
            .nth(endpoint.index() as usize)
            .map(|payload| payload.payload_bytes)
    }

    /// The plans of the workers of the run `spec`. Each has a unique name, and its topic names contain `run_id`.
    #[must_use]
    pub fn plans(&self, spec: &RunSpec, nodes: &NodeOptions, run_id: &str) -> Vec<Plan> {
        let processes = nodes.processes;
        let mut planner = Planner::new(self, spec, nodes, run_id);
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
        let names = numbered(plans.iter().map(|plan| plan.name.clone()).collect());
        plans.iter_mut().zip(names).for_each(|(plan, name)| plan.name = name);
        plans
    }
}

/// The payloads of all endpoints of a node that have the same kind as `endpoint`, in order.
fn payloads(node: &Node, endpoint: Endpoint) -> Vec<&Payload> {
    let of_clients = node.clients.iter().map(|of| &of.payload);
    match endpoint {
        Endpoint::Publisher(_) => node.publishers.iter().map(|of| &of.payload).chain(of_clients).collect(),
        Endpoint::Subscription(_) => node.subscriptions.iter().map(|of| &of.payload).chain(of_clients).collect(),
        Endpoint::Relay(_) => node.servers.iter().map(|of| &of.payload).collect(),
    }
}

/// Makes names unique. The second of several equal names gets a number: `robot`, `robot_2`.
pub fn numbered(names: Vec<String>) -> Vec<String> {
    let mut used: BTreeSet<String> = BTreeSet::new();
    let given: BTreeSet<String> = names.iter().cloned().collect();
    let own = |name: String| {
        let with_number = (2..).map(|number: u32| format!("{name}_{number}")).filter(|other| !given.contains(other));
        let found = std::iter::once(name.clone()).chain(with_number).find(|one| !used.contains(one)).unwrap_or(name);
        used.insert(found.clone());
        found
    };
    names.into_iter().map(own).collect()
}
