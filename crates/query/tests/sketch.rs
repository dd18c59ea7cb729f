//! Word sketches compared with the hits of their own queries, on random corpora.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fastrand::Rng;
use tidings_formats::vertical::Reader;
use tidings_index::{Settings, Snapshot, Writer};
use tidings_query::cql;
use tidings_query::engine::{ContrastOf, Engine, Limits, SketchOf};
use tidings_query::sketch::Grammar;
use tidings_query::{Filter, MatchRule};

const TAGS: [&str; 13] =
    ["NOUN", "ADJ", "VERB", "ADP", "ADP+DET", "DET", "CCONJ", "AUX", "ADV", "PART", "PRON", "PROPN", "PUNCT"];

fn index(text: &str) -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(folder.path(), Settings::default()).unwrap();
    writer.read(&mut Reader::new(text.as_bytes(), "x.vert".as_ref())).unwrap();
    writer.commit(Vec::new()).unwrap();
    let engine = Engine::new(Snapshot::open(folder.path()).unwrap());
    (folder, engine)
}

/// Sentences of random words with independent parts of speech.
fn random_text(random: &mut Rng, documents: usize) -> String {
    let mut text = String::new();
    for document in 0..documents {
        let _ = writeln!(
            text,
            "<doc id=\"{document}\" date=\"2026-03-0{}\" site=\"s{}\">\n<p>",
            document % 9 + 1,
            document % 2
        );
        for _ in 0..random.usize(1..30) {
            text.push_str("<s>\n");
            for _ in 0..random.usize(1..12) {
                let (lemma, tag) = (random.usize(..3), TAGS[random.usize(..TAGS.len())]);
                let lemma = format!("lem{lemma}{}", if tag.contains('+') { "+the" } else { "" });
                let _ = writeln!(text, "w\t{lemma}\t{tag}");
            }
            text.push_str("</s>\n");
        }
        text.push_str("</p>\n</doc>\n");
    }
    text
}

#[test]
fn every_count_of_a_sketch_equals_the_hits_of_its_query() {
    let mut random = Rng::with_seed(7);
    let (_folder, engine) = index(&random_text(&mut random, 30));
    let limits = Limits::default();
    let filter: Filter = "site=s1".parse().unwrap();
    for (grammar, filter) in Grammar::all().iter().flat_map(|grammar| [(grammar, None), (grammar, Some(&filter))]) {
        // The marginal count of each lemma in each relation, summed over the sketches of all words.
        let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
        let mut told: Vec<(String, String, u64)> = Vec::new();
        for lemma in ["lem0", "lem1", "lem2"] {
            for tag in TAGS.into_iter().filter(|tag| !tag.contains('+')) {
                let asked = SketchOf { lemma, tag: Some(tag), grammar, filter, at_least: 1, rows: 1000 };
                let (sketch, complete) = engine.sketch(&asked, &limits).unwrap();
                assert!(complete);
                for relation in &sketch.relations {
                    let count = |query: &str| {
                        let query = cql::parse(query).unwrap();
                        engine.search(&query, MatchRule::Shortest, filter).unwrap().count(&limits).hits
                    };
                    assert_eq!(count(&relation.query), relation.hits, "{}", relation.query);
                    assert_eq!(relation.rows.iter().map(|row| row.together).sum::<u64>(), relation.hits);
                    let word = format!(" & lemma==\"{lemma}\" & tag==\"{tag}\"");
                    let is_first = relation.query.find(&word).unwrap() < relation.query.find("] ").unwrap();
                    let bare = format!("{} {is_first}", relation.query.replace(&word, ""));
                    for row in &relation.rows {
                        assert_eq!(count(&row.query), row.together, "{}", row.query);
                        assert!(row.score <= Some(14.0));
                        let key = (bare.clone(), row.value.clone());
                        *sums.entry(key.clone()).or_default() += row.together;
                        told.push((key.0, key.1, row.anywhere));
                    }
                }
            }
        }
        assert!(told.len() > 100, "{}", grammar.name);
        for (relation, value, anywhere) in told {
            assert_eq!(sums[&(relation.clone(), value.clone())], anywhere, "{relation} {value}");
        }
    }
}

#[test]
fn the_best_rows_are_exact_without_counting_all() {
    // Two hundred adjectives of falling frequency; the rare ones co-occur with this noun alone.
    let mut text = "<doc id=\"1\" date=\"2026-03-01\">\n<p>\n".to_owned();
    let mut pair = |adjective: &str, noun: &str| {
        let _ = write!(text, "<s>\n{adjective}\t{adjective}\tADJ\n{noun}\t{noun}\tNOUN\n</s>\n");
    };
    for number in 0..200 {
        (0..40 - number / 10).for_each(|_| pair(&format!("adj{number:03}"), "storm"));
        (0..number * 7 % 90).for_each(|_| pair(&format!("adj{number:03}"), "calm"));
    }
    text.push_str("</p>\n</doc>\n");
    let (_folder, engine) = index(&text);
    let rows = |rows: usize| {
        let asked = SketchOf { lemma: "storm", tag: None, grammar: Grammar::of("en"), filter: None, at_least: 3, rows };
        engine.sketch(&asked, &Limits::default()).unwrap().0.relations.remove(0).rows
    };
    let all = rows(1000);
    assert_eq!(all.len(), 200);
    for few in [1, 5, 20, 100] {
        assert_eq!(rows(few), all[..few]);
    }
}

