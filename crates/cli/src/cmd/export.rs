//! `tidings export`: writes the corpus, or a part of it, in formats of other programs.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tidings_model::purpose::Purpose;
use tidings_pipeline::Pipeline;
use tidings_pipeline::export::{
    self, Destination, Exclusion, ExportFormat, FORMATS, LEAST_PUBLIC_DOCUMENTS, Options, PairLevel, SelectionOptions,
};

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tidings export --format jsonl news.jsonl.zst\n  \
    tidings export --format parquet --from 2026-01 news-2026\n  \
    tidings export --format conllu --lang de --cql '\"Klima.*\"' klima.conllu\n  \
    tidings export --format vertical --in spring spring.vert\n  \
    tidings export --format shuffled --purpose public sentences.txt.zst\n\n\
    TARGET.manifest.json lists the contents, what was left out and why, and the checksums.")]
pub struct Args {
    /// File, folder or object (s3://BUCKET/KEY, gs://, az://) to write; - is standard output
    #[arg(value_name = "TARGET")]
    target: PathBuf,
    /// Format of the export
    #[arg(long, short, value_name = "FORMAT", value_parser = format_parser())]
    format: ExportFormat,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Intended use: research, public or train; documents whose rights forbid it are left out
    #[arg(long, value_name = "PURPOSE", default_value = "research", value_parser = parse_purpose)]
    purpose: Purpose,
    /// List the documents that were left out because of their rights
    #[arg(long)]
    explain: bool,
    /// Overwrite an existing target
    #[arg(long)]
    force: bool,
    /// Write a byte order mark to CSV and TSV, for Excel
    #[arg(long)]
    bom: bool,
    /// ngrams: number of words
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=5))]
    n: u8,
    /// ngrams: minimum number of documents
    #[arg(long, value_name = "DOCUMENTS", default_value_t = LEAST_PUBLIC_DOCUMENTS)]
    threshold: u64,
    /// shuffled: seed of the random order
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// shuffled: minimum number of distinct sentences; fewer are an error
    #[arg(long, value_name = "SENTENCES", default_value_t = 10_000)]
    pool: u64,
    /// pairs: unit of a line; a TARGET that ends in .tmx is a translation memory
    #[arg(long, value_name = "LEVEL", default_value = "sentence")]
    level: LevelArg,
    /// warc: leave out pages whose text was published before
    #[arg(long)]
    no_duplicates: bool,
    /// Number of threads [default: setting clean.threads, one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// The documents to export.
#[derive(Debug, Default, clap::Args)]
struct SelectionArgs {
    /// First day, month or year
    #[arg(long, value_name = "DATE")]
    from: Option<String>,
    /// Last day, month or year
    #[arg(long, value_name = "DATE")]
    to: Option<String>,
    /// Language, such as de; may be repeated [default: all]
    #[arg(long, value_name = "CODE")]
    lang: Vec<String>,
    /// Site, such as gazette.example; may be repeated [default: all]
    #[arg(long, value_name = "HOST")]
    site: Vec<String>,
    /// Filter by metadata, such as "site=gazette.example date>=2026-01 topic=sport"
    #[arg(long, value_name = "FILTER")]
    filter: Option<String>,
    /// Named subcorpus, see `tidings corpus save`
    #[arg(long = "in", value_name = "NAME")]
    corpus: Option<String>,
    /// Export only documents with a hit of this CQL query
    #[arg(long, value_name = "QUERY")]
    cql: Option<String>,
}

impl SelectionArgs {
    fn options(&self) -> SelectionOptions {
        SelectionOptions {
            from: self.from.clone(),
            to: self.to.clone(),
            languages: self.lang.clone(),
            sites: self.site.clone(),
            filter: self.filter.clone(),
            corpus: self.corpus.clone(),
            cql: self.cql.clone(),
        }
    }
}

/// The unit of a line of pairs.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum LevelArg {
    /// A pair of sentences per line
    Sentence,
    /// A pair of documents per line
    Document,
}

impl From<LevelArg> for PairLevel {
    fn from(level: LevelArg) -> PairLevel {
        match level {
            LevelArg::Sentence => PairLevel::Sentence,
            LevelArg::Document => PairLevel::Document,
        }
    }
}

fn format_parser() -> impl TypedValueParser<Value = ExportFormat> {
    let values = FORMATS.map(|row| PossibleValue::new(row.name).help(row.help));
    PossibleValuesParser::new(values).map(|name| name.parse().expect("only names of formats are possible"))
}

fn parse_purpose(name: &str) -> Result<Purpose, String> {
    let known = Purpose::ALL.iter().find(|row| row.0 == name).map(|row| row.1);
    known.ok_or_else(|| format!("expected one of {}", Purpose::ALL.map(|row| row.0).join(", ")))
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, mut config) = super::open_home(global)?;
    config.clean.threads = args.threads.map_or(config.clean.threads, usize::from);
    // A signal ends the process at once: an unfinished export leaves only a temporary file, which the next one removes.
    let pipeline = Pipeline::new(home, config).with_reporter(console::reporter());
    let options = Options {
        format: args.format,
        selection: args.selection.options(),
        purpose: args.purpose,
        force: args.force,
        bom: args.bom,
        n: args.n,
        threshold: args.threshold,
        seed: args.seed,
        pool: args.pool,
        level: args.level.into(),
        no_duplicates: args.no_duplicates,
        ..Options::new(args.format)
    };
    let to_stdout = args.target == Path::new("-");
    let destination = match to_stdout {
        true => Destination::Stream(Box::new(BufWriter::new(std::io::stdout()))),
        false => Destination::Path(args.target.clone()),
    };
    let mut excluded = |exclusion: &Exclusion| {
        let (reason, url) = (exclusion.reason.name(), exclusion.url.as_deref().unwrap_or_default());
        match (args.explain, to_stdout) {
            (true, false) => console::print(&format!("{reason}\t{url}\n")),
            (true, true) => log::info!("left out: {reason}\t{url}"),
            (false, _) => {}
        }
    };
    let outcome = export::run(&pipeline, &options, destination, &mut excluded)?;
    if to_stdout {
        // Standard output holds the export and nothing else.
        log::info!("{}", outcome.to_string().trim_end());
        return Ok(Report::default());
    }
    Ok(outcome.into())
}
