//! Latency over message size (`perf_test sweep sizes`), between processes and within one process, with synchronous and
//! asynchronous publishing. The finding is the knee of each curve and a plot of all curves.

use super::{
    combination::Combination,
    preset::{Finding, defaults, messages_of},
    table::{contestants, varied_of},
};
use crate::{
    cli::{Axis, RunOptions},
    common::units::format_bytes,
    experiments::{
        batch::{Contestant, Options},
        results_file::{CacheEntry, KneeEntry, RunResults},
    },
    log::figures::P50,
    measure::knee::{Knee, MIN_POINTS, knee},
    report::plot::curves::{Chart, Curve, Layout, Scale},
    system::{self, System, cpu::Cpu},
};
use perf_worker_gantry::messages;

/// The arrangement of the charts in the SVG: one below the other, with equal scales.
pub const LAYOUT: Layout = Layout { columns: 1, height: 520, has_equal_axes: true };
/// The size of the smallest message if `-m` is not given.
const SMALLEST_BYTES: usize = 1000;
/// The option that selects the message and so its size.
const MESSAGE: &str = "msg";
/// Options whose values are understood without the name of the option, so curves are named by the values alone.
const WAYS: [&str; 2] = ["execution-strategy", PUBLISHING];
const PUBLISHING: &str = "publishing";

pub fn axes(given: &[Axis]) -> Result<Vec<Axis>, String> {
    let strategies = ["INTER_PROCESS", "INTER_THREAD"].map(str::to_owned);
    let messages = messages_of(given, |layout| {
        let arrays = messages::list(layout, 0);
        arrays.filter(|message| message.name.starts_with("Array") && message.bytes >= SMALLEST_BYTES).collect()
    })?;
    let of_sizes = [messages, Axis::of_values("execution-strategy", strategies)];
    Ok(defaults("1000", "1", "1").into_iter().chain(of_sizes).collect())
}

/// Two copies of the combination, with synchronous and with asynchronous publishing, if the contestant supports both
/// and the user chose neither. Otherwise the combination itself.
pub fn variants(contestant: &Contestant, run: &RunOptions, combination: Combination) -> Vec<Combination> {
    let is_given = run.endpoints.publishing.is_some()
        || run.legacy.disable_async
        || run.endpoints.set.iter().any(|(name, _)| name == PUBLISHING);
    let open = if is_given { Vec::new() } else { contestant.open_values(PUBLISHING) };
    if open.len() < 2 {
        return vec![combination];
    }
    open.iter().map(|value| combination.with(PUBLISHING, value)).collect()
}

/// The knees of all curves, and a chart for each contestant.
pub fn finding(runs: &[RunResults], _: u32) -> Finding {
    let caches = caches(&System::read(&system::root_folder()).cpu);
    let series = series(runs);
    let knees: Vec<KneeEntry> = series.iter().map(|one| one.entry(&caches)).collect();
    Finding {
        sentences: series.iter().zip(&knees).filter_map(|(one, knee)| one.sentence(knee)).collect(),
        knees,
        charts: contestants(runs).into_iter().map(|name| chart(name, &series, &caches)).collect(),
        ..Finding::default()
    }
}

/// The runs of a contestant that differ only in message size. They are one curve.
struct Series<'a> {
    contestant: &'a str,
    /// The options, except the message, that distinguish this series from the others.
    options: Options,
    /// The points of the curve: message size in bytes, and median latency in ns.
    points: Vec<(f64, f64)>,
}

/// All series, in the order of their first runs.
fn series(runs: &[RunResults]) -> Vec<Series<'_>> {
    let varied = varied_of(runs);
    let mut found: Vec<Series<'_>> = Vec::new();
    for run in runs {
        let differs = |(option, _): &&(String, String)| option != MESSAGE && varied.contains(&option.as_str());
        let options: Options = run.options.iter().filter(differs).cloned().collect();
        let latency_ns = run.medians.as_ref().and_then(|medians| medians.get(&P50));
        let point = latency_ns.map(|latency_ns| (run.message_bytes as f64, latency_ns));
        let is_own = |one: &&mut Series<'_>| one.contestant == run.contestant && one.options == options;
        match found.iter_mut().find(is_own) {
            Some(own) => own.points.extend(point),
            None => {
                found.push(Series { contestant: &run.contestant, options, points: point.into_iter().collect() });
            }
        }
    }
    found.iter_mut().for_each(|one| one.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    found
}

