//! A picture of the cost of topologies over their size: CPU time, memory, latency and start-up. All axes are
//! logarithmic.

use plotters::prelude::{IntoDrawingArea, RGBColor, SVGBackend, WHITE};

use super::panel::{BLUE, Drawing, GREEN, Line, ORANGE, Panel, RED};
use super::series::{log_axis, plain, times_axis};

const SIZE: (u32, u32) = (1280, 960);
const COLOURS: [RGBColor; 4] = [BLUE, ORANGE, RED, GREEN];

/// A chart of one quantity.
#[derive(Debug)]
pub struct Chart {
    /// The quantity with its unit.
    pub title: String,
    /// It is a time in ns.
    pub is_time: bool,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// A curve.
#[derive(Debug)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Numbers of endpoints, and values; those of 0 are left out.
    pub points: Vec<(f64, f64)>,
}

/// Draws up to four charts as SVG.
///
/// # Errors
/// A sentence, if they cannot be drawn.
pub fn draw(charts: &[Chart]) -> Result<String, String> {
    let panels: Vec<Panel> = charts.iter().map(panel).collect();
    let mut picture = String::new();
    let root = SVGBackend::with_string(&mut picture, SIZE).into_drawing_area();
    let drawn = || -> Drawing {
        root.fill(&WHITE)?;
        for (area, panel) in root.split_evenly((2, 2)).iter().zip(&panels) {
            panel.draw(area)?;
        }
        root.present()
    };
    drawn().map_err(|error| format!("cannot draw the cost over the size: {error}"))?;
    drop(root);
    Ok(picture)
}

fn panel(chart: &Chart) -> Panel {
    let line = |(curve, colour): (&Curve, &RGBColor)| Line {
        name: curve.name.clone(),
        colour: *colour,
        points: curve
            .points
            .iter()
            .filter(|(x, y)| *x > 0.0 && *y > 0.0)
            .map(|(x, y)| (x.log10(), y.log10()))
            .collect(),
    };
    let lines: Vec<Line> = chart.curves.iter().zip(COLOURS.iter().cycle()).map(line).collect();
    let places = |of: fn(&(f64, f64)) -> f64| lines.iter().flat_map(|line| &line.points).map(of);
    let x = log_axis(places(|(x, _)| *x), number);
    let y = if chart.is_time { times_axis(&lines) } else { log_axis(places(|(_, y)| *y), number) };
    Panel { title: chart.title.clone(), across: "endpoints", x, y, shade: None, marks: Vec::new(), lines }
}

/// The number whose logarithm this is.
fn number(place: f64) -> String {
    plain(10_f64.powf(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_its_charts_and_round_numbers() {
        let chart = |title: &str, is_time| Chart {
            title: title.to_owned(),
            is_time,
            curves: vec![Curve {
                name: "10 Hz".to_owned(),
                points: vec![(100.0, 2e6), (1000.0, 3e7), (10_000.0, 0.0)],
            }],
        };
        let picture = draw(&[chart("memory (KiB)", false), chart("start-up", true)]).unwrap();
        for words in ["memory (KiB)", "start-up", "10 Hz", "endpoints", "10 ms", "10,000,000"] {
            assert!(picture.contains(words), "{words}: {picture}");
        }
        assert!(draw(&[]).is_ok());
    }
}
