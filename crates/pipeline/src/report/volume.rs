//! Documents per day and language.

use std::collections::BTreeMap;

use jiff::Span;
use jiff::civil::Date;

use super::matter::Matter;
use super::page::{Numbers, Section};
use super::svg::Bars;
use crate::display::{count, grouped};
use crate::health::days::DayFigures;

/// The number of languages with their own colour; the last colour is for all others.
const COLOURS: usize = 7;

pub fn section(matter: &Matter) -> Section {
    let by_day: BTreeMap<Date, &DayFigures> = matter.days.iter().map(|day| (day.day, day)).collect();
    let mut totals: BTreeMap<&str, u64> = BTreeMap::new();
    for (code, number) in matter.days.iter().flat_map(|day| &day.documents) {
        *totals.entry(code).or_default() += number;
    }
    let mut languages: Vec<(&str, u64)> = totals.into_iter().collect();
    languages.sort_by_key(|(code, number)| (std::cmp::Reverse(*number), *code));
    let shown: Vec<&str> = languages.iter().take(COLOURS).map(|(code, _)| *code).collect();
    let series = |day: &DayFigures| {
        let mut numbers: Vec<u64> = shown.iter().map(|code| day.documents.get(*code).copied().unwrap_or(0)).collect();
        numbers.push(day.all_documents() - numbers.iter().sum::<u64>());
        numbers
    };

    let span = (matter.period.last - matter.period.first).get_days() as usize + 1;
    let mut bars = Bars::new(span, matter.days.iter().map(DayFigures::all_documents).max().unwrap_or(0));
    for at in 0..span {
        let day = matter.period.first.saturating_add(Span::new().days(at as i64));
        let numbers = by_day.get(&day).map(|figures| series(figures)).unwrap_or_default();
        let part = |(colour, number): (usize, u64)| {
            let name = shown.get(colour).copied().unwrap_or("others");
            let colour = if colour < shown.len() { colour } else { COLOURS };
            (format!("c{colour}"), number, format!("{day}, {name}: {}", count(number, "document")))
        };
        bars.push(at, &day.strftime("%d %b").to_string(), numbers.into_iter().enumerate().map(part));
    }

    let mut table = Numbers::new(&["day", "pages", "documents", "tokens"], 1);
    table.columns.extend(shown.iter().map(|code| (*code).to_owned()));
    table.columns.push("others".to_owned());
    for day in &matter.days {
        let numbers = [day.pages, day.all_documents(), day.all_tokens()].into_iter().chain(series(day));
        table.rows.push([day.day.to_string()].into_iter().chain(numbers.map(grouped)).collect());
    }
    let documents = matter.sum(DayFigures::all_documents);
    let mut legend: Vec<(String, String)> = languages
        .iter()
        .take(COLOURS)
        .enumerate()
        .map(|(at, (code, number))| (format!("c{at}"), format!("{code} {}", grouped(*number))))
        .collect();
    if languages.len() > COLOURS {
        let others: u64 = languages[COLOURS..].iter().map(|language| language.1).sum();
        legend.push(("c7".to_owned(), format!("{} others {}", languages.len() - COLOURS, grouped(others))));
    }
    let lead = match documents {
        0 => "No documents in this period.".to_owned(),
        _ => format!(
            "{} in {}, {} per day on days with documents.",
            count(documents, "document"),
            count(languages.len() as u64, "language"),
            grouped(documents / (matter.days.iter().filter(|day| day.all_documents() > 0).count() as u64).max(1)),
        ),
    };
    let chart = if documents > 0 { bars.finish("volume", "Documents per day and language") } else { String::new() };
    Section { id: "volume", title: "Volume by day and language", lead, chart, legend, table, open: false }
}
