//! `tidings export`: the corpus, or a part of it, as other programs want it.
//!
//! Documents are read in the order of their days and languages, decided about and rendered on all cores, and written down
//! in their order: the same corpus gives the same bytes. What is made appears whole, with a manifest that says what it is,
//! what was left out and why.

mod archive;
mod documents;
mod door;
mod pairs;
mod safe;
mod selection;
mod source;
mod tokens;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tidings_model::purpose::{Extent, Purpose};
use tidings_store::Home;
use tidings_store::docs;
use tidings_store::format::Format as Single;
use xxhash_rust::xxh3::xxh3_128;

use self::archive::Archive;
use self::door::{Door, Taker};
use self::pairs::{Finder, Level, Pairs, Parallel};
use self::selection::{Asked, Item, Selection, Stays};
use self::source::{Source, Wanted};
use super::Report;
use crate::args::Global;
use crate::console;
use tidings_pipeline::config::{Config, Duplicates};
use tidings_pipeline::display::{count, grouped, span};
use tidings_pipeline::parallel::{self, Bounds};

/// In public, n-grams of fewer documents are not given, nor fewer sentences.
const LEAST_PUBLIC_DOCUMENTS: u64 = 5;
const LEAST_PUBLIC_POOL: u64 = 1_000;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tidings export --format jsonl news.jsonl.zst\n  \
    tidings export --format parquet --from 2026-01 news-2026\n  \
    tidings export --format conllu --lang de --cql '\"Klima.*\"' klima.conllu\n  \
    tidings export --format vertical --in spring spring.vert\n  \
    tidings export --format shuffled --purpose public sentences.txt.zst\n\n\
    Beside TARGET lies TARGET.manifest.json: what it holds, what was left out and why, and its digest.")]
pub struct Args {
    /// The file or folder to make; - is standard output
    #[arg(value_name = "TARGET")]
    target: PathBuf,
    /// What to make
    #[arg(long, short, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    asked: Asked,
    /// What it is for: obeys what publishers have said about that use
    #[arg(long, value_name = "PURPOSE", default_value = "research", value_parser = parse_purpose)]
    purpose: Purpose,
    /// List the documents that were asked for and left out because of their rights
    #[arg(long)]
    explain: bool,
    /// Replace what is there
    #[arg(long)]
    force: bool,
    /// Begin CSV and TSV with the mark by which Excel knows UTF-8
    #[arg(long)]
    bom: bool,
    /// ngrams: how many words
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=5))]
    n: u8,
    /// ngrams: give only those that so many documents hold
    #[arg(long, value_name = "DOCUMENTS", default_value_t = LEAST_PUBLIC_DOCUMENTS)]
    threshold: u64,
    /// shuffled: which order
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// shuffled: give nothing unless there are so many different sentences
    #[arg(long, value_name = "SENTENCES", default_value_t = 10_000)]
    pool: u64,
    /// pairs: what stands on a line; a TARGET that ends in .tmx is a translation memory
    #[arg(long, value_name = "LEVEL", default_value = "sentence")]
    level: Level,
    /// Documents read at the same time [default: clean.threads of the settings, one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// What can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A JSON object a line: id, text, source, created, added, metadata
    Jsonl,
    /// Parquet in folders by language and month
    Parquet,
    /// A token a line, with a registry for Manatee (NoSketch Engine, KonText)
    Vertical,
    /// CoNLL-U
    Conllu,
    /// CoNLL-U Plus with running numbers, and files about sentences, texts and alignment
    ConlluPlus,
    /// TEI P5, one corpus
    Tei,
    /// Text, a paragraph a line, an empty line between documents
    Text,
    /// A table with commas
    Csv,
    /// A table with tabs
    Tsv,
    /// Raw pages as WARC 1.1, with a CDXJ index
    Warc,
    /// Counts of n-grams that enough documents hold
    Ngrams,
    /// Sentences in an order that tells nothing of where they stood
    Shuffled,
    /// Sentences or documents that translate one another
    Pairs,
}

/// What there is to know about a format before anything is read.
struct Traits {
    name: &'static str,
    is_folder: bool,
    wants_tokens: bool,
    extent: Extent,
}

