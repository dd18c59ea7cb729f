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
const WORDS: [(&str, &str, &str); 9] = [
    ("Green", "green", "ADJ"),
    ("green", "green", "ADJ"),
    ("law", "law", "NOUN"),
    ("laws", "law", "NOUN"),
    ("city", "city", "NOUN"),
    ("Rome", "Rome", "PROPN"),
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
                let is_listed = |(_, (hits, documents, _)): &(String, (u64, u64, BTreeMap<String, u64>))| {
                    here > 0 && there > 0 && *hits >= min && *documents >= 2
                };
                let expected: Counted = terms.into_iter().filter(is_listed).collect();
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
