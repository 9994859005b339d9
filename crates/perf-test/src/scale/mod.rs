//! The cost of topologies over their size (`perf_test scale`): CPU time, memory, latency and start-up of generated topologies, and the
//! size that a machine holds.
//!
//! ```text
//! shape ─► topology files ─► batch ─► logs ─► figures ─► estimate (fit) ─► checks: topologies that the fit has not seen
//! ```

mod estimate;
mod figures;
mod fit;
mod shape;
mod text;

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::{
    batch::{Batch, Outcome, PlannedRun, file_name},
    cli::{self, ScaleOptions},
    error::Failure,
    interrupt::Interrupt,
    report::plot::scale::{Chart, Curve, draw},
    robot::Robot,
    system::{self, System},
};
use estimate::{Cost, Estimate, FULL, Held, Load};
use figures::Figures;
use perf_worker::choice::Choice;
use shape::Shape;

/// The format of `scale.json`.
const SCHEMA: &str = "gantry.perf_test.scale/1";
/// The name of the results in a folder, without the suffix.
const NAME: &str = "scale";
/// Publishers and subscriptions of a node.
const ENDS: (usize, usize) = (4, 6);
/// Cores of the machines of the estimate, besides this one's.
const CORES: [u32; 3] = [4, 8, 16];
/// The payload of the variation with larger messages, bytes.
const LARGE_BYTES: u64 = 16_384;
/// The highest rate of the check at the limit: timers of more are no robot's.
const HIGHEST_HZ: f64 = 1000.0;

/// The results; serialises as `scale.json`.
#[derive(Debug, Serialize)]
pub struct Scale {
    schema: &'static str,
    communicator: String,
    executor: String,
    /// The cores that the program may use.
    cores: u32,
    /// A node of the sizes.
    node: Shape,
    /// The sizes.
    sizes: Vec<Point>,
    /// The variations of one of them.
    variations: Vec<Point>,
    /// The costs of the parts; null if too little was measured.
    estimate: Option<Estimate>,
    /// The nodes that machines hold, as the nodes of the sizes.
    held: Vec<Held>,
    /// Topologies that the fit has not seen.
    checks: Vec<Check>,
    #[serde(skip)]
    files: Vec<PathBuf>,
    #[serde(skip)]
    is_ended_early: bool,
}

/// A topology and its figures.
#[derive(Debug, Serialize)]
struct Point {
    name: String,
    /// None of a topology that was not generated.
    shape: Option<Shape>,
    load: Load,
    /// Null if it has no figures.
    figures: Option<Figures>,
    /// The reason why it has none.
    missing: Option<String>,
}

/// A check of the estimate.
#[derive(Debug, Serialize)]
struct Check {
    #[serde(flatten)]
    point: Point,
    estimated: Cost,
    /// The estimate divided by the measurement, less 1; null without figures.
    cpu_error: Option<f64>,
    memory_error: Option<f64>,
}

/// A topology that is to be measured.
struct Wanted {
    name: String,
    shape: Option<Shape>,
    robot: Arc<Robot>,
    load: Load,
}

