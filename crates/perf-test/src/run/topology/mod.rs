//! The run of a topology (a system of nodes, such as a whole robot), from its options to its tables.

mod cells;
mod chain;
mod files;
mod heading;
mod overload;
mod resolve;
mod services;
mod table;
mod target;

use std::collections::BTreeMap;

use crate::{
    cli::{IrobotOptions, TopologyOptions},
    common::{error::Failure, interrupt::Interrupt},
    communicator::Communicator,
    log::Summary,
    report::{Reports, outputs::Outputs},
    run::runner::{Run, all_met, random_id},
    topology::{NodeOptions, Topology},
};
use perf_worker::{
    endpoint::{Endpoint, EndpointPlan},
    run_spec::RunSpec,
};
pub use resolve::executor_name;
use target::Target;

/// A run of a topology.
pub struct TopologyRun {
    /// The nodes with their endpoints.
    topology: Topology,
    /// The options that all processes share. `spec.message` is the largest message of the topology; message, rate and
    /// QoS of each endpoint are in its plan.
    spec: RunSpec,
    /// The options that apply to all nodes.
    nodes: NodeOptions,
    outputs: Outputs,
    irobot: IrobotOptions,
    /// The period of the lines in `resources.txt`, ms.
    sampling_ms: u32,
    /// The limits that the figures of the run have to meet.
    target: Option<Target>,
    communicator: Communicator,
}

impl TopologyRun {
    /// Measures and reports the topology that these options select.
    ///
    /// # Errors
    /// The run could not start or failed, or a limit is not met.
    pub fn run(options: &TopologyOptions) -> Result<(), Failure> {
        let robot = TopologyRun::from_options(options).map_err(Failure::Usage)?;
        let interrupt = Interrupt::install()?;
        all_met(&robot.measure(&robot.outputs, &interrupt)?, "limits of the target")
    }

    /// The nodes with their endpoints.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The options that all processes share.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Measures the topology and reports the run to these outputs.
    ///
    /// # Errors
    /// The run could not start or failed.
    pub fn measure(&self, outputs: &Outputs, interrupt: &Interrupt) -> Result<Summary, Failure> {
        let TopologyRun { topology, spec, communicator, .. } = self;
        let run_id = random_id()?;
        communicator.clean_up(spec).map_err(Failure::Measurement)?;
        let plans = topology.plans(spec, &self.nodes, &run_id);
        let endpoints: Vec<EndpointPlan> = plans.iter().flat_map(|plan| plan.endpoints.clone()).collect();
        let endpoints: BTreeMap<Endpoint, &EndpointPlan> = endpoints.iter().map(|plan| (plan.endpoint, plan)).collect();
        let heading = self.heading(&plans);
        let files = self.create_files(&plans, &heading)?;
        let mut reports = Reports::open(outputs, spec, &run_id, &spec.topic, Some((topology, self.nodes_entry())))?;
        reports.irobot = files;
        let target = self.target.as_ref();
        let run = Run {
            spec,
            communicator,
            plans,
            reports,
            heading,
            warnings: &|run| self.skipped(run).into_iter().chain(overload::warnings(&endpoints, run)).collect(),
            verdicts: &|run| target.map(|target| target.judge(run)).unwrap_or_default(),
            ending: &|run| {
                let of_target = target.map(|target| target.lines(&spec.topic, run)).unwrap_or_default();
                [table::lines(&endpoints, (spec, &self.nodes), run), of_target].concat()
            },
        };
        Ok(run.measure(interrupt)?.0)
    }
}

impl std::fmt::Debug for TopologyRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TopologyRun").field("spec", &self.spec).finish_non_exhaustive()
    }
}
