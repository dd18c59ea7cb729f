//! Pinned scores on annotated pages; they may only rise.
//!
//! The pages are not part of the repository; without them the test is skipped. The model was
//! trained on these pages, so the scores are higher than on others; cross-validated scores are in
//! BENCHMARKS.md.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bench_extract::gate::{self, RejectionCounts};
use bench_extract::score::{CommentLeaks, Segments, Shingles, shingles};
use bench_extract::sets::{self, TEXT_SETS};
use tidings_clean::{HtmlInput, Options, Preset, extract};

/// Set and minimum F1.
const PINS: [(&str, f64); 7] = [
    ("trafi", 0.969),
    ("wcxb", 0.900),
    ("andy", 0.941),
    ("fundus", 0.965),
    ("daniel", 0.931),
    ("zh", 0.890),
    ("dragnet", 0.934),
];

fn folder() -> Option<PathBuf> {
    tidings_testing::data("extract-dev")
}

fn text(html: &str, url: &str, preset: Preset) -> String {
    let options = Options { preset, ..Options::default() };
    extract(&HtmlInput { html, url: Some(url), ..HtmlInput::default() }, &options)
        .map(|document| document.text())
        .unwrap_or_default()
}

/// Maximum share of pages with annotated comments whose text has more than half of them.
const MAX_COMMENT_LEAK: f64 = 0.03;

#[test]
fn scores_have_not_fallen() {
    let Some(folder) = folder() else { return };
    let mut fallen = Vec::new();
    let mut leaks = CommentLeaks::default();
    for (set, pin) in PINS {
        let (mut segments, mut runs) = (Segments::default(), Shingles::default());
        for page in sets::read(&folder, set).unwrap() {
            let text = text(&page.html, &page.url, Preset::Balanced);
            if let Some(comments) = &page.gold.comments {
                leaks.add(&text, comments);
            }
            match (&page.gold.text, &page.gold.with, &page.gold.without) {
                (Some(gold), ..) => runs.add(shingles(&text, gold)),
                (_, Some(with), Some(without)) => segments.add(Segments::of(&text, with, without)),
                _ => {}
            }
        }
        let f = if set == "trafi" { segments.f() } else { runs.f() };
        println!("{set} {f:.4}");
        if f < pin {
            fallen.push(format!("{set} fell to {f:.4} from {pin}"));
        }
    }
    println!("comments leak on {} of {} pages", leaks.leaking, leaks.pages);
    assert!(leaks.pages >= 80 && leaks.share() <= MAX_COMMENT_LEAK, "{leaks:?}");
    assert!(fallen.is_empty(), "{fallen:?}");
}

/// Minimum F1 of the word 4-grams of the comments of pages with annotated comments.
const MIN_COMMENTS: f64 = 0.77;

#[test]
fn comments_are_those_of_the_annotations() {
    let Some(folder) = folder() else { return };
    let options = Options { comments: true, ..Options::default() };
    let mut score = Shingles::default();
    let (mut found, mut named, mut dated, mut invented) = (0, 0, 0, 0);
    for page in sets::read(&folder, "dragnet").unwrap() {
        let gold = page.gold.comments.clone().unwrap_or_default();
        let input = HtmlInput { html: &page.html, url: Some(&page.url), ..HtmlInput::default() };
        let Ok(document) = extract(&input, &options) else { continue };
        let comments: Vec<&str> = document.comments.iter().map(|paragraph| paragraph.text.as_str()).collect();
        if gold.is_empty() {
            invented += usize::from(!comments.is_empty());
            continue;
        }
        score.add(shingles(&comments.join("\n"), &gold.join("\n")));
        found += document.comment_starts.len();
        named += document.comment_starts.iter().filter(|start| !start.author.is_empty()).count();
        dated += document.comment_starts.iter().filter(|start| !start.date.is_empty()).count();
    }
    println!(
        "comments: precision {:.3}, recall {:.3}, F {:.3}; of {found}, {named} have an author and {dated} a date; \
         {invented} pages without annotated comments have some",
        score.precision(),
        score.recall(),
        score.f()
    );
    assert!(score.f() >= MIN_COMMENTS, "{score:?}");
}

/// Maximum loss of F of the presets against the balanced one.
const MAX_PRESET_LOSS: f64 = 0.005;

#[test]
fn presets_trade_precision_for_recall_and_lose_little() {
    let Some(folder) = folder() else { return };
    for set in ["fundus", "andy", "dragnet"] {
        let mut scores = [Shingles::default(); 3];
        for page in &sets::read(&folder, set).unwrap() {
            let gold = page.gold.text.as_deref().unwrap_or_default();
            for (score, preset) in scores.iter_mut().zip([Preset::Precision, Preset::Balanced, Preset::Recall]) {
                score.add(shingles(&text(&page.html, &page.url, preset), gold));
            }
        }
        let [precise, balanced, complete] = scores;
        println!("{set}: precision {:.4}, balanced {:.4}, recall {:.4}", precise.f(), balanced.f(), complete.f());
        assert!(precise.precision() > balanced.precision() && balanced.precision() > complete.precision(), "{set}");
        assert!(precise.recall() < balanced.recall() && balanced.recall() < complete.recall(), "{set}");
        for preset in [precise, complete] {
            assert!(preset.f() >= balanced.f() - MAX_PRESET_LOSS, "{set}: {:.4} {:.4}", preset.f(), balanced.f());
        }
    }
}

/// An annotated article of this many words must give some text.
const MIN_ARTICLE_WORDS: usize = 100;

#[test]
fn no_annotated_article_gives_no_text() {
    let Some(folder) = folder() else { return };
    let mut empty = Vec::new();
    for set in TEXT_SETS {
        for page in sets::read(&folder, set).unwrap() {
            let gold = page.gold.text.clone().or_else(|| page.gold.with.as_ref().map(|with| with.join(" ")));
            let Some(gold) = gold.filter(|gold| gold.split_whitespace().count() >= MIN_ARTICLE_WORDS) else { continue };
            // Some articles were annotated in a browser, and their scripts load the text.
            let lines: Vec<&str> = gold.lines().map(str::trim).filter(|line| line.len() >= 60).collect();
            if lines.iter().filter(|line| page.html.contains(**line)).count() * 2 < lines.len() {
                continue;
            }
            for preset in [Preset::Precision, Preset::Balanced, Preset::Recall] {
                if text(&page.html, &page.url, preset).trim().is_empty() {
                    empty.push(format!("{} {}", page.id, preset.name()));
                }
            }
        }
    }
    assert!(empty.is_empty(), "{empty:?}");
}

#[test]
fn the_gate_accepts_good_text_and_rejects_noise() {
    let Some(folder) = folder() else { return };
    let mut counts: BTreeMap<&str, RejectionCounts> = BTreeMap::new();
    for set in ["fundus", "andy", "zh"] {
        for page in sets::read(&folder, set).unwrap() {
            gate::evaluate(&page, |kind, rejected, _| {
                let count = counts.entry(kind).or_default();
                count.texts += 1;
                if let Some(rule) = rejected {
                    *count.rejected.entry(rule).or_default() += 1;
                }
            });
        }
    }
    assert!(counts[gate::GOOD].texts > 200 && counts[gate::GOOD].share() < 0.005, "{counts:?}");
    for (kind, least) in [("bad: one paragraph many times", 0.99), ("bad: words without small words", 0.7)] {
        assert!(counts[kind].share() > least, "{kind}: {counts:?}");
    }
}
