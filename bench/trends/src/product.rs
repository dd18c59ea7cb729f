//! The scenarios through the whole product: text is made of the simulated counts, indexed, and questions are asked.
//!
//! A right formula over wrong counts or denominators is still wrong, so nothing here computes a statistic: words found
//! are those in the answers of `trends`, `bursts`, `new-words`, `compare` and `keywords`. The index is written directly;
//! [`imported`](crate::imported) has the way through import and all stages.

use crate::drift::{FoundWords, is_of_halves};
use crate::scenario::{BURSTING, CHANGING, FLAT, SCENARIOS, Scenario, Site, Truth, WEEKS, negative_binomial, truth_of};
use fastrand::Rng;
use jiff::ToSpan;
use jiff::civil::{Date, date};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use tidings_index::{Settings, Writer};
use tidings_model::{Annotated, AnnotatedParagraph, Attributes, Token};
use tidings_query::engine::Engine;
use tidings_query::question::{
    BurstsRequest, CompareRequest, FocusParams, KeywordsRequest, LimitParams, NewWordsRequest, Parsed, Question,
    QuestionContext, Request, StepParams, TestParams, TrendsRequest,
};
use tidings_query::trend::Step;

/// The size of a corpus.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Sites.
    pub sites: usize,
    /// Words that change over the whole time.
    pub changing: usize,
    /// Words that burst.
    pub bursting: usize,
    /// Words that do not change.
    pub flat: usize,
    /// The factor by which documents are shorter and words more frequent than in the simulated counts.
    pub shrink: f64,
}

/// The size of the benchmark: all words and sites of the simulated counts.
pub const FULL: Size = Size { sites: 24, changing: CHANGING, bursting: BURSTING, flat: FLAT, shrink: 2.0 };
/// A size for tests.
pub const SMALL: Size = Size { sites: 12, changing: 20, bursting: 6, flat: 60, shrink: 5.0 };

/// Words that are first used late, on all sites.
pub const NEW: usize = 5;
const FIRST_WEEK_OF_NEW: usize = 430;
const RATE_OF_NEW: f64 = 3e-4;
/// Words that fill the documents up, each too rare to be tested: their common share is what the planted words leave, so
/// that frequent ones would change with them.
const FILLERS: usize = 200_000;
/// The number of the first new word and of the first filler.
const FIRST_NEW: usize = CHANGING + BURSTING + FLAT;
const FIRST_FILLER: usize = FIRST_NEW + NEW;

const FIRST_DAY: Date = date(2016, 1, 4);

/// The words found by each question.
#[derive(Debug, Clone, Copy, Default)]
pub struct Answers {
    /// By `trends`, by quarter; planted are changing words.
    pub trends: FoundWords,
    /// By `bursts`, by week; planted are bursting words.
    pub bursts: FoundWords,
    /// By `new-words`; planted are words that are first used late.
    pub new_words: FoundWords,
    /// By `compare` between the halves of the time; planted are changing words.
    pub compare: FoundWords,
    /// By `keywords` of the second half, among the significant ones.
    pub keywords: FoundWords,
}

