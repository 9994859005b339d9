//! A panel of a plot: a title, a legend above the lines, two axes with units, and lines.
//!
//! The axes are linear. A logarithmic axis has logarithms as its values, and its function `mark` prints the numbers
//! themselves.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::{
    ChartBuilder, Circle, Color, DrawingArea, DrawingAreaErrorKind, DrawingBackend, IntoDrawingArea, IntoFont,
    LabelAreaPosition, LineSeries, PathElement, RGBColor, Rectangle, SVGBackend, Text, WHITE,
};
use plotters::style::TextStyle;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The space between the edge of the SVG and its content, px.
pub const MARGIN: i32 = 24;
/// The colours of titles, axis marks, grid lines, and the unreliable part of a panel.
pub const INK: RGBColor = RGBColor(0x22, 0x26, 0x2b);
pub const PALE: RGBColor = RGBColor(0x5b, 0x64, 0x6e);
pub const GRID: RGBColor = RGBColor(0xe4, 0xe7, 0xea);
const SHADE: RGBColor = RGBColor(0xf3, 0xf0, 0xea);
/// Colours that colour-blind people can distinguish. Source: Okabe and Ito.
pub const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xb2);
pub const ORANGE: RGBColor = RGBColor(0xe6, 0x9f, 0x00);
pub const RED: RGBColor = RGBColor(0xd5, 0x5e, 0x00);
pub const GREEN: RGBColor = RGBColor(0x00, 0x9e, 0x73);

/// The largest number of points of a line whose points are also drawn as dots.
const FEW_POINTS: usize = 40;
/// The width of the space to the left of the lines, px.
const LEFT: i32 = 76;
/// The smallest distance between two legend entries, from start to start, px.
const LEGEND_STEP: i32 = 142;
/// The assumed width of a letter in the legend, px.
const LETTER: i32 = 7;

/// The result of drawing, with the error of `plotters`.
pub type Drawing = Result<(), DrawingAreaErrorKind<<SVGBackend<'static> as DrawingBackend>::ErrorType>>;
/// A rectangle of the SVG.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Creates a white SVG of this size, calls `draw` for its content, and returns it as text.
///
/// # Errors
/// The reason, as a sentence, why the content cannot be drawn.
pub fn picture(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Drawing) -> Result<String, String> {
    let mut picture = String::new();
    let root = SVGBackend::with_string(&mut picture, size).into_drawing_area();
    let drawn = root.fill(&WHITE).and_then(|()| draw(&root)).and_then(|()| root.present());
    drop(root);
    drawn.map_err(|error| format!("the picture cannot be drawn: {error}"))?;
    Ok(picture)
}

/// The style of a text with this size and colour.
pub fn text(size: u32, colour: &RGBColor) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(colour)
}

/// An axis of a panel.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The lowest and the highest value.
    pub range: (f64, f64),
    /// The values at which the axis has marks.
    pub marks: Vec<f64>,
    /// Returns the text of a mark.
    pub mark: fn(f64) -> String,
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let (low, high) = self.range;
        first + ((value - low) / (high - low) * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.marks.clone() }
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.range.0..self.range.1
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        (self.mark)(*value)
    }
}

/// A line of a panel.
#[derive(Clone)]
pub struct PlotLine {
    pub name: String,
    pub colour: RGBColor,
    pub points: Vec<(f64, f64)>,
}

/// A vertical line with a name. It is not drawn if it is outside the axis.
pub struct Mark {
    /// The value on the horizontal axis.
    pub at: f64,
    pub name: String,
}

/// The part of a panel whose values are unreliable. It has a shaded background.
pub struct Shade {
    /// The value on the horizontal axis at which the part begins.
    pub from: f64,
    pub name: &'static str,
}

/// A panel of a plot.
pub struct Panel {
    /// The quantity of the vertical axis, with its unit.
    pub title: String,
    /// The quantity of the horizontal axis, with its unit.
    pub across: &'static str,
    pub x: Axis,
    pub y: Axis,
    pub shade: Option<Shade>,
    pub marks: Vec<Mark>,
    pub lines: Vec<PlotLine>,
}

impl Panel {
    /// Creates a panel without a shaded part and without vertical lines.
    pub fn new(title: &str, across: &'static str, [x, y]: [Axis; 2], lines: Vec<PlotLine>) -> Panel {
        Panel { title: title.to_owned(), across, x, y, shade: None, marks: Vec::new(), lines }
    }

    /// Draws the panel into a rectangle of the SVG.
    pub fn draw(&self, area: &Area<'_>) -> Drawing {
        let (head, body) = area.split_vertically(52);
        head.draw(&Text::new(self.title.as_str(), (MARGIN, 4), text(18, &INK)))?;
        let keys = self.lines.iter().map(|line| (line.name.as_str(), line.colour.stroke_width(3)));
        let shade_key = self.shade.iter().map(|shade| (shade.name, SHADE.stroke_width(12)));
        let mut x = LEFT;
        for (name, style) in keys.chain(shade_key) {
            head.draw(&PathElement::new(vec![(x, 40), (x + 24, 40)], style))?;
            head.draw(&Text::new(name, (x + 31, 33), text(14, &INK)))?;
            x += LEGEND_STEP.max(LETTER * i32::try_from(name.len()).unwrap_or(0) + 55);
        }
        let mut chart = ChartBuilder::on(&body)
            .margin_right(28)
            .margin_bottom(10)
            .set_label_area_size(LabelAreaPosition::Left, LEFT)
            .set_label_area_size(LabelAreaPosition::Bottom, 48)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        if let Some(shade) = &self.shade {
            let ((_, right), (low, high)) = (self.x.range, self.y.range);
            chart.draw_series([Rectangle::new([(shade.from, high), (right, low)], SHADE.filled())])?;
        }
        chart
            .configure_mesh()
            .max_light_lines(0)
            .bold_line_style(GRID)
            .axis_style(PALE)
            .label_style(text(13, &INK))
            .axis_desc_style(text(14, &PALE))
            .x_desc(self.across)
            .draw()?;
        if self.lines.iter().all(|line| line.points.is_empty()) {
            let ((left, right), (low, high)) = (self.x.range, self.y.range);
            let middle = (f64::midpoint(left, right), f64::midpoint(low, high));
            let style = text(16, &PALE).pos(Pos::new(HPos::Center, VPos::Center));
            chart.draw_series([Text::new("nothing was received", middle, style)])?;
        }
        let ((left, right), (low, high)) = (self.x.range, self.y.range);
        for mark in self.marks.iter().filter(|mark| (left..=right).contains(&mark.at)) {
            let style = text(13, &PALE);
            chart.draw_series([PathElement::new(vec![(mark.at, low), (mark.at, high)], PALE.stroke_width(1))])?;
            chart.draw_series([Text::new(format!(" {}", mark.name), (mark.at, high), style)])?;
        }
        for line in &self.lines {
            chart.draw_series(LineSeries::new(line.points.iter().copied(), line.colour.stroke_width(2)))?;
            if line.points.len() <= FEW_POINTS {
                let dots = line.points.iter().map(|point| Circle::new(*point, 3, line.colour.filled()));
                chart.draw_series(dots)?;
            }
        }
        Ok(())
    }
}
