//! The engine compared with the oracle on random corpora and queries, with random segments, merges and deletions.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fastrand::Rng;
use proptest::prelude::*;
use tidings_index::{Day, Settings, Writer};
use tidings_model::{
    Annotated, AnnotatedParagraph, Attributes, LayerColumn, LayerDeclaration, LayerKind, Token, TokenSpan,
};
use tidings_query::cql::{self, Attribute, MatchRule};
use tidings_query::engine::{Around, Engine, Hit, Level, Limits, Order, Search, View};
use tidings_query::measure;
use tidings_query::measure::association::Association;
use tidings_query::measure::keyness::Keyness;
use tidings_query::oracle::{self, By, Corpus};
use tidings_query::question::{LinePlace, SortKey, Window, sort_lines};
use tidings_query::trend::{CellCount, Step};
use tidings_query::{Filter, ValueMatcher};

const WORDS: [&str; 9] = ["a", "A", "b", "ab", "Ab", "ba", "é", "E", "ca"];
const LEMMAS: [&str; 4] = ["a", "b", "c", ""];
const TAGS: [&str; 3] = ["N", "V", ""];
const FEATS: [&str; 6] =
    ["", "Case=N", "Case=N,V|Number=A", "Number=A|Number[psor]=B", "+Case=V", "Case=N+Case=V|Number=Ab"];

fn corpus(random: &mut Rng) -> Corpus {
    let documents = random.usize(1..9);
    // Some corpora have no features, and some only in later documents.
    let kinds_of_feats = [1, FEATS.len()][random.usize(..2)];
    let first_with_feats = random.usize(..documents);
    // The same for further layers, and for spans.
    let has_layers = [random.bool(), random.bool()];
    let first_with_layers = random.usize(..documents);
    let document = |random: &mut Rng, number: usize| {
        let kinds_of_feats = if number < first_with_feats { 1 } else { kinds_of_feats };
        let paragraphs = (0..random.usize(0..3)).map(|_| {
            let sentences = (0..random.usize(1..4)).map(|_| {
                let length = random.usize(1..7);
                let token = |index: usize, random: &mut Rng| Token {
                    word: WORDS[random.usize(..WORDS.len())].into(),
                    lemma: LEMMAS[random.usize(..LEMMAS.len())].into(),
                    tag: TAGS[random.usize(..TAGS.len())].into(),
                    feats: FEATS[random.usize(..kinds_of_feats)].into(),
                    space_after: index + 1 == length || random.bool(),
                };
                (0..length).map(|index| token(index, random)).collect()
            });
            sentences.collect()
        });
        let paragraphs = paragraphs.collect();
        let day = Day(20_000 + random.i32(0..40));
        let fields = [
            ("id", format!("{:032x}", number as u128 * 0x1234_5678_9abc + 5)),
            ("url", format!("http://e.org/{number}")),
            ("title", format!("T{}", number % 3)),
            ("date", day.to_string()),
            ("seen", Day(day.0 + 1).to_string()),
            ("site", format!("s{}.example", random.u8(0..3))),
            ("genre", ["news", "blog", ""][random.usize(..3)].to_owned()),
        ];
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let mut document = oracle::Document { fields, paragraphs, ..oracle::Document::default() };
        if number >= first_with_layers {
            add_layers(&mut document, has_layers, random);
        }
        document
    };
    let mut documents: Vec<_> = (0..documents).map(|number| document(random, number)).collect();
    documents.sort_by(|a, b| a.field("date").cmp(b.field("date")));
    Corpus { documents, whole: None }
}

/// Adds random values of further layers and random spans, which may nest and overlap.
fn add_layers(document: &mut oracle::Document, has: [bool; 2], random: &mut Rng) {
    let tokens = document.tokens().len();
    let layers: [(&str, LayerKind, &[&str]); 3] = [
        ("syllables", LayerKind::Number, &["", "1", "2", "2.0", "10", "x"]),
        ("sense", LayerKind::Code, &["", "a", "A", "ab"]),
        ("sem", LayerKind::Set, &["", "Sem=A", "Sem=A,B|Style=N"]),
    ];
    for (name, kind, values) in layers.into_iter().filter(|_| has[0]) {
        let layer = LayerDeclaration { name: name.to_owned(), kind, origin: "toy 1".to_owned() };
        let values = (0..tokens).map(|_| values[random.usize(..values.len())].to_owned()).collect();
        document.columns.push(LayerColumn { layer, values });
    }
    for _ in 0..if has[1] && tokens > 0 { random.usize(..9) } else { 0 } {
        let start = random.usize(..tokens) as u32;
        let end = (start + random.u32(1..6)).min(tokens as u32);
        let span = TokenSpan::new(["ne", "quote"][random.usize(..2)], start, end);
        let span = span.with("name", ["", "a", "b", "ab"][random.usize(..4)]);
        document.spans.push(span.with("type", ["A", "B", ""][random.usize(..3)]));
    }
    document.spans.sort_by(TokenSpan::file_order);
}

