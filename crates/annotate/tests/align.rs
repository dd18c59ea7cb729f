//! Sentence alignment F1 on news in more than a hundred languages.
//!
//! Documents were translated line by line, so the correct alignment is known. The test merges and
//! removes lines at random on both sides.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use tidings_annotate::align::{SentenceProfile, align};

/// Number of document pairs that gives a stable score.
const PAIRS: usize = 400;
/// Probabilities that a line is merged with the next one, or removed.
const JOINED: f64 = 0.08;
const MISSING: f64 = 0.03;
/// Pinned scores, with and without edits.
const MIN_F1_EDITED: f64 = 0.935;
const MIN_F1_UNEDITED: f64 = 0.99;

/// Xorshift generator with a fixed seed.
struct Rng(u64);

impl Rng {
    fn unit_f64(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Documents as language and lines.
fn documents() -> Option<Vec<(String, Vec<String>)>> {
    let packed = tidings_testing::data("text-dev/langid/langid-dev.jsonl.xz")?;
    let unpacked = Command::new("xz").arg("-dc").arg(packed).output().ok().filter(|ran| ran.status.success());
    let Some(unpacked) = unpacked else {
        tidings_testing::skip("xz is not installed");
        return None;
    };
    let text = String::from_utf8(unpacked.stdout).expect("JSON lines");
    let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("an object"));
    let documents = rows.filter(|row| row["src"] == "ntrex" && row["kind"] == "doc");
    let lines = |row: serde_json::Value| {
        let text = row["text"].as_str().unwrap_or_default();
        (row["lang"].as_str().unwrap_or_default().to_owned(), text.lines().map(str::to_owned).collect())
    };
    Some(documents.map(lines).collect())
}

/// Documents of equal length with correlated line lengths are translations of each other.
fn pairs(documents: &[(String, Vec<String>)]) -> Vec<(&[String], &[String])> {
    let mut by_len: BTreeMap<usize, Vec<&(String, Vec<String>)>> = BTreeMap::new();
    documents
        .iter()
        .filter(|document| document.1.len() >= 8)
        .for_each(|document| by_len.entry(document.1.len()).or_default().push(document));
    let mut pairs = Vec::new();
    for group in by_len.values() {
        for (at, one) in group.iter().enumerate() {
            for other in &group[at + 1..] {
                if one.0 != other.0 && correlation(&one.1, &other.1) > 0.8 {
                    pairs.push((&one.1[..], &other.1[..]));
                }
            }
        }
    }
    // Sample evenly: the pairs are sorted by length.
    let step = (pairs.len() / PAIRS).max(1);
    pairs.into_iter().step_by(step).collect()
}

fn correlation(one: &[String], other: &[String]) -> f64 {
    let lengths = |lines: &[String]| lines.iter().map(|line| line.chars().count() as f64).collect::<Vec<f64>>();
    let (a, b) = (lengths(one), lengths(other));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (ma, mb) = (mean(&a), mean(&b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(&b).map(|(x, y)| f(x - ma, y - mb)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt().max(1e-9)
}

/// Line after editing, with the numbers of the original lines in it.
type EditedLine = (BTreeSet<usize>, String);

fn edited(lines: &[String], rng: &mut Rng, (joined, missing): (f64, f64)) -> Vec<EditedLine> {
    let mut left: Vec<EditedLine> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if rng.unit_f64() < missing {
            at += 1;
        } else if at + 1 < lines.len() && rng.unit_f64() < joined {
            left.push(([at, at + 1].into(), format!("{} {}", lines[at], lines[at + 1])));
            at += 2;
        } else {
            left.push(([at].into(), lines[at].clone()));
            at += 1;
        }
    }
    left
}

/// Gold alignment: groups that share original lines.
fn truth(left: &[EditedLine], right: &[EditedLine]) -> BTreeSet<(BTreeSet<usize>, BTreeSet<usize>)> {
    let mut groups = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for start in 0..left.len() {
        if seen.contains(&start) {
            continue;
        }
        let (mut ls, mut rs): (BTreeSet<usize>, BTreeSet<usize>) = ([start].into(), BTreeSet::new());
        loop {
            let before = (ls.len(), rs.len());
            let shares = |a: &EditedLine, b: &EditedLine| !a.0.is_disjoint(&b.0);
            rs.extend((0..right.len()).filter(|j| ls.iter().any(|i| shares(&left[*i], &right[*j]))));
            ls.extend((0..left.len()).filter(|i| rs.iter().any(|j| shares(&left[*i], &right[*j]))));
            if (ls.len(), rs.len()) == before {
                break;
            }
        }
        seen.extend(ls.iter().copied());
        if !rs.is_empty() {
            groups.insert((ls, rs));
        }
    }
    groups
}

/// F1 of exactly matching beads.
fn score(pairs: &[(&[String], &[String])], edit_rates: (f64, f64)) -> f64 {
    let mut rng = Rng(88_172_645_463_325_252);
    let (mut right_ones, mut found, mut wanted) = (0, 0, 0);
    for (one, other) in pairs {
        let (left, right) = (edited(one, &mut rng, edit_rates), edited(other, &mut rng, edit_rates));
        let profiles = |side: &[EditedLine]| {
            side.iter().map(|line| SentenceProfile::of(&line.1)).collect::<Vec<SentenceProfile>>()
        };
        let beads = align(&profiles(&left), &profiles(&right)).into_iter();
        let beads = beads.filter(|bead| !bead.left.is_empty() && !bead.right.is_empty());
        let beads: BTreeSet<_> = beads.map(|bead| (bead.left.collect(), bead.right.collect())).collect();
        let truth = truth(&left, &right);
        right_ones += truth.intersection(&beads).count();
        found += beads.len();
        wanted += truth.len();
    }
    2.0 * right_ones as f64 / (found + wanted).max(1) as f64
}

#[test]
fn alignment_f1_does_not_fall() {
    let Some(documents) = documents() else { return };
    let pairs = pairs(&documents);
    assert!(pairs.len() >= PAIRS / 2, "{} pairs", pairs.len());
    let (with_edits, without_edits) = (score(&pairs, (JOINED, MISSING)), score(&pairs, (0.0, 0.0)));
    eprintln!("{} pairs: F1 {with_edits:.4} with edits, {without_edits:.4} without", pairs.len());
    assert!(with_edits >= MIN_F1_EDITED, "F1 {with_edits:.4} with lines merged and removed");
    assert!(without_edits >= MIN_F1_UNEDITED, "F1 {without_edits:.4} without edits");
}
