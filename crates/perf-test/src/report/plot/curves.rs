//! An SVG of charts with curves, in rows and columns. The axes are logarithmic, so a point at 0 is left out.

use plotters::prelude::RGBColor;

use super::{
    panel::{Axis, BLUE, GREEN, Mark, ORANGE, Panel, PlotLine, RED, picture},
    series::{bounds, log_axis, plain, time},
};

const WIDTH: u32 = 1280;
/// The colours of the curves, in order. Gantry's curve comes first and has the same colour as in the other plots.
const COLOURS: [RGBColor; 4] = [ORANGE, BLUE, RED, GREEN];
/// The distance between two marks on an axis of bytes, in powers of two.
const MARK_STEP: i32 = 2;

/// A chart with several curves.
#[derive(Debug)]
pub struct Chart {
    /// The title of the chart.
    pub title: String,
    /// The quantity on the horizontal axis, with its unit.
    pub across: &'static str,
    /// The scales of the horizontal and the vertical axis.
    pub scales: [Scale; 2],
    /// The curves.
    pub curves: Vec<Curve>,
    /// Vertical lines: the name of each, and its value on the horizontal axis.
    pub marks: Vec<(String, f64)>,
}

/// A curve of a chart.
#[derive(Debug)]
pub struct Curve {
    /// The name of the curve.
    pub name: String,
    /// The points: values on the horizontal and the vertical axis.
    pub points: Vec<(f64, f64)>,
    /// Whether the curve has a pale shade of the previous curve's colour, so that the two curves can be compared.
    pub is_pale: bool,
}

/// The kind of quantity on an axis.
#[derive(Clone, Copy, Debug)]
pub enum Scale {
    /// A plain number.
    Number,
    /// A time, ns.
    Time,
    /// Bytes, with marks at powers of two.
    Bytes,
}

/// The arrangement of the charts.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The number of columns.
    pub columns: usize,
    /// The height of a row, px.
    pub height: u32,
    /// Whether all charts have the same axes.
    pub has_equal_axes: bool,
}

impl Curve {
    /// Creates a curve with its own colour.
    #[must_use]
    pub fn new(name: String, points: Vec<(f64, f64)>) -> Curve {
        Curve { name, points, is_pale: false }
    }
}

/// Draws the charts as SVG.
///
/// # Errors
/// The reason, as a sentence, why the charts cannot be drawn.
pub fn draw(charts: &[Chart], layout: Layout) -> Result<String, String> {
    let panels = panels(charts, layout.has_equal_axes);
    let rows = panels.len().div_ceil(layout.columns).max(1);
    picture((WIDTH, layout.height * u32::try_from(rows).unwrap_or(1)), |root| {
        root.split_evenly((rows, layout.columns)).iter().zip(&panels).try_for_each(|(area, panel)| panel.draw(area))
    })
}

fn panels(charts: &[Chart], has_equal_axes: bool) -> Vec<Panel> {
    let lines: Vec<Vec<PlotLine>> = charts.iter().map(Chart::lines).collect();
    let panel = |(chart, own): (&Chart, &Vec<PlotLine>)| {
        let around: Vec<&PlotLine> =
            if has_equal_axes { lines.iter().flatten().collect() } else { own.iter().collect() };
        let points = || around.iter().flat_map(|line| &line.points);
        let [x, y] = chart.scales;
        let axes = [x.axis(points().map(|(x, _)| *x)), y.axis(points().map(|(_, y)| *y))];
        let marks = chart.marks.iter().map(|(name, value)| Mark { at: x.log(*value), name: name.clone() }).collect();
        Panel { marks, ..Panel::new(&chart.title, chart.across, axes, own.clone()) }
    };
    charts.iter().zip(&lines).map(panel).collect()
}

impl Chart {
    fn lines(&self) -> Vec<PlotLine> {
        let [x_scale, y_scale] = self.scales;
        let (mut colours, mut own) = (COLOURS.into_iter().cycle(), ORANGE);
        let line = |curve: &Curve| {
            own = if curve.is_pale { own } else { colours.next().unwrap_or(own) };
            let colour = if curve.is_pale { pale(own) } else { own };
            let known = curve.points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0);
            let points = known.map(|(x, y)| (x_scale.log(*x), y_scale.log(*y))).collect();
            PlotLine { name: curve.name.clone(), colour, points }
        };
        self.curves.iter().map(line).collect()
    }
}

