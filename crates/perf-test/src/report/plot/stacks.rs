//! An SVG of charts with stacked bars. A bar shows the parts of a sum. It may have a mark at another sum, for
//! comparison.

use plotters::prelude::{Color, PathElement, RGBColor, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::panel::{Area, BLUE, Drawing, GREEN, GRID, INK, MARGIN, ORANGE, PALE, RED, picture, text};
use super::series::{marks, plain};

const WIDTH: u32 = 1280;
const TITLE: u32 = 56;
const HEIGHT: u32 = 400;
const COLUMNS: usize = 2;
const COLOURS: [RGBColor; 3] = [BLUE, ORANGE, GREEN];
/// The heights of title and legend, and of the names below the bars; the width of the axis marks; all in px.
const HEAD: i32 = 70;
const FOOT: i32 = 40;
const LEFT: i32 = 76;
/// The distance between two legend entries, from start to start, px.
const LEGEND_STEP: i32 = 110;

/// A chart with stacked bars.
#[derive(Debug)]
pub struct Chart {
    /// The title, with the quantities of both axes.
    pub title: String,
    /// The names of a bar's parts, from the lowest to the highest; at most three.
    pub parts: Vec<&'static str>,
    /// The name of the marks in the legend.
    pub mark: &'static str,
    /// The bars.
    pub bars: Vec<Bar>,
}

/// A stacked bar.
#[derive(Debug)]
pub struct Bar {
    /// The text below the bar.
    pub name: String,
    /// The values of the parts, from the lowest to the highest.
    pub parts: Vec<f64>,
    /// The sum with which the bar is compared.
    pub mark: Option<f64>,
}

/// Draws charts as one SVG below a title, two in each row.
///
/// # Errors
/// The reason, as a sentence, why the charts cannot be drawn.
pub fn draw(title: &str, charts: &[Chart]) -> Result<String, String> {
    let rows = charts.len().div_ceil(COLUMNS).max(1);
    let height = TITLE + HEIGHT * u32::try_from(rows).unwrap_or(1);
    picture((WIDTH, height), |root| {
        let (head, body) = root.split_vertically(TITLE);
        head.draw(&Text::new(title, (MARGIN, 16), text(22, &INK)))?;
        body.split_evenly((rows, COLUMNS)).iter().zip(charts).try_for_each(|(area, chart)| chart.draw(area))
    })
}

impl Chart {
    fn draw(&self, area: &Area<'_>) -> Drawing {
        let (width, height) = area.dim_in_pixel();
        let (right, bottom) = (width.cast_signed() - MARGIN, height.cast_signed() - FOOT);
        area.draw(&Text::new(self.title.clone(), (MARGIN, 10), text(18, &INK)))?;
        self.draw_legend(area)?;
        let sums = self.bars.iter().flat_map(|bar| [Some(bar.parts.iter().sum::<f64>()), bar.mark]).flatten();
        let highest = sums.fold(1.0, f64::max) * 1.05;
        let y = |value: f64| bottom - (value / highest * f64::from(bottom - HEAD)).round() as i32;
        for mark in marks(0.0, highest) {
            area.draw(&PathElement::new(vec![(LEFT, y(mark)), (right, y(mark))], GRID.stroke_width(1)))?;
            let style = text(13, &PALE).pos(Pos::new(HPos::Right, VPos::Center));
            area.draw(&Text::new(plain(mark), (LEFT - 8, y(mark)), style))?;
        }
        let step = (right - LEFT) / i32::try_from(self.bars.len()).unwrap_or(1).max(1);
        for (bar, index) in self.bars.iter().zip(0..) {
            let middle = LEFT + step * index + step / 2;
            let half = (step * 3 / 10).min(40);
            let mut below = 0.0;
            for (part, colour) in bar.parts.iter().zip(COLOURS) {
                let corners = [(middle - half, y(below + part)), (middle + half, y(below))];
                area.draw(&Rectangle::new(corners, colour.filled()))?;
                below += part;
            }
            if let Some(mark) = bar.mark {
                let line = vec![(middle - half - 6, y(mark)), (middle + half + 6, y(mark))];
                area.draw(&PathElement::new(line, RED.stroke_width(3)))?;
            }
            let centre = |v| Pos::new(HPos::Center, v);
            area.draw(&Text::new(
                plain(below.round()),
                (middle, y(below) - 4),
                text(12, &INK).pos(centre(VPos::Bottom)),
            ))?;
            area.draw(&Text::new(bar.name.clone(), (middle, bottom + 8), text(13, &INK).pos(centre(VPos::Top))))?;
        }
        area.draw(&PathElement::new(vec![(LEFT, bottom), (right, bottom)], PALE.stroke_width(1)))
    }

    fn draw_legend(&self, area: &Area<'_>) -> Drawing {
        let has_marks = self.bars.iter().any(|bar| bar.mark.is_some());
        let parts = self.parts.iter().zip(COLOURS).map(|(name, colour)| (*name, colour.stroke_width(12)));
        let keys = parts.chain(has_marks.then(|| (self.mark, RED.stroke_width(3))));
        for ((name, style), index) in keys.zip(0..) {
            let x = LEFT + LEGEND_STEP * index;
            area.draw(&PathElement::new(vec![(x, 46), (x + 24, 46)], style))?;
            area.draw(&Text::new(name, (x + 31, 39), text(14, &INK)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_its_parts_sums_and_marks() {
        let bars = vec![
            Bar { name: "1".to_owned(), parts: vec![6000.0, 1500.0, 0.0], mark: Some(19_000.0) },
            Bar { name: "10".to_owned(), parts: vec![6600.0, 1500.0, 0.0], mark: None },
        ];
        let chart =
            Chart { title: "publishers".to_owned(), parts: vec!["static", "stack", "heap"], mark: "published", bars };
        let picture = draw("memory", &[chart]).unwrap();
        for words in ["memory", "publishers", "static", "heap", "published", "7500", "8100", "15,000"] {
            assert!(picture.contains(words), "{words}: {picture}");
        }
        assert!(draw("memory", &[]).is_ok());
    }
}
