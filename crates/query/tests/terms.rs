//! Terms compared with the matches of their patterns, found by the oracle on random corpora.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::json;
use tidings_index::{Settings, Writer};
use tidings_model::{Annotated, AnnotatedParagraph, Attributes, Token};
use tidings_query::engine::Engine;
use tidings_query::oracle::{Corpus, Document};
use tidings_query::question::{Question as _, QuestionContext, Terms, TermsRequest, request};
use tidings_query::terms::term_query;
use tidings_query::{Filter, MatchRule};

/// Words with their parts of speech and lemmas; some forms share a lemma.
const WORDS: [(&str, &str, &str); 11] = [
    ("Green", "green", "ADJ"),
    ("green", "green", "ADJ"),
    ("law", "law", "NOUN"),
    ("laws", "law", "NOUN"),
    ("city", "city", "NOUN"),
    ("Rome", "Rome", "PROPN"),
    ("next", "next", "ADJ"),
    ("part", "part", "NOUN"),
    ("of", "of", "ADP"),
    ("runs", "run", "VERB"),
    (".", ".", "PUNCT"),
];

/// Documents of random sentences on two sites and nine days.
fn corpus(random: &mut Rng, documents: usize) -> Corpus {
    let document = |number: usize, random: &mut Rng| {
        let mut token = || {
            let (word, lemma, tag) = WORDS[random.usize(..WORDS.len())];
            Token::new(word, lemma, tag)
        };
        let sentences = (0..4).map(|at| (0..3 + (number + at) % 7).map(|_| token()).collect()).collect();
        let fields = [
            ("date", format!("2026-03-0{}", number % 9 + 1)),
            ("site", format!("s{}", number % 2)),
            ("id", format!("{:032x}", number + 1)),
        ];
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Document { paragraphs: vec![sentences], fields, ..Document::default() }
    };
    Corpus { documents: (0..documents).map(|number| document(number, random)).collect(), ..Corpus::default() }
}

/// An index of the same documents in two segments.
fn engine(folder: &std::path::Path, corpus: &Corpus) -> Engine {
    let mut writer = Writer::open(folder, Settings { merge_factor: 100, ..Settings::default() }).unwrap();
    for (number, document) in corpus.documents.iter().enumerate() {
        let date = document.field("date").to_owned();
        let fields = vec![("site".to_owned(), document.field("site").to_owned())];
        let id = number as u128 + 1;
        let about = Attributes { id, seen: date.clone(), date, fields, ..Attributes::default() };
        let paragraph = |sentences: &Vec<Vec<Token>>| AnnotatedParagraph {
            sentences: sentences.clone(),
            ..AnnotatedParagraph::default()
        };
        let paragraphs = document.paragraphs.iter().map(paragraph).collect();
        writer.add(&Annotated { about, paragraphs, ..Annotated::default() }).unwrap();
        if number == corpus.documents.len() / 3 {
            writer.commit(Vec::new()).unwrap();
        }
    }
    writer.commit(Vec::new()).unwrap();
    Engine::new(writer.snapshot().clone())
}

/// Hits and documents of each term, and the forms of each with their hits.
type Counted = BTreeMap<String, (u64, u64, BTreeMap<String, u64>)>;

/// Counts the terms of the documents that a filter admits by brute force.
fn counted(corpus: &Corpus, filter: &str, names: bool) -> (u64, Counted) {
    let part = corpus.restricted(&filter.parse::<Filter>().unwrap());
    let mut terms = Counted::new();
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    for hit in part.hits(term_query("en", names), MatchRule::All) {
        let tokens = part.documents[hit.document].tokens();
        let joined = |value: fn(&Token) -> &str| {
            tokens[hit.start..hit.end].iter().map(|token| value(token)).collect::<Vec<_>>().join(" ")
        };
        let (term, form) = (joined(|token| token.lemma.as_str()), joined(|token| token.word.as_str()));
        let (hits, documents, forms) = terms.entry(term.clone()).or_default();
        *hits += 1;
        *documents += u64::from(last.insert(term, hit.document) != Some(hit.document));
        *forms.entry(form).or_default() += 1;
    }
    (part.token_count(), terms)
}

