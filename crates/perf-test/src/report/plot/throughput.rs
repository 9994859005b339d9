//! A picture of throughput over the length of messages: charts with measured and published curves. All axes are
//! logarithmic.

use plotters::prelude::{IntoDrawingArea, RGBColor, SVGBackend, WHITE};

use super::panel::{BLUE, Drawing, GREEN, Line, ORANGE, Panel, RED};
use super::series::{log_axis, plain};

const SIZE: (u32, u32) = (1280, 520);
const COLOURS: [RGBColor; 4] = [BLUE, ORANGE, GREEN, RED];

/// A chart.
#[derive(Debug)]
pub struct Chart {
    /// Its title.
    pub title: String,
    /// Its curves: each measured one, with the published ones to compare with in a paler colour.
    pub curves: Vec<(Curve, Vec<Curve>)>,
}

/// A curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Bytes of a message, and bytes per second.
    pub points: Vec<(f64, f64)>,
}

/// Draws charts as SVG, side by side.
///
/// # Errors
/// A sentence, if they cannot be drawn.
pub fn draw(charts: &[Chart]) -> Result<String, String> {
    let panels: Vec<Panel> = charts.iter().map(panel).collect();
    let mut picture = String::new();
    let root = SVGBackend::with_string(&mut picture, SIZE).into_drawing_area();
    let drawn = || -> Drawing {
        root.fill(&WHITE)?;
        for (area, panel) in root.split_evenly((1, panels.len().max(1))).iter().zip(&panels) {
            panel.draw(area)?;
        }
        root.present()
    };
    drawn().map_err(|error| format!("cannot draw the throughput: {error}"))?;
    drop(root);
    Ok(picture)
}

fn panel(chart: &Chart) -> Panel {
    let mut lines = Vec::new();
    for ((measured, published), colour) in chart.curves.iter().zip(COLOURS.iter().cycle()) {
        lines.push(line(measured, *colour));
        lines.extend(published.iter().map(|curve| line(curve, pale(*colour))));
    }
    let places = |of: fn(&(f64, f64)) -> f64| lines.iter().flat_map(|line| &line.points).map(of);
    let number = |place: f64| plain(10_f64.powf(place));
    let (x, y) = (log_axis(places(|(x, _)| *x), number), log_axis(places(|(_, y)| *y), number));
    Panel { title: chart.title.clone(), across: "bytes of a text", x, y, shade: None, marks: Vec::new(), lines }
}

fn line(curve: &Curve, colour: RGBColor) -> Line {
    let known = curve.points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0);
    Line { name: curve.name.clone(), colour, points: known.map(|(x, y)| (x.log10(), y.log10())).collect() }
}

/// Half way to white.
fn pale(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let half = |part: u8| part / 2 + 127;
    RGBColor(half(red), half(green), half(blue))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_measured_and_published_curves() {
        let curve = |name: &str| Curve { name: name.to_owned(), points: vec![(10.0, 3300.0), (400.0, 10_800.0)] };
        let title = "stream-oriented transports (B/s)".to_owned();
        let chart = Chart { title, curves: vec![(curve("serial"), vec![curve("serial, published")])] };
        let picture = draw(&[chart]).unwrap();
        for words in ["stream-oriented transports (B/s)", "serial, published", "bytes of a text", "10,000"] {
            assert!(picture.contains(words), "{words}: {picture}");
        }
        assert!(draw(&[]).is_ok());
    }
}