fn annotated(document: &oracle::Document) -> Annotated {
    let paragraphs = document
        .paragraphs
        .iter()
        .map(|paragraph| AnnotatedParagraph { sentences: paragraph.clone(), ..AnnotatedParagraph::default() });
    let fields = ["site", "genre"].map(|name| (name.to_owned(), document.field(name).to_owned()));
    let about = Attributes {
        id: u128::from_str_radix(document.field("id"), 16).expect("an id"),
        url: document.field("url").to_owned(),
        title: document.field("title").to_owned(),
        date: document.field("date").to_owned(),
        seen: document.field("seen").to_owned(),
        fields: fields.to_vec(),
    };
    let (columns, spans) = (document.columns.clone(), document.spans.clone());
    Annotated { about, paragraphs: paragraphs.collect(), columns, spans }
}

/// An index of the corpus in several segments, perhaps merged, with additional documents that were deleted.
fn engine(folder: &Path, corpus: &Corpus, random: &mut Rng) -> Engine {
    let settings = Settings { merge_factor: 2 + random.usize(..3), ..Settings::default() };
    let mut writer = Writer::open(folder, settings).expect("opened");
    let mut extra_ids = Vec::new();
    for document in &corpus.documents {
        writer.add(&annotated(document)).expect("added");
        if random.u8(..) < 80 {
            let mut extra = annotated(document);
            extra.about.id = u128::from(random.u64(..)) << 64;
            extra_ids.push(extra.about.id);
            writer.add(&extra).expect("added");
        }
        if random.u8(..) < 100 {
            writer.commit(Vec::new()).expect("committed");
        }
    }
    writer.commit(Vec::new()).expect("committed");
    writer.delete_ids(&extra_ids).expect("deleted");
    match random.u8(0..4) {
        0 => drop(writer.merge().expect("merged")),
        1 => writer.merge_all().expect("merged"),
        2 => drop(writer.expunge().expect("expunged")),
        _ => {}
    }
    Engine::new(writer.snapshot().clone())
}

fn filter(random: &mut Rng) -> Option<Filter> {
    let filters = [
        "site=s1.example",
        "genre=blog | genre=\"\"",
        "date>=2024-10-12",
        "date<=2024-10-20 site!=s0.example",
        "date=2024-10",
        "seen>2024-10-25",
        "title=T1",
        "nothing=\"\"",
        "!(genre=news)",
        "url=\".*[0-3]\"",
    ];
    let parse = |text: &str| text.parse::<Filter>().expect("a filter");
    let by_fields = random.bool().then(|| parse(filters[random.usize(..filters.len())]));
    match random.u32(..4) {
        0 => Filter::both(by_fields, Some(parse(&with_hits(random)))),
        1 => Some(parse(&format!("{} | {}", filters[random.usize(..filters.len())], with_hits(random)))),
        _ => by_fields,
    }
}

/// A condition on the hits of a query that every corpus can answer.
fn with_hits(random: &mut Rng) -> String {
    let queries = [
        "[lc=\"a\"]",
        "[word=\"b.*\"] []{0,2} [lc!=\"a\"]",
        "<s> [lc=\"a\"]",
        "[f(lc)<4]",
        "[lc=\"a\"] within <doc genre=\"blog\"/>",
    ];
    let query = queries[random.usize(..queries.len())];
    format!("{}has('{query}')", if random.bool() { "!" } else { "" })
}

/// The filter with the documents of an engine that have a hit.
fn resolved(engine: &Engine, filter: Option<&Filter>) -> Option<Filter> {
    filter.map(|filter| engine.resolved(filter, &Limits::default()).expect("a search"))
}

