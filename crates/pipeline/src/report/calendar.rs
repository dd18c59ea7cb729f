//! Calendar of the last year with the number of pages per day and gaps.
//!
//! A day without a crawl is not a day on which nothing was published: it has a red frame, and a day with a crawl but no
//! pages is a pale square.

use jiff::Span;
use jiff::civil::Date;

use super::matter::Matter;
use super::page::{Numbers, Section};
use super::svg::Svg;
use crate::display::{count, grouped};
use crate::health::day_of;

const SQUARE: f64 = 18.0;
const LEFT: f64 = 40.0;
const TOP: f64 = 22.0;

pub fn section(matter: &Matter) -> Section {
    let (last, today) = (matter.period.last, day_of(matter.now));
    // Days before the first crawl are not gaps.
    let born = matter.pages_by_day.keys().chain(&matter.harvested).min().copied();
    let monday =
        matter.calendar_from.saturating_sub(Span::new().days(matter.calendar_from.weekday().to_monday_zero_offset()));
    let number = (last - monday).get_days() as usize + 1;
    let days: Vec<Date> = (0..number as i64).map(|at| monday.saturating_add(Span::new().days(at))).collect();
    let mut levels: Vec<u64> = matter.pages_by_day.values().copied().filter(|pages| *pages > 0).collect();
    levels.sort_unstable();
    let quarter = |at: usize| levels.get(levels.len() * at / 4).copied().unwrap_or(u64::MAX);
    let limits = [quarter(1), quarter(2), quarter(3)];

    let weeks = number.div_ceil(7);
    let mut svg = Svg::new(LEFT + weeks as f64 * SQUARE + 4.0, TOP + 7.0 * SQUARE + 4.0);
    for (row, name) in [(0, "Mon"), (2, "Wed"), (4, "Fri"), (6, "Sun")] {
        svg.text(LEFT - 8.0, TOP + f64::from(row) * SQUARE + 13.0, "end", name);
    }
    let mut gaps: Vec<(Date, Date)> = Vec::new();
    let (mut collected, mut missed) = (0, 0);
    for (at, day) in days.iter().enumerate() {
        let (x, y) = (LEFT + (at / 7) as f64 * SQUARE, TOP + (at % 7) as f64 * SQUARE);
        if day.day() == 1 {
            svg.text(x, TOP - 8.0, "", &day.strftime("%b").to_string());
        }
        let pages = matter.pages_by_day.get(day).copied();
        let was_harvested = pages.is_some() || matter.harvested.contains(day);
        let (class, told) = match pages {
            _ if born.is_none_or(|born| *day < born) => ("none", format!("{day}: before the first crawl")),
            Some(pages @ 1..) => {
                let level = 1 + limits.iter().filter(|limit| pages >= **limit).count();
                (["h0", "h1", "h2", "h3", "h4"][level.min(4)], format!("{day}: {}", count(pages, "page")))
            }
            _ if was_harvested => ("h0", format!("{day}: crawled, no pages")),
            _ if *day >= today => ("none", format!("{day}: not complete yet")),
            _ => ("gap", format!("{day}: not crawled")),
        };
        if class == "gap" {
            missed += 1;
            match gaps.last_mut() {
                Some(gap) if gap.1.tomorrow().is_ok_and(|next| next == *day) => gap.1 = *day,
                _ => gaps.push((*day, *day)),
            }
        }
        collected += u64::from(was_harvested && class != "none");
        svg.rect([x + 1.5, y + 1.5, SQUARE - 3.0, SQUARE - 3.0], class, &told);
    }
    let mut table = Numbers::new(&["gap from", "to", "days"], 2);
    for (first, last) in &gaps {
        let days = (*last - *first).get_days() as u64 + 1;
        table.rows.push(vec![first.to_string(), last.to_string(), grouped(days)]);
    }
    let lead = match born {
        None => "No crawl yet.".to_owned(),
        Some(born) => format!(
            "{} with a crawl since {}, {} without in {}.",
            count(collected, "day"),
            born.max(matter.calendar_from),
            count(missed, "day"),
            count(gaps.len() as u64, "gap")
        ),
    };
    let legend = [("gap", "not crawled"), ("h0", "no pages"), ("h1", "fewer pages"), ("h4", "more pages")];
    let legend = legend.map(|(class, words)| (class.to_owned(), words.to_owned())).to_vec();
    let chart = svg.finish("calendar", "A square for each day of the last year, darker for more pages");
    Section { id: "calendar", title: "Coverage and gaps", lead, chart, legend, table, open: false }
}
