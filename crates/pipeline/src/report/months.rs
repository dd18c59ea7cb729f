//! Searchable documents by month of publication, divided into fresh and older ones.

use super::matter::{Matter, Month};
use super::page::{Numbers, Section};
use super::svg::Bars;
use crate::display::{count, grouped};

/// The number of months in the chart; older ones are in the table.
const DRAWN: usize = 72;

pub fn section(matter: &Matter) -> Section {
    let all = |month: &Month| month.fresh + month.older;
    let mut table = Numbers::new(&["month", "documents", "fresh", "older"], 1);
    for ((year, month), numbers) in &matter.months {
        let row = [all(numbers), numbers.fresh, numbers.older].map(grouped);
        table.rows.push([format!("{year}-{month:02}")].into_iter().chain(row).collect());
    }
    let legend = [("c0", "fresh: downloaded within a week"), ("c1", "downloaded later")];
    let legend = legend.map(|(class, words)| (class.to_owned(), words.to_owned())).to_vec();
    let lead = match (matter.months.first_key_value(), matter.months.last_key_value()) {
        (Some((first, _)), Some((last, _))) => {
            let documents: u64 = matter.months.values().map(all).sum();
            let older: u64 = matter.months.values().map(|month| month.older).sum();
            format!(
                "{} searchable, dated from {}-{:02} to {}-{:02}; {} of them were older than a week when downloaded.",
                count(documents, "document"),
                first.0,
                first.1,
                last.0,
                last.1,
                grouped(older)
            )
        }
        _ => "Nothing is searchable yet.".to_owned(),
    };
    Section {
        id: "months",
        title: "Documents by month of publication",
        lead,
        chart: chart(matter),
        legend,
        table,
        open: false,
    }
}

fn chart(matter: &Matter) -> String {
    let Some((last, _)) = matter.months.last_key_value() else { return String::new() };
    let number = |(year, month): (i16, i8)| i32::from(year) * 12 + i32::from(month) - 1;
    let first = matter.months.first_key_value().map_or(0, |(first, _)| number(*first));
    let from = first.max(number(*last) - DRAWN as i32 + 1);
    let mut months = vec![Month::default(); (number(*last) - from + 1) as usize];
    for (key, month) in matter.months.iter().filter(|(key, _)| number(**key) >= from) {
        months[(number(*key) - from) as usize] = *month;
    }
    let mut chart = Bars::new(months.len(), months.iter().map(|month| month.fresh + month.older).max().unwrap_or(0));
    for (at, month) in months.iter().enumerate() {
        let name = format!("{}-{:02}", (from + at as i32) / 12, (from + at as i32) % 12 + 1);
        let parts = [("c0", month.fresh, "fresh"), ("c1", month.older, "older")];
        let part = |(class, number, words): (&str, u64, &str)| {
            (class.to_owned(), number, format!("{name}, {words}: {}", grouped(number)))
        };
        chart.push(at, &name, parts.map(part));
    }
    chart.finish("months", "Searchable documents by month of publication")
}
