//! Funnel of pages through the stages, with the reasons for dropped ones.

use std::collections::BTreeMap;

use super::matter::Matter;
use super::page::{Numbers, Section};
use super::svg::Svg;
use crate::display::{count, grouped};
use crate::health::days::DayFigures;
use crate::stage::StageId;

const WIDTH: f64 = 1040.0;
const LEFT: f64 = 230.0;
const RIGHT: f64 = 150.0;
const ROW: f64 = 26.0;

/// A step of the funnel, or a reason to leave it.
struct FunnelStep {
    name: String,
    stage: StageId,
    number: u64,
    leaves: bool,
}

pub fn section(matter: &Matter) -> Section {
    let pages = matter.sum(|day| day.pages);
    let documents = matter.sum(DayFigures::all_documents);
    let mut dropped: BTreeMap<&str, u64> = BTreeMap::new();
    for (reason, number) in matter.days.iter().flat_map(|day| &day.dropped) {
        *dropped.entry(reason).or_default() += number;
    }
    let mut dropped: Vec<(&str, u64)> = dropped.into_iter().collect();
    dropped.sort_by_key(|(reason, number)| (std::cmp::Reverse(*number), *reason));
    let (kept, copies) = (matter.sum(|day| day.kept), matter.sum(|day| day.left_out));
    let waiting = documents.saturating_sub(kept + copies);

    let step = |name: &str, stage, number, leaves| FunnelStep { name: name.to_owned(), stage, number, leaves };
    let mut steps = vec![step("pages downloaded", StageId::Fetch, pages, false)];
    steps.extend(dropped.iter().map(|(reason, number)| step(reason, StageId::Clean, *number, true)));
    steps.push(step("documents", StageId::Clean, documents, false));
    steps.push(step("duplicates", StageId::Dedup, copies, true));
    if waiting > 0 {
        steps.push(step("not annotated yet", StageId::Annotate, waiting, true));
    }
    steps.push(step("documents with text", StageId::Annotate, kept, false));

    let mut svg = Svg::new(WIDTH, ROW * steps.len() as f64 + 6.0);
    let wide = WIDTH - LEFT - RIGHT;
    let share = |number: u64| number as f64 / pages.max(1) as f64;
    // The current total, from which dropped pages are subtracted, right to left.
    let mut there = pages;
    for (at, step) in steps.iter().enumerate() {
        let y = at as f64 * ROW + 4.0;
        let from = if step.leaves { share(there.saturating_sub(step.number)) } else { 0.0 };
        let bar = [
            LEFT + wide * from,
            y,
            (wide * share(step.number)).max(if step.number > 0 { 1.0 } else { 0.0 }),
            ROW - 7.0,
        ];
        let told = format!("{}: {}", step.name, grouped(step.number));
        svg.rect(bar, if step.leaves { "c5" } else { "c0" }, &told);
        svg.text(LEFT - 10.0, y + 14.0, if step.leaves { "end" } else { "end ink" }, &step.name);
        svg.text(
            WIDTH - RIGHT + 10.0,
            y + 14.0,
            "ink",
            &format!("{} ({:.1} %)", grouped(step.number), 100.0 * share(step.number)),
        );
        there = if step.leaves { there.saturating_sub(step.number) } else { step.number };
    }
    let mut table = Numbers::new(&["what", "stage", "number", "% of pages"], 2);
    for step in &steps {
        let name = if step.leaves { format!("− {}", step.name) } else { step.name.clone() };
        let share = format!("{:.2}", 100.0 * share(step.number));
        table.rows.push(vec![name, step.stage.to_string(), grouped(step.number), share]);
    }
    let judged = matter.days.iter().filter_map(|day| day.judged.as_ref());
    let (words, duplicate) = judged.fold((0, 0), |sum, day| (sum.0 + day.words, sum.1 + day.duplicate_words));
    let refused: u64 = dropped.iter().map(|row| row.1).sum();
    let mut lead = format!(
        "Of {}, {} became documents and {} did not, each for a recorded reason.",
        count(pages, "page"),
        grouped(documents),
        grouped(refused)
    );
    if words > 0 {
        let share = 100.0 * duplicate as f64 / words as f64;
        lead.push_str(&format!(" {share:.1} % of their words are duplicates."));
    }
    if pages != documents + refused {
        lead.push_str(" These numbers do not add up: a day is being processed, or files were changed manually.");
    }
    let legend = vec![("c0".to_owned(), "kept".to_owned()), ("c5".to_owned(), "dropped".to_owned())];
    let chart = if pages > 0 {
        svg.finish("funnel", "Pages, documents and dropped pages, stage by stage")
    } else {
        String::new()
    };
    Section { id: "funnel", title: "Pages by stage", lead, chart, legend, table, open: false }
}
