//! The results over sizes as tables, in Markdown, and as the charts of the picture.

use super::{Cache, Series, Sizes};
use crate::{
    experiment::{Footnotes, Table, at_rate, notes_of},
    figures::{P50, RECEIVED},
    report::plot::sizes::{Chart, Curve},
};

impl Sizes {
    /// A table for each contestant, with its knees.
    pub(super) fn tables(&self) -> Vec<Table> {
        let of_one = |series: Vec<&Series>| {
            let name = series_name(&series);
            let of_runs = at_rate(self.rate_hz, self.rounds);
            let title = format!("{name}: p50 of the latency and messages received{of_runs}");
            Table::new(title, sentences(&series), |notes| self.rows(&series, notes))
        };
        self.by_contestant().into_iter().map(of_one).collect()
    }

    /// The charts of the picture, one for each contestant.
    pub(super) fn charts(&self) -> Vec<Chart> {
        let curve = |series: &&Series| Curve {
            name: series.way.name(),
            points: series.points.iter().filter_map(super::Point::latency).collect(),
        };
        let chart = |series: Vec<&Series>| Chart {
            title: format!("{}: median latency over the size of the message (log scales)", series_name(&series)),
            curves: series.iter().map(curve).collect(),
            marks: self.caches.iter().map(|cache| (cache.name.clone(), cache.bytes as f64)).collect(),
        };
        self.by_contestant().into_iter().map(chart).collect()
    }

    /// The series of each contestant.
    fn by_contestant(&self) -> Vec<Vec<&Series>> {
        let of_one = self.series.chunk_by(|one, other| one.contestant == other.contestant);
        of_one.map(|series| series.iter().collect()).collect()
    }

    /// The rows of a contestant's table: the sizes, and between them the caches.
    fn rows(&self, series: &[&Series], notes: &mut Footnotes) -> Vec<Vec<String>> {
        let due = series.iter().flat_map(|series| &series.points).find_map(|point| point.cell.due);
        let received = due.map_or("received".to_owned(), |due| format!("received of {due}"));
        let ways = series.iter().flat_map(|series| [series.way.name(), received.clone()]);
        let header = ["message".to_owned(), "bytes".to_owned()].into_iter().chain(ways).collect();
        let mut rows: Vec<Vec<String>> = vec![header];
        let mut caches = self.caches.iter().peekable();
        let first = series.first().map(|series| series.points.as_slice()).unwrap_or_default();
        for (index, point) in first.iter().enumerate() {
            let bytes = point.cell.message_bytes;
            while let Some(cache) = caches.next_if(|cache| cache.bytes < bytes as u64) {
                rows.push(mark(cache));
            }
            let cells = series.iter().filter_map(|series| series.points.get(index)).flat_map(|point| {
                let shown = point.cell.show(notes, &P50);
                let count = point.cell.medians.as_ref().map(|medians| medians.show(&RECEIVED));
                [shown, count.unwrap_or_default()]
            });
            rows.push([point.message.clone(), bytes.to_string()].into_iter().chain(cells).collect());
        }
        rows.extend(caches.map(mark));
        rows
    }
}

/// The row of a cache.
fn mark(cache: &Cache) -> Vec<String> {
    vec![format!("--- {} ---", cache.name), cache.bytes.to_string()]
}

fn series_name<'a>(series: &[&'a Series]) -> &'a str {
    series.first().map_or("", |series| series.contestant.as_str())
}

/// The conditions of a contestant, its knees, and the notes on its runs.
fn sentences(series: &[&Series]) -> Vec<String> {
    let points = series.iter().flat_map(|series| &series.points);
    let notes = notes_of(series_name(series), points.clone().map(|point| &point.cell));
    let measured = points.clone().find(|point| point.cell.medians.is_some());
    let conditions = measured.map(|point| point.cell.conditions("publishing"));
    conditions.into_iter().chain(series.iter().filter_map(|series| series.knee_sentence())).chain(notes).collect()
}

impl Series {
    /// The knee, or the reason why there is none; no sentence of a way that was not measured.
    fn knee_sentence(&self) -> Option<String> {
        let way = self.way.name();
        let least = crate::measure::knee::MIN_POINTS;
        let Some(knee) = self.knee else {
            return match self.points.iter().filter_map(super::Point::latency).count() {
                0 => None,
                points if points < least => Some(format!("{way}: no knee can be found from fewer than {least} sizes")),
                _ => Some(format!("{way}: no knee, one line explains the latencies as well")),
            };
        };
        let nearest = self.nearest_cache.as_ref().map_or(String::new(), |cache| {
            format!("; the nearest cache is {} with {}", cache.name, size(cache.bytes as f64))
        });
        let (before, after) = (knee.slope_before, knee.slope_after);
        Some(format!(
            "{way}: knee at {}: latency grows with the size to the power of {before:.2} before and {after:.2} after it{nearest}",
            size(knee.at)
        ))
    }
}

/// A size with its unit.
fn size(bytes: f64) -> String {
    if bytes < 1024.0 * 1024.0 {
        format!("{:.0} KiB", bytes / 1024.0)
    } else {
        format!("{:.1} MiB", bytes / 1024.0 / 1024.0)
    }
}