impl Format {
    fn traits(self) -> Traits {
        let (name, is_folder, wants_tokens, extent) = match self {
            Format::Jsonl => ("jsonl", false, false, Extent::Whole),
            Format::Parquet => ("parquet", true, false, Extent::Whole),
            Format::Vertical => ("vertical", false, true, Extent::Whole),
            Format::Conllu => ("conllu", false, true, Extent::Whole),
            Format::ConlluPlus => ("conllu-plus", true, true, Extent::Whole),
            Format::Tei => ("tei", false, false, Extent::Whole),
            Format::Text => ("text", false, false, Extent::Whole),
            Format::Csv => ("csv", false, false, Extent::Whole),
            Format::Tsv => ("tsv", false, false, Extent::Whole),
            Format::Warc => ("warc", false, false, Extent::Whole),
            Format::Ngrams => ("ngrams", false, true, Extent::Counts),
            Format::Shuffled => ("shuffled", false, true, Extent::Sentences),
            Format::Pairs => ("pairs", false, true, Extent::Whole),
        };
        Traits { name, is_folder, wants_tokens, extent }
    }
}

fn parse_purpose(name: &str) -> Result<Purpose, String> {
    let known = Purpose::ALL.iter().find(|row| row.0 == name).map(|row| row.1);
    known.ok_or_else(|| format!("give {}", Purpose::ALL.map(|row| row.0).join(", ")))
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let began = Instant::now();
    let (home, config) = super::open_home(global)?;
    let keep_duplicates = config.annotate.duplicates == Duplicates::Keep;
    check(args, keep_duplicates)?;
    let traits = args.format.traits();
    let mut door = Door::open(&args.target, traits.is_folder, args.force)?;
    let mut export = Export {
        selection: Selection::open(&home, &args.asked, args.purpose, traits.extent, door.scratch())?,
        keep_duplicates,
        bounds: bounds(args, &config),
        tally: Tally::default(),
        explain: args.explain.then_some(door.is_stdout()),
        languages: args.asked.lang.iter().cloned().collect(),
        home,
    };
    let figures = match args.format {
        Format::Warc => export.pages(&mut door)?,
        _ => export.documents(args, &mut door, &traits)?,
    };

    let Export { tally, selection, .. } = export;
    let left_out: u64 = tally.left_out.values().sum();
    if tally.written + left_out != tally.read {
        bail!(
            "{} documents were read, but {} written and {left_out} left out; this is a mistake in Tidings, please report it",
            tally.read,
            tally.written
        );
    }
    let mut manifest = json!({
        "export": "tidings export 1",
        "program": format!("tidings {}", env!("CARGO_PKG_VERSION")),
        "format": traits.name,
        "purpose": args.purpose.name(),
        "filter": selection.described,
        "query": args.asked.query(),
        "languages": args.asked.lang,
        "corpus": {
            "state": format!("{:032x}", xxh3_128(tally.inputs.as_bytes())),
            "days": tally.days,
            "index_generations": selection.generations,
        },
        "documents": { "read": tally.read, "written": tally.written, "left_out": tally.left_out },
        "not_ready": tally.waiting,
        "figures": figures,
        "files": door.made(),
    });
    match args.format {
        Format::Shuffled => manifest["seed"] = json!(args.seed),
        Format::Ngrams => manifest["n"] = json!(args.n),
        _ => {}
    }
    let is_stdout = door.is_stdout();
    door.publish(&manifest)?;
    let text = told(&tally, &args.target.display().to_string(), &span(began.elapsed()));
    if is_stdout {
        // The target itself may be standard output, where nothing else belongs.
        log::info!("{}", text.trim_end());
        return Ok(Report::default());
    }
    Ok(Report { text, json: manifest, ..Report::default() })
}

/// Refuses what would not be safe to give away.
fn check(args: &Args, keep_duplicates: bool) -> Result<()> {
    let is_public = args.purpose != Purpose::Research;
    if args.format == Format::Ngrams && is_public && keep_duplicates {
        bail!(
            "this corpus keeps duplicates, so that a text which {LEAST_PUBLIC_DOCUMENTS} sites copied could be chained together again; \
             set annotate.duplicates = \"drop\" and run `tidings annotate`, or use --purpose research"
        );
    }
    if args.format == Format::Ngrams && is_public && args.threshold < LEAST_PUBLIC_DOCUMENTS {
        bail!(
            "n-grams that fewer than {LEAST_PUBLIC_DOCUMENTS} documents hold can be chained to texts; keep --threshold, or use --purpose research"
        );
    }
    if args.format == Format::Shuffled && is_public && args.pool < LEAST_PUBLIC_POOL {
        bail!(
            "fewer than {} sentences are too few to hide in; keep --pool, or use --purpose research",
            grouped(LEAST_PUBLIC_POOL)
        );
    }
    if args.format == Format::Warc && !args.target.to_string_lossy().ends_with(".gz") {
        bail!("records are packed one by one and an index goes with them; name a file such as pages.warc.gz");
    }
    Ok(())
}

