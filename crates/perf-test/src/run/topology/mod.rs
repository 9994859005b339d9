//! Whole robots: a run of a topology, from its options to its tables.

mod cells;
mod chain;
mod files;
mod heading;
mod overload;
mod resolve;
mod services;
mod table;
mod target;

use std::{collections::BTreeMap, path::PathBuf};

use crate::{
    cli::{IrobotOptions, TopologyOptions},
    common::{error::Failure, interrupt::Interrupt},
    communicator::Communicator,
    log::Summary,
    report::{Reports, outputs::Outputs},
    run::{coordinator, runner::random_id},
    topology::{NodeOptions, Topology},
};
use perf_worker::{
    endpoint::{Endpoint, EndpointPlan},
    run_spec::RunSpec,
};
pub use resolve::executor_name;
use target::Target;

/// A run of a topology.
pub struct Robot {
    /// The nodes.
    topology: Topology,
    /// The run that all processes share; the messages are the largest, and the endpoints have rates and QoS of their
    /// own.
    spec: RunSpec,
    /// The way in which they are run.
    nodes: NodeOptions,
    outputs: Outputs,
    irobot: IrobotOptions,
    /// The period of `resources.txt`.
    sampling_ms: u32,
    /// The limits that the run has to meet.
    target: Option<Target>,
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
        let summary = robot.measure(&robot.outputs, &interrupt)?;
        Robot::end(&summary)
    }

    /// The end of the program after a run that has its figures.
    fn end(summary: &Summary) -> Result<(), Failure> {
        if let Some(sentence) = summary.failure.clone().or_else(|| summary.cut_logs()) {
            return Err(Failure::Measurement(sentence));
        }
        match summary.requirements.iter().filter(|verdict| !verdict.met).count() {
            0 => Ok(()),
            missed => {
                Err(Failure::NotMet(format!("{missed} of {} limits of the target not met", summary.requirements.len())))
            }
        }
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
        let plans = topology.plans(spec, &self.nodes, &run_id);
        let endpoints: Vec<EndpointPlan> = plans.iter().flat_map(|plan| plan.endpoints.clone()).collect();
        let heading = self.heading(&plans);
        let files = self.create_files(&plans, &heading)?;
        let reports = Reports::open(outputs, spec, &run_id, &spec.topic, Some((topology, self.nodes_entry())))?;
        let mut reports = reports.with_irobot(files);
        reports.lines(&heading)?;
        let mut summary = coordinator::run(spec, communicator, plans, &mut reports, interrupt)?;
        let endpoints: BTreeMap<Endpoint, &EndpointPlan> = endpoints.iter().map(|plan| (plan.endpoint, plan)).collect();
        summary.warnings.extend(self.skipped(&summary));
        summary.warnings.extend(overload::warnings(&endpoints, &summary));
        summary.warnings.extend(summary.figure_warnings(spec));
        summary.requirements = self.target.as_ref().map(|target| target.judge(&summary)).unwrap_or_default();
        summary.warnings.extend(reports.finish(&summary));
        reports.lines(&table::lines(&endpoints, (spec, &self.nodes), &summary))?;
        if let Some(target) = &self.target {
            reports.lines(&target.lines(&spec.topic, &summary))?;
        }
        Ok(summary)
    }
}

impl std::fmt::Debug for Robot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Robot").field("spec", &self.spec).finish_non_exhaustive()
    }
}
