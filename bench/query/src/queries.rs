//! The queries of the comparison with peers, cold and warm.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::fs::{Advice, fadvise};
use tidings_index::lexicon::Layer;
use tidings_index::{Day, Snapshot};
use tidings_query::cql::{self, Attribute, MatchRule};
use tidings_query::engine::{Around, Engine, Limits, Order, Search, SketchOf};
use tidings_query::measure::association::Association;
use tidings_query::question::Window;
use tidings_query::sketch::Grammar;
use tidings_query::trend::{BurstConfig, RiseConfig, Step};
use tidings_query::{Filter, ValueMatcher};

use crate::cpu;

/// A benchmark: its name, a function that runs it and returns a number to compare, the prototype's milliseconds with ten
/// segments on another corpus of the same size, and the best peer's.
type Question = (&'static str, fn(&Engine) -> Result<u64>, f64, f64);

fn search<'e>(engine: &'e Engine, query: &str, filter: Option<&str>) -> Result<Search<'e>> {
    let filter: Option<Filter> = filter.map(str::parse).transpose()?;
    let parsed = PARSED.with_borrow_mut(|parsed| match parsed.get(query) {
        Some(known) => Ok::<_, anyhow::Error>(known.clone()),
        None => Ok(parsed.entry(query.to_owned()).or_insert(cql::parse(query)?).clone()),
    })?;
    Ok(engine.search(&parsed, MatchRule::Shortest, filter.as_ref())?)
}

thread_local! {
    /// Parsing a query takes a few microseconds and is not measured.
    static PARSED: RefCell<HashMap<String, cql::Query>> = RefCell::default();
}

/// Enumerates every hit, as the peers do.
fn hits(engine: &Engine, query: &str, filter: Option<&str>) -> Result<u64> {
    let mut sum = 0u64;
    let mut count = 0;
    search(engine, query, filter)?.each(&Limits::default(), |hit| {
        count += 1;
        sum = sum.wrapping_add(u64::from(hit.start));
    });
    std::hint::black_box(sum);
    Ok(count)
}

fn page(engine: &Engine, query: &str, filter: Option<&str>) -> Result<u64> {
    let search = search(engine, query, filter)?;
    let (page, _) = search.page(Order::Newest, 0, 50, &Limits::default());
    Ok(engine.lines(&page, 10, &["date", "site", "title", "url"])?.len() as u64)
}

fn colloc(engine: &Engine, query: &str) -> Result<u64> {
    let window = Window::Tokens { left: 5, right: 5 };
    let search = search(engine, query, None)?;
    let (found, _) =
        search.collocates(Around::all(Attribute::Lemma, window), Association::LogDice, 5, &Limits::default());
    Ok(found.rows.len() as u64)
}

fn sketch(engine: &Engine, lemma: &str) -> Result<u64> {
    let asked = SketchOf { lemma, tag: None, grammar: Grammar::of("en"), filter: None, at_least: 3, rows: 12 };
    let (found, _) = engine.sketch(&asked, &Limits::default())?;
    Ok(found.relations.iter().map(|relation| relation.rows.len() as u64).sum())
}

/// Words with their counts, the most frequent first.
fn list(engine: &Engine, filter: Option<&str>) -> Result<u64> {
    let filter: Option<Filter> = filter.map(str::parse).transpose()?;
    let part = engine.subcorpus(filter.as_ref())?;
    let counts = engine.string_counts(&part, Layer::Word);
    let mut rows: Vec<(u64, u32)> =
        counts.iter().zip(0..).filter(|(count, _)| **count > 0).map(|(count, id)| (*count, id)).collect();
    rows.sort_unstable_by(|a, b| b.cmp(a));
    Ok(std::hint::black_box(rows).len() as u64)
}

fn days(engine: &Engine, query: &str) -> Result<u64> {
    Ok(search(engine, query, None)?.by_day(&Limits::default()).hits.values().sum())
}

const GAP: &str = "[lemma=\"go\"] []{0,3} [tag=\"NOUN\"] within <s/>";
const DENSE: &str = "[tag=\"ADJ\"] [tag=\"NOUN\"] [tag=\"NOUN\"] within <s/>";

const AGREEMENT: &str = "a:[pos=\"ADJ\"] b:[pos=\"NOUN\"] :: a.Number = b.Number";

fn by_number(engine: &Engine) -> Result<u64> {
    let search = engine.search(&cql::parse("[pos=\"NOUN\"]")?, MatchRule::Shortest, None)?;
    let number = Attribute::named("Number").context("a feature")?;
    Ok(search.by_attribute(number, &Limits::default()).0.len() as u64)
}

