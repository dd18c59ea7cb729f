//! Queries on several threads against one.
//!
//! Times are wall-clock times, the best of several runs in turn, so that other work on the machine is in all of them. A line
//! of JSON for each query, with the processor time of the whole process, which says whether the machine was quiet: on two
//! threads it should hardly be more than on one.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;
use tidings_index::Snapshot;
use tidings_query::cql::{self, Attribute, MatchRule};
use tidings_query::engine::{Around, Engine, Limits};
use tidings_query::measure::association::Association;
use tidings_query::question::Window;
use tidings_query::trend::{BurstConfig, RiseConfig, Step};

use crate::cpu;

/// Runs of each query and number of threads.
const RUNS: usize = 5;
/// The default of the engine.
const BLOCK_TOKENS: u32 = 1 << 20;

/// A query with a number to compare.
type Query = (&'static str, fn(&Engine, &Limits) -> Result<u64>);

const QUERIES: &[Query] = &[
    ("count ADJ NOUN NOUN in a sentence", |engine, limits| {
        count(engine, "[tag=\"ADJ\"] [tag=\"NOUN\"] [tag=\"NOUN\"] within <s/>", limits)
    }),
    ("count DET ADJ* NOUN in a sentence", |engine, limits| {
        count(engine, "[tag=\"DET\"] [tag=\"ADJ\"]* [tag=\"NOUN\"] within <s/>", limits)
    }),
    ("collocates of NOUN", |engine, limits| {
        let search = engine.search(&cql::parse("[tag=\"NOUN\"]")?, MatchRule::Shortest, None)?;
        let window = Window::Tokens { left: 5, right: 5 };
        Ok(search.collocates(Around::all(Attribute::Lemma, window), Association::LogDice, 5, limits).0.collocates)
    }),
    ("word list lc", |engine, limits| {
        let corpus = engine.subcorpus(None)?.with_limits(limits.clone());
        Ok(engine.words(&corpus, Attribute::Lc, None, 1)?.values)
    }),
    ("trends by quarter", |engine, limits| {
        let corpus = engine.subcorpus(None)?.with_limits(limits.clone());
        Ok(engine.trends(&corpus, Attribute::Lemma, Step::Quarter, &RiseConfig::default(), None).tested)
    }),
    ("trends by month", |engine, limits| {
        let corpus = engine.subcorpus(None)?.with_limits(limits.clone());
        Ok(engine.trends(&corpus, Attribute::Lemma, Step::Month, &RiseConfig::default(), None).tested)
    }),
    ("bursts by week", |engine, limits| {
        let corpus = engine.subcorpus(None)?.with_limits(limits.clone());
        Ok(engine.bursts(&corpus, Attribute::Lemma, Step::Week, &BurstConfig::default(), None).tested)
    }),
];

fn count(engine: &Engine, query: &str, limits: &Limits) -> Result<u64> {
    Ok(engine.search(&cql::parse(query)?, MatchRule::Shortest, None)?.count(limits).hits)
}

/// Compares each query on every number of threads up to `most`.
pub fn compare(index: &Path, most: usize) -> Result<()> {
    let engine = Engine::new(Snapshot::open(index)?);
    engine.prepare();
    let tokens = engine.snapshot().tokens();
    for (name, query) in QUERIES {
        let mut best = vec![(Duration::MAX, f64::MAX, 0); most];
        for _ in 0..RUNS {
            for (number, best) in (1..).zip(&mut best) {
                let limits = Limits::default().with_threads(number, BLOCK_TOKENS);
                let (began, used) = (Instant::now(), cpu());
                let found = query(&engine, &limits)?;
                let (took, used) = (began.elapsed(), cpu() - used);
                if took < best.0 {
                    *best = (took, used, found);
                }
            }
        }
        let is_same = best.iter().all(|(.., found)| *found == best[0].2);
        for (number, (took, used, found)) in (1..).zip(&best) {
            let line = json!({
                "query": name, "tokens": tokens, "threads": number, "found": found, "same": is_same,
                "wall_ms": took.as_secs_f64() * 1e3, "cpu_ms": used * 1e3,
                "speed": best[0].0.as_secs_f64() / took.as_secs_f64(),
            });
            println!("{line}");
        }
    }
    Ok(())
}
