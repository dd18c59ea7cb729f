//! CPU time and memory of the questions about words over time, on an index of known size.
//!
//! 72,000 words with Zipf's frequencies, 200 sites, ten years, documents of 400 tokens. Nothing changes: the work is
//! that of counting and testing.

use crate::measure::cpu;
use fastrand::Rng;
use jiff::ToSpan;
use jiff::civil::date;
use serde_json::{Map, json};
use tidings_index::{Settings, Writer};
use tidings_model::{Annotated, AnnotatedParagraph, Attributes, Token};
use tidings_query::engine::Engine;
use tidings_query::question::{
    BurstsRequest, CompareRequest, FocusParams, KeywordsRequest, Parsed, Question, QuestionContext, Request,
    StepParams, TrendsRequest,
};
use tidings_query::trend::Step;

const WORDS: usize = 72_000;
const SITES: usize = 200;
const DAYS: i64 = 3650;
const DOCUMENT_TOKENS: usize = 400;

/// Builds an index of this many million tokens, asks, and prints CPU times and the peak of memory as JSON.
pub fn print(million_tokens: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut writer = Writer::open(folder.path(), Settings::default()).expect("a new index can be opened");
    let documents = million_tokens * 1_000_000 / DOCUMENT_TOKENS;
    let mut random = Rng::with_seed(1);
    for number in 0..documents {
        writer.add(&document(number, documents, &mut random)).expect("a document can be added");
    }
    writer.commit(Vec::new()).expect("an index can be committed");
    let engine = Engine::new(writer.snapshot().clone());
    let context = QuestionContext::new(&engine, "en");
    let before = peak_mib();
    let mut times = Map::new();
    let mut time = |name: &str, ask: &dyn Fn()| {
        let start = cpu();
        ask();
        let seconds = (cpu() - start).as_secs_f64();
        eprintln!("{name}: {seconds:.2} s");
        times.insert(name.to_owned(), json!((seconds * 100.0).round() / 100.0));
    };
    time("trends", &|| {
        ask(&TrendsRequest { step: StepParams { by: Some(Step::Quarter) }, ..TrendsRequest::example() }, &context)
    });
    time("bursts", &|| ask(&BurstsRequest::example(), &context));
    let filter = |text: &str| Parsed::new(text).expect("a filter");
    let halves = CompareRequest {
        before: filter("date<2021-01-01"),
        after: filter("date>=2021-01-01"),
        ..CompareRequest::example()
    };
    time("compare halves", &|| ask(&halves, &context));
    let month = KeywordsRequest { parts: FocusParams::of(filter("date=2020-03")), ..KeywordsRequest::example() };
    time("keywords of a month", &|| ask(&month, &context));
    let parts = FocusParams { against: Some(filter("date=2020-02")), ..month.parts.clone() };
    let months = KeywordsRequest { parts, ..month };
    time("keywords of a month against another", &|| ask(&months, &context));
    let report = json!({
        "benchmark": format!("bench-trends engine {million_tokens}"),
        "corpus": "72,000 words with Zipf's frequencies, 200 sites, ten years, documents of 400 tokens",
        "million_tokens": million_tokens,
        "cpu_s": times,
        "peak_mib_after_indexing": before,
        "peak_mib": peak_mib(),
    });
    println!("{}", serde_json::to_string_pretty(&report).expect("JSON"));
}

fn ask<Q: Question>(question: &Q, context: &QuestionContext<'_>) {
    question.answer(context).unwrap_or_else(|error| panic!("{}: {error}", Q::NAME));
}

fn document(number: usize, documents: usize, random: &mut Rng) -> Annotated {
    let day = date(2016, 1, 1).saturating_add((number as i64 * DAYS / documents as i64).days()).to_string();
    let site = format!("site{}.example", random.usize(..SITES));
    // A power of the number of words is a rank of Zipf's distribution.
    let token = |_| {
        let word = format!("w{}", (WORDS as f64).powf(random.f64()) as usize);
        Token { lemma: word.as_str().into(), word: word.into(), space_after: true, ..Token::default() }
    };
    let tokens: Vec<Token> = (0..DOCUMENT_TOKENS).map(token).collect();
    Annotated {
        about: Attributes {
            id: number as u128 + 1,
            url: format!("https://{site}/{number}"),
            title: String::new(),
            date: day.clone(),
            seen: day,
            fields: vec![("site".to_owned(), site)],
        },
        paragraphs: vec![AnnotatedParagraph { sentences: vec![tokens], ..AnnotatedParagraph::default() }],
        ..Annotated::default()
    }
}

/// The peak of memory in MiB, of the process so far; 0 if the system does not say.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
}
