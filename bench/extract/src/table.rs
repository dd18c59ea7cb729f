//! Aggregates the scores of an extractor and prints them as table rows.

use crate::run::Output;
use crate::score::{self, Answers, Dates, Segments, Shingles};
use crate::sets::Sample;

/// Scores of one extractor over a set of pages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scores {
    pages: usize,
    segments: Segments,
    shingles: Shingles,
    dates: Dates,
    titles: Answers,
    similar_titles: Answers,
    authors: Answers,
    /// Whether the extractor ever gave text, date, title, authors.
    gives: [bool; 4],
}

impl Scores {
    /// Adds a page. Only annotated fields are scored.
    pub fn add(&mut self, sample: &Sample, output: &Output) {
        let gold = &sample.gold;
        let authors_given = output.names();
        self.pages += 1;
        let is_given = |field: &Option<String>| field.as_deref().is_some_and(|field| !field.is_empty());
        let gives =
            [!output.text.is_empty(), is_given(&output.date), is_given(&output.title), !authors_given.is_empty()];
        for (before, now) in self.gives.iter_mut().zip(gives) {
            *before |= now;
        }
        // Other sets have segments too, but generated from the text.
        if gold.text.is_none() {
            let segments = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
            self.segments.add(Segments::of(&output.text, &segments(&gold.with), &segments(&gold.without)));
        }
        if let Some(text) = &gold.text {
            self.shingles.add(score::shingles(&output.text, text));
        }
        if let Some(date) = &gold.date {
            self.dates.add(output.date.as_deref(), date);
        }
        if let Some(title) = &gold.title {
            let given = output.title.as_deref().unwrap_or_default();
            self.titles.add(score::same_title(given, title));
            self.similar_titles.add(score::similar_title(given, title));
        }
        let names = gold.authors.clone().or_else(|| gold.author.as_deref().map(score::split_authors));
        if let Some(names) = names {
            self.authors.add(score::same_authors(&authors_given, &names));
        }
    }

    /// A row below [`header`].
    pub fn row(&self, name: &str, ms: Option<f64>) -> String {
        let segments = &self.segments;
        let shingles = &self.shingles;
        let dates = &self.dates;
        let [text, date, title, authors] = self.gives;
        // A field that an extractor never provides is not scored.
        let figures = [
            (text, segments.precision()),
            (text, segments.recall()),
            (text, segments.f()),
            (text, shingles.precision()),
            (text, shingles.recall()),
            (text, shingles.f()),
            (date, dates.precision()),
            (date, dates.recall()),
            (date, dates.f()),
            (date, dates.share()),
            (date, dates.undated()),
            (title, self.titles.share()),
            (title, self.similar_titles.share()),
            (authors, self.authors.share()),
        ];
        let figures: Vec<String> =
            figures.iter().map(|(given, figure)| if *given { cell(*figure) } else { "-".to_owned() }).collect();
        let ms = ms.map_or("-".to_owned(), |ms| format!("{ms:.1}"));
        format!("| {name} | {} | {} | {ms} |", self.pages, figures.join(" | "))
    }
}

/// The header of the table.
pub fn header(name: &str) -> String {
    let columns = [
        "pages", "seg P", "R", "F", "sh P", "R", "F", "date P", "R", "F", "right", "undated", "title", "similar",
        "authors", "ms",
    ];
    let rule = "---: | ".repeat(columns.len());
    format!("| {name} | {} |\n| --- | {}", columns.join(" | "), rule.trim_end())
}

fn cell(figure: f64) -> String {
    if figure.is_nan() { "-".to_owned() } else { format!("{figure:.3}") }
}