impl Scale {
    fn log(self, value: f64) -> f64 {
        if matches!(self, Scale::Bytes) { value.log2() } else { value.log10() }
    }

    /// An axis that contains all `places`, which are logarithms.
    fn axis(self, places: impl Iterator<Item = f64>) -> Axis {
        match self {
            Scale::Number => log_axis(places, |place| plain(10_f64.powf(place))),
            Scale::Time => log_axis(places, time),
            Scale::Bytes => bytes_axis(places),
        }
    }
}

/// An axis of bytes. The `places` are logarithms to the base 2.
fn bytes_axis(places: impl Iterator<Item = f64>) -> Axis {
    let (low, high) = bounds(places).map_or((9.5, 23.5), |(low, high)| (low - 0.5, high + 0.5));
    let marks = (low.floor() as i32..=high.ceil() as i32).filter(|mark| mark.rem_euclid(MARK_STEP) == 0);
    let marks = marks.map(f64::from).filter(|mark| (low..=high).contains(mark)).collect();
    Axis { range: (low, high), marks, mark: bytes }
}

/// A number of bytes as text, from its logarithm to the base 2.
fn bytes(power: f64) -> String {
    let bytes = 2_f64.powf(power).round();
    match bytes {
        bytes if bytes < 1024.0 => format!("{bytes:.0}"),
        bytes if bytes < 1024.0 * 1024.0 => format!("{:.0} Ki", bytes / 1024.0),
        bytes => format!("{:.0} Mi", bytes / 1024.0 / 1024.0),
    }
}

/// A colour half-way between the given one and white.
fn pale(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let half = |part: u8| part / 2 + 127;
    RGBColor(half(red), half(green), half(blue))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(title: &str, scales: [Scale; 2], curves: Vec<Curve>) -> Chart {
        Chart { title: title.to_owned(), across: "length", scales, curves, marks: Vec::new() }
    }

    #[test]
    fn charts_of_a_picture_may_have_one_scale_and_marks_within_it() {
        let of_size = |title: &str, ns: f64| Chart {
            marks: vec![("L2".to_owned(), 524_288.0), ("L3".to_owned(), 1e9)],
            ..chart(
                title,
                [Scale::Bytes, Scale::Time],
                vec![Curve::new("inter-process".to_owned(), vec![(1024.0, ns), (4_194_304.0, 9.0 * ns)])],
            )
        };
        let charts = [of_size("one", 1e3), of_size("two", 1e6)];
        let equal = panels(&charts, true);
        assert_eq!((equal[0].y.range, equal[0].x.range), (equal[1].y.range, equal[1].x.range));
        assert_ne!(panels(&charts, false)[0].y.range, equal[0].y.range);
        let layout = Layout { columns: 1, height: 520, has_equal_axes: true };
        let picture = draw(&charts, layout).unwrap();
        for words in ["one", "two", "length", "inter-process", "L2", "64 Ki", "1 Mi", "1 ms"] {
            assert!(picture.contains(words), "{words}");
        }
        assert!(!picture.contains("L3"));
        assert!(draw(&[], layout).is_ok());
    }

    #[test]
    fn numbers_and_times_are_round_and_a_pale_curve_follows_its_own() {
        let curve = |name: &str, is_pale| Curve {
            is_pale,
            ..Curve::new(name.to_owned(), vec![(100.0, 2e6), (1000.0, 3e7), (10_000.0, 0.0)])
        };
        let curves = || vec![curve("serial", false), curve("published", true), curve("tcp", false)];
        let charts = [Scale::Number, Scale::Time].map(|y| chart(&format!("{y:?}"), [Scale::Number, y], curves()));
        let lines = charts[0].lines();
        assert_eq!(lines[0].points.len(), 2);
        assert_eq!([lines[0].colour, lines[1].colour, lines[2].colour], [COLOURS[0], pale(COLOURS[0]), COLOURS[1]]);
        let picture = draw(&charts, Layout { columns: 2, height: 480, has_equal_axes: false }).unwrap();
        for words in ["Number", "Time", "serial", "published", "10 ms", "10,000,000"] {
            assert!(picture.contains(words), "{words}: {picture}");
        }
    }
}
