//! `tidings import`: pages, texts, tokens, lists of feeds and plans of other programs.

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
    after_help = "Web pages go to pages/DAY, DAY being the day of their own download; texts and tokens go there as \
    documents. `tidings run --from clean` does the rest. What was imported already is passed over, and an import that \
    was stopped goes on where it was.\n\nExamples:\n  \
    tidings import CC-NEWS-20260301*.warc.gz     web archives\n  \
    tidings import CC-MAIN-*.warc.wet.gz --lines lines/   text by language, a line once\n  \
    tidings import old-home/pages/*.jsonl.zst    pages of FeedFetcher\n  \
    tidings import saved/ --date 2026-03-01      a folder of web pages\n  \
    tidings import feeds.opml                    feeds, for feeds.txt\n  \
    tidings import corpus.vert --columns word,tag,lemma"
)]
pub struct Args {
    /// Files and folders to take in
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What they are [default: told by their names and first bytes]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<ImportFormat>,
    /// Count what would come in, and take nothing in
    #[arg(long)]
    dry_run: bool,
    /// Take in what was taken in before
    #[arg(long)]
    again: bool,
    /// When the pages or texts were obtained, where they do not say [default: the time of the file]
    #[arg(long, value_name = "DAY", value_parser = parse_date)]
    date: Option<Timestamp>,
    /// The language of texts that do not name theirs, such as de; it is a hint, the text decides
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    /// Only pages of this host and those below it; may be repeated
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    site: Vec<String>,
    /// Let every text pass the quality gate: it was chosen already
    #[arg(long)]
    no_gate: bool,
    /// Characters that a line of a WET file must have to be text
    #[arg(long, value_name = "N", default_value_t = MIN_CHARS)]
    min_chars: usize,
    /// What the columns of a vertical file are, by the names word, lemma, tag, feats
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "word,lemma,tag,feats")]
    columns: Vec<String>,
    /// Write the lines of WET files or texts to this folder instead, a file for each language, no line twice
    #[arg(long, value_name = "DIR")]
    lines: Option<PathBuf>,
    /// With --lines: memory for telling lines apart that were there before, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, requires = "lines")]
    memory: usize,
    /// Remove each file that was read to its end
    #[arg(long, conflicts_with = "dry_run")]
    remove: bool,
    /// Things made at the same time [default: clean.threads of the settings, one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Import one part of the files, such as 2/4; other processes may import the others at the same time
    #[arg(long, value_name = "I/N", default_value_t, conflicts_with = "lines")]
    shard: Shard,
    /// Pages that make a step, in KiB, packed: for tests
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
        .ok_or_else(|| "give a day such as 2026-03-01".to_owned())
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let columns = Columns::of_names(&args.columns)?;
    if let Some(folder) = &args.lines {
        return Ok(import::run_lines(&lines_options(args, folder.clone()), &console::reporter())?.into());
    }
    let (home, mut config) = super::open_home(global)?;
    config.clean.threads = args.threads.map_or(config.clean.threads, usize::from);
    // A signal ends the process at once: what was imported up to the last step is safe.
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