/// A hit as the oracle has it: document, start and end.
fn named(engine: &Engine, hit: &Hit) -> (String, usize, usize) {
    let segment = engine.snapshot().segments()[hit.segment as usize].segment();
    let document = segment.document_at(hit.start);
    let first = segment.tokens_of(document).start;
    let id = format!("{:032x}", segment.ids().all()[document as usize]);
    (id, (hit.start - first) as usize, (hit.end - first) as usize)
}

/// Returns true if an error reports a missing annotation that the corpus indeed lacks.
fn is_absent(error: &str, corpus: &Corpus) -> bool {
    let error = error.split(" (").next().unwrap_or_default();
    let columns = || corpus.documents.iter().flat_map(|document| &document.columns);
    if let Some(name) = error.strip_prefix("unknown attribute ") {
        return columns().all(|column| column.layer.name != name);
    }
    // `%c` in a test of a layer of codes.
    if error.starts_with("values of sense are codes") {
        return true;
    }
    let spans = || corpus.documents.iter().flat_map(|document| &document.spans);
    if let Some(name) = error.strip_prefix("no document of this corpus has spans ") {
        return spans().all(|span| format!("<{}>", span.name) != name);
    }
    if let Some((name, attribute)) =
        error.strip_prefix("no span ").and_then(|rest| rest.split_once(" of this corpus has the attribute "))
    {
        return spans().all(|span| format!("<{}>", span.name) != name || span.attribute(attribute).is_none());
    }
    let Some(what) = error.strip_prefix("no token of this corpus has ") else { return false };
    if let Some(name) = what.strip_prefix("a value of ") {
        return columns().all(|column| column.layer.name != name || column.values.iter().all(String::is_empty));
    }
    let mut tokens = corpus.documents.iter().flat_map(|document| document.paragraphs.iter().flatten().flatten());
    match what.strip_prefix("the feature ") {
        Some(feature) => {
            let further = columns().filter(|column| column.layer.kind == LayerKind::Set);
            let further = further.flat_map(|column| &column.values).map(String::as_str);
            let mut sets = tokens.map(|token| token.feats.as_str()).chain(further);
            sets.all(|set| tidings_model::feats::value(set, feature).is_empty())
        }
        None => match what {
            "a lemma" => tokens.all(|token| token.lemma.is_empty()),
            "a part of speech" => tokens.all(|token| token.tag.is_empty()),
            _ => tokens.all(|token| token.feats.is_empty()),
        },
    }
}