impl Answers {
    /// The results by question.
    pub fn each(&self) -> [(&'static str, FoundWords); 5] {
        [
            ("trends", self.trends),
            ("bursts", self.bursts),
            ("new-words", self.new_words),
            ("compare", self.compare),
            ("keywords", self.keywords),
        ]
    }

    /// Adds the results of another seed.
    pub fn add(&mut self, other: &Answers) {
        let sum = |own: &mut FoundWords, other: FoundWords| {
            own.planted += other.planted;
            own.others += other.others;
        };
        sum(&mut self.trends, other.trends);
        sum(&mut self.bursts, other.bursts);
        sum(&mut self.new_words, other.new_words);
        sum(&mut self.compare, other.compare);
        sum(&mut self.keywords, other.keywords);
    }
}

/// The words of a size by their numbers in the scenario.
fn words(size: &Size) -> impl Iterator<Item = usize> {
    let first_flat = CHANGING + BURSTING;
    (0..size.changing).chain(CHANGING..CHANGING + size.bursting).chain(first_flat..first_flat + size.flat)
}

/// A pronounceable word for each number, which no list of stop words has.
fn spelling(number: usize) -> String {
    let syllable = |part: usize| {
        let (consonants, vowels) = (b"bdfgklmnprstvz", b"aeiou");
        let letters = [consonants[part % consonants.len()], vowels[part / consonants.len() % vowels.len()]];
        letters.map(char::from)
    };
    [number % 70, number / 70 % 70, number / 4900].into_iter().flat_map(syllable).collect()
}

/// The words of each document, by site, week and number in the week.
type Texts = Vec<Vec<Vec<Vec<u32>>>>;

/// Draws the words of all documents.
fn texts(scenario: &Scenario, size: &Size, sites: &[Site], random: &mut Rng) -> Texts {
    let empty = |site: &Site| site.weeks.iter().map(|week| vec![Vec::new(); week.len()]).collect();
    let mut texts: Texts = sites.iter().map(empty).collect();
    let mut add = |(site, week, document): (usize, usize, usize), word: usize, hits: u32| {
        let text: &mut Vec<u32> = &mut texts[site][week][document];
        text.extend(std::iter::repeat_n(word as u32, hits as usize));
    };
    for word in words(size) {
        scenario.word(word, sites, random, |document, hits| add(document, word, hits));
    }
    for word in FIRST_NEW..FIRST_NEW + NEW {
        for (number, site) in sites.iter().enumerate() {
            for (week, documents) in site.weeks.iter().enumerate().skip(FIRST_WEEK_OF_NEW) {
                for (document, length) in documents.iter().enumerate() {
                    add((number, week, document), word, negative_binomial(RATE_OF_NEW * length, random));
                }
            }
        }
    }
    for (site, texts) in sites.iter().zip(&mut texts) {
        for (lengths, texts) in site.weeks.iter().zip(texts) {
            for (length, text) in lengths.iter().zip(texts) {
                let length = (length / size.shrink).round() as usize;
                while text.len() < length {
                    text.push((FIRST_FILLER + random.usize(..FILLERS)) as u32);
                }
                random.shuffle(text);
            }
        }
    }
    texts
}

/// Writes the index of a scenario.
pub fn index(scenario: &Scenario, size: &Size, seed: u64, folder: &Path) -> Engine {
    let mut writer = Writer::open(folder, Settings::default()).expect("a new index can be opened");
    each_document(scenario, size, seed, |document| writer.add(&document).expect("a document can be added"));
    writer.commit(Vec::new()).expect("an index can be committed");
    Engine::new(writer.snapshot().clone())
}

/// Makes the documents of a scenario, week by week, as they were published.
pub fn each_document(scenario: &Scenario, size: &Size, seed: u64, mut visit: impl FnMut(Annotated)) {
    let mut random = Rng::with_seed(seed);
    let sites = scenario.sites(size.sites, &mut random);
    let texts = texts(scenario, size, &sites, &mut random);
    let spellings: Vec<String> = (0..FIRST_FILLER + FILLERS).map(spelling).collect();
    let mut id = 0;
    for week in 0..WEEKS {
        for (site, texts) in texts.iter().enumerate() {
            for text in &texts[week] {
                id += 1;
                let day = FIRST_DAY.saturating_add((week as i64 * 7 + random.i64(0..7)).days());
                visit(document(id, day, site, text, &spellings));
            }
        }
    }
}

fn document(id: u128, day: Date, site: usize, text: &[u32], spellings: &[String]) -> Annotated {
    let token = |word: &u32| {
        let word = &spellings[*word as usize];
        Token { word: word.as_str().into(), lemma: word.as_str().into(), space_after: true, ..Token::default() }
    };
    let sentences = text.chunks(20).map(|sentence| sentence.iter().map(token).collect()).collect();
    let site = format!("site{site}.example");
    Annotated {
        about: Attributes {
            id,
            url: format!("https://{site}/{id}"),
            title: String::new(),
            date: day.to_string(),
            seen: day.to_string(),
            fields: vec![("site".to_owned(), site)],
        },
        paragraphs: vec![AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() }],
        ..Annotated::default()
    }
}

