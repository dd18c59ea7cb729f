//! Scatter plot of text yield by downloaded bytes, one dot per host.
//!
//! Both axes are logarithmic, so that lines of equal yield are diagonals: a host below the line of 1 % needs more than
//! a hundred downloaded bytes per byte of text.

use super::matter::Matter;
use super::page::{Numbers, Section};
use super::svg::Svg;
use crate::display::bytes;
use crate::display::{count, grouped};

/// Dots that are drawn, and rows of the table.
const DOTS: usize = 2000;
const ROWS: usize = 60;
const SIZE: f64 = 1040.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 40.0;
const TOP: f64 = 22.0;
const RIGHT: f64 = 60.0;

pub fn section(matter: &Matter) -> Section {
    let hosts: Vec<_> = matter.hosts.iter().filter(|(_, sum)| sum.downloaded > 0).collect();
    let decade = |number: u64| (number.max(1) as f64).log10();
    let bounds = |values: &mut dyn Iterator<Item = f64>| {
        let (least, most) =
            values.fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(value), most.max(value)));
        // Leaves a margin for a single host, or for hosts with equal values.
        (least.floor(), most.ceil().max(least.floor() + 1.0))
    };
    let with_text = || hosts.iter().filter(|(_, sum)| sum.clean > 0);
    let drawn = with_text().count() > 0;
    let (x0, x1) = bounds(&mut with_text().map(|(_, sum)| decade(sum.downloaded)).chain((!drawn).then_some(0.0)));
    let (y0, y1) = bounds(&mut with_text().map(|(_, sum)| decade(sum.clean)).chain((!drawn).then_some(0.0)));
    let x = |value: f64| LEFT + (SIZE - LEFT - RIGHT) * (value - x0) / (x1 - x0);
    let y = |value: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - (value - y0) / (y1 - y0));
    let mut svg = Svg::new(SIZE, HEIGHT);
    for at in x0 as i32..=x1 as i32 {
        svg.line([x(at.into()), y(y0), x(at.into()), y(y1)], "axis");
        svg.text(x(at.into()), HEIGHT - BOTTOM + 18.0, "middle", &bytes(10f64.powi(at)));
    }
    for at in y0 as i32..=y1 as i32 {
        svg.line([x(x0), y(at.into()), x(x1), y(at.into())], "axis");
        svg.text(LEFT - 8.0, y(at.into()) + 4.0, "end", &bytes(10f64.powi(at)));
    }
    for (share, words) in [(0.0, "all"), (-1.0, "10 %"), (-2.0, "1 %"), (-3.0, "0.1 %")] {
        // The diagonal, cut to the frame.
        let (from, to) = (x0.max(y0 - share), x1.min(y1 - share));
        if from < to {
            svg.line([x(from), y(from + share), x(to), y(to + share)], "dash");
            svg.text(x(to) + 4.0, y(to + share) + 4.0, "", words);
        }
    }
    svg.text(LEFT + (SIZE - LEFT - RIGHT) / 2.0, HEIGHT - 4.0, "middle", "downloaded");
    svg.text(LEFT, 12.0, "", "text");
    for (host, sum) in with_text().take(DOTS) {
        let radius = 2.5 + (sum.documents as f64).sqrt().min(40.0) / 8.0;
        let told = format!(
            "{host}: {} of text from {}, {:.2} %, {}",
            bytes(sum.clean as f64),
            bytes(sum.downloaded as f64),
            100.0 * sum.rate(),
            count(sum.documents, "document")
        );
        svg.dot(x(decade(sum.downloaded)), y(decade(sum.clean)), radius, "c0", &told);
    }
    // The hosts with most bytes for least text come first, because they need attention.
    let mut costly: Vec<_> = hosts.clone();
    costly.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.downloaded));
    let mut table = Numbers::new(&["host", "pages", "documents", "downloaded", "text", "yield"], 1);
    for (host, sum) in costly.into_iter().take(ROWS) {
        let numbers =
            [grouped(sum.pages), grouped(sum.documents), bytes(sum.downloaded as f64), bytes(sum.clean as f64)];
        let rate = format!("{:.2} %", 100.0 * sum.rate());
        table.rows.push([host.clone()].into_iter().chain(numbers).chain([rate]).collect());
    }
    let (downloaded, clean) = hosts.iter().fold((0, 0), |sums, (_, sum)| (sums.0 + sum.downloaded, sums.1 + sum.clean));
    let barren = hosts.iter().filter(|(_, sum)| sum.clean == 0).count() as u64;
    let lead = format!(
        "{} yielded {} of text from {} downloaded, {:.2} %; {} yielded none and are not shown. Larger dots have more documents.",
        count(hosts.len() as u64, "host"),
        bytes(clean as f64),
        bytes(downloaded as f64),
        100.0 * clean as f64 / downloaded.max(1) as f64,
        grouped(barren),
    );
    let chart = if drawn {
        svg.finish("yield", "Text by downloaded bytes, one dot per host, with lines of equal yield")
    } else {
        String::new()
    };
    Section { id: "yield", title: "Yield of hosts", lead, chart, legend: Vec::new(), table, open: false }
}