fn check(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let corpus = corpus(&mut random);
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(folder.path(), &corpus, &mut random);
    let limits = Limits::default();
    let attributes = ["word", "lc", "lemma", "tag", "feats", "Case", "syllables", "sense", "Sem"];
    let has_layers = engine.snapshot().lexicon().declared().find("sem").is_some();
    let attribute = attributes[random.usize(..if has_layers { attributes.len() } else { 6 })];
    let attribute = Attribute::named(attribute).expect("an attribute");
    for _ in 0..12 {
        let (text, query) = common::random_query(&mut random);
        let filter = filter(&mut random);
        let asked = filter.as_ref().map_or_else(|| corpus.clone(), |filter| corpus.restricted(filter));
        let rule = [MatchRule::Shortest, MatchRule::Shortest, MatchRule::Longest, MatchRule::All][random.usize(..4)];
        let what = format!("seed {seed}, {text}, {rule:?}, filter {filter:?}");
        let filter = resolved(&engine, filter.as_ref());
        let search = match engine.search(&query, rule, filter.as_ref()) {
            Ok(search) => search,
            Err(error) => {
                assert!(is_absent(&error.to_string(), &corpus), "{what}: {error}");
                continue;
            }
        };
        let expected = asked.hits(&query, rule);
        let names: Vec<_> = expected
            .iter()
            .map(|hit| (asked.documents[hit.document].field("id").to_owned(), hit.start, hit.end))
            .collect();

        let mut found = Vec::new();
        assert!(search.each(&limits, |hit| found.push(named(&engine, &hit))));
        let (mut sorted, mut sorted_names) = (found.clone(), names.clone());
        sorted.sort();
        sorted_names.sort();
        assert_eq!(sorted, sorted_names, "{what}\n{}", search.explain());
        assert_eq!(search.count(&limits).hits as usize, expected.len(), "{what}");

        let in_order = |order: Order| {
            let (page, complete) = search.page(order, 0, usize::MAX, &limits);
            assert!(complete);
            page.iter().map(|hit| named(&engine, hit)).collect::<Vec<_>>()
        };
        assert_eq!(in_order(Order::Oldest), names, "oldest first: {what}");
        let reversed: Vec<_> = names.iter().rev().cloned().collect();
        assert_eq!(in_order(Order::Newest), reversed, "newest first: {what}");
        let (page, _) = search.page(Order::Newest, 2, 3, &limits);
        let page_names: Vec<_> = page.iter().map(|hit| named(&engine, hit)).collect();
        assert_eq!(page_names, reversed.iter().skip(2).take(3).cloned().collect::<Vec<_>>(), "a page: {what}");

        let mut by_day: BTreeMap<String, u64> = BTreeMap::new();
        expected
            .iter()
            .for_each(|hit| *by_day.entry(asked.documents[hit.document].field("date").to_owned()).or_default() += 1);
        let days: BTreeMap<String, u64> =
            search.by_day(&limits).hits.into_iter().map(|(day, hits)| (day.to_string(), hits)).collect();
        assert_eq!(days, by_day, "by day: {what}");

        let fields = ["date", "site", "title"];
        let lines = engine.lines(&search.page(Order::Oldest, 0, 5, &limits).0, 3, &fields).expect("lines");
        let few: Vec<_> = expected.iter().take(5).copied().collect();
        assert_eq!(lines, asked.kwic(&few, 3, &fields), "lines: {what}");

        let drawn = search.sample(3, seed, &limits).0;
        let mut drawn: Vec<_> = drawn.iter().map(|hit| named(&engine, hit)).collect();
        let expected_sample = asked.sample(&expected, 3, seed);
        let mut sampled: Vec<_> = expected_sample
            .iter()
            .map(|hit| (asked.documents[hit.document].field("id").to_owned(), hit.start, hit.end))
            .collect();
        drawn.sort();
        sampled.sort();
        if rule != MatchRule::All {
            assert_eq!(drawn, sampled, "a sample: {what}");
        }

        check_concordance(&search, &asked, &expected, &what);
        let frequencies = search.frequencies_by_attribute(attribute, &limits).0;
        assert_eq!(frequencies, asked.frequencies(&expected, &By::Attribute(attribute)), "{what}");
        for field in ["genre", "date", "title", "nothing"] {
            let frequencies = search.frequencies_by_field(field, &limits).0;
            assert_eq!(frequencies, asked.frequencies(&expected, &By::Field(field.to_owned())), "{what}");
        }
        for (name, of_span) in [("ne", "name"), ("quote", "type"), ("ne", "nothing")] {
            let frequencies = search.frequencies_by_span(name, of_span, 0, usize::MAX, &limits).0;
            let by = By::Span(name.to_owned(), of_span.to_owned());
            assert_eq!(frequencies, asked.frequencies(&expected, &by), "{what}");
        }
        for window in [Window::Tokens { left: 2, right: 1 }, Window::Sentence] {
            let order = Association::LogDice;
            let tag = [None, Some("N"), Some("V"), Some("none")][random.usize(..4)];
            let around = Around { attribute, window, tag };
            let collocates = search.collocates(around, order, 1, &limits).0;
            assert_eq!(collocates, asked.collocates(&expected, around, order, 1), "{what} {tag:?}");
        }
        let timeline = search.timeline(Step::Week, 0.95, &limits).0;
        assert_eq!(timeline, asked.timeline(&expected, Step::Week, 0.95), "{what}");

        let subcorpus = engine.subcorpus(filter.as_ref()).expect("a subcorpus");
        let matching = ValueMatcher::regex(".*a.*");
        for value in [None, Some(&matching)] {
            let words = engine.words(&subcorpus, attribute, value, 1).expect("words");
            assert_eq!(words, asked.words(attribute, 1, value, 1), "{what}");
            let grams = engine.ngrams(&subcorpus, attribute, 2, value, 2).expect("n-grams");
            assert_eq!(grams, asked.words(attribute, 2, value, 2), "{what}");
        }
        let everything = engine.subcorpus(None).expect("a subcorpus");
        let keywords = engine.keywords(&subcorpus, &everything, attribute, 1, Keyness::LogLikelihood, 1).unwrap();
        assert_eq!(keywords, asked.keywords(&corpus, attribute, Keyness::LogLikelihood, 1), "{what}");
    }
}

