//! The cost of topologies over their size (`perf_test scale`): CPU time, memory, latency and start-up time of generated
//! topologies, and the size of topology that a machine can run.
//!
//! ```text
//! shape ─► topology files ─► batch ─► logs ─► point ─► estimate (fit) ─► checks: topologies that the fit has not seen
//! ```

mod charts;
mod estimate;
mod fit;
mod load;
mod point;
mod runs;
mod shape;
mod shapes;
mod text;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::{
    cli::ScaleOptions,
    common::{error::Failure, interrupt::Interrupt},
    experiments::{batch::Batch, results_file::Results},
    report::plot::curves::draw,
    system::{self, System},
};
use estimate::{Cost, Estimate, Held};
use load::Load;
use point::{Check, Point};
use runs::{Wanted, run};
use shape::Shape;
use shapes::ENDS;

/// The name of the files with the results, without the suffix.
const NAME: &str = "scale";
/// The default numbers of cores for which the estimate is computed, in addition to this machine's number.
const CORES: [u32; 3] = [4, 8, 16];

/// The results. They are the field `details` of `scale.json`.
#[derive(Debug, Serialize)]
struct Scale {
    communicator: String,
    executor: String,
    /// The number of cores that perf_test may use.
    cores: u32,
    /// The shape of a topology with one node. All sizes consist of such nodes.
    node: Shape,
    /// The measured topologies, one for each number of nodes.
    sizes: Vec<Point>,
    /// The measured variations of the middle size.
    variations: Vec<Point>,
    /// The fitted cost of each component of a load; null if too few topologies were measured.
    estimate: Option<Estimate>,
    /// The number of nodes like `node` that each machine can run.
    held: Vec<Held>,
    /// The measured topologies that were not used for the fit. They show the error of the estimate.
    checks: Vec<Check>,
}

/// Measures topologies of all sizes, fits the estimate, and checks it with other topologies.
///
/// # Errors
/// [`Failure::Usage`]: an option is not valid, the middleware has no executors, or the folder cannot be written.
pub fn measure(options: &ScaleOptions) -> Result<Results, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1));
    let node = Shape {
        nodes: 1,
        publishers: ENDS.0,
        subscriptions: ENDS.1,
        rate_hz: f64::from(options.rate),
        payload_bytes: None,
        processes: options.processes.unwrap_or(cores) as usize,
    };
    // The names of `--check` are resolved first, so that a wrong name is an error before any file is written.
    let given = options.check.iter().map(|name| Wanted::given(options, name));
    let mut unseen: Vec<Wanted> = given.collect::<Result<_, _>>()?;
    let executor = unseen.first().and_then(|wanted| wanted.robot.spec().executor.clone()).unwrap_or_default();
    let batch = Batch::open(Some(options.results.clone()), options.again, Interrupt::install()?)?;
    let of = |(name, shape)| Wanted::generated(options, &batch, name, shape);
    let counts: Vec<u32> = BTreeSet::from_iter(options.nodes.iter().copied()).into_iter().collect();
    let sizes: Vec<Wanted> = shapes::sizes(&counts, &node).into_iter().map(of).collect::<Result<_, _>>()?;
    let variations: Vec<Wanted> = shapes::variations(&counts, &node).into_iter().map(of).collect::<Result<_, _>>()?;
    let (mut points, mut is_ended_early) = run(&batch, sizes.into_iter().chain(variations).collect())?;
    let variations = points.split_off(counts.len());
    let measured: Vec<(Load, Cost)> = points.iter().chain(&variations).filter_map(Point::measured).collect();
    let estimate = Estimate::fitted(&measured).filter(|_| measured.len() > 1);
    let middle = shapes::middle(&counts).zip(points.get(counts.len() / 2).map(|point| point.load));
    let (mut checks, mut held) = (Vec::new(), Vec::new());
    if let Some((estimate, (nodes, load))) = estimate.as_ref().zip(middle) {
        held = held_by(estimate, options, &load.times(1.0 / f64::from(nodes)), cores);
        if !is_ended_early {
            for (name, shape) in shapes::unseen(nodes, &node, &load, estimate, cores) {
                unseen.push(Wanted::generated(options, &batch, name, shape)?);
            }
            let (points, ended) = run(&batch, unseen)?;
            is_ended_early = ended;
            checks = points.into_iter().map(|point| Check::new(point, estimate)).collect();
        }
    }
    let communicator = options.communicator.clone();
    let scale = Scale { communicator, executor, cores, node, sizes: points, variations, estimate, held, checks };
    let too_few = || "too few sizes were measured for an estimate".to_owned();
    let failure = match is_ended_early {
        true => Some("ended early. With the same --results the command goes on from there".to_owned()),
        false => scale.estimate.is_none().then(too_few),
    };
    let file = scale.file();
    let picture = draw(&scale.charts(), charts::LAYOUT).map_err(Failure::Measurement)?;
    let files = batch.folder().map(|folder| file.write(folder, NAME, &[("txt", file.text()), ("svg", picture)]));
    Ok(Results { files: files.transpose()?.unwrap_or_default(), lines: file.lines(), failure })
}

/// The number of nodes that each machine can run. `node` is the load of one node, but with the processes and wake-ups
/// of a whole run on this machine, which has `cores` cores.
fn held_by(estimate: &Estimate, options: &ScaleOptions, node: &Load, cores: u32) -> Vec<Held> {
    let own_kib = || System::read(&system::root_folder()).memory.total_kib;
    let memory_kib = options.memory_gib.map(|gib| u64::from(gib) << 20).or_else(own_kib);
    let machines: BTreeSet<u32> = match options.cores.as_slice() {
        [] => std::iter::once(cores).chain(CORES).collect(),
        given => given.iter().copied().collect(),
    };
    // As in the measured sizes, there is one process for each core.
    let load = |cores: u32| {
        let processes = f64::from(cores);
        Load { processes, wake_ups_hz: processes * node.wake_ups_hz / node.processes.max(1.0), ..*node }
    };
    machines.into_iter().map(|cores| estimate.held(&load(cores), cores, memory_kib)).collect()
}