#[test]
fn terms_of_two_parts_are_those_of_the_oracle() {
    for seed in 0..12 {
        let mut random = Rng::with_seed(seed);
        let corpus = corpus(&mut random, 24);
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path(), &corpus);
        for (focus, against) in
            [("site=s1", "site!=s1"), ("date<2026-03-04", "date>=2026-03-06"), ("has('Rome')", "!has('Rome')")]
        {
            for names in [false, true] {
                let min = random.u64(1..4);
                let asked = json!({ "focus": focus, "against": against, "names": names, "min": min, "min_documents": 2, "limit": 10_000 });
                let serde_json::Value::Object(asked) = asked else { unreachable!("it is an object") };
                let context = QuestionContext::new(&engine, "en");
                let found: Terms = request::<TermsRequest>(asked).unwrap().answer(&context).unwrap().body;
                let ((here, terms), (there, others)) =
                    (counted(&corpus, focus, names), counted(&corpus, against, names));
                assert_eq!((found.focus_tokens, found.reference_tokens), (here, there));
                // Without text in one of them, parts cannot be compared.
                let is_listed = |(term, (hits, documents, _)): &(String, (u64, u64, BTreeMap<String, u64>))| {
                    let words: Vec<&str> = term.split(' ').collect();
                    let is_term = !words.contains(&"next") && !term.contains("part of");
                    // Half a hit stands for none.
                    let hits_there = others.get(term).map_or(0.5, |(hits, ..)| *hits as f64);
                    let is_typical = || *hits as f64 / here as f64 > hits_there / there as f64;
                    is_term && here > 0 && there > 0 && *hits >= min && *documents >= 2 && is_typical()
                };
                let listed: Counted = terms.into_iter().filter(is_listed).collect();
                // A fragment stands in one longer term nine times of ten.
                let is_fragment = |term: &str, hits: u64| {
                    let longer = listed
                        .iter()
                        .filter(|(other, _)| *other != term && format!(" {other} ").contains(&format!(" {term} ")));
                    longer.map(|(_, (hits, ..))| *hits).max().is_some_and(|most| most * 10 >= hits * 9)
                };
                let whole = listed.iter().filter(|(term, (hits, ..))| !is_fragment(term, *hits));
                let expected: Counted = whole.map(|(term, counts)| (term.clone(), counts.clone())).collect();
                let names: Vec<&String> = expected.keys().collect();
                let mut listed: Vec<&String> = found.rows.iter().map(|row| &row.value).collect();
                listed.sort();
                assert_eq!(listed, names, "seed {seed}, {focus}");
                assert_eq!(found.values, Some(expected.len() as u64), "seed {seed}, {focus}");
                let mut by_score = found.rows.clone();
                by_score.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.value.cmp(&b.value)));
                assert_eq!(by_score, found.rows);
                for row in &found.rows {
                    let (hits, documents, forms) = &expected[&row.value];
                    let (there_hits, there_documents) = others.get(&row.value).map_or((0, 0), |(h, d, _)| (*h, *d));
                    let counts = (row.focus, row.focus_documents, row.reference, row.reference_documents);
                    assert_eq!(counts, (*hits, *documents, there_hits, there_documents), "seed {seed}, {row:?}");
                    let most = forms.values().max().unwrap();
                    let usual = forms.iter().find(|(_, hits)| *hits == most).map(|(form, _)| form);
                    assert_eq!(Some(&row.form), usual, "seed {seed}, {forms:?}");
                    let simple = (row.focus as f64 * 1e6 / here as f64 + 1.0)
                        / (row.reference as f64 * 1e6 / there as f64 + 1.0);
                    assert!((row.score - simple).abs() < 1e-9 * simple, "{row:?}");
                }
            }
        }
    }
}

