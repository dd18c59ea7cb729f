//! Fuzz targets for every parser of foreign bytes.
//!
//! A target is a function over bytes that must end without a panic, and that checks what it can: what was parsed and
//! written again is parsed to the same. [`TARGETS`] lists all of them. One binary holds them, because linking takes longer
//! than most runs, and the environment variable `TIDINGS_FUZZ` names the one to run.
//!
//! Seeds are in `seeds/NAME`, dictionaries in `dictionaries/NAME.dict`. The test of this crate runs every seed through
//! its target; `run.sh` builds with coverage and runs libFuzzer, on stable Rust.

pub mod archives;
pub mod corpora;
pub mod exchanges;
pub mod home;
pub mod index;
pub mod models;
pub mod queries;
pub mod scratch;
pub mod seeds;
pub mod shards;
pub mod web;

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name: that of its seeds and its dictionary.
    pub name: &'static str,
    /// Runs one input.
    pub run: fn(&[u8]),
    /// Folders below the root of the repository with further seeds.
    pub fixtures: &'static [&'static str],
}

const fn target(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run, fixtures: &[] }
}

const FEEDS: &[&str] = &[
    "fixtures/feeds/rss",
    "fixtures/feeds/atom",
    "fixtures/feeds/rdf",
    "fixtures/feeds/json",
    "fixtures/feeds/broken",
];

/// All targets. A new one is a function and a row here, a folder of seeds and perhaps a dictionary.
pub const TARGETS: &[Target] = &[
    Target { fixtures: FEEDS, ..target("feeds", web::feed) },
    Target { fixtures: &["fixtures/pages"], ..target("html", web::html) },
    Target { fixtures: &["fixtures/pages"], ..target("links", web::links) },
    Target { fixtures: &["fixtures/pages"], ..target("page_links", web::page_links) },
    target("robots", web::robots),
    target("sitemaps", web::sitemap),
    target("dates", web::date),
    target("opml", web::opml),
    target("encodings", web::encoding),
    target("text", web::text),
    target("cql", queries::cql),
    target("filters", queries::filter),
    target("questions", queries::question),
    target("translate", queries::translate),
    target("shard_answers", shards::answer),
    target("shard_requests", shards::request),
    target("warc", archives::warc),
    target("zip", archives::zip),
    target("wet", archives::wet),
    target("jsonl", archives::jsonl),
    target("vertical", corpora::vertical),
    target("conllu", corpora::conllu),
    target("tei", corpora::tei),
    target("tei_tokens", corpora::tei_tokens),
    target("plan", home::plan),
    target("journal", home::journal),
    target("frames", home::frames),
    target("pointers", home::pointer),
    target("tables", home::tables),
    target("decisions", home::decisions),
    target("settings", home::settings),
    target("crawl_exchange", exchanges::crawl),
    target("machine_exchange", exchanges::machine),
    target("crawl_state", exchanges::crawl_state),
    target("backups", exchanges::backup),
    target("segments", index::segment),
    target("models", models::model),
];

/// The target of a name.
pub fn by_name(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
