//! `tidings import`: pages, texts, annotated texts, feed lists and plans of other programs.

use std::path::PathBuf;

use anyhow::Result;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jiff::Timestamp;
use tidings_pipeline::Pipeline;
use tidings_pipeline::import::{self, Columns, FORMATS, ImportFormat, LinesOptions, MIN_CHARS, Options};
use tidings_pipeline::shard::Shard;

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Pages and texts are stored in pages/DAY, where DAY is the day of their download. Run `tidings run --from clean` \
    afterwards to process them. Files that were imported before are skipped, and an interrupted import resumes where it \
    stopped.\n\nExamples:\n  \
    tidings import CC-NEWS-20260301*.warc.gz     web archives\n  \
    tidings import CC-MAIN-*.warc.wet.gz --lines lines/   unique lines by language\n  \
    tidings import 's3://crawl/2026/*.warc.gz'   archives in an object store\n  \
    tidings import old-home/pages/*.jsonl.zst    pages of FeedFetcher\n  \
    tidings import saved/ --date 2026-03-01      a folder of web pages\n  \
    tidings import feeds.opml                    feeds, added to feeds.txt\n  \
    tidings import corpus.vert --columns word,tag,lemma"
)]
pub struct Args {
    /// Files and folders to import, or objects, prefixes and patterns: s3://BUCKET/KEY, gs://, az://
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Format of the files [default: detected from their names and first bytes]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<ImportFormat>,
    /// Count what would be imported, without importing
    #[arg(long)]
    dry_run: bool,
    /// Import files again that were imported before
    #[arg(long)]
    again: bool,
    /// Download date of pages and texts without one [default: modification time of the file]
    #[arg(long, value_name = "DAY", value_parser = parse_date)]
    date: Option<Timestamp>,
    /// Language hint for texts without one, such as de; the text itself decides
    #[arg(long = "lang", alias = "language", value_name = "CODE")]
    language: Option<String>,
    /// Host to import, with its subdomains; may be repeated [default: all]
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    site: Vec<String>,
    /// Skip the quality gate
    #[arg(long)]
    no_gate: bool,
    /// Minimum length of a WET line in characters
    #[arg(long, value_name = "N", default_value_t = MIN_CHARS)]
    min_chars: usize,
    /// Columns of a vertical file: word, lemma, tag, feats, NAME:KIND (further attribute), _ (skipped)
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "word,lemma,tag,feats")]
    columns: Vec<String>,
    /// Write unique lines of WET files or texts to this folder, one file per language, without a home
    #[arg(long, value_name = "DIR")]
    lines: Option<PathBuf>,
    /// With --lines: memory for the set of known lines, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, requires = "lines")]
    memory: usize,
    /// Delete each file after it was imported completely
    #[arg(long, conflicts_with = "dry_run")]
    remove: bool,
    /// Number of threads [default: setting clean.threads, one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Import one share of the files, such as 2/4, while other processes import the others
    #[arg(long, value_name = "I/N", default_value_t, hide_default_value = true, conflicts_with = "lines")]
    shard: Shard,
    /// Compressed size of a commit, in KiB; for tests
    #[arg(long, hide = true)]
    step_kib: Option<usize>,
}

fn format_parser() -> impl TypedValueParser<Value = ImportFormat> {
    let values = FORMATS.map(|row| PossibleValue::new(row.name).help(row.help));
    PossibleValuesParser::new(values).map(|name| name.parse().expect("only names of formats are possible"))
}

fn parse_date(text: &str) -> Result<Timestamp, String> {
    let at_midnight = || text.parse::<jiff::civil::Date>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    text.parse::<Timestamp>()
        .ok()
        .or_else(|| at_midnight().map(|zoned| zoned.timestamp()))
        .ok_or_else(|| "expected a day such as 2026-03-01".to_owned())
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let columns = Columns::of_names(&args.columns)?;
    if let Some(folder) = &args.lines {
        return Ok(import::run_lines(&lines_options(args, folder.clone()), &console::reporter())?.into());
    }
    let (home, mut config) = super::open_home(global)?;
    config.clean.threads = args.threads.map_or(config.clean.threads, usize::from);
    // A signal ends the process at once: everything up to the last commit is safe.
    let pipeline = Pipeline::new(home, config).with_reporter(console::reporter()).with_shard(args.shard);
    let options = Options {
        paths: args.paths.clone(),
        format: args.from,
        dry_run: args.dry_run,
        again: args.again,
        downloaded: args.date,
        language: args.language.clone(),
        sites: args.site.clone(),
        no_gate: args.no_gate,
        min_chars: args.min_chars,
        columns,
        remove: args.remove,
        step_bytes: args.step_kib.map(|kib| kib << 10),
    };
    Ok(import::run(&pipeline, &options)?.into())
}

fn lines_options(args: &Args, folder: PathBuf) -> LinesOptions {
    LinesOptions {
        paths: args.paths.clone(),
        format: args.from,
        folder,
        min_chars: args.min_chars,
        memory_mib: args.memory,
        again: args.again,
        dry_run: args.dry_run,
        remove: args.remove,
        threads: args.threads.map(usize::from),
        step_bytes: args.step_kib.map(|kib| (kib as u64) << 10),
    }
}
