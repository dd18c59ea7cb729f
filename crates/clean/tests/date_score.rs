//! Accuracy of publication dates on annotated pages.
//!
//! The pages belong to their publishers and are not part of the repository; without them the test
//! is skipped. Rules and precisions were fitted on one half of the domains; the other half is the
//! check. The pins may only rise. `TIDINGS_SCORE=misses cargo test --test date_score --
//! --nocapture` lists every error of the fitted half, `TIDINGS_SCORE=candidates` all candidates
//! with whether they were right.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use serde_json::Value;
use tidings_clean::date::{self, KnownDates};
use tidings_clean::declared_metadata::DeclaredMetadata;
use tidings_clean::tree;

const SETS: [&str; 6] = ["trafi", "hdate", "wcxb", "andy", "fundus", "zh"];

/// Set, and percentage of right dates on the fitted half and on the check half.
const PINS: [(&str, f64, f64); 7] = [
    ("hdate+", 94.7, 93.2),
    ("hdate", 93.9, 91.1),
    ("trafi", 94.1, 92.5),
    ("wcxb", 94.8, 89.2),
    ("andy", 86.0, 87.1),
    ("fundus", 100.0, 96.6),
    ("zh", 83.3, 85.7),
];

/// Upper ends of the confidence buckets.
const BUCKETS: [f32; 10] = [0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.94, 0.96, 0.98, 1.01];

#[derive(Default)]
struct DateCounts {
    pages: u32,
    right: u32,
    given: u32,
    /// Pages annotated as having no date.
    undated: u32,
    undated_given: u32,
}

impl DateCounts {
    fn share(&self) -> f64 {
        100.0 * f64::from(self.right) / f64::from(self.pages.max(1))
    }
}

fn pages(set: &str) -> Option<impl Iterator<Item = Value>> {
    let file = std::fs::File::open(tidings_testing::data(&format!("extract-dev/{set}.jsonl.zst"))?).unwrap();
    let mut decoder = zstd::Decoder::new(file).unwrap();
    decoder.window_log_max(27).unwrap();
    // A few annotations contain NaN for missing values.
    let read = |line: String| {
        serde_json::from_str(&line).or_else(|_| serde_json::from_str(&line.replacen(": NaN", ": null", 4))).unwrap()
    };
    Some(BufReader::new(decoder).lines().map(move |line| read(line.unwrap())))
}

/// Returns whether a page belongs to the check half. Domains are kept whole, so that templates do
/// not leak.
fn is_check(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or(url).split(['/', ':']).next().unwrap_or_default().to_lowercase();
    let domain = tidings_model::registered_domain(&host).unwrap_or(&host);
    let hash =
        domain.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    (hash >> 17) & 1 == 1
}

#[test]
fn date_scores_have_not_fallen() {
    let show = std::env::var("TIDINGS_SCORE").unwrap_or_default();
    let mut counts: BTreeMap<(String, bool), DateCounts> = BTreeMap::new();
    let mut buckets = [[(0u32, 0u32, 0f32); 10]; 2];
    let (mut spent, mut count) = (Duration::ZERO, 0u32);
    for set in SETS {
        let Some(pages) = pages(set) else { return };
        for page in pages {
            let Some(gold) = page["gold"]["date"].as_str() else { continue };
            let (html, url) = (page["html"].as_str().unwrap(), page["url"].as_str().unwrap_or_default());
            let tree = tree::parse(html);
            let declared = DeclaredMetadata::read(&tree);
            let start = Instant::now();
            let dates = date::read(&tree, &declared, Some(url), &KnownDates::default());
            spent += start.elapsed();
            count += 1;
            let check = is_check(url);
            let given = dates.published.as_ref().map(|dated| dated.day.as_str()).unwrap_or_default();
            let right = given == gold;
            let in_hdate = page["sets"].as_array().is_some_and(|sets| sets.iter().any(|name| name == "hdate"));
            let mut names = vec![set.to_string()];
            if in_hdate {
                names.push("hdate+".to_string());
            }
            if show == "candidates" {
                for candidate in &dates.candidates {
                    println!("CAND {set} {check} {gold} {} {given} {candidate:?}", page["id"]);
                }
            }
            if gold.is_empty() {
                let count_of_set = counts.entry((set.to_string(), check)).or_default();
                count_of_set.undated += 1;
                count_of_set.undated_given += u32::from(!given.is_empty());
                continue;
            }
            for name in names {
                let count_of_set = counts.entry((name, check)).or_default();
                count_of_set.pages += 1;
                count_of_set.given += u32::from(!given.is_empty());
                count_of_set.right += u32::from(right);
            }
            if let Some(dated) = &dates.published {
                let place = BUCKETS.iter().position(|end| dated.confidence < *end).unwrap_or(9);
                let bucket = &mut buckets[usize::from(check)][place];
                bucket.0 += 1;
                bucket.1 += u32::from(right);
                bucket.2 += dated.confidence;
            }
            if show == "misses" && !right && (!check || std::env::var("TIDINGS_SCORE_ALL").is_ok()) {
                println!("MISS {} {url} gold {gold} got {given:?} {:?}", page["id"], dates.published);
                for candidate in &dates.candidates {
                    let c = candidate;
                    println!("     {} {:?} {:?} {:?} {:.2}", c.day, c.source, c.role, c.position, c.confidence);
                }
            }
        }
    }
    println!("set      half   pages  right  precision recall  F      undated, of these given one");
    for ((set, check), t) in &counts {
        let precision = f64::from(t.right) / f64::from(t.given.max(1));
        // As in the htmldate evaluation: a wrong date costs precision only, a missing one recall.
        let missed = t.pages - t.given;
        let recall = f64::from(t.right) / f64::from((t.right + missed).max(1));
        let f = 2.0 * precision * recall / (precision + recall).max(1e-9);
        let half = if *check { "check" } else { "fit" };
        println!(
            "{set:8} {half:6} {:5}  {:5.1}  {precision:.3}     {recall:.3}   {f:.3}  {:4} {:4}",
            t.pages,
            t.share(),
            t.undated,
            t.undated_given
        );
    }
    for (half, rows) in ["fit", "check"].iter().zip(&buckets) {
        for (pages, right, sum) in rows.iter().filter(|(pages, ..)| *pages > 0) {
            let (predicted, share) = (f64::from(*sum) / f64::from(*pages), f64::from(*right) / f64::from(*pages));
            println!("confidence {half:6} {pages:4} pages, predicted {predicted:.3}, observed {share:.3}");
        }
    }
    println!("{:.3} ms per page", spent.as_secs_f64() * 1e3 / f64::from(count.max(1)));
    for (set, fit, check) in PINS {
        for (pin, half) in [(fit, false), (check, true)] {
            let share = counts[&(set.to_string(), half)].share();
            assert!(share + 0.05 >= pin, "{set}, check half {half}: {share:.1} is below {pin}");
        }
    }
}
