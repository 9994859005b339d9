//! Conversion of the options of `perf_test topology` into one checked run.

use std::collections::BTreeSet;

use super::{TopologyRun, target::Target};
use crate::{
    cli::{self, RunOptions, TopologyOptions},
    communicator::Communicator,
    report::outputs::{Outputs, Tables},
    topology::{NodeOptions, Topology},
};
use perf_worker::run_spec::{Roundtrip, RunSpec, Strategy, Threshold};

/// The numbers of executors in iRobot's tool, with their names in `perf_test`. iRobot's number 2 is a single-threaded
/// executor, too.
const NUMBERS: [(&str, &str); 3] = [("1", "single"), ("2", "single"), ("3", "events")];

/// The name of an executor that the user gave by its name or by iRobot's number.
#[must_use]
pub fn executor_name(given: &str) -> &str {
    NUMBERS.iter().find(|(number, _)| *number == given).map_or(given, |(_, name)| name)
}

impl TopologyRun {
    /// The run that the options describe.
    ///
    /// # Errors
    /// The reason, as a sentence: the topology or an option is wrong, or the middleware does not support it.
    pub fn from_options(options: &TopologyOptions) -> Result<TopologyRun, String> {
        let sources = [options.topology.clone(), options.irobot.topology_files.clone()].concat();
        let topology = Topology::read(&sources)?;
        topology.check_runnable()?;
        let communicator = Communicator::find(&options.communicator)?;
        let limit = |percent: u32, absolute_us: u32| Threshold {
            part_of_period: Some(f64::from(percent) / 100.0),
            absolute_ns: Some(u64::from(absolute_us) * 1000),
        };
        let nodes = NodeOptions {
            processes: options.processes,
            pass_by: options.pass_by,
            late: limit(options.late_percentage, options.late_absolute),
            too_late: limit(options.too_late_percentage, options.too_late_absolute),
        };
        let spec = spec(options, &nodes, (&sources, &topology), &communicator)?;
        let robot = TopologyRun {
            nodes,
            outputs: Outputs {
                console: true,
                tables: Tables::None,
                full: options.full_logfile.clone(),
                ..Outputs::default()
            },
            target: options.target.as_deref().map(Target::read).transpose()?,
            irobot: options.irobot.clone(),
            sampling_ms: options.sampling,
            topology,
            spec,
            communicator,
        };
        robot.check_endpoints()?;
        Ok(robot)
    }

    /// Checks that the middleware supports the messages and the QoS of all endpoints.
    fn check_endpoints(&self) -> Result<(), String> {
        let mut checked = BTreeSet::new();
        let plans = self.topology.plans(&self.spec, &self.nodes, "");
        for plan in plans.into_iter().flat_map(|plan| plan.endpoints) {
            let roundtrip = if plan.service { Roundtrip::Service } else { Roundtrip::None };
            let spec = RunSpec { message: plan.message.clone(), qos: plan.qos, roundtrip, ..self.spec.clone() };
            if checked.insert(format!("{:?} {:?} {roundtrip:?}", spec.message, spec.qos)) {
                let refused = |sentence| format!("{} of {}: {sentence}", plan.endpoint, plan.node);
                self.communicator.check(&spec).map_err(refused)?;
            }
        }
        Ok(())
    }
}

/// The middleware's setting that iRobot's option `--ipc` sets.
const IPC: &str = "intra-process";

fn spec(
    options: &TopologyOptions,
    nodes: &NodeOptions,
    (sources, topology): (&[String], &Topology),
    communicator: &Communicator,
) -> Result<RunSpec, String> {
    let description = communicator.describe()?;
    let capabilities = &description.capabilities;
    communicator.check_executors(capabilities)?;
    let asked = options.executor.as_deref().map(executor_name);
    let default = capabilities.executors.first().map(String::as_str);
    let executor = asked.or(default).unwrap_or("single").to_owned();
    let mut run = RunOptions::default();
    run.endpoints.communicator = Some(communicator.name.clone());
    run.endpoints.set.clone_from(&options.set);
    let has_ipc = description.settings.iter().any(|setting| setting.name == IPC);
    if let Some(on) = options.irobot.ipc.filter(|_| has_ipc) {
        run.endpoints.set.push((IPC.to_owned(), if on { "on" } else { "off" }.to_owned()));
    }
    run.endpoints.mock.clone_from(&options.mock);
    run.endpoints.dds_domain_id = options.dds_domain_id;
    run.time.max_runtime = Some(options.time);
    let resolved = cli::resolve_for(communicator, description, &run);
    let spec = resolved.map_err(|failure| failure.to_string())?.spec;
    let all = || topology.processes.iter().flat_map(|process| &process.nodes);
    let of_topics = all().flat_map(|node| &node.publishers).map(|of| (&of.payload, &of.qos));
    let of_services = all().flat_map(|node| &node.clients).map(|of| (&of.payload, &of.qos));
    let largest = of_topics.chain(of_services).max_by_key(|(payload, _)| payload.message.bytes);
    let (publishers, subscriptions) = topology.endpoint_counts();
    let spec = RunSpec {
        message: largest.map_or(spec.message, |(payload, _)| payload.message.clone()),
        qos: largest.map_or(spec.qos, |(_, qos)| qos.qos),
        topic: sources.join(", "),
        // Each publisher has its own rate in its plan.
        rate_hz: 0,
        publishers,
        subscriptions,
        expected_publishers: publishers,
        expected_subscriptions: subscriptions,
        strategy: Strategy::InterProcess,
        late_above_ns: nodes.late.absolute_ns,
        too_late_above_ns: nodes.too_late.absolute_ns,
        executor: Some(executor),
        tracking: options.irobot.tracking == Some(true),
        heading_notes: [spec.heading_notes, options.notes(has_ipc, &communicator.name)].concat(),
        ..spec
    };
    // `spec` has the largest message, so the daemons reserve enough memory for all messages.
    Ok(RunSpec { daemon_commands: communicator.check(&spec)?, ..spec })
}