/// Measures all sizes, fits the estimate, and checks it.
///
/// # Errors
/// [`Failure::Usage`]: an option is wrong, the middleware has no executors, or the folder cannot be used.
pub fn measure(options: &ScaleOptions) -> Result<Scale, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1));
    let node = Shape {
        nodes: 1,
        publishers: ENDS.0,
        subscriptions: ENDS.1,
        rate_hz: f64::from(options.rate),
        payload_bytes: None,
        processes: options.processes.unwrap_or(cores) as usize,
    };
    // Wrong names are known before the first file is written.
    let mut unseen: Vec<Wanted> = Vec::new();
    for name in &options.check {
        let robot = Robot::of(&*topology_options(options, name)?).map_err(Failure::Usage)?;
        unseen.push(Wanted {
            name: name.clone(),
            shape: None,
            load: Load::of(robot.topology()),
            robot: Arc::new(robot),
        });
    }
    let batch = Batch::open(Some(options.results.clone()), options.again, Interrupt::install()?)?;
    let of = |(name, shape)| generated(options, &batch, name, shape);
    let mut counts = options.nodes.clone();
    counts.sort_unstable();
    counts.dedup();
    let sizes: Vec<Wanted> = sizes(&counts, &node).into_iter().map(of).collect::<Result<_, _>>()?;
    let variations: Vec<Wanted> = variations(&counts, &node).into_iter().map(of).collect::<Result<_, _>>()?;
    let (mut points, mut is_ended_early) = run(&batch, sizes.into_iter().chain(variations).collect())?;
    let variations = points.split_off(counts.len());
    let measured = points.iter().chain(&variations);
    let measured: Vec<(Load, Cost)> =
        measured.filter_map(|point| Some((point.load, point.figures.as_ref()?.cost()))).collect();
    let estimate = Estimate::of(&measured).filter(|_| measured.len() > 1);
    let executor = unseen.first().and_then(|wanted| wanted.robot.spec().executor.clone()).unwrap_or_default();
    let mut checks = Vec::new();
    if let Some(estimate) = estimate.as_ref().filter(|_| !is_ended_early) {
        for (name, shape) in unseen_shapes(&counts, &node, estimate, cores) {
            unseen.push(generated(options, &batch, name, shape)?);
        }
        let (points, ended) = run(&batch, unseen)?;
        is_ended_early = ended;
        checks = points.into_iter().map(|point| Check::of(point, estimate)).collect();
    }
    let held = estimate.as_ref().map(|estimate| held(estimate, options, &node, cores)).unwrap_or_default();
    let mut scale = Scale {
        schema: SCHEMA,
        communicator: options.communicator.clone(),
        executor,
        cores,
        node,
        sizes: points,
        variations,
        estimate,
        held,
        checks,
        files: Vec::new(),
        is_ended_early,
    };
    scale.write(&batch).map_err(Failure::Measurement)?;
    Ok(scale)
}

impl Scale {
    /// The reason why it is not complete, for the exit code.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        if self.is_ended_early {
            return Some("ended early. With the same --results the command goes on from there".to_owned());
        }
        self.estimate.is_none().then(|| "too few sizes were measured for an estimate".to_owned())
    }

    /// The files that were written.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    fn write(&mut self, batch: &Batch) -> Result<(), String> {
        let Some(folder) = batch.folder() else { return Ok(()) };
        let picture = draw(&self.charts())?;
        let text = self.lines().join("\n") + "\n";
        self.files = vec![
            folder.write(&format!("{NAME}.txt"), &text)?,
            folder.write_json(&format!("{NAME}.json"), self)?,
            folder.write(&format!("{NAME}.svg"), &picture)?,
        ];
        Ok(())
    }

    fn charts(&self) -> Vec<Chart> {
        let curve = |name: &str, value: &dyn Fn(&Figures) -> f64| {
            let point = |point: &Point| Some((point.endpoints(), value(point.figures.as_ref()?)));
            Curve { name: name.to_owned(), points: self.sizes.iter().filter_map(point).collect() }
        };
        let estimated = |name: &str, value: &dyn Fn(Cost) -> f64| {
            let point = |point: &Point| Some((point.endpoints(), value(self.estimate.as_ref()?.cost(&point.load))));
            Curve { name: name.to_owned(), points: self.sizes.iter().filter_map(point).collect() }
        };
        let chart = |title: &str, is_time, curves| Chart { title: title.to_owned(), is_time, curves };
        let mib = |kib: f64| kib / 1024.0;
        vec![
            chart(
                "CPU (% of a core)",
                false,
                vec![
                    curve("measured", &|of| of.cpu_percent),
                    estimated("estimate", &|cost| cost.cpu_percent),
                    curve("instrument", &|of| of.instrument_percent),
                ],
            ),
            chart(
                "memory (MiB)",
                false,
                vec![
                    curve("measured", &|of| mib(of.memory_kib)),
                    estimated("estimate", &|cost| mib(cost.memory_kib)),
                    curve("instrument", &|of| mib(of.instrument_kib)),
                ],
            ),
            chart(
                "latency from send",
                true,
                vec![
                    curve("mean", &|of| of.latency_mean_ns.unwrap_or(0.0)),
                    curve("p99", &|of| of.latency_p99_ns.unwrap_or(0.0)),
                ],
            ),
            chart("start-up", true, vec![curve("until all are matched", &|of| of.start_up_ns.unwrap_or(0.0))]),
        ]
    }
}