fn bounds(args: &Args, config: &Config) -> Bounds {
    let threads = args.threads.map_or(config.clean.threads, usize::from);
    let threads = if threads == 0 { tidings_pipeline::parallel::cores() } else { threads };
    Bounds { threads, weight: config.clean.memory_mib << 20 }
}

/// The last line.
fn told(tally: &Tally, target: &str, took: &str) -> String {
    let mut text = format!("{} exported to {target}", count(tally.written, "document"));
    let reasons: Vec<String> =
        tally.reasons().map(|(reason, number)| format!("{} {reason}", grouped(number))).collect();
    if !reasons.is_empty() {
        text.push_str(&format!(", left out: {}", reasons.join(", ")));
    }
    text.push_str(&format!(", {took}\n"));
    for (what, number) in &tally.waiting {
        let remedy = if *what == "not-judged" { "tidings dedup" } else { "tidings annotate" };
        text.push_str(&format!("{} of days that wait for `{remedy}` are not among them\n", count(*number, "document")));
    }
    text
}

/// What became of documents.
#[derive(Default)]
struct Tally {
    read: u64,
    written: u64,
    left_out: BTreeMap<&'static str, u64>,
    waiting: BTreeMap<&'static str, u64>,
    /// Days that something was read of, and all files with their digests.
    days: u64,
    inputs: String,
}

impl Tally {
    /// Why documents were left out, the most frequent reason first; what nobody asked for is no loss.
    fn reasons(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let mut rows: Vec<(&'static str, u64)> =
            self.left_out.iter().map(|(reason, number)| (*reason, *number)).collect();
        rows.sort_by_key(|(reason, number)| (std::cmp::Reverse(*number), *reason));
        rows.into_iter().filter(|(reason, _)| !["not-asked-for", "no-hit"].contains(reason))
    }
}

/// An export under way.
struct Export {
    home: Home,
    selection: Selection,
    keep_duplicates: bool,
    bounds: Bounds,
    tally: Tally,
    /// Whether to list what was left out, and then whether standard output is taken.
    explain: Option<bool>,
    languages: std::collections::BTreeSet<String>,
}

impl Export {
    fn source(&self, tokens: bool, only: Option<&str>) -> Result<Source> {
        let wanted = Wanted { languages: self.languages.clone(), tokens };
        Source::open(&self.home, self.keep_duplicates, wanted, only)
    }

