//! `cargo bench -p gantry --bench nodes`: the cost of many nodes that start in one process.
//!
//! Each node has the endpoints that rclcpp makes: a publisher and a subscription on `/parameter_events`, a publisher on
//! `/rosout`, six parameter services, and handlers of its endpoints' QoS events. Each publisher on `/parameter_events`
//! is matched with each node's subscription, so n nodes make n² matches.
//!
//! Each row of the table doubles the number of nodes, in a new process, and ends with a check that all endpoints are
//! matched.

#![expect(clippy::print_stdout, reason = "a table for people")]

use bench_support::{Benchmark, Options, Process, Result, usage::Usage};
use gantry::{
    Node, Publisher, PublisherEvent, PublisherEvents, Qos, Service, Subscription, SubscriptionEvent, SubscriptionEvents,
};
use gantry_msgs::rcl_interfaces::{
    msg::{Log, ParameterEvent},
    srv::{
        DescribeParameters, GetParameterTypes, GetParameters, ListParameters, SetParameters, SetParametersAtomically,
    },
};
use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

/// The time after which the control thread has certainly finished its work for the new nodes.
const SETTLE: Duration = Duration::from_millis(500);

const NODES: Benchmark = Benchmark {
    name: "nodes",
    help: "\
Measures the cost of many nodes that start in one process.

cargo bench -p gantry --bench nodes [-- OPTIONS]

  --quick       a quarter of all nodes
  --help        this
",
    seconds: 0.0, // there is no time limit
    quick_seconds: 0.0,
};

fn main() -> ExitCode {
    NODES.main(play, measure)
}

fn measure(options: &Options) -> Result<()> {
    let part = if options.is_quick { 4 } else { 1 };
    let counts = [100, 200, 400].map(|count| count / part);
    println!("Nodes that start in one process, with `/parameter_events`, `/rosout`, parameter services and events.");
    println!("nodes    CPU ms  of the control thread  start ms");
    let mut rows = Vec::new();
    for count in counts {
        let row = measure_count(count)?;
        println!("{count:5} {:9.0} {:22.0} {:9.0}", row[0], row[1], row[2]);
        rows.push(row);
    }
    if let [first, .., last] = &rows[..] {
        println!("ratio start-nodes-{}/{} {:.2}", counts[counts.len() - 1], counts[0], last[0] / first[0]);
    }
    Ok(())
}

/// Measures the CPU time for `count` nodes, the control thread's share of it, and the time until all nodes were made.
fn measure_count(count: usize) -> Result<[f64; 3]> {
    let mut process = Process::start(["start", &count.to_string()])?;
    let line = process.line()?;
    let numbers = line.split(' ').map(str::parse).collect::<std::result::Result<Vec<f64>, _>>()?;
    process.end()?;
    <[f64; 3]>::try_from(numbers).map_err(|_| format!("a child wrote {line:?} instead of three numbers").into())
}

/// Makes the nodes, and prints their cost.
fn play(words: &[String]) -> Result<()> {
    let [_, count] = words else { return Err(format!("there is no role {words:?}").into()) };
    let (count, domain_id, own) = (count.parse()?, gantry::private_domain_id()?, std::process::id());
    let (before, start) = (Usage::of_process(own)?, Instant::now());
    let mut nodes = (0..count).map(|number| RclcppNode::new(domain_id, number)).collect::<Result<Vec<_>>>()?;
    let start_ms = start.elapsed().as_secs_f64() * 1e3;
    std::thread::sleep(SETTLE);
    let usage = Usage::of_process(own)?.since(before);
    nodes.iter_mut().try_for_each(|node| node.check(count))?;
    println!("{} {} {start_ms}", usage.cpu_ms, usage.control_ms);
    Ok(())
}

type ParameterServices = (
    Service<DescribeParameters>,
    Service<GetParameters>,
    Service<GetParameterTypes>,
    Service<ListParameters>,
    Service<SetParameters>,
    Service<SetParametersAtomically>,
);

/// A node with the endpoints that rclcpp makes for it.
struct RclcppNode {
    _services: ParameterServices,
    _log: (Publisher<Log>, PublisherEvents),
    changes: (Publisher<ParameterEvent>, PublisherEvents),
    changes_of_all: (Subscription<ParameterEvent>, SubscriptionEvents),
}

impl RclcppNode {
    fn new(domain_id: u32, number: usize) -> Result<RclcppNode> {
        let node = Node::builder(&format!("node_{number}")).domain_id(domain_id);
        let node = node.start_parameter_services(false).build()?;
        let log = node.create_publisher("/rosout", Qos::rosout())?;
        let log_events = log.events()?;
        let services = (
            node.create_service("~/describe_parameters")?,
            node.create_service("~/get_parameters")?,
            node.create_service("~/get_parameter_types")?,
            node.create_service("~/list_parameters")?,
            node.create_service("~/set_parameters")?,
            node.create_service("~/set_parameters_atomically")?,
        );
        let changes = node.create_publisher("/parameter_events", Qos::parameter_events())?;
        let change_events = changes.events()?;
        let changes_of_all = node.create_subscription("/parameter_events", Qos::parameter_events())?;
        let events_of_all = changes_of_all.events()?;
        Ok(RclcppNode {
            _services: services,
            _log: (log, log_events),
            changes: (changes, change_events),
            changes_of_all: (changes_of_all, events_of_all),
        })
    }

    /// Fails if the node's endpoints are not matched with all `count` nodes, or if the node's events report another
    /// number.
    fn check(&mut self, count: usize) -> Result<()> {
        let matched = (self.changes.0.subscription_count()?, self.changes_of_all.0.publisher_count()?);
        let mut by_events = (0, 0);
        while let Some(event) = self.changes.1.take()? {
            if let PublisherEvent::Matched { total_count, .. } = event {
                by_events.0 = total_count as usize;
            }
        }
        while let Some(event) = self.changes_of_all.1.take()? {
            if let SubscriptionEvent::Matched { total_count, .. } = event {
                by_events.1 = total_count as usize;
            }
        }
        if (matched, by_events) == ((count, count), (count, count)) {
            return Ok(());
        }
        Err(format!("a node of {count} has {matched:?} matches, {by_events:?} by events").into())
    }
}