/// Compares the order of sorted lines, counts by several values and the dispersion with brute force.
fn check_concordance(search: &Search<'_>, asked: &Corpus, expected: &[oracle::Hit], what: &str) {
    let (engine, limits) = (search.engine(), Limits::default());
    let fields = ["site", "genre"];
    for names in [&["left2", "right1.lemma"][..], &["node.tag", "left"], &["right", "site"], &["genre", "1L"]] {
        let sort: Vec<SortKey> = names.iter().map(|name| SortKey::named(name)).collect();
        let view = View { sort: sort.clone(), size: usize::MAX, ..View::default() };
        let (hits, _) = search.hits_of_view(&view, 7, &limits).expect("hits");
        assert_eq!(hits.len(), expected.len(), "{what}");
        let lines = engine.lines(&hits, 7, &fields).expect("lines");
        let mut sorted = lines.clone();
        sort_lines(&mut sorted, &sort);
        assert_eq!(lines, sorted, "sorted by {names:?}: {what}");
    }
    let levels = [
        Level::Token(LinePlace::Node, Attribute::Lemma),
        Level::Token(LinePlace::Left(1), Attribute::Lc),
        Level::Token(LinePlace::Right(2), Attribute::Tag),
        Level::Field("genre".to_owned()),
        Level::Date(7),
        Level::Label("matchend".to_owned(), Attribute::Word),
    ];
    let mut counts: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for hit in expected {
        let document = &asked.documents[hit.document];
        let tokens = document.tokens();
        let node = tokens[hit.start..hit.end].iter().map(|token| token.lemma.to_string()).collect::<Vec<_>>().join(" ");
        let left = hit.start.checked_sub(1).map(|at| tokens[at].word.as_str().to_lowercase()).unwrap_or_default();
        let right = tokens.get(hit.end + 1).map(|token| token.tag.to_string()).unwrap_or_default();
        let last = tokens[hit.end - 1].word.to_string();
        let row =
            vec![node, left, right, document.field("genre").to_owned(), document.field("date")[..7].to_owned(), last];
        *counts.entry(row).or_default() += 1;
    }
    let mut rows: Vec<(Vec<String>, u64)> = counts.into_iter().collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let found = search.by_levels(&levels, 1, usize::MAX, &limits);
    assert_eq!((found.hits as usize, found.values as usize), (expected.len(), rows.len()), "{what}");
    assert_eq!(found.rows, rows, "by levels: {what}");

    let mut next = 0;
    let offsets: Vec<u64> = asked
        .documents
        .iter()
        .map(|document| {
            next += document.tokens().len() as u64;
            next - document.tokens().len() as u64
        })
        .collect();
    let positions: Vec<u64> = expected.iter().map(|hit| offsets[hit.document] + hit.start as u64).collect();
    let found = search.dispersion(4, &limits);
    assert_eq!(found.hits as usize, expected.len(), "{what}");
    assert_eq!(found.parts.iter().map(|part| part.hits).sum::<u64>(), found.hits, "{what}");
    let measures = found.measures.expect("the search is complete");
    let (arf, aldf) = (measure::arf(&positions, next), measure::aldf(&positions, next));
    assert!(
        (measures.arf - arf).abs() < 1e-9 && (measures.aldf - aldf).abs() < 1e-9,
        "{measures:?}, {arf}, {aldf}: {what}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_agrees_with_the_oracle(seed: u64) {
        check(seed);
    }
}

/// Runs every kind of request and ignores the results.
fn run_everything(engine: &Engine, random: &mut Rng) {
    let limits = Limits::default();
    for _ in 0..3 {
        let (_, query) = common::random_query(random);
        let filter = filter(random);
        let filter = filter.and_then(|filter| engine.resolved(&filter, &limits).ok());
        let Ok(search) = engine.search(&query, MatchRule::Shortest, filter.as_ref()) else { continue };
        let (page, _) = search.page(Order::Newest, 0, 5, &limits);
        let _ = engine.lines(&page, 3, &["date", "title"]);
        search.count(&limits);
        search.by_day(&limits);
        search.by_field("site", &limits);
        search.by_span("ne", "name", &limits);
        search.collocates(Around::all(Attribute::Lc, Window::Sentence), Association::Mi, 1, &limits);
        search.timeline(Step::Month, 0.95, &limits);
        search.sample(3, 1, &limits);
        let subcorpus = engine.subcorpus(filter.as_ref()).expect("a subcorpus");
        let _ = engine.words(&subcorpus, Attribute::Word, None, 1);
        let _ = engine.ngrams(&subcorpus, Attribute::Lc, 3, None, 1);
        engine.period_counts(&subcorpus, Attribute::Lemma, &[Day(20_000)..Day(20_020)], 1);
    }
}

