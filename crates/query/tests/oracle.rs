//! The oracle on a corpus small enough to count by hand; fixtures/queries.tsv has the hits of every operator.

use std::collections::{BTreeMap, BTreeSet};
use tidings_index::{Settings, Writer};
use tidings_model::{
    Annotated, AnnotatedParagraph, Attributes, LayerColumn, LayerDeclaration, LayerKind, Token, TokenSpan,
};
use tidings_query::cql::{self, Attribute, MatchRule, operator_docs, reference};
use tidings_query::engine::{Around, Engine, Limits};
use tidings_query::measure::{Association, Keyness};
use tidings_query::oracle::{By, Corpus, Document, Hit};
use tidings_query::question::{SortKey, Window, sort_lines};
use tidings_query::trend::Step;
use tidings_query::{Filter, ValueMatcher};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/");

fn fixture(name: &str) -> String {
    std::fs::read_to_string(format!("{FIXTURES}{name}")).expect("fixtures are in the repository")
}

/// Further columns of the fixture, after word, lemma, tag and features.
const LAYERS: [(&str, LayerKind); 3] =
    [("syllables", LayerKind::Number), ("sense", LayerKind::Code), ("sem", LayerKind::Set)];

/// Attributes of a start tag: ` name="value" …`.
fn attributes(text: &str) -> Vec<(String, String)> {
    let pairs = text.trim_end_matches('>').split("\" ").filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.trim_start().split_once("=\"").expect("an attribute has a value");
        (name.to_owned(), value.trim_end_matches('"').to_owned())
    });
    pairs.collect()
}

/// Parses the vertical text of the fixture.
fn corpus() -> Corpus {
    let mut corpus = Corpus::default();
    let mut open: Vec<TokenSpan> = Vec::new();
    for line in fixture("queries.vert").lines() {
        if let Some(fields) = line.strip_prefix("<doc ") {
            let column = |(name, kind): (&str, LayerKind)| LayerColumn {
                layer: LayerDeclaration { name: name.to_owned(), kind, origin: String::new() },
                values: Vec::new(),
            };
            let columns = LAYERS.map(column).to_vec();
            let fields = attributes(fields).into_iter().collect();
            corpus.documents.push(Document { fields, columns, ..Document::default() });
            continue;
        }
        let Some(document) = corpus.documents.last_mut() else { continue };
        let token = document.columns[0].values.len() as u32;
        match line {
            "<p>" => document.paragraphs.push(Vec::new()),
            "<s>" => document.paragraphs.last_mut().unwrap().push(Vec::new()),
            "</p>" | "</s>" | "</doc>" => {}
            _ if line.starts_with("</") => {
                let name = &line[2..line.len() - 1];
                let place = open.iter().rposition(|span| span.name == name).expect("a span is open");
                let span = open.remove(place);
                document.spans.push(TokenSpan { end: token, ..span });
            }
            _ if line.starts_with('<') => {
                let (name, rest) = line[1..].split_once([' ', '>']).expect("a tag ends");
                open.push(TokenSpan { attributes: attributes(rest), ..TokenSpan::new(name, token, 0) });
            }
            _ => {
                let columns: Vec<&str> = line.split('\t').collect();
                let column = |at: usize| columns.get(at).copied().unwrap_or_default().to_owned();
                let new = Token { feats: column(3).into(), ..Token::new(columns[0], columns[1], columns[2]) };
                (0..LAYERS.len()).for_each(|at| document.columns[at].values.push(column(4 + at)));
                document.paragraphs.last_mut().unwrap().last_mut().unwrap().push(new);
            }
        }
    }
    corpus.documents.iter_mut().for_each(|document| document.spans.sort_by(TokenSpan::file_order));
    corpus
}

/// An index of the fixture in two segments.
fn engine(folder: &std::path::Path, corpus: &Corpus) -> Engine {
    let mut writer = Writer::open(folder, Settings::default()).expect("opened");
    for (number, document) in corpus.documents.iter().enumerate() {
        let paragraph = |sentences: &Vec<Vec<Token>>| AnnotatedParagraph {
            sentences: sentences.clone(),
            ..AnnotatedParagraph::default()
        };
        let fields = ["site", "topic", "lang"].map(|name| (name.to_owned(), document.field(name).to_owned()));
        let date = document.field("date").to_owned();
        let about =
            Attributes { id: number as u128, seen: date.clone(), date, fields: fields.into(), ..Attributes::default() };
        let paragraphs = document.paragraphs.iter().map(paragraph).collect();
        let (columns, spans) = (document.columns.clone(), document.spans.clone());
        writer.add(&Annotated { about, paragraphs, columns, spans }).expect("added");
        if number == 0 {
            writer.commit(Vec::new()).expect("committed");
        }
    }
    writer.commit(Vec::new()).expect("committed");
    Engine::new(writer.snapshot().clone())
}