    /// Reads documents, decides, renders what leaves on all cores, and gives it to `take` in order.
    fn each(
        &mut self,
        mut source: Source,
        wants_tokens: bool,
        render: impl Fn(&Item) -> Vec<u8> + Sync,
        mut take: impl FnMut(Item, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let total = source.days_left() as u64;
        let progress = console::progress("days", total);
        let (selection, explain) = (&self.selection, self.explain);
        let tally = &mut self.tally;
        let mut day = String::new();
        let mut hits: (String, Option<Arc<[u128]>>) = Default::default();
        let read = || {
            let Some(raw) = source.next()? else { return Ok(None) };
            if hits.0 != raw.day {
                hits = (raw.day.clone(), selection.hits_of(&raw.day)?);
            }
            let weight = raw.weight();
            Ok(Some(((raw, hits.1.clone()), weight)))
        };
        let work = |(raw, hits): (source::Raw, Option<Arc<[u128]>>)| {
            let day = raw.day.clone();
            let item = selection.item(raw, hits.as_deref(), wants_tokens);
            (day, item.map(|item| item.map(|item| (render(&item), item))))
        };
        parallel::ordered(self.bounds, read, work, |(of_day, item)| {
            tally.read += 1;
            if of_day != day {
                progress.show(tally.days, &of_day);
                tally.days += 1;
                day = of_day;
            }
            match item? {
                Ok((rendered, item)) => {
                    tally.written += 1;
                    take(item, rendered)?;
                }
                Err(stays) => left_out(tally, stays, explain),
            }
            Ok(())
        })?;
        source.waiting.iter().for_each(|(what, number)| *tally.waiting.entry(what).or_default() += number);
        source.inputs.iter().for_each(|(file, digest)| tally.inputs.push_str(&format!("{file} {digest}\n")));
        Ok(())
    }

    fn documents(&mut self, args: &Args, door: &mut Door, traits: &Traits) -> Result<Value> {
        let parallel = match args.format {
            Format::Pairs | Format::ConlluPlus => Some(self.parallel(door)?),
            _ => None,
        };
        let n = usize::from(args.n);
        let render = |item: &Item| match args.format {
            Format::Jsonl => documents::jsonl(item),
            Format::Csv => documents::csv_row(item),
            Format::Tsv => documents::tsv_row(item),
            Format::Tei => documents::tei(item),
            Format::Text => documents::text(item),
            Format::Vertical => tokens::vertical(item),
            Format::Conllu => tokens::conllu(item),
            Format::Shuffled => safe::sentences(item),
            Format::Ngrams => safe::ngrams(item, n),
            Format::Parquet | Format::ConlluPlus | Format::Pairs | Format::Warc => Vec::new(),
        };
        let mut taker = taker(args, door, parallel)?;
        let source = self.source(traits.wants_tokens, None)?;
        self.each(source, traits.wants_tokens, render, |item, rendered| taker.take(item, rendered, door))?;
        taker.finish(door)
    }

    /// Finds texts that translate one another, among those that may leave.
    fn parallel(&mut self, door: &Door) -> Result<Parallel> {
        let mut finder = Finder::default();
        let tally = std::mem::take(&mut self.tally);
        let explain = self.explain.take();
        // Links stand in documents; tokens are not needed to find them.
        let source = self.source(false, None)?;
        self.each(
            source,
            false,
            |_| Vec::new(),
            |item, _| {
                finder.see(&item.document, item.attributes.id, &item.language);
                Ok(())
            },
        )?;
        // They are read again, and counted then.
        (self.tally, self.explain) = (tally, explain);
        Parallel::new(finder.pairs(), door)
    }

    fn pages(&mut self, door: &mut Door) -> Result<Value> {
        let mut archive = Archive::begin(door)?;
        for day in docs::days(&self.home)? {
            let mut wanted = HashSet::new();
            let source = self.source(false, Some(&day.name))?;
            self.each(
                source,
                false,
                |_| Vec::new(),
                |item, _| {
                    wanted.insert(archive::key_of(&item.document));
                    Ok(())
                },
            )?;
            archive.add(&day.files, &wanted)?;
        }
        archive.finish(door)
    }
}

fn taker(args: &Args, door: &Door, parallel: Option<Parallel>) -> Result<Box<dyn Taker>> {
    const BOM: &str = "\u{feff}";
    let table = |separator| {
        let bom = if args.bom { BOM } else { "" };
        format!("{bom}{}", tidings_store::format::csv::header(separator)).into_bytes()
    };
    Ok(match args.format {
        Format::Jsonl | Format::Text | Format::Conllu => documents::Stream::begin(door, b"", "")?,
        Format::Csv => documents::Stream::begin(door, &table(','), "")?,
        Format::Tsv => documents::Stream::begin(door, &table('\t'), "")?,
        Format::Tei => documents::Stream::begin(door, Single::Tei.opening().as_bytes(), Single::Tei.closing())?,
        Format::Parquet => Box::new(documents::Partitions::default()),
        Format::Vertical => tokens::Vertical::begin(door)?,
        Format::Shuffled => safe::Shuffled::begin(door, args.seed, args.pool),
        Format::Ngrams => safe::Ngrams::begin(door, usize::from(args.n), args.threshold),
        Format::ConlluPlus => tokens::Plus::begin(parallel.expect("found before")),
        Format::Pairs => Pairs::begin(parallel.expect("found before"), args.level),
        Format::Warc => unreachable!("pages go another way"),
    })
}

fn left_out(tally: &mut Tally, stays: Stays, explain: Option<bool>) {
    *tally.left_out.entry(stays.reason).or_default() += 1;
    let Some(url) = stays.url else { return };
    match explain {
        Some(false) => console::print(&format!("{}\t{url}\n", stays.reason)),
        Some(true) => log::info!("left out: {}\t{url}", stays.reason),
        None => {}
    }
}
