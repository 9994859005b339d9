//! Whole robots: a run of a topology, from its options to its tables.

mod heading;
mod resolve;
mod table;

use std::path::PathBuf;

use crate::{
    cli::TopologyOptions,
    communicator::Communicator,
    coordinator,
    error::Failure,
    interrupt::Interrupt,
    report::{Reports, outputs::Outputs, summary::Summary},
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
        let summary = robot.measure(&robot.outputs, &Interrupt::install()?)?;
        summary.failure().map_or(Ok(()), |sentence| Err(Failure::Measurement(sentence)))
    }

    /// Measures; the only output is the full log at `log`, if one is named.
    ///
    /// # Errors
    /// The run could not begin or failed.
    pub fn measure_to_log(&self, log: Option<PathBuf>, interrupt: &Interrupt) -> Result<Summary, Failure> {
        self.measure(&Outputs { full: log, ..Outputs::default() }, interrupt)
    }

    /// The nodes.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The run that all processes share.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    fn measure(&self, outputs: &Outputs, interrupt: &Interrupt) -> Result<Summary, Failure> {
        let Robot { topology, spec, communicator, .. } = self;
        let run_id = random_id()?;
        communicator.clean_up(spec).map_err(Failure::Measurement)?;
        let plans = topology.plans(spec, self.processes, self.pass_by, &run_id);
        let endpoints: Vec<EndpointPlan> = plans.iter().flat_map(|plan| plan.endpoints.clone()).collect();
        let mut reports = Reports::open(outputs, spec, &run_id, &spec.topic, Some(topology))?;
        reports.lines(&self.heading(&plans))?;
        let mut summary = coordinator::run(spec, communicator, plans, &mut reports, interrupt)?;
        summary.run_warnings.extend(self.skipped(&summary));
        summary.run_warnings.extend(reports.finish(&summary, Vec::new()));
        reports.lines(&table::lines(&endpoints, &run_id, &summary))?;
        Ok(summary)
    }
}

impl std::fmt::Debug for Robot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Robot").field("spec", &self.spec).finish_non_exhaustive()
    }
}
