//! Latency and messages received over the size of the message, between processes and within one, with sync and async
//! publishing (`perf_test experiment sizes`).

mod text;

use serde::Serialize;

use super::{Cell, Kind, Results, folder, messages_of, run_rounds, with_message};
use crate::{
    batch::{Batch, Contestant, contestants, refuse, with_defaults},
    cli::{ExperimentOptions, RunOptions, check_shared},
    error::Failure,
    figures::P50,
    interrupt::Interrupt,
    measure::knee::{Knee, knee},
    messages::{self, MessageChoice},
    report::{outputs::Outputs, plot::sizes},
    system::{self, System, cpu::Cpu},
};
use perf_worker::run_spec::Strategy;

/// The format of `sizes.json`.
const SCHEMA: &str = "gantry.perf_test.sizes/1";
/// Messages per second, and seconds of warm-up and of measurement: 1000 messages in one second.
const RATE_HZ: u32 = 1000;
const WARMUP_S: u32 = 1;
const MEASURED_S: u32 = 1;
/// The smallest message without `-m`.
const SMALLEST_BYTES: usize = 1000;

/// The results; serialises as `sizes.json`.
#[derive(Debug, Serialize)]
struct Sizes {
    schema: &'static str,
    rounds: u32,
    rate_hz: u32,
    /// The caches of this machine, the smallest first.
    caches: Vec<Cache>,
    series: Vec<Series>,
}

/// A cache for data.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Cache {
    /// `L1d`, `L2` or `L3`.
    name: String,
    /// Its size; of several sizes the largest.
    bytes: u64,
}

/// One contestant in one way, over the sizes.
#[derive(Debug, Serialize)]
struct Series {
    /// The contestant as it is spelt.
    contestant: String,
    way: Way,
    /// The size from which the median latency grows faster; null if one line explains it as well.
    knee: Option<Knee>,
    /// The cache whose size is nearest to the knee.
    nearest_cache: Option<Cache>,
    points: Vec<Point>,
}

/// A message and its results.
#[derive(Debug, Serialize)]
struct Point {
    message: String,
    #[serde(flatten)]
    cell: Cell,
}

/// A way of messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Way {
    /// `inter-process`, `intra-process` or `one thread`.
    processes: &'static str,
    /// `sync` or `async`, if the middleware has both.
    publishing: Option<String>,
    #[serde(skip)]
    strategy: Strategy,
}

impl Way {
    fn name(&self) -> String {
        let publishing = self.publishing.as_ref().map_or(String::new(), |publishing| format!(", {publishing}"));
        format!("{}{publishing}", self.processes)
    }
}

/// Measures; without a folder of results the figures are kept in no file.
///
/// # Errors
/// [`Failure::Usage`]: an option does not apply, or a contestant or a message is unknown.
pub fn measure(options: &ExperimentOptions) -> Result<Results, Failure> {
    let run = &options.run;
    refuse(run, "experiment sizes").map_err(Failure::Usage)?;
    check_shared(run)?;
    let list = run.endpoints.communicator.as_deref().unwrap_or("Gantry");
    let contestants = contestants(list).map_err(Failure::Usage)?;
    let mut messages = messages_of(run, arrays(run)).map_err(Failure::Usage)?;
    messages.sort_by_key(|message| message.bytes);
    messages.dedup();
    let mut run = with_defaults(run, WARMUP_S, MEASURED_S);
    run.time.rate = run.time.rate.or(Some(RATE_HZ));
    let batch = Batch::open(options.batch.results.clone(), options.batch.again, Interrupt::install()?)?;
    let named: Vec<(&Contestant, Way)> = contestants
        .iter()
        .flat_map(|contestant| ways(&run, contestant).into_iter().map(move |way| (contestant, way)))
        .collect();
    let runs = &run;
    let kinds = messages.iter().flat_map(|message| named.iter().map(move |(c, way)| kind(runs, c, way, message)));
    let (cells, end) = run_rounds(&batch, &kinds.collect::<Vec<_>>(), options.batch.rounds)?;
    let caches = caches(&System::read(&system::root_folder()).cpu);
    let mut cells: Vec<Option<Cell>> = cells.into_iter().map(Some).collect();
    let series = named.iter().enumerate().map(|(place, (contestant, way))| {
        let own = cells.iter_mut().skip(place).step_by(named.len()).filter_map(Option::take);
        let points = messages.iter().zip(own).map(|(message, cell)| Point::new(message, cell));
        Series::new(&contestant.label, way, points.collect(), &caches)
    });
    let series = series.collect();
    let rate_hz = run.time.rate.unwrap_or(RATE_HZ);
    let found = Sizes { schema: SCHEMA, rounds: options.batch.rounds, rate_hz, caches, series };
    let results = Results { heading: "Latency over the size of the message", tables: found.tables(), end };
    results.write(&batch, "sizes", &found)?;
    if let Some(folder) = batch.folder() {
        let picture = sizes::draw(&found.charts()).map_err(Failure::Measurement)?;
        folder.write("sizes.svg", &picture).map_err(Failure::Measurement)?;
    }
    Ok(results)
}

