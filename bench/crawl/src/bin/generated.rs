//! Measures whether generated text is told from texts of people:
//! `cargo run --release -p tidings-bench-crawl --bin generated -- TEXTS.jsonl [--json FILE]`, where lines have `lang` and
//! `text` of real articles.
//!
//! A site is a group of texts of one language. Sites of people have texts as they are; those of machines have text of a
//! Markov chain over pairs of words that was learned from the others, and sentences of others in random order.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use tidings_crawl::burstiness::{Burstiness, PAGES};
use tidings_crawl::text::TextFingerprint;

/// Sites of each kind and language.
const SITES: usize = 200;
/// The fewest texts of a language.
const LEAST_TEXTS: usize = 40;
/// Words of a generated text.
const WORDS: std::ops::Range<usize> = 100..400;

#[derive(Deserialize)]
struct Line {
    lang: String,
    text: String,
}

/// What was measured of the sites of a kind.
#[derive(Serialize)]
struct Row {
    language: String,
    kind: &'static str,
    sites: usize,
    least: f64,
    median: f64,
    largest: f64,
    taken_for_generated: usize,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, rest @ ..] = &arguments[..] else { return Err("a file of texts is missing".into()) };
    let mut languages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in std::fs::read_to_string(path)?.lines() {
        let line: Line = serde_json::from_str(line)?;
        if TextFingerprint::of(&line.text, "").length >= 60 {
            languages.entry(line.lang).or_default().push(line.text);
        }
    }
    let mut random = fastrand::Rng::with_seed(1);
    let mut rows = Vec::new();
    println!("| language | texts of sites | sites | least | median | largest | taken for generated |");
    println!("| --- | --- | --: | --: | --: | --: | --: |");
    for (language, texts) in languages.iter().filter(|(_, texts)| texts.len() >= LEAST_TEXTS) {
        let texts = without_copies(texts);
        let chain = Chain::learn(&texts);
        let sentences: Vec<&str> = texts.iter().flat_map(|text| text.split_inclusive(['.', '!', '?', '。'])).collect();
        let people =
            |random: &mut fastrand::Rng| random.choose_multiple(texts.iter(), PAGES).into_iter().cloned().collect();
        rows.push(measure(language, "people", &mut random, people));
        let babble = |random: &mut fastrand::Rng| (0..PAGES).map(|_| chain.text(random)).collect();
        rows.push(measure(language, "Markov chain", &mut random, babble));
        let mixed = |random: &mut fastrand::Rng| {
            let mut text = || (0..20).map(|_| sentences[random.usize(..sentences.len())]).collect::<String>();
            (0..PAGES).map(|_| text()).collect()
        };
        rows.push(measure(language, "sentences of others", &mut random, mixed));
    }
    if let [option, file] = rest
        && option == "--json"
    {
        std::fs::write(file, serde_json::to_string_pretty(&rows)? + "\n")?;
    }
    Ok(())
}

/// Texts that share no long beginning with another.
fn without_copies(texts: &[String]) -> Vec<String> {
    let mut known = HashSet::new();
    let mut is_new = |text: &String| {
        let samples = TextFingerprint::of(text, "").samples;
        let old = samples.iter().filter(|sample| !known.insert(**sample)).count();
        old * 7 < samples.len().max(1)
    };
    texts.iter().filter(|text| is_new(text)).cloned().collect()
}

fn measure(
    language: &str,
    kind: &'static str,
    random: &mut fastrand::Rng,
    site: impl Fn(&mut fastrand::Rng) -> Vec<String>,
) -> Row {
    let mut spreads = Vec::new();
    let mut taken = 0;
    for _ in 0..SITES {
        let mut words = Burstiness::default();
        site(random).iter().for_each(|text| words.add(&TextFingerprint::of(text, "")));
        taken += usize::from(words.is_generated());
        spreads.extend(words.spread());
    }
    spreads.sort_by(f64::total_cmp);
    let at = |share: f64| spreads.get((share * (spreads.len() - 1) as f64) as usize).copied().unwrap_or_default();
    let row = Row {
        language: language.to_owned(),
        kind,
        sites: spreads.len(),
        least: at(0.0),
        median: at(0.5),
        largest: at(1.0),
        taken_for_generated: taken,
    };
    println!(
        "| {language} | {kind} | {} | {:.2} | {:.2} | {:.2} | {taken} |",
        row.sites, row.least, row.median, row.largest
    );
    row
}

/// A Markov chain over pairs of words.
struct Chain<'a> {
    starts: Vec<(&'a str, &'a str)>,
    next: HashMap<(&'a str, &'a str), Vec<&'a str>>,
}

impl<'a> Chain<'a> {
    fn learn(texts: &'a [String]) -> Chain<'a> {
        let mut next: HashMap<(&str, &str), Vec<&str>> = HashMap::new();
        for text in texts {
            let words: Vec<&str> = text.split_whitespace().collect();
            for three in words.windows(3) {
                next.entry((three[0], three[1])).or_default().push(three[2]);
            }
        }
        let mut starts: Vec<_> = next.keys().copied().collect();
        starts.sort_unstable();
        Chain { starts, next }
    }

    fn text(&self, random: &mut fastrand::Rng) -> String {
        let (mut one, mut two) = self.starts[random.usize(..self.starts.len())];
        let mut text = format!("{one} {two}");
        for _ in 0..random.usize(WORDS) {
            let next = self.next.get(&(one, two)).map(|words| words[random.usize(..words.len())]);
            (one, two) = match next {
                Some(next) => (two, next),
                None => self.starts[random.usize(..self.starts.len())],
            };
            text.push(' ');
            text.push_str(two);
        }
        text
    }
}