const QUERIES: &[Question] = &[
    ("rare word", |e| hits(e, "[word=\"quixotically\"]", None), 0.003, 0.001),
    ("lemma=crisis", |e| hits(e, "[lemma=\"crisis\"]", None), 0.06, 0.11),
    ("the, all hits", |e| hits(e, "[word=\"the\"]", None), 31.0, 16.0),
    ("the, first 50 lines", |e| page(e, "[word=\"the\"]", None), 1.1, 5.0),
    ("prime minister", |e| hits(e, "[word=\"prime\"] [word=\"minister\"]", None), 0.06, 0.10),
    ("in the", |e| hits(e, "[word=\"in\"] [word=\"the\"]", None), 71.0, 49.0),
    ("go, up to 3, NOUN", |e| hits(e, GAP, None), 35.0, 97.0),
    ("the best NOUN", |e| hits(e, "[word=\"the\"] [word=\"best\"] [tag=\"NOUN\"] within <s/>", None), 11.0, 241.0),
    (".*gate", |e| hits(e, "[word=\".*gate\"]", None), 11.0, 6.1),
    ("inter.*", |e| hits(e, "[word=\"inter.*\"]", None), 7.4, 10.1),
    ("NOUN NOUN", |e| hits(e, "[pos=\"NOUN\"] [pos=\"NOUN\"]", None), f64::NAN, f64::NAN),
    // Only a corpus with features has hits; the generated one has none.
    ("NOUN in the plural", |e| hits(e, "[pos=\"NOUN\" & Number=\"Plur\"]", None), f64::NAN, f64::NAN),
    ("ADJ NOUN of one number", |e| hits(e, AGREEMENT, None), f64::NAN, f64::NAN),
    ("NOUN by number", |e| by_number(e), f64::NAN, f64::NAN),
    ("first page of NOUN NOUN", |e| page(e, "[pos=\"NOUN\"] [pos=\"NOUN\"]", None), f64::NAN, f64::NAN),
    ("ADJ NOUN NOUN", |e| hits(e, DENSE, None), 248.0, 831.0),
    ("market, 2020", |e| hits(e, "[lemma=\"market\"]", Some("date=2020")), 0.09, 0.17),
    ("market, 2020, blog", |e| hits(e, "[lemma=\"market\"]", Some("date=2020 genre=blog")), 0.23, 0.93),
    (
        "market by year",
        |e| {
            let days = search(e, "[lemma=\"market\"]", None)?.by_day(&Limits::default()).hits;
            let mut years = std::collections::BTreeMap::new();
            days.into_iter().for_each(|(day, hits)| *years.entry(day.date().year()).or_insert(0) += hits);
            Ok(years.values().sum())
        },
        3.9,
        13.7,
    ),
    ("market by day", |e| days(e, "[lemma=\"market\"]"), 1.8, 15.0),
    ("the by day", |e| days(e, "[word=\"the\"]"), 37.0, 644.0),
    (
        "timeline of market by month",
        |e| {
            let (timeline, _) = search(e, "[lemma=\"market\"]", None)?.timeline(Step::Month, 0.95, &Limits::default());
            Ok(timeline.points.iter().filter_map(|point| point.hits).sum())
        },
        10.0,
        f64::NAN,
    ),
    (
        "timeline of the by month",
        |e| {
            let (timeline, _) = search(e, "[word=\"the\"]", None)?.timeline(Step::Month, 0.95, &Limits::default());
            Ok(timeline.points.iter().filter_map(|point| point.hits).sum())
        },
        10.0,
        f64::NAN,
    ),
    ("collocates of crisis", |e| colloc(e, "[lemma=\"crisis\"]"), 3.0, 35.0),
    ("sketch of crisis", |e| sketch(e, "crisis"), f64::NAN, f64::NAN),
    ("sketch of market", |e| sketch(e, "market"), f64::NAN, f64::NAN),
    ("sketch of go", |e| sketch(e, "go"), f64::NAN, f64::NAN),
    ("collocates of market", |e| colloc(e, "[lemma=\"market\"]"), 22.0, 420.0),
    ("word list", |e| list(e, None), 9.5, 310.0),
    ("word list of 2020", |e| list(e, Some("date=2020")), 6.4, 648.0),
    ("word list of blogs", |e| list(e, Some("genre=blog")), 46.0, 852.0),
    ("first page of the gap query", |e| page(e, GAP, None), 5.0, f64::NAN),
    ("first page of ADJ NOUN NOUN", |e| page(e, DENSE, None), 5.0, f64::NAN),
    ("first page of .*gate", |e| page(e, "[word=\".*gate\"]", None), 5.0, f64::NAN),
    (
        "first page of prime minister in blogs",
        |e| page(e, "[word=\"prime\"] [word=\"minister\"]", Some("genre=blog")),
        5.0,
        f64::NAN,
    ),
    (
        "market by site",
        |e| {
            let counts = search(e, "[lemma=\"market\"]", None)?.by_field("site", &Limits::default());
            Ok(counts.values.values().map(|count| count.hits).sum())
        },
        f64::NAN,
        f64::NAN,
    ),
    (
        "40 quarters of every word",
        |e| {
            let first = Day::parse("2016-01-01").context("a day")?.0;
            let periods: Vec<_> = (0..40).map(|index| Day(first + index * 91)..Day(first + index * 91 + 91)).collect();
            Ok(e.period_counts(&e.subcorpus(None)?, Attribute::Word, &periods, 30).words.len() as u64)
        },
        f64::NAN,
        f64::NAN,
    ),
    (
        "words with documents, b.*",
        |e| Ok(e.words(&e.subcorpus(None)?, Attribute::Word, Some(&ValueMatcher::regex("b.*")), 5)?.rows.len() as u64),
        f64::NAN,
        f64::NAN,
    ),
    (
        "bigrams of a month",
        |e| {
            let filter: Filter = "date=2020-03".parse()?;
            Ok(e.ngrams(&e.subcorpus(Some(&filter))?, Attribute::Word, 2, None, 2)?.rows.len() as u64)
        },
        f64::NAN,
        f64::NAN,
    ),
];

