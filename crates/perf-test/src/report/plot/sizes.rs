//! A picture of latency over size: a chart for each contestant below each other, with a curve for each of its ways.
//! Both axes are logarithmic, and all charts have the same ones. The sizes of the caches are lines.

use plotters::prelude::{IntoDrawingArea, RGBColor, SVGBackend, WHITE};

use super::panel::{Axis, BLUE, Drawing, GREEN, Line, Mark, ORANGE, Panel, RED};
use super::series::times_axis;

const WIDTH: u32 = 1280;
const HEIGHT: u32 = 520;
/// The colours of the curves in their order.
const COLOURS: [RGBColor; 4] = [BLUE, ORANGE, RED, GREEN];
/// The step from one mark of the sizes to the next, in powers of two.
const MARK_STEP: usize = 2;

/// A chart.
#[derive(Debug)]
pub struct Chart {
    /// Its title.
    pub title: String,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Sizes with a line and a name, bytes.
    pub marks: Vec<(String, f64)>,
}

/// A curve.
#[derive(Debug)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Sizes in bytes and latencies in ns.
    pub points: Vec<(f64, f64)>,
}

/// Draws the charts as SVG.
///
/// # Errors
/// A sentence, if they cannot be drawn.
pub fn draw(charts: &[Chart]) -> Result<String, String> {
    let panels = panels(charts);
    let height = HEIGHT * u32::try_from(panels.len().max(1)).unwrap_or(1);
    let mut picture = String::new();
    let root = SVGBackend::with_string(&mut picture, (WIDTH, height)).into_drawing_area();
    let drawn = || -> Drawing {
        root.fill(&WHITE)?;
        for (area, panel) in root.split_evenly((panels.len().max(1), 1)).iter().zip(&panels) {
            panel.draw(area)?;
        }
        root.present()
    };
    drawn().map_err(|error| format!("cannot draw the latencies over size: {error}"))?;
    drop(root);
    Ok(picture)
}

fn panels(charts: &[Chart]) -> Vec<Panel> {
    let log = |(bytes, ns): &(f64, f64)| (bytes.max(1.0).log2(), ns.max(1.0).log10());
    let lines = |chart: &Chart| -> Vec<Line> {
        let curves = chart.curves.iter().zip(COLOURS.iter().cycle());
        curves
            .map(|(curve, colour)| Line {
                name: curve.name.clone(),
                colour: *colour,
                points: curve.points.iter().map(log).collect(),
            })
            .collect()
    };
    let all: Vec<Line> = charts.iter().flat_map(lines).collect();
    let (x, y) = (size_axis(&all), times_axis(&all));
    let panel = |chart: &Chart| Panel {
        title: chart.title.clone(),
        across: "size of the message (bytes)",
        x: x.clone(),
        y: y.clone(),
        shade: None,
        marks: chart.marks.iter().map(|(name, bytes)| Mark { at: bytes.log2(), name: name.clone() }).collect(),
        lines: lines(chart),
    };
    charts.iter().map(panel).collect()
}

/// An axis of sizes, whose values are logarithms to the base 2.
fn size_axis(lines: &[Line]) -> Axis {
    let places = || lines.iter().flat_map(|line| &line.points).map(|(place, _)| *place);
    let (low, high) = (places().fold(f64::INFINITY, f64::min), places().fold(f64::NEG_INFINITY, f64::max));
    let (low, high) = if low.is_finite() { (low - 0.5, high + 0.5) } else { (9.5, 23.5) };
    let marks = (low.floor() as i32..=high.ceil() as i32).filter(|mark| mark.rem_euclid(MARK_STEP as i32) == 0);
    let marks = marks.map(f64::from).filter(|mark| (low..=high).contains(mark)).collect();
    Axis { range: (low, high), marks, mark: size }
}

/// The size whose logarithm to the base 2 this is.
fn size(power: f64) -> String {
    let bytes = 2_f64.powf(power).round();
    match bytes {
        bytes if bytes < 1024.0 => format!("{bytes:.0}"),
        bytes if bytes < 1024.0 * 1024.0 => format!("{:.0} Ki", bytes / 1024.0),
        bytes => format!("{:.0} Mi", bytes / 1024.0 / 1024.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_have_one_scale_and_the_caches_within_it() {
        let chart = |title: &str, ns: f64| Chart {
            title: title.to_owned(),
            curves: vec![Curve {
                name: "inter-process".to_owned(),
                points: vec![(1024.0, ns), (4_194_304.0, 9.0 * ns)],
            }],
            marks: vec![("L2".to_owned(), 524_288.0), ("L3".to_owned(), 1e9)],
        };
        let charts = [chart("one", 1e3), chart("two", 1e6)];
        let panels = panels(&charts);
        assert_eq!((panels[0].y.range, panels[0].x.range), (panels[1].y.range, panels[1].x.range));
        let picture = draw(&charts).unwrap();
        for words in ["one", "two", "inter-process", "L2", "64 Ki", "1 Mi", "1 ms"] {
            assert!(picture.contains(words), "{words}");
        }
        assert!(!picture.contains("L3"));
        assert!(draw(&[]).is_ok());
    }
}