#[test]
fn a_damaged_index_gives_errors_or_wrong_results_but_no_panic() {
    for seed in 0..40 {
        let mut random = Rng::with_seed(seed);
        let corpus = corpus(&mut random);
        let folder = tempfile::tempdir().expect("a folder");
        drop(engine(folder.path(), &corpus, &mut random));
        let files = std::fs::read_dir(folder.path()).expect("listed").map(|file| file.expect("a file").path());
        let mut files: Vec<_> = files.collect();
        files.sort();
        for _ in 0..20 {
            let path = &files[random.usize(..files.len())];
            let sound = std::fs::read(path).expect("read");
            let mut damaged = sound.clone();
            for _ in 0..random.usize(1..6) {
                let at = random.usize(..damaged.len());
                damaged[at] = random.u8(..);
            }
            std::fs::write(path, &damaged).expect("written");
            if let Ok(snapshot) = tidings_index::Snapshot::open(folder.path()) {
                run_everything(&Engine::new(snapshot), &mut random);
            }
            std::fs::write(path, &sound).expect("written");
        }
    }
}

#[test]
fn counts_of_words_by_period_equal_those_of_a_scan() {
    let mut random = Rng::with_seed(3);
    let corpus = corpus(&mut random);
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(folder.path(), &corpus, &mut random);
    let subcorpus = engine.subcorpus(None).expect("a subcorpus");
    let periods: Vec<_> = (0..4).map(|index| Day(20_000 + index * 10)..Day(20_010 + index * 10)).collect();
    let layer = tidings_index::lexicon::Layer::Word;
    let counts = engine.period_counts(&subcorpus, Attribute::Word, &periods, 1);
    assert_eq!(counts.tokens.iter().sum::<u64>(), corpus.token_count());
    for (row, word) in counts.words.iter().enumerate() {
        let word = engine.snapshot().lexicon().string(layer, *word);
        for (index, period) in periods.iter().enumerate() {
            let inside = |document: &&oracle::Document| {
                let day = Day::parse(document.field("date")).expect("a day");
                period.contains(&day)
            };
            let per_document = corpus
                .documents
                .iter()
                .filter(inside)
                .map(|document| document.tokens().iter().filter(|token| token.word == word).count());
            let per_document: Vec<usize> = per_document.collect();
            assert_eq!(counts.hits[row * 4 + index] as usize, per_document.iter().sum::<usize>(), "{word}");
            let documents = per_document.iter().filter(|count| **count > 0).count();
            assert_eq!(counts.documents[row * 4 + index] as usize, documents, "{word}");
        }
    }
}

#[test]
fn counts_of_words_by_site_equal_those_of_a_scan() {
    for seed in 0..40 {
        let mut random = Rng::with_seed(seed);
        let corpus = corpus(&mut random);
        let folder = tempfile::tempdir().expect("a folder");
        let engine = engine(folder.path(), &corpus, &mut random);
        let filter = filter(&mut random);
        let asked = filter.as_ref().map_or_else(|| corpus.clone(), |filter| corpus.restricted(filter));
        let filter = resolved(&engine, filter.as_ref());
        let subcorpus = engine.subcorpus(filter.as_ref()).expect("a subcorpus");
        let bins = Step::Week.bins(Day(20_000).date(), Day(20_039).date());
        let periods: Vec<_> = bins.iter().map(|bin| Day::of(bin.first)..Day(Day::of(bin.last).0 + 1)).collect();
        for attribute in [Attribute::Word, Attribute::Lc, Attribute::Lemma] {
            let cells = engine.site_cells(&subcorpus, &periods);
            let (volume, expected) = asked.site_cells(attribute, &bins);
            assert_eq!(cells.volume(), &volume, "seed {seed}");
            let layer = match attribute {
                Attribute::Lemma => tidings_index::lexicon::Layer::Lemma,
                _ => tidings_index::lexicon::Layer::Word,
            };
            let limits = Limits::default().with_threads(1 + seed as usize % 4, 8);
            let found: Vec<(String, Vec<CellCount>)> = engine.map_words_by_site(&cells, attribute, 1, &limits, || {
                |word, counts: &[CellCount]| {
                    let name = engine.snapshot().lexicon().string(layer, word);
                    Some((attribute.value(name).into_owned(), counts.to_vec()))
                }
            });
            assert!(found.is_sorted_by(|a, b| a.0 < b.0), "seed {seed}, {attribute:?}");
            assert_eq!(found.into_iter().collect::<BTreeMap<_, _>>(), expected, "seed {seed}, {attribute:?}");
        }
    }
}

