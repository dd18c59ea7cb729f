//! Accuracy of metadata extraction on annotated pages.
//!
//! The pages are not part of the repository; without them the test is skipped. Scores are printed
//! for all pages and for two halves that share no domain, which reveals rules that only fit the
//! half they were written on. `METADATA_MISSES=title` (or `authors`, `tags`, …) lists the errors in
//! the first half (with `METADATA_BOTH`, in both); `METADATA_SET` restricts the run to one set.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use serde_json::Value;
use tidings_clean::{declared_metadata::DeclaredMetadata, metadata, tree};

/// Minimum share of pages that are exactly right, by set and field. Only ever raised.
const PINS: &[(&str, &str, f64)] = &[
    ("trafi", "title", 0.895),
    ("trafi", "authors", 0.775),
    ("trafi", "categories", 0.54),
    ("trafi", "tags", 0.54),
    ("wcxb", "title", 0.844),
    ("wcxb", "authors", 0.73),
    ("andy", "title", 0.945),
    ("andy", "authors", 0.85),
    ("fundus", "title", 0.81),
    ("fundus", "authors", 0.775),
    ("fundus", "tags", 0.455),
];

const SETS: &[&str] = &["trafi", "wcxb", "andy", "fundus", "zh"];
const FIELDS: &[&str] = &["title", "authors", "sitename", "categories", "tags"];

#[derive(Default, Clone, Copy)]
struct Score {
    pages: f64,
    exact: f64,
    tolerant: f64,
    hits: f64,
    given: f64,
    wanted: f64,
}

impl Score {
    fn add(&mut self, other: Score) {
        self.pages += other.pages;
        self.exact += other.exact;
        self.tolerant += other.tolerant;
        self.hits += other.hits;
        self.given += other.given;
        self.wanted += other.wanted;
    }

    fn f(&self) -> f64 {
        2.0 * self.hits / (self.given + self.wanted).max(1.0)
    }
}

#[test]
fn metadata_scores_have_not_fallen() {
    let Some(folder) = tidings_testing::data("extract-dev") else { return };
    let misses = std::env::var("METADATA_MISSES").unwrap_or_default();
    let only = std::env::var("METADATA_SET").unwrap_or_default();
    let mut spent = Duration::ZERO;
    let mut pages = 0_u32;
    let mut fallen = Vec::new();
    for set in SETS.iter().filter(|set| only.is_empty() || **set == only) {
        let file = std::fs::File::open(folder.join(format!("{set}.jsonl.zst"))).expect("every set exists");
        let mut decoder = zstd::Decoder::new(file).expect("the file is zstd");
        decoder.window_log_max(27).expect("the window size is valid");
        let mut scores = [[Score::default(); 2]; FIELDS.len()];
        for line in BufReader::with_capacity(1 << 20, decoder).lines() {
            let page: Value = serde_json::from_str(&line.expect("lines are text")).expect("lines are JSON");
            let gold = wanted(&page["gold"]);
            if gold.iter().all(Option::is_none) {
                continue;
            }
            let address = page["url"].as_str().unwrap_or_default();
            let url = url::Url::parse(address).ok();
            let half =
                half_of(url.as_ref().and_then(|url| url.host_str()).unwrap_or(page["id"].as_str().unwrap_or_default()));
            let tree = tree::parse(page["html"].as_str().unwrap_or_default());
            let declared = DeclaredMetadata::read(&tree);
            let start = Instant::now();
            let found = metadata::read(&tree, &declared, url.as_ref());
            spent += start.elapsed();
            pages += 1;
            let found = [vec![found.title], found.authors, vec![found.site_name], found.categories, found.tags];
            for (at, gold) in gold.iter().enumerate() {
                let Some(gold) = gold else { continue };
                let score = compare(&found[at], gold);
                if misses == FIELDS[at] && score.exact == 0.0 && (half == 0 || std::env::var("METADATA_BOTH").is_ok()) {
                    eprintln!("{address} {half}\n   want {gold:?}\n   have {:?}", found[at]);
                }
                scores[at][half].add(score);
            }
        }
        for (field, halves) in FIELDS.iter().zip(scores) {
            let mut all = halves[0];
            all.add(halves[1]);
            if all.pages == 0.0 {
                continue;
            }
            let [one, other] = halves.map(|half| half.exact / half.pages.max(1.0));
            let exact = all.exact / all.pages;
            eprintln!(
                "{set:7} {field:10} {:4} pages  exact {exact:.3} ({one:.3} / {other:.3})  tolerant {:.3}  set F {:.3} ({:.3} / {:.3})",
                all.pages,
                all.tolerant / all.pages,
                all.f(),
                halves[0].f(),
                halves[1].f(),
            );
            for (_, _, pin) in PINS.iter().filter(|(of, what, _)| of == set && what == field) {
                if exact < *pin {
                    fallen.push(format!("{set} {field}: {exact:.3} is below {pin:.3}"));
                }
            }
        }
    }
    if pages > 0 {
        eprintln!("{pages} pages, {:.3} ms per page", spent.as_secs_f64() * 1_000.0 / f64::from(pages));
    }
    assert!(fallen.is_empty(), "{}", fallen.join("; "));
}

/// The annotations in the order of [`FIELDS`].
fn wanted(gold: &Value) -> [Option<Vec<String>>; 5] {
    let list = |value: &Value| -> Option<Vec<String>> {
        Some(value.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    };
    let one = |value: &Value| value.as_str().map(|text| vec![text.to_owned()]);
    let joined = |value: &Value| Some(value.as_str()?.split("; ").map(str::to_owned).collect());
    [
        one(&gold["title"]),
        list(&gold["authors"]).or_else(|| joined(&gold["author"])),
        one(&gold["sitename"]),
        list(&gold["categories"]),
        list(&gold["tags"]),
    ]
}

fn compare(found: &[String], gold: &[String]) -> Score {
    let (found, gold) = (set_of(found), set_of(gold));
    let hits = found.intersection(&gold).count() as f64;
    let alike = |one: &str, other: &str| one.contains(other) || other.contains(one);
    let tolerant =
        found == gold || (!found.is_empty() && gold.iter().any(|gold| found.iter().any(|found| alike(found, gold))));
    Score {
        pages: 1.0,
        exact: f64::from(found == gold),
        tolerant: f64::from(tolerant),
        hits,
        given: found.len() as f64,
        wanted: gold.len() as f64,
    }
}

/// Lower-cased texts without punctuation, white space collapsed.
fn set_of(texts: &[String]) -> BTreeSet<String> {
    let plain = |text: &String| {
        let kept: String =
            text.to_lowercase().chars().filter(|c| c.is_alphanumeric() || c.is_whitespace() || *c == '_').collect();
        kept.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    texts.iter().map(plain).filter(|text| !text.is_empty()).collect()
}

/// The half of the domains that a host belongs to.
fn half_of(host: &str) -> usize {
    let domain = tidings_model::registered_domain(host).unwrap_or(host);
    let hash = domain
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    ((hash >> 17) & 1) as usize
}
