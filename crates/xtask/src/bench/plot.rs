//! A picture of the key figures: a panel for each, with its values by date and its target as a dashed line.

use std::fmt::Write as _;

use super::figures::{Series, shown};

const COLUMNS: usize = 3;
const PANEL: (f64, f64) = (320.0, 150.0);
/// The part of a panel in which values stand.
const PLOT: (f64, f64, f64, f64) = (16.0, 56.0, 236.0, 64.0);
const LINE: &str = "#0072b2";
const MISSED: &str = "#d55e00";

pub fn svg(series: &[Series]) -> String {
    let rows = series.len().div_ceil(COLUMNS);
    let (width, height) = (PANEL.0 * COLUMNS as f64, PANEL.1 * rows as f64);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\" \
         role=\"img\">\n<title>Key figures by date of measurement, with targets</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (at, one) in series.iter().enumerate() {
        let (x, y) = ((at % COLUMNS) as f64 * PANEL.0, (at / COLUMNS) as f64 * PANEL.1);
        let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">");
        panel(&mut svg, one);
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

fn panel(svg: &mut String, one: &Series) {
    let (left, top, width, height) = PLOT;
    for (line, text) in wrapped(&one.figure.name, 48).into_iter().enumerate() {
        let _ = writeln!(svg, "<text x=\"{left}\" y=\"{}\" fill=\"#222\">{}</text>", 18 + 14 * line, escaped(&text));
    }
    let all = one.values.values().copied().chain(one.figure.target);
    let (least, most) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let margin = if most > least { (most - least) * 0.15 } else { most.abs().max(1.0) * 0.1 };
    let (least, most) = (least - margin, most + margin);
    let y = |value: f64| top + height * (most - value) / (most - least);
    let days: Vec<f64> = one.values.keys().map(|date| day(date)).collect();
    let (first, last) = (days[0], days[days.len() - 1]);
    let x = |at: f64| if last > first { left + width * (at - first) / (last - first) } else { left + width };
    if let Some(target) = one.figure.target {
        let at = y(target);
        let _ = writeln!(
            svg,
            "<line x1=\"{left}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#666\" stroke-dasharray=\"4 3\"/>",
            left + width
        );
        let _ = writeln!(svg, "<text x=\"{left}\" y=\"{:.1}\" fill=\"#666\">target {}</text>", at - 3.0, shown(target));
    }
    let colour = if one.reaches() == Some(false) { MISSED } else { LINE };
    let points: Vec<String> =
        days.iter().zip(one.values.values()).map(|(day, value)| format!("{:.1},{:.1}", x(*day), y(*value))).collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
        points.join(" ")
    );
    for point in &points {
        let (cx, cy) = point.split_once(',').expect("a point has two coordinates");
        let _ = writeln!(svg, "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"3\" fill=\"{colour}\"/>");
    }
    let (newest, value) = one.newest();
    let (at, end) = (y(value) + 4.0, left + width + 8.0);
    let _ =
        writeln!(svg, "<text x=\"{end}\" y=\"{at:.1}\" fill=\"{colour}\" font-weight=\"bold\">{}</text>", shown(value));
    let bottom = top + height + 16.0;
    let oldest = one.values.keys().next().expect("a series has a value");
    if oldest != newest {
        let (at, value) = (y(one.values[oldest]) - 6.0, shown(one.values[oldest]));
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{at:.1}\" fill=\"{colour}\" text-anchor=\"middle\">{value}</text>",
            left + 4.0
        );
        let _ = writeln!(svg, "<text x=\"{left}\" y=\"{bottom}\" fill=\"#666\">{oldest}</text>");
    }
    let _ =
        writeln!(svg, "<text x=\"{}\" y=\"{bottom}\" fill=\"#666\" text-anchor=\"end\">{newest}</text>", left + width);
}

/// The number of a day; months count 31 days, which is near enough for a picture.
fn day(date: &str) -> f64 {
    let parts: Vec<f64> = date.split('-').map(|part| part.parse().unwrap_or(0.0)).collect();
    match parts[..] {
        [year, month, day] => (year * 12.0 + month) * 31.0 + day,
        _ => 0.0,
    }
}

/// Words in lines of up to so many characters.
fn wrapped(text: &str, limit: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > limit {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_wrapped_and_escaped() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(escaped("a < b & c"), "a &lt; b &amp; c");
    }

    #[test]
    fn later_days_are_further_right() {
        assert!(day("2026-11-19") < day("2026-12-01") && day("2026-12-31") < day("2027-01-01"));
    }
}