#[test]
fn a_search_stops_in_the_middle_of_a_long_document() {
    let folder = tempfile::tempdir().expect("a folder");
    // The hits of the first document are passed before the second is searched.
    let documents = [1, 5_000].map(|tokens: usize| {
        let fields = [("id", format!("{tokens:032x}")), ("date", "2024-10-05".to_owned())];
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        annotated(&oracle::Document {
            fields,
            paragraphs: vec![vec![vec![Token::new("a", "a", "N"); tokens]]],
            ..oracle::Document::default()
        })
    });
    let index = tidings_index::build(folder.path(), &documents).expect("built");
    let engine = Engine::new(index);
    let cancelled = Arc::new(AtomicBool::new(false));
    let limits = Limits::cancelled_by(cancelled.clone());
    let query = cql::parse("\"a\" []*").expect("a query");
    let search = engine.search(&query, MatchRule::All, None).expect("a good query");
    let mut hits = 0u32;
    let complete = search.each(&limits, |_| {
        hits += 1;
        cancelled.store(true, Ordering::Relaxed);
    });
    assert!(!complete && hits == 1, "{hits} of 12.5 million hits");
}

#[test]
fn a_cancelled_search_stops() {
    let mut random = Rng::with_seed(4);
    let corpus = corpus(&mut random);
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(folder.path(), &corpus, &mut random);
    let limits = Limits::cancelled_by(Arc::new(AtomicBool::new(true)));
    let query = cql::parse("[] []").expect("a query");
    let search = engine.search(&query, MatchRule::Shortest, None).expect("a good query");
    assert!(!search.count(&limits).complete);
    assert_eq!(search.page(Order::Newest, 0, 9, &limits), (Vec::new(), false));
}

