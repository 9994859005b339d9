//! An SVG that compares several contestants. In each panel a contestant has a dot at the median of its values, on a
//! line from its lowest to its highest value. The contestant with the lowest median is at the top. The axes are
//! logarithmic, because middlewares differ by orders of magnitude.

use plotters::prelude::{Circle, Color, PathElement, Text};

use super::panel::{Area, BLUE, Drawing, GRID, INK, MARGIN, ORANGE, PALE, picture, text};
use super::series::bounds;
use crate::{common::units::Unit, measure::interval::Interval};

/// The width of the SVG, px. It equals the width of text on GitHub, which would shrink a wider SVG.
const WIDTH: u32 = 830;
const ROW: i32 = 22;
/// The height of the title and the axis marks of a panel, px.
const HEAD: i32 = 56;
/// The widths of the column of names, and of the column of values to the right of the dots, px.
const NAMES: i32 = 220;
const VALUES: i32 = 76;

/// A panel with one quantity of all contestants.
#[derive(Debug)]
pub struct Panel {
    /// The name of the quantity.
    pub title: String,
    /// The unit of the values.
    pub unit: Unit,
    /// The contestants, one dot each.
    pub dots: Vec<Dot>,
}

/// A contestant in a panel.
#[derive(Debug)]
pub struct Dot {
    /// The name of the contestant.
    pub name: String,
    /// Whether this is the base, with which the others are compared. Its dot has another colour.
    pub is_base: bool,
    /// The contestant's values, one for each round.
    pub values: Vec<f64>,
    /// One word for the reason why the contestant has no values, such as `failed`.
    pub missing: Option<String>,
}

/// Draws panels as one SVG, one below the other.
///
/// # Errors
/// The reason, as a sentence, why the panels cannot be drawn.
pub fn draw(panels: &[Panel]) -> Result<String, String> {
    let height = |panel: &Panel| HEAD + ROW * i32::try_from(panel.dots.len()).unwrap_or(0) + MARGIN;
    let all: i32 = panels.iter().map(height).sum::<i32>() + MARGIN;
    picture((WIDTH, all.unsigned_abs()), |root| {
        let mut top = MARGIN;
        for panel in panels {
            panel.draw(root, top)?;
            top += height(panel);
        }
        Ok(())
    })
}

impl Panel {
    fn draw(&self, root: &Area<'_>, top: i32) -> Drawing {
        root.draw(&Text::new(self.title.clone(), (MARGIN, top), text(18, &INK)))?;
        let values = self.dots.iter().flat_map(|dot| &dot.values).copied().filter(|value| *value > 0.0);
        let (first, last) = bounds(values).map_or((0, 1), |(low, high)| (decade(low), decade(high) + 1));
        // The value 0 has its own mark, to the left of the powers of ten.
        let has_zero = self.dots.iter().flat_map(|dot| &dot.values).any(|value| *value <= 0.0);
        let first = first - i32::from(has_zero);
        let (left, right) = (MARGIN + NAMES, WIDTH.cast_signed() - MARGIN - VALUES);
        let x = |value: f64| {
            let part = (value.max(f64::MIN_POSITIVE).log10() - f64::from(first)) / f64::from(last - first);
            left + (part.clamp(0.0, 1.0) * f64::from(right - left)).round() as i32
        };
        let below = top + HEAD + ROW * i32::try_from(self.dots.len()).unwrap_or(0);
        for mark in first..=last {
            let at = x(10_f64.powi(mark));
            root.draw(&PathElement::new(vec![(at, top + HEAD - 10), (at, below)], GRID.stroke_width(1)))?;
            let value = if has_zero && mark == first { 0.0 } else { 10_f64.powi(mark) };
            root.draw(&Text::new(self.unit.show(value), (at - 14, top + HEAD - 26), text(12, &PALE)))?;
        }
        let mut rows: Vec<(&Dot, Option<Interval>)> =
            self.dots.iter().map(|dot| (dot, Interval::from_values(dot.values.clone()))).collect();
        let median = |found: &Option<Interval>| found.as_ref().map_or(f64::INFINITY, |found| found.median);
        rows.sort_by(|(_, one), (_, other)| median(one).total_cmp(&median(other)));
        for (row, (dot, found)) in (0..).zip(rows) {
            let y = top + HEAD + ROW * row + ROW / 2;
            let colour = if dot.is_base { ORANGE } else { BLUE };
            root.draw(&Text::new(dot.name.clone(), (MARGIN, y - 6), text(14, &INK)))?;
            let Some(found) = found else {
                let why = dot.missing.clone().unwrap_or_else(|| "not measured".to_owned());
                root.draw(&Text::new(why, (left, y - 6), text(14, &PALE)))?;
                continue;
            };
            let [least, greatest] = [f64::min, f64::max].map(|of| dot.values.iter().copied().fold(found.median, of));
            root.draw(&PathElement::new(vec![(x(least), y), (x(greatest), y)], colour.stroke_width(3)))?;
            root.draw(&Circle::new((x(found.median), y), 5, colour.filled()))?;
            root.draw(&Text::new(self.unit.show(found.median), (right + 14, y - 6), text(14, &INK)))?;
        }
        Ok(())
    }
}

/// The exponent of the largest power of ten that does not exceed the value.
fn decade(value: f64) -> i32 {
    value.log10().floor() as i32
}
