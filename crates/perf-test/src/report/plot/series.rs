//! The lines of a plot, extracted from a log.
//!
//! Neighbouring rows are merged into one point if a run has more rows than a panel can show. Their histograms are
//! added, so no sample is left out.

use plotters::prelude::RGBColor;

use super::panel::{Axis, BLUE, ORANGE, Panel, PlotLine, RED, Shade};
use crate::log::{Distribution, Log, RowEntry};
use crate::measure::percentiles::MIN_TAIL_SAMPLES;
use perf_worker::measure::histogram::Latencies;

const TIME: &str = "time since the start (s)";
/// The largest number of points on a line over time.
const MAX_POINTS: usize = 600;

/// The values of one point in time.
struct Moment {
    t_s: f64,
    /// The median, the 99th percentile and the maximum of the latency, ns; `None` if nothing was received.
    latency_ns: Option<[f64; 3]>,
    core_percent: f64,
    kernel_percent: f64,
    rss_mib: f64,
    anonymous_mib: f64,
    shared_mib: f64,
}

/// A quantity over time: its name, its colour, and the function that returns its value.
type Figure = (&'static str, RGBColor, fn(&Moment) -> f64);

/// All values that the plot shows.
pub struct Series {
    moments: Vec<Moment>,
    /// The histogram of all latencies from the send time.
    pub latency: Latencies,
    response: Latencies,
    longest_ns: [f64; 2],
    /// The number of lost samples.
    pub lost: u64,
}

impl Series {
    /// Extracts the values from a log, which may lack a summary.
    pub fn from_log(log: &Log) -> Series {
        let group = log.rows.len().div_ceil(MAX_POINTS).max(1);
        let total = log.summary.as_ref().map(|summary| &summary.total);
        let whole = |which: fn(&RowEntry) -> &Distribution, of_summary: Option<&Distribution>| {
            let found: Vec<&Distribution> = match of_summary {
                Some(whole) => vec![whole],
                None => log.rows.iter().map(which).collect(),
            };
            (added_up(&found), longest_ns(&found))
        };
        let (latency, longest) = whole(|row| &row.total.latency, total.map(|total| &total.latency));
        let (response, longest_response) = whole(|row| &row.total.response, total.map(|total| &total.response));
        let lost = |row: &RowEntry| row.total.received.missed.saturating_sub(row.total.received.reordered);
        Series {
            moments: log.rows.chunks(group).map(moment).collect(),
            latency,
            response,
            longest_ns: [longest, longest_response],
            lost: log.summary.as_ref().map_or_else(|| log.rows.iter().map(lost).sum(), |summary| summary.lost),
        }
    }

    /// The panel with the median, the 99th percentile and the maximum of the latency in each second.
    pub fn latency_over_time(&self) -> Panel {
        let line = |name: &str, colour, which: fn(&[f64; 3]) -> f64| PlotLine {
            name: String::from(name),
            colour,
            points: self.over_time(|moment| moment.latency_ns.as_ref().map(|latency| which(latency).max(1.0).log10())),
        };
        let lines = vec![
            line("max", RED, |[_, _, max]| *max),
            line("p99", ORANGE, |[_, p99, _]| *p99),
            line("p50", BLUE, |[p50, _, _]| *p50),
        ];
        Panel::new("Latency from send time (log scale)", TIME, [self.time_axis(), times_axis(&lines)], lines)
    }

    /// The panel with the latency by percentile.
    pub fn latency_by_percentile(&self) -> Panel {
        let [longest_ns, longest_response_ns] = self.longest_ns;
        let mut lines = Vec::new();
        if self.response.n() > 0 {
            let points = by_percentile(&self.response, longest_response_ns);
            lines.push(PlotLine { name: "from due time".to_owned(), colour: ORANGE, points });
        }
        let points = by_percentile(&self.latency, longest_ns);
        lines.push(PlotLine { name: "from send time".to_owned(), colour: BLUE, points });
        let n = self.latency.n() as f64;
        let shade =
            (n > 0.0).then(|| Shade { from: (n / MIN_TAIL_SAMPLES).log10().max(0.0), name: "fewer than 10 beyond" });
        let nines = (self.latency.n().max(self.response.n()).max(100) as f64).log10().ceil();
        let x = Axis { range: (0.0, nines), marks: (0..=nines as u32).map(f64::from).collect(), mark: percent };
        let across = "percent of all samples that are not slower";
        Panel { shade, ..Panel::new("Latency by percentile (log scale)", across, [x, times_axis(&lines)], lines) }
    }

    /// The panel with the CPU time of all workers.
    pub fn cpu_over_time(&self) -> Panel {
        let figures: [Figure; 2] =
            [("user and kernel", BLUE, |m| m.core_percent), ("kernel", ORANGE, |m| m.kernel_percent)];
        self.figures_over_time("CPU of all workers (% of one core)", &figures)
    }

    /// The panel with the memory of all workers.
    pub fn memory_over_time(&self) -> Panel {
        let figures: [Figure; 3] = [
            ("resident", BLUE, |m| m.rss_mib),
            ("private part", ORANGE, |m| m.anonymous_mib),
            ("shared part", RED, |m| m.shared_mib),
        ];
        self.figures_over_time("Memory, sum of all workers (MiB)", &figures)
    }

    /// A panel of quantities over time, whose vertical axis begins at zero.
    fn figures_over_time(&self, title: &str, figures: &[Figure]) -> Panel {
        let line = |(name, colour, figure): &Figure| {
            let points = self.over_time(|moment| Some(figure(moment)));
            PlotLine { name: String::from(*name), colour: *colour, points }
        };
        let lines: Vec<PlotLine> = figures.iter().map(line).collect();
        Panel::new(title, TIME, [self.time_axis(), from_zero(&lines)], lines)
    }

    fn over_time(&self, which: impl Fn(&Moment) -> Option<f64>) -> Vec<(f64, f64)> {
        self.moments.iter().filter_map(|moment| Some((moment.t_s, which(moment)?))).collect()
    }

    fn time_axis(&self) -> Axis {
        let first = self.moments.first().map_or(0.0, |moment| (moment.t_s - 1.0).max(0.0));
        let last = self.moments.last().map_or(1.0, |moment| moment.t_s).max(first + 1.0);
        Axis { range: (first, last), marks: marks(first, last), mark: plain }
    }
}

fn moment(rows: &[RowEntry]) -> Moment {
    let sum = |which: fn(&RowEntry) -> f64| rows.iter().map(which).sum::<f64>();
    let length_s = sum(|row| row.length_s).max(f64::MIN_POSITIVE);
    let mib = |which: fn(&RowEntry) -> u64| rows.iter().map(which).max().unwrap_or(0) as f64 / 1024.0;
    let latencies: Vec<&Distribution> = rows.iter().map(|row| &row.total.latency).collect();
    let (histogram, longest_ns) = (added_up(&latencies), longest_ns(&latencies));
    let quantile = |part| (histogram.quantile_ns(part) as f64).min(longest_ns);
    Moment {
        t_s: rows.last().map_or(0.0, |row| row.t_s),
        latency_ns: (histogram.n() > 0).then(|| [quantile(0.5), quantile(0.99), longest_ns]),
        core_percent: sum(|row| row.core_percent * row.length_s) / length_s,
        kernel_percent: sum(|row| row.core_percent * in_kernel(row) * row.length_s) / length_s,
        rss_mib: mib(|row| row.memory.rss_kib),
        anonymous_mib: mib(|row| row.memory.anonymous_kib),
        shared_mib: mib(|row| row.memory.shared_kib),
    }
}

/// The fraction of the CPU time that was spent in the kernel.
fn in_kernel(row: &RowEntry) -> f64 {
    let used = &row.used;
    used.system_ns as f64 / ((used.user_ns + used.system_ns) as f64).max(1.0)
}

fn added_up(parts: &[&Distribution]) -> Latencies {
    let mut sum = Latencies::default();
    parts.iter().for_each(|part| sum.add_cells(&part.cells));
    sum
}

fn longest_ns(parts: &[&Distribution]) -> f64 {
    parts.iter().filter_map(|part| part.max_ns).fold(0.0, f64::max)
}

/// The points of the curve of latency by percentile: the number of nines (99 % has two), and the logarithm of the
/// latency in ns. The last point is the longest latency.
fn by_percentile(latencies: &Latencies, longest_ns: f64) -> Vec<(f64, f64)> {
    let n = latencies.n() as f64;
    let mut points = Vec::new();
    let mut up_to = 0;
    for (ns, count) in latencies.cells() {
        let nines = |samples: u64| -((n - samples as f64).max(1.0) / n).log10();
        let height = (ns as f64).min(longest_ns).max(1.0).log10();
        points.push((nines(up_to), height));
        up_to += count;
        points.push((nines(up_to), height));
    }
    points
}

/// A logarithmic axis that contains all times of these lines, whose y values are logarithms of ns.
fn times_axis(lines: &[PlotLine]) -> Axis {
    log_axis(lines.iter().flat_map(|line| &line.points).map(|(_, height)| *height), time)
}

/// The lowest and the highest of these values; `None` if there are none.
pub fn bounds(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.map(|value| (value, value)).reduce(|(low, high), (value, _)| (low.min(value), high.max(value)))
}

/// An axis that contains these logarithms.
pub fn log_axis(places: impl Iterator<Item = f64>, mark: fn(f64) -> String) -> Axis {
    let (low, high) = bounds(places).unwrap_or((3.0, 6.0));
    let (low, high) = (low - 0.1, high + 0.1);
    let marked = |steps: &[f64]| -> Vec<f64> {
        let decades = low.floor() as i32..=high.ceil() as i32;
        let all = decades.flat_map(|decade| steps.iter().map(move |step| f64::from(decade) + step.log10()));
        all.filter(|mark| (low..=high).contains(mark)).collect()
    };
    let steps: [&[f64]; 3] = [&[1.0], &[1.0, 2.0, 5.0], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]];
    let marks = steps.map(marked);
    let marks = marks.iter().find(|marks| marks.len() > 3).or(marks.last()).cloned().unwrap_or_default();
    Axis { range: (low, high), marks, mark }
}

