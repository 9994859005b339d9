//! Whole robots: a run of a topology, from its options to its tables.

mod heading;
mod resolve;
mod table;

use crate::{
    cli::TopologyOptions,
    communicator::Communicator,
    coordinator,
    error::Failure,
    interrupt::Interrupt,
    report::{Reports, outputs::Outputs},
    runner::random_id,
    topology::{Processes, Topology},
};
use perf_worker::{
    endpoint::EndpointPlan,
    run_spec::{PassBy, RunSpec},
};

/// A run of a topology.
pub struct Robot {
    /// The nodes.
    topology: Topology,
    /// The run that all processes share; the messages are the largest, and the endpoints have rates and QoS of their own.
    spec: RunSpec,
    processes: Processes,
    /// In place of that of all endpoints.
    pass_by: Option<PassBy>,
    outputs: Outputs,
    communicator: Communicator,
}

impl Robot {
    /// Measures and reports.
    ///
    /// # Errors
    /// The run could not begin or failed.
    pub fn run(options: &TopologyOptions) -> Result<(), Failure> {
        let robot = Robot::of(options).map_err(Failure::Usage)?;
        let interrupt = Interrupt::install()?;
        let Robot { topology, spec, communicator, .. } = &robot;
        let run_id = random_id()?;
        communicator.clean_up(spec).map_err(Failure::Measurement)?;
        let plans = topology.plans(spec, robot.processes, robot.pass_by, &run_id);
        let endpoints: Vec<EndpointPlan> = plans.iter().flat_map(|plan| plan.endpoints.clone()).collect();
        let mut reports = Reports::open(&robot.outputs, spec, &run_id, &spec.topic, Some(topology))?;
        reports.lines(&robot.heading(&plans))?;
        let mut summary = coordinator::run(spec, communicator, plans, &mut reports, &interrupt)?;
        summary.run_warnings.extend(robot.skipped(&summary));
        summary.run_warnings.extend(reports.finish(&summary, Vec::new()));
        reports.lines(&table::lines(&endpoints, &summary))?;
        summary.failure().map_or(Ok(()), |sentence| Err(Failure::Measurement(sentence)))
    }
}