impl Series<'_> {
    fn name(&self) -> String {
        let word = |(option, value): &(String, String)| match WAYS.contains(&option.as_str()) {
            true => value.clone(),
            false => format!("{option} {value}"),
        };
        self.options.iter().map(word).collect::<Vec<_>>().join(", ")
    }

    fn entry(&self, caches: &[CacheEntry]) -> KneeEntry {
        let knee = knee(&self.points);
        let distance = |cache: &CacheEntry, knee: &Knee| (cache.size_bytes as f64 / knee.at).ln().abs();
        let nearest_cache = knee
            .and_then(|knee| caches.iter().min_by(|a, b| distance(a, &knee).total_cmp(&distance(b, &knee))).cloned());
        let (contestant, options) = (self.contestant.to_owned(), self.options.clone());
        KneeEntry { contestant, options, knee, nearest_cache }
    }

    /// A sentence about the knee, or about the reason why the curve has none; `None` if the series was not measured.
    fn sentence(&self, found: &KneeEntry) -> Option<String> {
        let of = [self.contestant.to_owned(), self.name()].into_iter().filter(|part| !part.is_empty());
        let of = of.collect::<Vec<_>>().join(", ");
        let Some(knee) = found.knee else {
            return match self.points.len() {
                0 => None,
                points if points < MIN_POINTS => {
                    Some(format!("{of}: no knee can be found from fewer than {MIN_POINTS} sizes"))
                }
                _ => Some(format!("{of}: no knee, one line explains the latencies as well")),
            };
        };
        let nearest = found.nearest_cache.as_ref().map_or(String::new(), |cache| {
            format!("; the nearest cache is {} with {}", cache.name, format_bytes(cache.size_bytes))
        });
        let (before, after) = (knee.slope_before, knee.slope_after);
        Some(format!(
            "{of}: knee at {}: latency grows with the size to the power of {before:.2} before and {after:.2} after \
             it{nearest}",
            format_bytes(knee.at as u64)
        ))
    }
}

