//! SVG drawing: shapes, scales and round numbers.
//!
//! Colours are CSS classes, so that the page decides about light, dark and print.

use std::fmt::Write as _;

/// An SVG image in progress. Its size is in its own coordinates; the page scales it.
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    /// An empty picture.
    pub fn new(width: f64, height: f64) -> Svg {
        Svg { width, height, body: String::new() }
    }

    /// Adds a bar; `told` is its tooltip.
    pub fn rect(&mut self, [x, y, width, height]: [f64; 4], class: &str, told: &str) {
        let told = if told.is_empty() { String::new() } else { format!("<title>{}</title>", escape(told)) };
        let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(short);
        let _ = write!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" class=\"{class}\">{told}</rect>"
        );
    }

    /// A line.
    pub fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], class: &str) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(short);
        let _ = write!(self.body, "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" class=\"{class}\"/>");
    }

    /// A dot.
    pub fn dot(&mut self, x: f64, y: f64, radius: f64, class: &str, told: &str) {
        let [x, y, radius] = [x, y, radius].map(short);
        let _ = write!(
            self.body,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" class=\"{class}\"><title>{}</title></circle>",
            escape(told)
        );
    }

    /// Adds text; `class` may contain `end` or `middle` as its anchor.
    pub fn text(&mut self, x: f64, y: f64, class: &str, words: &str) {
        let [x, y] = [x, y].map(short);
        let _ = write!(self.body, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{}</text>", escape(words));
    }

    /// The finished image with a text alternative.
    pub fn finish(self, id: &str, told: &str) -> String {
        let Svg { width, height, body } = self;
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"{id}-told\">\
             <title id=\"{id}-told\">{}</title>{body}</svg>",
            escape(told)
        )
    }
}

/// A stacked bar chart with a scale on the left.
pub struct Bars {
    svg: Svg,
    /// The number at the top of the scale.
    top: f64,
    /// The width of a bar and the space next to it.
    step: f64,
}

impl Bars {
    const WIDTH: f64 = 1040.0;
    const HEIGHT: f64 = 290.0;
    const LEFT: f64 = 56.0;
    const ABOVE: f64 = 10.0;
    const BELOW: f64 = 26.0;

    /// A chart for this many bars with the highest value `most`.
    pub fn new(bars: usize, most: u64) -> Bars {
        let scale = marks(most as f64, 4);
        let top = scale.last().copied().unwrap_or(1.0).max(1.0);
        let step = ((Bars::WIDTH - Bars::LEFT) / bars.max(1) as f64).min(60.0);
        let mut bars = Bars { svg: Svg::new(Bars::WIDTH, Bars::HEIGHT), top, step };
        for mark in scale {
            let y = bars.y(mark);
            bars.svg.line([Bars::LEFT, y, Bars::WIDTH, y], "axis");
            bars.svg.text(Bars::LEFT - 8.0, y + 4.0, "end", &brief(mark));
        }
        bars
    }

    fn y(&self, number: f64) -> f64 {
        Bars::ABOVE + (Bars::HEIGHT - Bars::ABOVE - Bars::BELOW) * (1.0 - number / self.top)
    }

    /// Adds a bar: its label, which is drawn if there is space, and its parts with colours and tooltips.
    pub fn push(&mut self, at: usize, name: &str, parts: impl IntoIterator<Item = (String, u64, String)>) {
        const NAME: f64 = 64.0;
        let x = Bars::LEFT + at as f64 * self.step;
        let middle = x + self.step / 2.0;
        let is_turn = at.is_multiple_of((NAME / self.step).ceil().max(1.0) as usize);
        if is_turn && middle + NAME / 2.0 <= Bars::WIDTH {
            self.svg.text(middle, Bars::HEIGHT - 8.0, "middle", name);
        }
        let mut below = 0.0;
        for (class, number, told) in parts.into_iter().filter(|(_, number, _)| *number > 0) {
            let above = below + number as f64;
            let (high, low) = (self.y(above), self.y(below));
            self.svg.rect([x + self.step * 0.08, high, self.step * 0.84, low - high], &class, &told);
            below = above;
        }
    }

    /// The picture.
    pub fn finish(self, id: &str, told: &str) -> String {
        self.svg.finish(id, told)
    }
}

/// A number as short as a picture needs it.
fn short(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Escapes text for HTML content and attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control characters are not allowed in XML at all.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Positions of tick marks on a scale from 0: round numbers, at most `steps` intervals.
fn marks(most: f64, steps: usize) -> Vec<f64> {
    if most <= 0.0 {
        return vec![0.0];
    }
    let rough = most / steps as f64;
    let magnitude = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|part| part * magnitude).find(|step| *step >= rough);
    // Counts have no fractions.
    let step = step.unwrap_or(rough).max(1.0);
    (0..=(most / step).ceil() as usize).map(|at| at as f64 * step).collect()
}

/// `12 k`, `3.4 M`: a number for the margin of a chart.
fn brief(number: f64) -> String {
    let (value, unit) = match number {
        1e9.. => (number / 1e9, " G"),
        1e6.. => (number / 1e6, " M"),
        1e4.. => (number / 1e3, " k"),
        _ => (number, ""),
    };
    format!("{}{unit}", short(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_cover_the_maximum() {
        assert_eq!(marks(9.0, 4), [0.0, 5.0, 10.0]);
        assert_eq!(marks(1234.0, 4), [0.0, 500.0, 1000.0, 1500.0]);
        assert_eq!(marks(1.0, 4), [0.0, 1.0]);
        assert_eq!(marks(0.0, 4), [0.0]);
        assert_eq!([0.0, 950.0, 12_000.0, 3_400_000.0].map(brief), ["0", "950", "12 k", "3.4 M"]);
    }

    #[test]
    fn foreign_text_is_escaped() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.text(0.0, 0.0, "", "<script>alert('&\u{0}')</script>");
        let drawn = svg.finish("a", "\"><b>");
        assert!(!drawn.contains("<script") && !drawn.contains("<b>") && !drawn.contains('\u{0}'), "{drawn}");
    }
}