fn hits(corpus: &Corpus, query: &str) -> Vec<Hit> {
    let query = cql::parse(query).unwrap_or_else(|error| panic!("{}", error.render(query)));
    corpus.hits(&query, MatchRule::Shortest)
}

/// The rows of fixtures/queries.tsv: operator, name, query, hits.
fn rows(text: &str) -> Vec<[&str; 4]> {
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| row.split('\t').collect::<Vec<_>>().try_into().expect("a row has four columns")).collect()
}

#[test]
fn every_operator_finds_what_was_counted_by_hand() {
    let (corpus, text) = (corpus(), fixture("queries.tsv"));
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(folder.path(), &corpus);
    let mut wrong = Vec::new();
    for [operator, name, query, expected] in rows(&text) {
        let found = hits(&corpus, query).len();
        if found.to_string() != expected {
            wrong.push(format!("{operator}, {name}: {query} has {found} hits instead of {expected}"));
        }
        let parsed = cql::parse(query).expect("the oracle has parsed it");
        match engine.search(&parsed, MatchRule::Shortest, None) {
            Ok(search) => {
                let mut by_engine = 0;
                search.each(&Limits::default(), |_| by_engine += 1);
                if by_engine != found {
                    wrong
                        .push(format!("{operator}, {name}: the engine finds {by_engine} hits of {query}, not {found}"));
                }
            }
            Err(error) => wrong.push(format!("{operator}, {name}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_operator_has_rows_of_hand_counted_queries() {
    let text = fixture("queries.tsv");
    let tested: BTreeSet<&str> = rows(&text).iter().map(|row| row[0]).collect();
    let known: BTreeSet<&str> = operator_docs().map(|doc| doc.name).collect();
    assert_eq!(tested, known);
}

#[test]
fn the_reference_in_the_docs_lists_every_operator() {
    const BEGIN: &str = "<!-- operators: made from the code by TIDINGS_BLESS=1 cargo test -p tidings-query -->\n";
    const END: &str = "<!-- end of operators -->";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/notes/cql.md");
    let page = std::fs::read_to_string(path).expect("the note on CQL is in the repository");
    let (before, rest) = page.split_once(BEGIN).expect("the note has a list of operators");
    let (listed, after) = rest.split_once(END).expect("the list of operators ends");
    if std::env::var_os("TIDINGS_BLESS").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{}{END}{after}", reference())).expect("the note can be written");
    } else {
        assert_eq!(listed, reference(), "run this test with TIDINGS_BLESS=1 and commit docs/notes/cql.md");
    }
}

#[test]
fn match_rules_choose_among_matches_with_the_same_start() {
    let corpus = corpus();
    let query = cql::parse(r#"(market ",")+ "#).unwrap();
    let found =
        |rule| -> Vec<(usize, usize)> { corpus.hits(&query, rule).iter().map(|hit| (hit.start, hit.end)).collect() };
    assert_eq!(found(MatchRule::Shortest), [(3, 5), (5, 7)]);
    assert_eq!(found(MatchRule::Longest), [(3, 7), (5, 7)]);
    assert_eq!(found(MatchRule::All), [(3, 5), (3, 7), (5, 7)]);
}

#[test]
fn the_shortest_hit_is_chosen_after_restrictions() {
    let found = hits(&corpus(), r#"[]{1,3} containing "market" within <doc id=d3/>"#);
    let spans: Vec<(usize, usize)> = found.iter().map(|hit| (hit.start, hit.end)).collect();
    assert_eq!(spans, [(1, 4), (2, 4), (3, 4), (4, 6), (5, 6), (6, 8), (7, 8)]);
}

#[test]
fn lines_show_context_up_to_the_edge_of_the_document() {
    let corpus = corpus();
    let mut lines = corpus.kwic(&hits(&corpus, "race"), 2, &["date"]);
    let text = |tokens: &[tidings_query::question::KwicToken]| {
        tokens.iter().map(|token| token.word.as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        (text(&lines[0].left), text(&lines[0].node), text(&lines[0].right)),
        ("The".into(), "race".into(), "was the".into())
    );
    assert_eq!(lines[0].fields["date"], "2026-01-20");
    sort_lines(&mut lines, &[SortKey::Right]);
    assert_eq!(lines[0].right[0].word, "ever");
}

#[test]
fn samples_are_repeatable_and_larger_samples_contain_smaller_ones() {
    let corpus = corpus();
    let all = hits(&corpus, "[]");
    let (small, large) = (corpus.sample(&all, 5, 7), corpus.sample(&all, 9, 7));
    assert_eq!(small, corpus.sample(&all, 5, 7));
    assert!(small.iter().all(|hit| large.contains(hit)) && large.len() == 9);
    assert_ne!(small, corpus.sample(&all, 5, 8));
}

#[test]
fn hits_are_counted_by_attribute_and_by_field() {
    let corpus = corpus();
    let go = hits(&corpus, r#"[lemma="go"]"#);
    let rows = |by| -> Vec<(String, u64, Option<u64>)> {
        corpus.frequencies(&go, &by).rows.into_iter().map(|row| (row.value, row.hits, row.tokens)).collect()
    };
    assert_eq!(
        rows(By::Attribute(Attribute::Word)),
        [("go".into(), 1, None), ("goes".into(), 1, None), ("went".into(), 1, None)]
    );
    assert_eq!(rows(By::Field("topic".into())), [("politics".into(), 2, Some(22)), ("sport".into(), 1, Some(20))]);
}

#[test]
fn collocates_are_counted_once_per_hit() {
    let corpus = corpus();
    let market = hits(&corpus, "market");
    let window = Window::Tokens { left: 2, right: 2 };
    let answer = corpus.collocates(&market, Around::all(Attribute::Lemma, window), Association::LogDice, 1);
    let counts: BTreeMap<&str, (u64, u64)> =
        answer.rows.iter().map(|row| (row.value.as_str(), (row.together, row.hits))).collect();
    // Of the three markets in d3 the first and the last have one other in the window, the middle one two.
    assert_eq!(counts["market"], (4, 5));
    assert_eq!(counts[","], (1 + 2 + 1, 2));
    assert_eq!(counts["old"], (1, 1));
    let sentence = corpus.collocates(&market, Around::all(Attribute::Lemma, Window::Sentence), Association::Mi, 2);
    let counts: BTreeMap<&str, u64> = sentence.rows.iter().map(|row| (row.value.as_str(), row.together)).collect();
    assert_eq!(counts["go"], 4);
    assert!(!counts.contains_key("price"), "it is there only once");
}

#[test]
fn word_lists_and_n_grams_are_counted_within_sentences() {
    let corpus = corpus();
    let words = corpus.words(Attribute::Lc, 1, Some(&ValueMatcher::regex("[a-z].*")), 4);
    let rows: Vec<(&str, u64, u64)> =
        words.rows.iter().map(|row| (row.value.as_str(), row.hits, row.documents)).collect();
    assert_eq!(rows, [("market", 5, 2), ("the", 4, 2)]);
    let pairs = corpus.words(Attribute::Lc, 2, None, 2);
    let rows: Vec<(&str, u64)> = pairs.rows.iter().map(|row| (row.value.as_str(), row.hits)).collect();
    assert_eq!(rows, [(", market", 2), ("market ,", 2), ("market .", 2)]);
    assert_eq!(
        corpus.words(Attribute::Word, 1, None, 1).rows.iter().map(|row| row.hits).sum::<u64>(),
        corpus.token_count()
    );
}

#[test]
fn keywords_compare_two_subcorpora() {
    let corpus = corpus();
    let subcorpus = |filter: &str| corpus.restricted(&filter.parse::<Filter>().unwrap());
    let answer =
        subcorpus("topic=sport").keywords(&subcorpus("topic!=sport"), Attribute::Lemma, Keyness::SimpleMaths(1.0), 2);
    assert_eq!((answer.focus_tokens, answer.reference_tokens), (20, 22));
    let first: Vec<&str> = answer.rows.iter().take(2).map(|row| row.value.as_str()).collect();
    assert_eq!(first, [",", "race"]);
    assert!(answer.rows.is_sorted_by(|a, b| a.score >= b.score));
}

#[test]
fn a_timeline_distinguishes_no_hits_from_no_documents() {
    let corpus = corpus();
    let answer = corpus.timeline(&hits(&corpus, r#"[lemma="go"]"#), Step::Month, 0.95);
    let points: Vec<(String, u64, u64, Option<bool>)> = answer
        .points
        .iter()
        .map(|point| {
            let rate = point.per_million.map(|rate| rate > 0.0);
            (point.bin.to_string(), point.hits.expect("counted"), point.tokens, rate)
        })
        .collect();
    assert_eq!(
        points,
        [
            ("2026-01".into(), 2, 33, Some(true)),
            ("2026-02".into(), 0, 0, None),
            ("2026-03".into(), 0, 0, None),
            ("2026-04".into(), 1, 9, Some(true)),
        ]
    );
    let json = serde_json::to_value(&answer).unwrap();
    assert_eq!(json["points"][1]["bin"], "2026-02");
    assert!(json["points"][1]["per_million"].is_null());
}