/// The chart of a contestant.
fn chart(contestant: &str, series: &[Series<'_>], caches: &[CacheEntry]) -> Chart {
    let own = series.iter().filter(|one| one.contestant == contestant);
    Chart {
        title: format!("{contestant}: median latency over the size of the message (log scales)"),
        across: "size of the message (bytes)",
        scales: [Scale::Bytes, Scale::Time],
        curves: own.map(|one| Curve::new(one.name(), one.points.clone())).collect(),
        marks: caches.iter().map(|cache| (cache.name.clone(), cache.size_bytes as f64)).collect(),
    }
}

/// The data cache of each level. If a level has caches of several sizes, the largest one.
fn caches(cpu: &Cpu) -> Vec<CacheEntry> {
    let for_data = |level: u8| {
        let of_level = cpu.caches.iter().filter(move |cache| cache.level == level && cache.kind != "Instruction");
        let kib = of_level.map(|cache| cache.size_kib).max()?;
        let name = if level == 1 { "L1d".to_owned() } else { format!("L{level}") };
        Some(CacheEntry { name, size_bytes: kib * 1024 })
    };
    (1..=3).filter_map(for_data).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cli, experiments::batch, log::figures::Values, report::plot::curves, system::cpu};

    fn cache(name: &str, kib: u64) -> CacheEntry {
        CacheEntry { name: name.to_owned(), size_bytes: kib * 1024 }
    }

    fn run(way: &str, bytes: usize, p50_ns: f64) -> RunResults {
        let options = [("msg", format!("Array{bytes}")), ("execution-strategy", way.to_owned())];
        RunResults {
            contestant: "mock".to_owned(),
            options: options.map(|(name, value)| (name.to_owned(), value)).into(),
            medians: Some(Values::known([(&P50, p50_ns)])),
            message_bytes: bytes,
            ..RunResults::default()
        }
    }

    #[test]
    fn publishing_is_sync_and_async_unless_an_option_chooses() {
        let names = |options: &str, list: &str| {
            let line = format!("perf_test {options}");
            let run = cli::parse(line.split_whitespace().map(Into::into)).unwrap().options;
            let one = batch::contestants(list).unwrap().remove(0);
            let [combination] = &super::super::combination::combinations(&[])[..] else { panic!() };
            let found = variants(&one, &run, combination.clone());
            found.into_iter().map(|one| one.arguments().join(" ")).collect::<Vec<String>>()
        };
        assert_eq!(names("", "Gantry"), ["--publishing=sync", "--publishing=async"]);
        for (options, list) in [("--publishing async", "Gantry"), ("", "Gantry:publishing=sync"), ("", "Mock")] {
            assert_eq!(names(options, list), [""], "{options} {list}");
        }
    }

    #[test]
    fn the_messages_are_the_arrays_from_1_kb_to_8_mb() {
        let axes = axes(&[]).unwrap();
        let names = &axes.iter().find(|axis| axis.option == MESSAGE).unwrap().choices;
        assert_eq!(
            (names[0].shown.as_str(), names[names.len() - 1].shown.as_str(), names.len()),
            ("Array1k", "Array8m", 11)
        );
        let given = Axis::of_values(MESSAGE, ["Arry1k".to_owned()]);
        assert!(super::axes(&[given]).unwrap_err().contains("there is no message `Arry1k`"));
    }

    #[test]
    fn each_way_has_its_knee_and_the_nearest_cache() {
        let caches = [cache("L1d", 32), cache("L2", 300), cache("L3", 32_768)];
        let sizes: Vec<usize> = (0..12).map(|step| 2048 << step).collect();
        let latency = |bytes: usize| if bytes < 262_144 { 30e3 } else { 30e3 * bytes as f64 / 262_144.0 };
        let bent = sizes.iter().map(|bytes| run("INTER_PROCESS", *bytes, latency(*bytes)));
        let straight = sizes.iter().map(|bytes| run("INTER_THREAD", *bytes, 5e3));
        let runs: Vec<RunResults> = bent.chain(straight).collect();
        let found = series(&runs);
        let sentences: Vec<String> = found.iter().filter_map(|one| one.sentence(&one.entry(&caches))).collect();
        assert!(
            sentences[0].starts_with("mock, INTER_PROCESS: knee at ")
                && sentences[0].ends_with("the nearest cache is L2 with 300 KiB"),
            "{sentences:?}"
        );
        assert_eq!(sentences[1], "mock, INTER_THREAD: no knee, one line explains the latencies as well");
        assert_eq!(found[0].entry(&caches).nearest_cache, Some(cache("L2", 300)));
        let picture = curves::draw(&[chart("mock", &found, &caches)], LAYOUT).unwrap();
        assert!(picture.contains("INTER_PROCESS") && picture.contains("INTER_THREAD"));
        let mut fast = run("INTER_PROCESS", 1024, 5e3);
        fast.options.push(("rate".to_owned(), "9".to_owned()));
        assert_eq!(series(&[fast, runs[0].clone()])[0].name(), "rate 9");
        let few = series(&runs[..3]);
        assert_eq!(
            few[0].sentence(&few[0].entry(&caches)).unwrap(),
            "mock: no knee can be found from fewer than 7 sizes"
        );
    }

    #[test]
    fn caches_for_instructions_are_no_lines() {
        let of = |level, kind: &str, size_kib| cpu::Cache { level, kind: kind.to_owned(), size_kib, count: 1 };
        let caches_of =
            Cpu { caches: vec![of(1, "Instruction", 64), of(1, "Data", 32), of(2, "Unified", 512)], ..Cpu::default() };
        assert_eq!(caches(&caches_of), [cache("L1d", 32), cache("L2", 512)]);
    }
}
