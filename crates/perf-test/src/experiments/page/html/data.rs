//! The data of the plots, as JSON for the page's scripts.

use serde_json::{Value, json};

use crate::common::units::format_bytes;
use crate::experiments::batch::middleware_of;
use crate::experiments::conditions::FIGURES as OF_TOPOLOGIES;
use crate::experiments::page::figures::{FIGURES, LATENCIES, title};
use crate::experiments::page::folder::Folder;
use crate::experiments::page::group::{Group, Groups};
use crate::log::figures::{Figure, MAX};
use crate::measure::interval::Interval;

/// The quantiles that are marked on the curve of latency by percentile. The curve has further points between them.
const MARKED: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];
/// The points of the curve below the median, which show the shape of the distribution.
const BELOW: [f64; 5] = [0.01, 0.05, 0.1, 0.2, 0.35];
/// The number of points of the curve for each further nine of the percentile (from 90 % to 99 %, and so on).
const POINTS: i32 = 8;

/// The data of all plots. `first` is the experiment that the page shows first.
pub fn json(folder: &Folder, groups: &Groups, first: &str) -> String {
    let metrics: Vec<Value> =
        FIGURES.iter().map(|figure| json!({"key": figure.key, "name": title(figure), "unit": figure.unit})).collect();
    let robots =
        Groups::of_topologies(&folder.robots).iter().map(|(_, groups)| topology_data(groups)).collect::<Vec<_>>();
    let experiments: Vec<&str> = groups.experiments().filter(|name| !name.is_empty()).collect();
    let shown: Vec<Value> = groups.groups.iter().map(|group| group_data(group, groups)).collect();
    json!({
        "metrics": metrics, "series": groups.series, "groups": shown, "caches": caches(folder), "robots": robots, "first": first,
        "experiments": experiments, "middlewares": middlewares(folder),
    })
    .to_string()
}

/// The names of the middlewares in alphabetical order, ignoring case.
fn middlewares(folder: &Folder) -> Vec<&str> {
    let of_runs = folder.runs.iter().map(|run| run.entry.spec.communicator.as_str());
    let mut names: Vec<&str> =
        of_runs.chain(folder.shortfalls.iter().map(|(_, shortfall)| middleware_of(&shortfall.contestant))).collect();
    names.sort_by_key(|name| name.to_lowercase());
    names.dedup_by_key(|name| name.to_lowercase());
    names
}

/// The figures of a topology, each with the values of all groups.
fn topology_data(groups: &Groups) -> Value {
    let of_figure = |figure: &&'static Figure| {
        let rows = groups.groups.iter().filter_map(|group| {
            let mut row = value(group, figure)?;
            row.as_object_mut()?.extend(json!(groups.series[group.series]).as_object()?.clone());
            Some(row)
        });
        json!({"name": title(figure), "unit": figure.unit, "rows": rows.collect::<Vec<Value>>()})
    };
    OF_TOPOLOGIES.iter().map(of_figure).collect()
}

/// The value of a figure in a group, with its interval.
fn value(group: &Group, figure: &Figure) -> Option<Value> {
    let Interval { median, low, high, .. } = group.interval(figure)?;
    let shown = [median, low, high].map(|value| figure.show(value));
    Some(json!({"median": median, "low": low, "high": high, "shown": shown}))
}

fn group_data(group: &Group, groups: &Groups) -> Value {
    let spec = group.conditions();
    json!({
        "series": group.series,
        "label": groups.series[group.series].label,
        "middleware": spec.communicator.to_lowercase(),
        "experiment": group.experiment(),
        "message": group.message(),
        "key": group.message_key(),
        "bytes": spec.message.bytes,
        "size": format_bytes(spec.message.bytes as u64),
        "rate_hz": spec.rate_hz,
        "runs": group.good().count(),
        "values": FIGURES.map(|figure| value(group, figure)),
        "curve": curve(group),
        "seconds": seconds(group),
    })
}

/// The points of the curve of latency by percentile. A point is 1 / (1 - quantile), the latency in ns, and whether the
/// point is marked. The last point is the maximum.
fn curve(group: &Group) -> Vec<(f64, u64, bool)> {
    let n = group.cells.n() as f64;
    let mut quantiles: Vec<(f64, bool)> = MARKED.map(|quantile| (quantile, true)).to_vec();
    // A whole number of nines (90 %, 99 %) is already a marked point, so it is left out here.
    let between = (0..).filter(|step| step % POINTS != 0 || *step == 0);
    let between = between.map(|step| 1.0 - 10_f64.powf(-f64::from(step) / f64::from(POINTS)));
    quantiles.extend(BELOW.map(|quantile| (quantile, false)));
    quantiles.extend(between.map(|quantile| (quantile, false)).take_while(|(quantile, _)| n * (1.0 - quantile) >= 1.0));
    quantiles.retain(|(quantile, _)| n * (1.0 - quantile) >= 1.0 - 1e-9);
    quantiles.sort_by(|one, other| one.0.total_cmp(&other.0));
    // A quantile is the upper limit of a histogram cell, which may exceed the maximum, so the maximum limits it.
    let longest_ns = group.good().filter_map(|run| run.values.get(&MAX)).fold(0.0, f64::max) as u64;
    let latency_ns = |quantile| group.cells.quantile_ns(quantile).min(longest_ns);
    let point = |(quantile, marked): (f64, bool)| (1.0 / (1.0 - quantile), latency_ns(quantile), marked);
    let mut points: Vec<(f64, u64, bool)> = quantiles.into_iter().map(point).collect();
    if n > 1.0 {
        points.push((n, longest_ns, true));
    }
    points
}

/// For each second: its end in s, and for each figure of [`LATENCIES`] the median over the runs, in ns.
fn seconds(group: &Group) -> Vec<(f64, [Option<f64>; LATENCIES.len()])> {
    let length = group.good().map(|run| run.seconds.len()).max().unwrap_or_default();
    let second = |i: usize| {
        let seconds = || group.good().filter_map(move |run| run.seconds.get(i));
        let end_s = seconds().map(|(end_s, _)| *end_s).reduce(f64::max)?;
        let median =
            |metric: usize| Some(Interval::from_values(seconds().filter_map(|(_, of)| of[metric]).collect())?.median);
        Some((end_s, std::array::from_fn(median)))
    };
    (0..length).filter_map(second).collect()
}

/// The sizes of the data caches, which are marked on the axis of message sizes. Empty if the machines of the folder
/// have different caches or a size is unknown.
fn caches(folder: &Folder) -> Vec<Value> {
    let mut machines = folder.machines.iter();
    let Some(first) = machines.next() else { return Vec::new() };
    let is_shared = machines.all(|machine| machine.cpu.caches == first.cpu.caches);
    if !is_shared || folder.runs.iter().any(|run| run.machine.is_none()) {
        return Vec::new();
    }
    let of_data = first.cpu.caches.iter().filter(|cache| cache.kind != "Instruction");
    of_data
        .map(|cache| json!({"name": format!("L{}", cache.level), "bytes": cache.size_kib.saturating_mul(1024)}))
        .collect()
}