impl Point {
    fn endpoints(&self) -> f64 {
        self.load.publishers + self.load.subscriptions
    }
}

impl Check {
    fn of(point: Point, estimate: &Estimate) -> Check {
        let estimated = estimate.cost(&point.load);
        let error = |value: fn(&Cost) -> f64| {
            let measured = value(&point.figures.as_ref()?.cost());
            (measured > 0.0).then(|| value(&estimated) / measured - 1.0)
        };
        let (cpu_error, memory_error) = (error(|cost| cost.cpu_percent), error(|cost| cost.memory_kib));
        Check { point, estimated, cpu_error, memory_error }
    }
}

fn sizes(counts: &[u32], node: &Shape) -> Vec<(String, Shape)> {
    counts.iter().map(|nodes| (format!("{nodes} nodes"), Shape { nodes: *nodes as usize, ..node.clone() })).collect()
}

/// The variations of the middle size: each changes what the sizes alone leave in one ratio.
fn variations(counts: &[u32], node: &Shape) -> Vec<(String, Shape)> {
    let Some(nodes) = counts.get(counts.len() / 2) else { return Vec::new() };
    let base = Shape { nodes: *nodes as usize, ..node.clone() };
    let (publishers, subscriptions) = ENDS;
    vec![
        (format!("{nodes} nodes, 5 x the rate"), Shape { rate_hz: 5.0 * base.rate_hz, ..base.clone() }),
        (
            format!("{nodes} nodes, more subscriptions"),
            Shape { publishers: publishers / 2, subscriptions: 2 * subscriptions, ..base.clone() },
        ),
        (
            format!("{nodes} nodes, fewer endpoints"),
            Shape {
                publishers: publishers / 2,
                subscriptions: subscriptions / 6,
                rate_hz: 2.0 * base.rate_hz,
                ..base.clone()
            },
        ),
        (format!("{nodes} nodes, 16 KiB"), Shape { payload_bytes: Some(LARGE_BYTES), ..base }),
    ]
}

/// Generated topologies that the fit has not seen: one of another shape, and one whose rate should fill this machine as far as the estimate allows.
fn unseen_shapes(counts: &[u32], node: &Shape, estimate: &Estimate, cores: u32) -> Vec<(String, Shape)> {
    let Some(nodes) = counts.get(counts.len() / 2).map(|nodes| *nodes as usize) else { return Vec::new() };
    let other = nodes * 3 / 2 + 1;
    let mut found = vec![(
        format!("{other} nodes, another shape"),
        Shape { nodes: other, publishers: 3, subscriptions: 5, rate_hz: 2.0 * node.rate_hz, ..node.clone() },
    )];
    let cost = |rate_hz: f64| {
        let of = |count: usize| (nodes * count) as f64;
        let load = Load {
            publishers: of(node.publishers),
            subscriptions: of(node.subscriptions),
            processes: node.processes as f64,
            wake_ups_hz: rate_hz * node.processes as f64,
            sent_hz: rate_hz * of(node.publishers),
            received_hz: rate_hz * of(node.subscriptions),
            ..Load::default()
        };
        estimate.cost(&load).cpu_percent
    };
    let (none, one) = (cost(0.0), cost(1.0));
    let rate_hz = ((FULL * f64::from(cores) * 100.0 - none) / (one - none)).min(HIGHEST_HZ).floor();
    if rate_hz.is_finite() && rate_hz >= 1.0 {
        found.push((format!("{nodes} nodes at {rate_hz} Hz, the limit"), Shape { nodes, rate_hz, ..node.clone() }));
    }
    found
}