fn from_zero(lines: &[PlotLine]) -> Axis {
    let highest = lines.iter().flat_map(|line| &line.points).map(|(_, height)| *height).fold(0.0, f64::max);
    let high = if highest > 0.0 { highest * 1.1 } else { 1.0 };
    Axis { range: (0.0, high), marks: marks(0.0, high), mark: plain }
}

/// About six round numbers within the range.
pub fn marks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    let decade = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * decade).find(|step| *step >= rough).unwrap_or(rough);
    let first = (low / step).ceil() as i64;
    (first..).map(|i| i as f64 * step).take_while(|mark| *mark <= high + step * 1e-9).collect()
}

/// A number as text, rounded to three decimals.
pub fn plain(value: f64) -> String {
    let rounded = (value * 1000.0).round() / 1000.0;
    if rounded.abs() >= 10_000.0 { super::thousands(rounded as u64) } else { rounded.to_string() }
}

/// A time as text, from the logarithm of its nanoseconds.
pub fn time(height: f64) -> String {
    let ns = 10_f64.powf(height);
    let (value, unit) = match ns {
        ns if ns < 999.5 => (ns, "ns"),
        ns if ns < 999_500.0 => (ns / 1e3, "µs"),
        ns if ns < 999_500_000.0 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", plain(value))
}

/// The percentile with this number of nines, as text.
fn percent(nines: f64) -> String {
    match nines.round() as i32 {
        0 => "0".to_owned(),
        1 => "90".to_owned(),
        2 => "99".to_owned(),
        more => format!("99.{}", "9".repeat(usize::try_from(more - 2).unwrap_or(0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_within_the_range() {
        assert_eq!(marks(0.0, 30.0), [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0]);
        assert_eq!(marks(0.0, 0.7).len(), 4);
        assert_eq!(marks(4.0, 5.0).len(), 6);
        assert_eq!([2.0, 0.2, 12_000.0].map(plain), ["2", "0.2", "12,000"]);
        assert_eq!([3.0, 2_f64.log10() + 4.0, 6.0, 9.0, 0.0].map(time), ["1 µs", "20 µs", "1 ms", "1 s", "1 ns"]);
        assert_eq!([0.0, 1.0, 2.0, 3.0, 5.0].map(percent), ["0", "90", "99", "99.9", "99.999"]);
    }

    #[test]
    fn a_percentile_line_goes_through_the_percentiles() {
        let mut latencies = Latencies::default();
        (0..90).for_each(|_| latencies.record(1000));
        (0..10).for_each(|_| latencies.record(100_000));
        let points = by_percentile(&latencies, 100_000.0);
        let near = |(x, y): (f64, f64), (a, b): (f64, f64)| (x - a).abs() < 1e-9 && (y - b).abs() < 1e-3;
        assert!(near(points[0], (0.0, 3.0)) && near(points[1], (1.0, 3.0)), "{points:?}");
        assert!(near(points[2], (1.0, 5.0)) && near(points[3], (2.0, 5.0)), "{points:?}");
    }
}
