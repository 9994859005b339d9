//! The data of the plots as JSON.

use serde_json::{Value, json};

use super::table::{message, message_key};
use crate::experiments::conditions::FIGURES as ROBOT_FIGURES;
use crate::experiments::page::figures::{FIGURES, LATENCIES, LONGEST, title};
use crate::experiments::page::folder::Folder;
use crate::experiments::page::group::{Group, Groups};
use crate::experiments::page::robots::{Robot, robots};
use crate::experiments::page::settings::size;
use crate::measure::interval::Interval;

/// The percentiles with a mark; the curves between them have more points.
const MARKED: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];
/// The other quantiles below the median, for the shape of the distribution.
const BELOW: [f64; 5] = [0.01, 0.05, 0.1, 0.2, 0.35];
/// Points of a curve for each further nine of the percentile.
const POINTS: i32 = 8;

/// All of it; `first` is the experiment that the page shows first.
pub fn json(folder: &Folder, groups: &Groups, first: &str) -> String {
    let metrics: Vec<Value> =
        FIGURES.iter().map(|figure| json!({"key": figure.key, "name": title(figure), "unit": figure.unit})).collect();
    let series: Vec<Value> = groups
        .series
        .iter()
        .map(|line| {
            let (label, middleware) = (&line.label, line.middleware.to_lowercase());
            json!({"label": label, "middleware": middleware, "variant": line.variant, "experiment": line.experiment})
        })
        .collect();
    let robots: Vec<Value> = robots(&folder.robots).iter().map(of_robot).collect();
    let groups: Vec<Value> = groups.groups.iter().map(|group| of_group(group, groups)).collect();
    let caches = caches(folder);
    json!({"metrics": metrics, "series": series, "groups": groups, "caches": caches, "robots": robots, "first": first})
        .to_string()
}

/// The figures of a topology, each with its groups.
fn of_robot(robot: &Robot) -> Value {
    let figure = |(index, figure): (usize, &&'static crate::log::figures::Figure)| {
        let rows = robot.groups.iter().enumerate().filter_map(|(row, group)| {
            let Interval { median, low, high, .. } = group.values[index]?;
            let (name, before) = (group.middleware, &robot.groups[..row]);
            let variant = before.iter().filter(|other| other.middleware == name).count();
            let shown = [median, low, high].map(|value| figure.show(value));
            Some(json!({
                "label": group.label(), "middleware": name.to_lowercase(), "variant": variant,
                "median": median, "low": low, "high": high, "shown": shown,
            }))
        });
        json!({"name": title(figure), "unit": figure.unit, "rows": rows.collect::<Vec<Value>>()})
    };
    ROBOT_FIGURES.iter().enumerate().map(figure).collect()
}

fn of_group(group: &Group, groups: &Groups) -> Value {
    let spec = group.conditions();
    let values: Vec<Value> = FIGURES
        .iter()
        .zip(group.values)
        .map(|(figure, found)| {
            found.map_or(Value::Null, |Interval { median, low, high, .. }| {
                let shown = [median, low, high].map(|value| figure.show(value));
                json!({"median": median, "low": low, "high": high, "shown": shown})
            })
        })
        .collect();
    json!({
        "series": group.series,
        "label": groups.series[group.series].label,
        "middleware": spec.communicator.to_lowercase(),
        "experiment": group.experiment(),
        "message": message(group),
        "key": message_key(group),
        "bytes": spec.message.bytes,
        "size": size(spec.message.bytes as u64),
        "rate_hz": spec.rate_hz,
        "runs": group.good().count(),
        "values": values,
        "curve": curve(group),
        "seconds": seconds(group),
    })
}

/// Points of the latency by percentile: 1 / (1 - quantile), the latency in ns, and whether it has a mark. The last one
/// is the longest latency of all.
fn curve(group: &Group) -> Vec<(f64, u64, bool)> {
    let n = group.cells.n() as f64;
    let mut quantiles: Vec<(f64, bool)> = MARKED.map(|quantile| (quantile, true)).to_vec();
    // A whole number of nines has its mark already.
    let between = (0..).filter(|step| step % POINTS != 0 || *step == 0);
    let between = between.map(|step| 1.0 - 10_f64.powf(-f64::from(step) / f64::from(POINTS)));
    quantiles.extend(BELOW.map(|quantile| (quantile, false)));
    quantiles.extend(between.map(|quantile| (quantile, false)).take_while(|(quantile, _)| n * (1.0 - quantile) >= 1.0));
    quantiles.retain(|(quantile, _)| n * (1.0 - quantile) >= 1.0 - 1e-9);
    quantiles.sort_by(|one, other| one.0.total_cmp(&other.0));
    // The upper end of a cell is above its values.
    let longest_ns = group.good().filter_map(|run| run.values[LONGEST]).fold(0.0, f64::max) as u64;
    let latency_ns = |quantile| group.cells.quantile_ns(quantile).min(longest_ns);
    let point = |(quantile, marked): (f64, bool)| (1.0 / (1.0 - quantile), latency_ns(quantile), marked);
    let mut points: Vec<(f64, u64, bool)> = quantiles.into_iter().map(point).collect();
    if n > 1.0 {
        points.push((n, longest_ns, true));
    }
    points
}

/// Each second of the runs: its end in s, and the median over the runs of each metric of the latency in ns.
fn seconds(group: &Group) -> Vec<(f64, [Option<f64>; LATENCIES])> {
    let length = group.good().map(|run| run.seconds.len()).max().unwrap_or_default();
    let second = |i: usize| {
        let seconds = || group.good().filter_map(move |run| run.seconds.get(i));
        let end_s = seconds().map(|second| second.t_s).reduce(f64::max)?;
        let median = |metric: usize| {
            Some(Interval::of(seconds().filter_map(|second| second.latencies[metric]).collect())?.median)
        };
        Some((end_s, std::array::from_fn(median)))
    };
    (0..length).filter_map(second).collect()
}

/// The sizes of the data caches, as marks on the axis of the size; none if machines of the folder differ in them, or
/// one is not known.
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