fn held(estimate: &Estimate, options: &ScaleOptions, node: &Shape, cores: u32) -> Vec<Held> {
    let of = |count: usize| count as f64;
    let load = |processes: f64| Load {
        processes,
        wake_ups_hz: processes * node.rate_hz,
        publishers: of(node.publishers),
        subscriptions: of(node.subscriptions),
        sent_hz: of(node.publishers) * node.rate_hz,
        received_hz: of(node.subscriptions) * node.rate_hz,
        ..Load::default()
    };
    let own_kib = || System::read(&system::root_folder()).memory.total_kib;
    let memory_kib = options.memory_gib.map(|gib| u64::from(gib) << 20).or_else(own_kib);
    let mut machines: Vec<u32> = match options.cores.as_slice() {
        [] => std::iter::once(cores).chain(CORES).collect(),
        given => given.to_vec(),
    };
    machines.sort_unstable();
    machines.dedup();
    // A process for each core, as in the sizes.
    machines.into_iter().map(|cores| estimate.held(&load(f64::from(cores)), cores, memory_kib)).collect()
}

/// The options of a run of this topology.
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

/// A generated topology, whose files are in the folder of results: they run by `perf_test topology`, too.
fn generated(options: &ScaleOptions, batch: &Batch, name: String, shape: Shape) -> Result<Wanted, Failure> {
    let mut given = topology_options(options, &name)?;
    if let Some(folder) = batch.folder() {
        given.topology.clear();
        for (process, text) in shape.files() {
            let file = format!("topologies/{}-{process}.json", file_name(&name));
            let path = folder.path().join(&file);
            let parent = path.parent().unwrap_or(folder.path());
            let made =
                std::fs::create_dir_all(parent).map_err(|error| format!("cannot write {}: {error}", path.display()));
            made.and_then(|()| folder.write(&file, &text)).map_err(Failure::Usage)?;
            given.topology.push(path.display().to_string());
        }
    }
    let robot = Robot::of(&given).map_err(Failure::Usage)?;
    Ok(Wanted { name, shape: Some(shape), load: Load::of(robot.topology()), robot: Arc::new(robot) })
}

/// Measures topologies. Returns whether the user has ended it early, too.
fn run(batch: &Batch, wanted: Vec<Wanted>) -> Result<(Vec<Point>, bool), Failure> {
    let planned = |wanted: &Wanted| PlannedRun {
        contestant: wanted.name.clone(),
        title: wanted.name.clone(),
        log: PathBuf::from(format!("{}.json", file_name(&wanted.name))),
        spec: Ok(wanted.robot.spec().clone()),
        robot: Some(wanted.robot.clone()),
        is_warmup: false,
    };
    let planned: Vec<PlannedRun> = wanted.iter().map(planned).collect();
    let outcomes = batch.run_all(&planned)?;
    let is_ended_early = outcomes.iter().any(|outcome| matches!(outcome, Outcome::NotDone));
    let point = |(wanted, outcome): (Wanted, &Outcome)| {
        let Wanted { name, shape, load, .. } = wanted;
        let missing = match outcome {
            Outcome::Measured(_) => None,
            Outcome::Missing(shortfall) => Some(format!("{}: {}", shortfall.kind, shortfall.sentence)),
            Outcome::NotDone => Some("not done".to_owned()),
        };
        Point { name, shape, load, figures: outcome.measured().map(Figures::of), missing }
    };
    Ok((wanted.into_iter().zip(&outcomes).map(point).collect(), is_ended_early))
}
