//! The upper part of a topology's plot: a row for each subscription, with its latencies and its late, too late and lost
//! messages.

use plotters::prelude::{Circle, Color, PathElement, RGBColor, Rectangle, Text};

use super::panel::{Area, BLUE, Drawing, GRID, INK, MARGIN, ORANGE, PALE, RED, text};
use super::series::bounds;
use crate::common::units::format_ns;
use crate::log::{NodeAndTopic, SubscriptionEntry, Summary};

/// The height of a subscription's row, px.
const ROW: i32 = 20;
/// The height of titles, legends and axis marks above the rows, px.
const HEAD: i32 = 84;
/// The largest number of subscriptions that the plot shows. If there are more, it shows the worst: first by the number
/// of lost messages, then by the 99th percentile. The log has all.
const MAX_ROWS: usize = 60;
/// The left and right ends of two columns (latencies, late messages), and the left end of the column of counts, px.
const LATENCY: (i32, i32) = (310, 790);
const LATE: (i32, i32) = (830, 1060);
const COUNTS: i32 = 1076;
/// The distance between two legend entries, from start to start, px.
const LEGEND_STEP: i32 = 92;

/// The row of a subscription.
struct TopicRow {
    name: String,
    /// The median, 99th percentile and maximum of the latency, ns; `None` if nothing was received.
    latency_ns: Option<[f64; 3]>,
    period_ns: Option<f64>,
    /// The late and the too late messages, as percentages of the received messages.
    late_percent: [f64; 2],
    counts: String,
}

/// The rows of all subscriptions of a topology.
pub struct Topics {
    rows: Vec<TopicRow>,
    left_out: usize,
}

impl Topics {
    /// Creates the rows from a summary.
    pub fn from_summary(summary: &Summary) -> Topics {
        let mut shown: Vec<&SubscriptionEntry> = summary.subscriptions.iter().filter(|of| of.place.is_some()).collect();
        let left_out = shown.len().saturating_sub(MAX_ROWS);
        if left_out > 0 {
            shown.sort_by_key(|of| std::cmp::Reverse((of.lost, of.p99_ns)));
            shown.truncate(MAX_ROWS);
        }
        shown.sort_by(|one, other| one.place.as_ref().map(names).cmp(&other.place.as_ref().map(names)));
        Topics { rows: shown.into_iter().map(TopicRow::from_entry).collect(), left_out }
    }

    /// The height of this part of the plot, px; 0 if there are no subscriptions.
    pub fn height(&self) -> u32 {
        if self.rows.is_empty() { 0 } else { (self.below() + MARGIN).unsigned_abs() }
    }

    fn below(&self) -> i32 {
        HEAD + ROW * i32::try_from(self.rows.len()).unwrap_or(0)
    }

    /// Draws the rows into a rectangle of the SVG.
    pub fn draw(&self, area: &Area<'_>) -> Drawing {
        if self.rows.is_empty() {
            return Ok(());
        }
        let worst = match self.left_out {
            0 => String::new(),
            n => format!(", without {n} faster ones"),
        };
        legend(area, MARGIN, &format!("Subscriptions{worst}"), &[])?;
        legend(
            area,
            LATENCY.0,
            "Latency from send time (log scale)",
            &[("p50", BLUE), ("p99", ORANGE), ("max", RED), ("period", PALE)],
        )?;
        legend(area, LATE.0, "Late messages (% of received)", &[("late", ORANGE), ("too late", RED)])?;
        legend(area, COUNTS, "late, too late, lost", &[])?;
        self.axis_of_latencies(area)?;
        self.axis_of_late(area)?;
        for (row, index) in self.rows.iter().zip(0..) {
            self.draw_row(area, row, HEAD + ROW * index + ROW / 2)?;
        }
        Ok(())
    }

    fn draw_row(&self, area: &Area<'_>, row: &TopicRow, y: i32) -> Drawing {
        area.draw(&Text::new(row.name.clone(), (MARGIN, y - 6), text(13, &INK)))?;
        area.draw(&Text::new(row.counts.clone(), (COUNTS, y - 6), text(13, &INK)))?;
        if let Some(period_ns) = row.period_ns {
            let x = self.x_of_latency(period_ns);
            area.draw(&PathElement::new(vec![(x, y - 6), (x, y + 6)], PALE.stroke_width(2)))?;
        }
        match row.latency_ns {
            None => area.draw(&Text::new("nothing was received", (LATENCY.0, y - 6), text(13, &PALE)))?,
            Some(latency_ns) => {
                let [p50, p99, max] = latency_ns.map(|ns| self.x_of_latency(ns));
                area.draw(&PathElement::new(vec![(p50, y), (max, y)], GRID.stroke_width(3)))?;
                for (x, colour) in [(max, RED), (p99, ORANGE), (p50, BLUE)] {
                    area.draw(&Circle::new((x, y), 4, colour.filled()))?;
                }
            }
        }
        let [late, too_late] = row.late_percent;
        let (start, middle, end) =
            (self.x_of_percent(0.0), self.x_of_percent(late), self.x_of_percent(late + too_late));
        for (from, to, colour) in [(start, middle, ORANGE), (middle, end, RED)] {
            if to > from {
                area.draw(&Rectangle::new([(from, y - 6), (to, y + 6)], colour.filled()))?;
            }
        }
        Ok(())
    }