/// An engine over one document with a layer of each kind and nested spans.
fn annotated_engine(folder: &Path) -> Engine {
    let words = ["Ann", "Lee", "said", "the", "Bank", "of", "Ann", "fell"];
    let column = |name: &str, kind, values: &str| LayerColumn {
        layer: LayerDeclaration { name: name.to_owned(), kind, origin: "toy 1".to_owned() },
        values: values.split(' ').map(|value| value.trim_matches('_').to_owned()).collect(),
    };
    let document = oracle::Document {
        fields: [("id", "a"), ("date", "2026-03-01"), ("seen", "2026-03-01")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        paragraphs: vec![vec![words.iter().map(|word| Token::new(word, word, "X")).collect()]],
        columns: vec![
            column("syllables", LayerKind::Number, "1 1 1 1 1 1 1.0 12"),
            column("sem", LayerKind::Set, "Sem=Human Sem=Human _ _ Sem=Place,Org _ _ _"),
            column("topic", LayerKind::Text, "_ _ _ _ Money _ _ _"),
            column("pos2", LayerKind::Code, "NN _ _ _ nn _ _ _"),
        ],
        spans: vec![
            TokenSpan::new("ne", 0, 2).with("name", "Ann Lee").with("type", "PER"),
            TokenSpan::new("quote", 3, 8).with("speaker", "Ann Lee"),
            TokenSpan::new("ne", 4, 7).with("name", "Bank of Ann").with("type", "ORG"),
            TokenSpan::new("ne", 6, 7).with("name", "Ann").with("type", "PER"),
        ],
    };
    let mut writer = Writer::open(folder, Settings::default()).expect("opened");
    writer.add(&annotated(&document)).expect("added");
    writer.commit(Vec::new()).expect("committed");
    Engine::new(writer.snapshot().clone())
}

#[test]
fn layers_and_nested_spans_are_found_and_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = annotated_engine(folder.path());
    let hits = |query: &str| {
        let query = cql::parse(query).unwrap_or_else(|error| panic!("{}", error.render(query)));
        let search = engine.search(&query, MatchRule::Shortest, None).expect("a search");
        let mut found = Vec::new();
        search.each(&Limits::default(), |hit| found.push((hit.start, hit.end)));
        found
    };
    for (query, expected) in [
        ("[syllables>1]", vec![(7, 8)]),
        ("[syllables>=12 | syllables<1]", vec![(7, 8)]),
        ("[syllables=1 & word=\"Ann\"]", vec![(0, 1), (6, 7)]),
        ("[syllables!=1]", vec![(7, 8)]),
        ("<quote verb=\"say\"/>", vec![]),
        ("[Sem=\"Org\"]", vec![(4, 5)]),
        ("[topic=\"money\"%c]", vec![(4, 5)]),
        ("<ne/>", vec![(0, 2), (4, 7), (6, 7)]),
        ("<ne type=\"ORG\" & name=\"Bank.*\"/>", vec![(4, 7)]),
        ("<ne/> within <quote/>", vec![(4, 7), (6, 7)]),
        ("<ne/> containing <ne type=\"PER\"/> !within <ne type=\"PER\"/>", vec![(4, 7)]),
        ("<quote/> containing [word=\"Ann\"]", vec![(3, 8)]),
        ("[word=\"Ann\"] !within <quote speaker=\"Ann.*\"/>", vec![(0, 1)]),
        ("[word=\"said\"] <quote> []", vec![(2, 4)]),
        ("[] </ne> [word=\"fell\"] </quote>", vec![(6, 8)]),
    ] {
        assert_eq!(hits(query), expected, "{query}");
    }
    let search = |query: &str| engine.search(&cql::parse(query).expect(query), MatchRule::Shortest, None).expect(query);
    let by = |query: &str, span: &str, attribute: &str| {
        let rows = search(query).frequencies_by_span(span, attribute, 0, 10, &Limits::default()).0.rows;
        rows.into_iter().map(|row| (row.value, row.hits)).collect::<Vec<_>>()
    };
    let rows = |rows: &[(&str, u64)]| rows.iter().map(|(value, hits)| ((*value).to_owned(), *hits)).collect::<Vec<_>>();
    assert_eq!(by("<ne/>", "ne", "name"), rows(&[("Ann", 1), ("Ann Lee", 1), ("Bank of Ann", 1)]));
    assert_eq!(by("[word=\"Ann\"]", "ne", "name"), rows(&[("Ann", 1), ("Ann Lee", 1)]), "the shortest span counts");
    assert_eq!(by("<ne/>", "quote", "speaker"), rows(&[("Ann Lee", 2), ("", 1)]));
    assert_eq!(engine.attributes(), ["word", "lc", "lemma", "syllables", "sem", "topic", "pos2"]);
    assert!(engine.features().contains_key("Sem"));
    assert!(search("<ne/>").explain().to_string().contains("the starts of <ne/>"));
}

#[test]
fn unknown_layers_and_spans_are_errors_with_what_there_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = annotated_engine(folder.path());
    for (text, place, words) in [
        ("[lema=\"go\"]", "lema", "unknown attribute lema (did you mean lemma?)"),
        (
            "[colour!=\"red\"]",
            "colour",
            "there are word, lc, lower, lemma, tag, pos, feats, syllables, sem, topic, pos2",
        ),
        ("[word>3]", "word>3", "word has no numbers"),
        ("[topic<=3]", "topic<=3", "only layers of numbers"),
        ("[pos2=\"nn\"%c]", "pos2", "values of pos2 are codes, in which case matters (leave out %c and %d"),
        ("<nee/>", "<nee/>", "no document of this corpus has spans <nee> (there are s, p, doc, ne, quote)"),
        ("[] within <sentence/>", "<sentence/>", "there are s, p, doc, ne, quote"),
        ("<x> []", "<x>", "no document of this corpus has spans <x>"),
        ("[] !containing (<ne kind=\"x\"/> | [])", "kind=\"x\"", "has the attribute kind (there are name, type)"),
        ("a:[] b:[] :: a.colour = b.word", "a.colour", "unknown attribute colour"),
    ] {
        let query = cql::parse(text).unwrap_or_else(|error| panic!("{}", error.render(text)));
        let Err(error) = engine.search(&query, MatchRule::Shortest, None) else { panic!("{text} is accepted") };
        assert!(error.to_string().contains(words), "{text}: {error}");
        let tidings_query::engine::EngineError::Syntax(error) = error else { panic!("{error}") };
        assert!(text[error.span.range()].starts_with(&place[..3.min(place.len())]), "{text}: {}", error.render(text));
    }
}
