//! The plot of a run, one SVG: latency over time, latency by percentile, CPU over time, memory over time.
//!
//! The only input is Gantry's own log, even an incomplete one of a killed or running run. The SVG contains no fonts,
//! because viewers have their own. `series` extracts the lines from the log, and `panel` draws them.

pub mod curves;
pub mod dots;
mod panel;
mod series;
pub mod stacks;
mod topics;

use std::path::{Path, PathBuf};

use plotters::prelude::Text;

use crate::common::units::several;
use crate::log::Log;
use crate::report::outputs::Outputs;
use panel::{Area, Drawing, INK, MARGIN, PALE, Panel, picture, text};
use perf_worker::{
    choice::Choice,
    run_spec::{Roundtrip, RunSpec},
};
use series::Series;
pub use series::plain;
use topics::Topics;

const SIZE: (u32, u32) = (1280, 960);
const HEAD: u32 = 100;
const BETWEEN: &str = "   ·   ";

/// Draws the plot of a log into a file beside the log, or into `output`. Returns the path of the SVG.
///
/// # Errors
/// The reason, as a sentence: the log cannot be read, or the SVG cannot be written.
pub fn write(log: &Path, output: Option<&Path>) -> Result<PathBuf, String> {
    let picture = draw(&Log::read(log)?).map_err(|error| format!("{}: {error}", log.display()))?;
    let path = output.map_or_else(|| beside(log), Path::to_owned);
    std::fs::write(&path, picture).map_err(|error| {
        // An incomplete SVG is useless, so it is removed.
        let _ = std::fs::remove_file(&path);
        format!("cannot write the plot {}: {error}", path.display())
    })?;
    Ok(path)
}

/// Draws the plot of a run from its full log, once beside each of its logs. Returns the paths of the SVGs; none if
/// there is no full log.
///
/// # Errors
/// See [`write()`].
pub fn write_beside_each(outputs: &Outputs) -> Result<Vec<PathBuf>, String> {
    let Some(full) = &outputs.full else { return Ok(Vec::new()) };
    let mut pictures: Vec<PathBuf> =
        [&outputs.csv, &outputs.json].into_iter().flatten().map(|log| beside(log)).collect();
    pictures.push(beside(full));
    pictures.sort();
    pictures.dedup();
    for picture in &pictures {
        write(full, Some(picture))?;
    }
    Ok(pictures)
}

/// The path of the SVG beside a log: `run.svg` for `run.csv`, `run.json` and `run.full.json`.
fn beside(log: &Path) -> PathBuf {
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    match name.strip_suffix(".full.json").filter(|stem| !stem.is_empty()) {
        Some(stem) => log.with_file_name(format!("{stem}.svg")),
        None => log.with_extension("svg"),
    }
}

/// Draws the plot of a log as SVG.
fn draw(log: &Log) -> Result<String, String> {
    let series = Series::from_log(log);
    let topics = log.summary.as_ref().map(Topics::from_summary).filter(|_| log.run.topology.is_some());
    let (width, height) = SIZE;
    let size = (width, height + topics.as_ref().map_or(0, Topics::height));
    picture(size, |root| draw_all(root, log, &series, topics.as_ref()))
}

fn draw_all(root: &Area<'_>, log: &Log, series: &Series, topics: Option<&Topics>) -> Drawing {
    let (head, body) = root.split_vertically(HEAD);
    let [title, conditions] = titles(log, series);
    head.draw(&Text::new(title, (MARGIN, 16), text(24, &INK)))?;
    head.draw(&Text::new(conditions, (MARGIN, 50), text(15, &PALE)))?;
    head.draw(&Text::new(machine(log), (MARGIN, 70), text(13, &PALE)))?;
    let (upper, body) = body.split_vertically(topics.map_or(0, Topics::height));
    topics.map_or(Ok(()), |topics| topics.draw(&upper))?;
    let areas = body.split_evenly((2, 2));
    let panels: [Panel; 4] =
        [series.latency_over_time(), series.latency_by_percentile(), series.cpu_over_time(), series.memory_over_time()];
    areas.iter().zip(&panels).try_for_each(|(area, panel)| panel.draw(area))
}

/// Two title lines with the options of the run that explain most differences between runs.
fn titles(log: &Log, series: &Series) -> [String; 2] {
    let conditions = &log.run.spec;
    let rate = match conditions.rate_hz {
        0 => "as fast as possible".to_owned(),
        rate_hz => format!("{} Hz", thousands(u64::from(rate_hz))),
    };
    let path = if conditions.zero_copy { "zero copy" } else { "copy" };
    let title = match &conditions.executor {
        Some(executor) => {
            format!("topology {}, executor {executor}, over {}", conditions.topic, conditions.communicator)
        }
        None => format!(
            "{}, {} bytes, {rate}, {path} over {}",
            conditions.message.name,
            thousands(conditions.message.bytes as u64),
            conditions.communicator
        ),
    };
    // These options are left out if the run has an executor, which waits in its own way. A topology does not use the
    // payload.
    let ways =
        [format!("payload touched: {}", conditions.touch.name()), format!("readers wait: {}", conditions.wait.name())];
    let mut parts: Vec<String> = ways.into_iter().filter(|_| conditions.executor.is_none()).collect();
    parts.push(endpoints(conditions));
    if conditions.subscriptions > 0 {
        parts.push(format!("n {}", thousands(series.latency.n())));
        parts.push(format!("lost {}", thousands(series.lost)));
    }
    if let Some(summary) = log.summary.as_ref().filter(|_| conditions.executor.is_some()) {
        let received = &summary.total.received;
        parts.push(format!("late {}", thousands(received.late)));
        parts.push(format!("too late {}", thousands(received.too_late)));
        parts.push(format!("skipped by timers {}", thousands(summary.total.sent.skipped)));
    }
    if matches!(conditions.roundtrip, Roundtrip::Main | Roundtrip::Both | Roundtrip::Service) {
        parts.push("latencies are round-trip times".to_owned());
    }
    if log.summary.is_none() {
        parts.push("no summary: the run was killed, or still runs".to_owned());
    }
    [title, parts.join(BETWEEN)]
}

/// The parts of the machine that the log describes, and the run's id, as text.
fn machine(log: &Log) -> String {
    let known = |part: &str, name: &str| Some(log.environment.get(part)?.get(name)?.as_str()?.to_owned());
    let mut parts: Vec<String> = known("cpu", "model").into_iter().collect();
    parts.extend(known("kernel", "release").map(|release| format!("Linux {release}")));
    parts.push(format!("{} {}, run {}", log.run.program, log.run.version, log.run.id));
    parts.join(BETWEEN)
}

fn endpoints(conditions: &RunSpec) -> String {
    let publishers = several(conditions.publishers as usize, "publisher", "publishers");
    let counts =
        format!("{publishers}, {}", several(conditions.subscriptions as usize, "subscription", "subscriptions"));
    match conditions.executor {
        // `--processes` divides the nodes of a topology into processes, so the strategy has no effect.
        Some(_) => counts,
        None => format!("{counts}, {}", conditions.strategy.name()),
    }
}

/// A number with commas between the thousands.
fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let mut groups: Vec<&str> = if head.is_empty() { Vec::new() } else { vec![head] };
    groups.extend((0..tail.len()).step_by(3).filter_map(|at| tail.get(at..at + 3)));
    groups.join(",")
}

#[cfg(test)]
mod tests;