    fn axis_of_latencies(&self, area: &Area<'_>) -> Drawing {
        let (first, last) = self.decades();
        for decade in first..=last {
            let ns = 10_f64.powi(decade);
            mark(area, self.x_of_latency(ns), &format_ns(ns).replace(".00", "").replace(".0 ", " "), self.below())?;
        }
        Ok(())
    }

    fn axis_of_late(&self, area: &Area<'_>) -> Drawing {
        let highest = self.highest_percent();
        for percent in [0.0, highest / 2.0, highest] {
            mark(area, self.x_of_percent(percent), &format!("{percent}"), self.below())?;
        }
        Ok(())
    }

    /// The exponents of two powers of ten (in ns). All latencies and periods are between these powers.
    fn decades(&self) -> (i32, i32) {
        let all = self.rows.iter().flat_map(|row| row.latency_ns.into_iter().flatten().chain(row.period_ns));
        let decades = |(low, high): (f64, f64)| (low.log10().floor() as i32, high.log10().ceil() as i32);
        bounds(all.filter(|ns| *ns >= 1.0)).map_or((3, 6), decades)
    }

    fn x_of_latency(&self, ns: f64) -> i32 {
        let (first, last) = self.decades();
        let part = (ns.max(1.0).log10() - f64::from(first)) / f64::from((last - first).max(1));
        LATENCY.0 + (part.clamp(0.0, 1.0) * f64::from(LATENCY.1 - LATENCY.0)).round() as i32
    }

    /// The end of the axis of late messages: a round percentage that no row exceeds.
    fn highest_percent(&self) -> f64 {
        let highest = self.rows.iter().map(|row| row.late_percent.iter().sum()).fold(0.0, f64::max);
        [0.1, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0].into_iter().find(|percent| highest <= *percent).unwrap_or(100.0)
    }

    fn x_of_percent(&self, percent: f64) -> i32 {
        let part = (percent / self.highest_percent()).clamp(0.0, 1.0);
        LATE.0 + (part * f64::from(LATE.1 - LATE.0)).round() as i32
    }
}

fn names(place: &NodeAndTopic) -> (&str, &str) {
    (&place.topic, &place.node)
}

/// A column title, with the names and colours of its figures below.
fn legend(area: &Area<'_>, x: i32, title: &str, names: &[(&str, RGBColor)]) -> Drawing {
    area.draw(&Text::new(title.to_owned(), (x, 4), text(16, &INK)))?;
    for ((name, colour), index) in names.iter().zip(0..) {
        let x = x + LEGEND_STEP * index;
        area.draw(&Circle::new((x + 5, 38), 5, colour.filled()))?;
        area.draw(&Text::new((*name).to_owned(), (x + 16, 31), text(13, &INK)))?;
    }
    Ok(())
}

/// A vertical grid line with its value above.
fn mark(area: &Area<'_>, x: i32, value: &str, below: i32) -> Drawing {
    area.draw(&PathElement::new(vec![(x, HEAD - 6), (x, below)], GRID.stroke_width(1)))?;
    let half = 3 * i32::try_from(value.chars().count()).unwrap_or(0);
    area.draw(&Text::new(value.to_owned(), (x - half, HEAD - 22), text(12, &PALE)))
}

impl TopicRow {
    fn from_entry(entry: &SubscriptionEntry) -> TopicRow {
        let received = &entry.received;
        let name = entry.place.as_ref().map(|place| format!("{} → {}", place.topic, place.node)).unwrap_or_default();
        let percent = |count: u64| 100.0 * count as f64 / received.samples.max(1) as f64;
        let latencies = entry.p50_ns.zip(entry.p99_ns).zip(entry.latency.max_ns);
        TopicRow {
            name,
            latency_ns: latencies.map(|((p50, p99), max)| [(p50 as f64).min(max), (p99 as f64).min(max), max]),
            period_ns: entry.overload.as_ref().map(|overload| overload.period_ns),
            late_percent: [percent(received.late), percent(received.too_late)],
            counts: format!("{}, {}, {}", received.late, received.too_late, entry.lost),
        }
    }
}