#[test]
fn a_sketch_has_the_relations_of_its_grammar() {
    let mut text = "<doc id=\"1\" date=\"2026-03-01\">\n<p>\n".to_owned();
    let sentences = [
        "the/the/DET heavy/heavy/ADJ storm/storm/NOUN hit/hit/VERB the/the/DET coast/coast/NOUN ././PUNCT",
        "a/a/DET storm/storm/NOUN of/of/ADP protest/protest/NOUN followed/follow/VERB",
        "wind/wind/NOUN and/and/CCONJ storm/storm/NOUN",
        "we/we/PRON expect/expect/VERB a/a/DET storm/storm/NOUN",
        "they/they/PRON storm/storm/VERB",
    ];
    for sentence in sentences {
        text.push_str("<s>\n");
        sentence.split(' ').for_each(|token| text.push_str(&(token.replace('/', "\t") + "\n")));
        text.push_str("</s>\n");
    }
    text.push_str("</p>\n</doc>\n");
    let (_folder, engine) = index(&text);
    let asked = SketchOf { lemma: "storm", tag: None, grammar: Grammar::of("en"), filter: None, at_least: 1, rows: 5 };
    let (sketch, _) = engine.sketch(&asked, &Limits::default()).unwrap();
    assert_eq!((sketch.tag.as_str(), sketch.hits, sketch.tags.len()), ("NOUN", 4, 2));
    let found: Vec<(&str, &str)> =
        sketch.relations.iter().map(|relation| (&*relation.name, &*relation.rows[0].value)).collect();
    let wanted = [
        ("modifiers of storm", "heavy"),
        ("verbs with storm as object", "expect"),
        ("verbs with storm as subject", "hit"),
        ("… and/or storm", "wind"),
        ("storm of …", "protest"),
    ];
    assert_eq!(found, wanted);
    let none = engine.sketch(&SketchOf { lemma: "calm", ..asked }, &Limits::default()).unwrap().0;
    assert_eq!((none.hits, none.tag.as_str(), none.relations.len()), (0, "", 0));
}

/// Words with their lemmas.
type Sentence<'a> = &'a [(&'a str, &'a str)];

/// Documents of one sentence each: a site, a day and the sentence.
fn small_corpus(documents: &[(&str, &str, Sentence<'_>)]) -> (tempfile::TempDir, Engine) {
    let mut text = String::new();
    for (number, (site, date, words)) in documents.iter().enumerate() {
        let _ = writeln!(text, "<doc id=\"{number}\" date=\"{date}\" site=\"{site}\">\n<p>\n<s>");
        words.iter().for_each(|(word, lemma)| text.push_str(&format!("{word}\t{lemma}\tX\n")));
        text.push_str("</s>\n</p>\n</doc>\n");
    }
    index(&text)
}

#[test]
fn the_likeliest_lemma_is_the_most_frequent_other_than_the_form() {
    let storms: Sentence<'_> = &[("Storms", "storm"), ("storms", "storms"), ("storms", "storms"), ("\"", "\"")];
    let (_folder, engine) = small_corpus(&[("a", "2026-03-01", storms), ("b", "2026-03-02", &[("storms", "tempest")])]);
    let lemma = |form: &str, filter: Option<&str>| {
        let filter: Option<Filter> = filter.map(|text| text.parse().unwrap());
        engine.likeliest_lemma(form, filter.as_ref(), &Limits::default()).unwrap()
    };
    assert_eq!(lemma("storms", Some("site=a")).as_deref(), Some("storm"));
    assert_eq!(lemma("STORMS", None).as_deref(), Some("storms"));
    assert_eq!((lemma("calm", None), lemma("\"", None)), (None, None));
}

#[test]
fn an_example_is_the_newest_hit_in_its_context() {
    let words: Sentence<'_> = &[("the", "the"), ("rain", "rain"), ("fell", "fall")];
    let later: Sentence<'_> = &[("heavy", "heavy"), ("rain", "rain"), ("today", "today")];
    let (_folder, engine) = small_corpus(&[("a", "2026-03-01", words), ("b", "2026-03-02", later)]);
    let example = |query: &str| engine.example(query, None, &Limits::default()).unwrap();
    assert_eq!(example("[lemma=\"rain\"]"), "heavy rain today");
    assert_eq!(example("[lemma=\"snow\"]"), "");
}

#[test]
fn the_default_reference_is_all_other_documents_and_a_panel_has_the_sites_of_both() {
    let one: Sentence<'_> = &[("a", "a")];
    let (_folder, engine) = small_corpus(&[
        ("old", "2026-02-01", one),
        ("both", "2026-02-01", one),
        ("both", "2026-03-01", one),
        ("new", "2026-03-01", one),
        ("new", "2026-03-02", one),
    ]);
    let march: Filter = "date=2026-03".parse().unwrap();
    let documents = |reference: Option<&str>, within: Option<&str>, panel: bool| {
        let [reference, within] = [reference, within].map(|text| text.map(|text| text.parse::<Filter>().unwrap()));
        let asked = ContrastOf { focus: &march, reference: reference.as_ref(), within: within.as_ref(), panel };
        let (focus, reference) = engine.contrast(&asked).unwrap();
        (engine.documents(&focus), engine.documents(&reference))
    };
    assert_eq!(documents(None, None, false), (3, 2));
    assert_eq!(documents(None, None, true), (1, 1));
    assert_eq!(documents(Some("site=new"), None, false), (3, 2));
    assert_eq!(documents(None, Some("site=new"), false), (2, 0));
}
