//! The runs of topologies, one after the other. Their logs are in the folder of results.

use std::path::PathBuf;
use std::sync::Arc;

use super::{load::Load, point::Point, shape::Shape};
use crate::{
    cli::{self, ScaleOptions},
    common::error::Failure,
    experiments::{
        batch::{Batch, Outcome, PlannedRun, RunOutcomes, file_name},
        results_file::RunResults,
    },
    run::topology::TopologyRun,
};
use perf_worker::choice::Choice;

/// A topology that will be measured.
pub struct Wanted {
    name: String,
    shape: Option<Shape>,
    pub robot: Arc<TopologyRun>,
    load: Load,
}

impl Wanted {
    /// Creates a run of a topology that the user gave by its file or its name.
    pub fn given(options: &ScaleOptions, name: &str) -> Result<Wanted, Failure> {
        let robot = TopologyRun::from_options(&*topology_options(options, name)?).map_err(Failure::Usage)?;
        Ok(Wanted {
            name: name.to_owned(),
            shape: None,
            load: Load::of_topology(robot.topology()),
            robot: Arc::new(robot),
        })
    }

    /// Creates a run of a generated topology. Its files are written into the folder of results, so that a user can run
    /// them with `perf_test topology`.
    pub fn generated(options: &ScaleOptions, batch: &Batch, name: String, shape: Shape) -> Result<Wanted, Failure> {
        let mut given = topology_options(options, &name)?;
        if let Some(folder) = batch.folder() {
            given.topology.clear();
            for (process, text) in shape.files() {
                let file = format!("topologies/{}-{process}.json", file_name(&name));
                let path = folder.write(&file, &text).map_err(Failure::Usage)?;
                given.topology.push(path.display().to_string());
            }
        }
        let robot = TopologyRun::from_options(&given).map_err(Failure::Usage)?;
        Ok(Wanted { name, shape: Some(shape), load: Load::of_topology(robot.topology()), robot: Arc::new(robot) })
    }
}

/// The options of `perf_test topology` with which a topology is measured.
fn topology_options(options: &ScaleOptions, topology: &str) -> Result<Box<cli::TopologyOptions>, Failure> {
    let mut arguments: Vec<String> =
        ["topology", topology, "-c", &options.communicator].into_iter().map(str::to_owned).collect();
    arguments.extend(["-t".to_owned(), options.time.to_string()]);
    arguments.extend(options.executor.iter().flat_map(|name| ["-x".to_owned(), name.clone()]));
    arguments.extend(options.pass_by.iter().flat_map(|way| ["--pass-by".to_owned(), way.name().to_owned()]));
    arguments.extend(options.set.iter().map(|(name, value)| format!("--set={name}={value}")));
    let parsed = cli::topology_options(&arguments).map_err(Failure::Usage)?;
    parsed.ok_or_else(|| Failure::Usage(format!("{topology} cannot be run as a topology")))
}

/// Measures topologies. The returned flag is true if the user ended the measurement early.
pub fn run(batch: &Batch, wanted: Vec<Wanted>) -> Result<(Vec<Point>, bool), Failure> {
    let planned = |wanted: &Wanted| {
        let Wanted { name, robot, .. } = wanted;
        let log = PathBuf::from(format!("{}.json", file_name(name)));
        let options = vec![("topology".to_owned(), name.clone())];
        let run = PlannedRun::new(name, name.clone(), log, Ok(robot.spec().clone()));
        PlannedRun { robot: Some(robot.clone()), options, ..run }
    };
    let planned: Vec<PlannedRun> = wanted.iter().map(planned).collect();
    let outcomes = batch.run_all(&planned, |_| Ok(()))?;
    let is_ended_early = outcomes.iter().any(|outcome| matches!(outcome, Outcome::NotDone));
    let point = |((wanted, run), outcome): ((Wanted, &PlannedRun), Outcome)| {
        let Wanted { name, shape, load, robot } = wanted;
        let contestant = robot.spec().communicator.to_lowercase();
        let outcomes = RunOutcomes { warmup: None, rounds: vec![outcome] };
        Point { name, shape, load, results: RunResults { contestant, ..RunResults::new(run, &outcomes) } }
    };
    Ok((wanted.into_iter().zip(&planned).zip(outcomes).map(point).collect(), is_ended_early))
}