/// Runs every query repeatedly and prints the best time.
pub fn all(folder: &Path, only: Option<&str>) -> Result<()> {
    let engine = Engine::new(Snapshot::open(folder)?);
    println!("{} tokens in {} segments", engine.snapshot().tokens(), engine.snapshot().segments().len());
    println!("| query | hits | warm CPU ms | cold ms | prototype | best peer |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (name, ask, prototype, peer) in QUERIES {
        if only.is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let cold = cold(folder, name)?;
        let mut answer = ask(&engine)?;
        let mut best = f64::INFINITY;
        let begun = Instant::now();
        for round in 0.. {
            // Short queries run many times between two readings of the clock.
            let times = if best < 1e-4 { 200 } else { 1 };
            let before = cpu();
            for _ in 0..times {
                answer = ask(&engine)?;
            }
            best = best.min((cpu() - before) / f64::from(times));
            if round >= 2 && begun.elapsed() > Duration::from_millis(700) {
                break;
            }
        }
        let shown = |value: f64| if value.is_nan() { "–".to_owned() } else { format!("{value}") };
        println!("| {name} | {answer} | {:.3} | {cold:.1} | {} | {} |", best * 1e3, shown(*prototype), shown(*peer));
    }
    Ok(())
}

/// Evicts the index from the page cache, then runs the query in a separate process.
fn cold(folder: &Path, name: &str) -> Result<f64> {
    for entry in std::fs::read_dir(folder)? {
        let file = File::open(entry?.path())?;
        file.sync_all()?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    let home = folder.parent().context("a folder has a parent")?;
    let output = std::process::Command::new(std::env::current_exe()?).arg("once").arg(home).arg(name).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().parse()?)
}

/// Opens the index, runs one query, and prints the time.
pub fn once(folder: &Path, name: &str) -> Result<()> {
    let (_, ask, ..) = QUERIES.iter().find(|(known, ..)| *known == name).context("unknown query")?;
    let begun = Instant::now();
    ask(&Engine::new(Snapshot::open(folder)?))?;
    println!("{:.3}", begun.elapsed().as_secs_f64() * 1e3);
    Ok(())
}

/// The frequency of “the” on a day.
pub fn count_on_day(index: &Snapshot, day: i32) -> Result<u64> {
    let engine = Engine::new(index.clone());
    hits(&engine, "[word=\"the\"]", Some(&format!("date={}", Day(day))))
}

/// Prints the plan of a query.
pub fn explain(folder: &Path, query: &str) -> Result<()> {
    let engine = Engine::new(Snapshot::open(folder)?);
    println!("{}", search(&engine, query, None)?.explain());
    Ok(())
}

/// Searches for the planted words among all words with a trend, and prints how many were found.
pub fn trends(folder: &Path) -> Result<()> {
    let truth = std::fs::read_to_string(folder.join("planted.tsv")).context("generate first")?;
    let profile_of: HashMap<&str, &str> = truth.lines().filter_map(|line| line.split_once('\t')).collect();
    let engine = Engine::new(Snapshot::open(&folder.join("index"))?);
    let part = engine.subcorpus(None)?;
    let show = |what: &str, words: &[&str], seconds: f64| {
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        words.iter().for_each(|word| *found.entry(profile_of.get(word).copied().unwrap_or("others")).or_default() += 1);
        println!("{what}: {} words in {seconds:.2} CPU s: {found:?}", words.len());
    };
    let before = cpu();
    let trends = engine.trends(&part, Attribute::Word, Step::Quarter, &RiseConfig::default(), None);
    let words: Vec<&str> = trends.rows.iter().map(|row| row.value.as_str()).collect();
    show(
        &format!("trends over {} quarters, {} words tested", trends.bins.len(), trends.tested),
        &words,
        cpu() - before,
    );
    let before = cpu();
    let bursts = engine.bursts(&part, Attribute::Word, Step::Week, &BurstConfig::default(), None);
    let words: Vec<&str> = bursts.rows.iter().take(60).map(|row| row.value.as_str()).collect();
    show("first 60 bursts by week", &words, cpu() - before);
    Ok(())
}