/// Asks all questions about an index.
pub fn ask(engine: &Engine) -> Answers {
    let numbers: HashMap<String, usize> = (0..FIRST_FILLER + FILLERS).map(|word| (spelling(word), word)).collect();
    let context = QuestionContext::new(engine, "en");
    let number = |value: &str| *numbers.get(value).expect("every row is a word of the corpus");
    let all = LimitParams { limit: 10_000 };
    // Halves differ by the square root of the change over the whole time, so that small changes count too.
    let any_effect = TestParams { effect: 1.0, ..TestParams::default() };
    let (before, after) = ("date<2020-12-28", "date>=2020-12-28");
    let mut answers = Answers::default();
    let changing = |word: usize| word < FIRST_NEW && truth_of(word) == Truth::Changing;

    let trends =
        TrendsRequest { step: StepParams { by: Some(Step::Quarter) }, limit: all.clone(), ..TrendsRequest::example() };
    let rows = answer(&trends, &context).rows;
    // New words rise, too.
    let rows = rows.iter().map(|row| number(&row.value)).filter(|word| !is_new(*word));
    answers.trends.count(rows, changing);

    let bursts = BurstsRequest { by: Some(Step::Week), limit: all.clone(), ..BurstsRequest::example() };
    let rows = answer(&bursts, &context).rows;
    let rows = rows.iter().map(|row| number(&row.value)).filter(|word| !is_new(*word));
    answers.bursts.count(rows, |word| word < FIRST_NEW && truth_of(word) == Truth::Bursting);

    let new_words = NewWordsRequest { since: None, limit: all.clone(), ..NewWordsRequest::example() };
    answers.new_words.count(answer(&new_words, &context).rows.iter().map(|row| number(&row.value)), is_new);

    let compare = CompareRequest {
        before: Parsed::new(before).expect("a filter"),
        after: Parsed::new(after).expect("a filter"),
        test: any_effect,
        ..CompareRequest::example()
    };
    let mut compare = compare;
    compare.rows.limit = all.clone();
    let rows = answer(&compare, &context).rows;
    let rows = rows.iter().map(|row| number(&row.value)).filter(|word| !is_new(*word));
    answers.compare.count(rows.filter(is_of_halves), changing);

    let focus = FocusParams::of(Parsed::new(after).expect("a filter"));
    let mut keywords = KeywordsRequest { parts: focus, ..KeywordsRequest::example() };
    keywords.rows.limit = all;
    let found = answer(&keywords, &context);
    let rows = found.rows.iter().take(found.significant as usize);
    let rows = rows.map(|row| number(&row.value)).filter(|word| !is_new(*word));
    answers.keywords.count(rows.filter(is_of_halves), changing);
    answers
}

fn is_new(word: usize) -> bool {
    (FIRST_NEW..FIRST_FILLER).contains(&word)
}

fn answer<Q: Question>(question: &Q, context: &QuestionContext<'_>) -> Q::Answer {
    question.answer(context).unwrap_or_else(|error| panic!("{}: {error}", Q::NAME)).body
}

/// Indexes and asks with some seeds.
pub fn measure(scenario: &Scenario, size: &Size, seeds: std::ops::Range<u64>) -> Answers {
    let mut answers = Answers::default();
    for seed in seeds {
        let folder = tempfile::tempdir().expect("a temporary folder");
        answers.add(&ask(&index(scenario, size, seed, folder.path())));
    }
    answers
}

/// Measures the scenarios with these names, or all, and prints the results as JSON.
pub fn print(seeds: u64, names: &[String]) {
    let planted = |question: &str| match question {
        "bursts" => BURSTING,
        "new-words" => NEW,
        _ => CHANGING,
    };
    let mut scenarios = serde_json::Map::new();
    let is_chosen = |scenario: &&Scenario| names.is_empty() || names.iter().any(|name| name == scenario.name);
    for scenario in SCENARIOS.iter().filter(is_chosen) {
        let answers = measure(scenario, &FULL, 0..seeds);
        let of_question = |(question, found): (&'static str, FoundWords)| {
            let share = found.planted as f64 / (planted(question) as u64 * seeds) as f64;
            let rounded = |share: f64| (share * 1e4).round() / 1e4;
            let results = json!({
                "planted": found.planted,
                "others": found.others,
                "planted_share": rounded(share),
                "false_share": rounded(found.false_share()),
            });
            (question.to_owned(), results)
        };
        let results: serde_json::Map<String, Value> = answers.each().into_iter().map(of_question).collect();
        eprintln!("{}: {}", scenario.name, Value::Object(results.clone()));
        scenarios.insert(scenario.name.to_owned(), Value::Object(results));
    }
    let report = json!({
        "benchmark": format!("bench-trends product {seeds}"),
        "corpus": "text of the drift scenarios, indexed; answers of trends, bursts, new-words, compare and keywords",
        "seeds": seeds,
        "planted": { "trends": CHANGING, "bursts": BURSTING, "new-words": NEW, "compare": CHANGING, "keywords": CHANGING },
        "scenarios": scenarios,
    });
    println!("{}", serde_json::to_string_pretty(&report).expect("JSON"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_spelling_of_its_own() {
        let spellings: std::collections::HashSet<String> = (0..FIRST_FILLER + FILLERS).map(spelling).collect();
        assert_eq!(spellings.len(), FIRST_FILLER + FILLERS);
    }
}