impl Point {
    fn new(message: &MessageChoice, cell: Cell) -> Point {
        let message_bytes = if cell.message_bytes == 0 { message.bytes } else { cell.message_bytes };
        Point { message: message.name.to_owned(), cell: Cell { message_bytes, ..cell } }
    }

    /// The size and the median latency, bytes and ns.
    fn latency(&self) -> Option<(f64, f64)> {
        Some((self.cell.message_bytes as f64, self.cell.medians.as_ref()?.get(&P50)?))
    }
}

impl Series {
    fn new(contestant: &str, way: &Way, points: Vec<Point>, caches: &[Cache]) -> Series {
        let measured: Vec<(f64, f64)> = points.iter().filter_map(Point::latency).collect();
        let knee = knee(&measured);
        let distance = |cache: &Cache, knee: &Knee| (cache.bytes as f64 / knee.at).ln().abs();
        let nearest_cache = knee
            .and_then(|knee| caches.iter().min_by(|a, b| distance(a, &knee).total_cmp(&distance(b, &knee))).cloned());
        Series { contestant: contestant.to_owned(), way: way.clone(), knee, nearest_cache, points }
    }
}

/// The arrays from 1 KB on.
fn arrays(run: &RunOptions) -> impl Iterator<Item = MessageChoice> {
    let all = messages::list(run.messages.message_layout.unwrap_or_default(), 0);
    all.filter(|message| message.name.starts_with("Array") && message.bytes >= SMALLEST_BYTES)
}

/// The ways in which a contestant is measured, unless the options choose one.
fn ways(run: &RunOptions, contestant: &Contestant) -> Vec<Way> {
    let strategies = match run.endpoints.execution_strategy {
        Some(strategy) => vec![strategy],
        None => vec![Strategy::InterProcess, Strategy::InterThread],
    };
    let is_given = run.endpoints.publishing.is_some()
        || run.legacy.disable_async
        || run.endpoints.set.iter().any(|(name, _)| name == "publishing");
    let open = if is_given { Vec::new() } else { contestant.open_values("publishing") };
    let publishing: Vec<Option<String>> =
        if open.len() < 2 { vec![None] } else { open.into_iter().map(Some).collect() };
    let way = |strategy: Strategy, publishing: Option<String>| Way {
        processes: match strategy {
            Strategy::InterProcess => "inter-process",
            Strategy::InterThread => "intra-process",
            Strategy::IntraThread => "one thread",
        },
        publishing,
        strategy,
    };
    strategies
        .into_iter()
        .flat_map(|strategy| publishing.iter().map(move |publishing| way(strategy, publishing.clone())))
        .collect()
}

fn kind(run: &RunOptions, contestant: &Contestant, way: &Way, message: &MessageChoice) -> Kind {
    let mut run = with_message(run, message);
    run.endpoints.execution_strategy = Some(way.strategy);
    if way.publishing.is_some() {
        run.endpoints.publishing.clone_from(&way.publishing);
    }
    let (label, name, way) = (&contestant.label, message.name, way.name());
    Kind {
        contestant: label.clone(),
        title: format!("{label} {name}, {way}"),
        log: folder("sizes", label).join(format!("{name}-{}", way.replace(", ", "-").replace(' ', "-"))),
        outputs: Outputs::default(),
        spec: contestant.spec(&run),
    }
}

/// The caches for data by their levels, each with its largest size.
fn caches(cpu: &Cpu) -> Vec<Cache> {
    let for_data = |level: u8| {
        let of_level = cpu.caches.iter().filter(move |cache| cache.level == level && cache.kind != "Instruction");
        let kib = of_level.map(|cache| cache.size_kib).max()?;
        Some(Cache { name: if level == 1 { "L1d".to_owned() } else { format!("L{level}") }, bytes: kib * 1024 })
    };
    (1..=3).filter_map(for_data).collect()
}

#[cfg(test)]
mod tests;