/// A corpus of one sentence in each of ten documents, half of them in focus (`site=a`).
fn of_sentences(folder: &std::path::Path, sentence: impl Fn(usize) -> Vec<(&'static str, &'static str)>) -> Engine {
    let mut writer = Writer::open(folder, Settings::default()).unwrap();
    for number in 0..10 {
        let date = "2026-03-01".to_owned();
        let fields = vec![("site".to_owned(), if number < 5 { "a" } else { "b" }.to_owned())];
        let about = Attributes { id: number as u128 + 1, seen: date.clone(), date, fields, ..Attributes::default() };
        let tokens = sentence(number).into_iter().map(|(word, tag)| Token::new(word, word, tag)).collect();
        let paragraphs = vec![AnnotatedParagraph { sentences: vec![tokens], ..AnnotatedParagraph::default() }];
        writer.add(&Annotated { about, paragraphs, ..Annotated::default() }).unwrap();
    }
    writer.commit(Vec::new()).unwrap();
    Engine::new(writer.snapshot().clone())
}

fn terms_of(engine: &Engine, asked: serde_json::Value) -> Vec<String> {
    let serde_json::Value::Object(asked) = asked else { unreachable!("it is an object") };
    let context = QuestionContext::new(engine, "en");
    let found = request::<TermsRequest>(asked).unwrap().answer(&context).unwrap().body;
    found.rows.into_iter().map(|row| row.value).collect()
}

#[test]
fn words_that_the_corpus_tags_as_names_make_no_term_where_the_tagger_erred() {
    let folder = tempfile::tempdir().unwrap();
    // `Steinau` is a noun in two of the sentences with `station`, and a name everywhere else.
    let engine = of_sentences(folder.path(), |number| {
        let tag = if number < 3 { "NOUN" } else { "PROPN" };
        match number {
            0..5 => vec![("Steinau", tag), ("station", "NOUN"), ("and", "CCONJ"), ("ferry", "NOUN"), ("line", "NOUN")],
            _ => vec![("Steinau", "PROPN"), ("sleeps", "VERB")],
        }
    });
    let asked = json!({ "focus": "site=a", "min": 3, "min_documents": 3 });
    assert_eq!(terms_of(&engine, asked), ["ferry line"]);
    let asked = json!({ "focus": "site=a", "min": 3, "min_documents": 3, "names": true });
    assert_eq!(terms_of(&engine, asked), ["Steinau station", "ferry line"]);
}

#[test]
fn terms_that_are_more_frequent_elsewhere_are_not_typical() {
    let folder = tempfile::tempdir().unwrap();
    let engine = of_sentences(folder.path(), |number| {
        let mut sentence = vec![("green", "ADJ"), ("law", "NOUN"), ("and", "CCONJ")];
        if number >= 5 {
            sentence.extend([("green", "ADJ"), ("law", "NOUN")]);
        } else {
            sentence.extend([("ferry", "NOUN"), ("line", "NOUN")]);
        }
        sentence
    });
    assert_eq!(terms_of(&engine, json!({ "focus": "site=a", "min": 3 })), ["ferry line"]);
    assert_eq!(terms_of(&engine, json!({ "focus": "site=b", "min": 3 })), ["green law"]);
}

#[test]
fn a_term_that_stands_only_in_a_longer_one_is_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let engine = of_sentences(folder.path(), |number| match number {
        0..5 => {
            let mut sentence = vec![("freedom", "NOUN"), ("of", "ADP"), ("terminal", "NOUN"), ("equipment", "NOUN")];
            sentence.extend([("and", "CCONJ"), ("terminal", "NOUN"), ("equipment", "NOUN")]);
            sentence
        }
        _ => vec![("Steinau", "PROPN"), ("sleeps", "VERB")],
    });
    // `terminal equipment` has ten hits, half of them elsewhere; `freedom of terminal` is only a part.
    let found = terms_of(&engine, json!({ "focus": "site=a", "min": 3 }));
    assert_eq!(found, ["terminal equipment", "freedom of terminal equipment"]);
}
