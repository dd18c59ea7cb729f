//! Pinned scores on annotated pages; they may only rise.
//!
//! The pages are not part of the repository; without them the test is skipped. The model was
//! trained on these pages, so the scores are higher than on others; cross-validated scores are in
//! BENCHMARKS.md.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bench_extract::gate::{self, RejectionCounts};
use bench_extract::score::{Segments, Shingles, shingles};
use bench_extract::sets;
use tidings_clean::{HtmlInput, Options, Preset, extract};

/// Set and minimum F1.
const PINS: [(&str, f64); 6] =
    [("trafi", 0.967), ("wcxb", 0.889), ("andy", 0.940), ("fundus", 0.965), ("daniel", 0.928), ("zh", 0.816)];

fn folder() -> Option<PathBuf> {
    tidings_testing::data("extract-dev")
}

fn text(html: &str, url: &str, preset: Preset) -> String {
    let options = Options { preset, ..Options::default() };
    extract(&HtmlInput { html, url: Some(url), ..HtmlInput::default() }, &options)
        .map(|document| document.text())
        .unwrap_or_default()
}

#[test]
fn scores_have_not_fallen() {
    let Some(folder) = folder() else { return };
    let mut fallen = Vec::new();
    for (set, pin) in PINS {
        let (mut segments, mut runs) = (Segments::default(), Shingles::default());
        for page in sets::read(&folder, set).unwrap() {
            let text = text(&page.html, &page.url, Preset::Balanced);
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
    assert!(fallen.is_empty(), "{fallen:?}");
}

#[test]
fn presets_trade_precision_for_recall() {
    let Some(folder) = folder() else { return };
    let pages = sets::read(&folder, "fundus").unwrap();
    let mut scores = [Shingles::default(); 3];
    for page in &pages {
        let gold = page.gold.text.as_deref().unwrap_or_default();
        for (score, preset) in scores.iter_mut().zip([Preset::Precision, Preset::Balanced, Preset::Recall]) {
            score.add(shingles(&text(&page.html, &page.url, preset), gold));
        }
    }
    let [precise, balanced, complete] = scores;
    assert!(precise.precision() > balanced.precision() && balanced.precision() > complete.precision());
    assert!(precise.recall() < balanced.recall() && balanced.recall() < complete.recall());
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
