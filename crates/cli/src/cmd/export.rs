//! `tidings export`: the corpus, or a part of it, in the formats of other programs.

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
    Beside TARGET lies TARGET.manifest.json: what it holds, what was left out and why, and its digest.")]
pub struct Args {
    /// The file or folder to make; - is standard output
    #[arg(value_name = "TARGET")]
    target: PathBuf,
    /// What to make
    #[arg(long, short, value_name = "FORMAT", value_parser = format_parser())]
    format: ExportFormat,
    #[command(flatten)]
    selection: SelectionArgs,
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
    level: LevelArg,
    /// Documents read at the same time [default: clean.threads of the settings, one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// The documents to export.
#[derive(Debug, Default, clap::Args)]
struct SelectionArgs {
    /// Only documents dated on or after this day, month or year
    #[arg(long, value_name = "DATE")]
    from: Option<String>,
    /// Only documents dated on or before this day, month or year
    #[arg(long, value_name = "DATE")]
    to: Option<String>,
    /// Only this language, such as de; may be repeated
    #[arg(long, value_name = "CODE")]
    lang: Vec<String>,
    /// Only this site, such as gazette.example; may be repeated
    #[arg(long, value_name = "HOST")]
    site: Vec<String>,
    /// Only documents such as "site=gazette.example date>=2026-01 topic=sport"
    #[arg(long, value_name = "FILTER")]
    filter: Option<String>,
    /// Only documents of a virtual corpus that `tidings corpus save` has named
    #[arg(long = "in", value_name = "NAME")]
    corpus: Option<String>,
    /// Only documents with a hit of this query, which the index is asked for
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
    /// A pair of sentences a line.
    Sentence,
    /// A pair of documents a line.
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
    known.ok_or_else(|| format!("give {}", Purpose::ALL.map(|row| row.0).join(", ")))
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, mut config) = super::open_home(global)?;
    config.clean.threads = args.threads.map_or(config.clean.threads, usize::from);
    // A signal ends the process at once: what was not published leaves no trace but a draft, which the next export removes.
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
        // The export itself is on standard output, where nothing else belongs.
        log::info!("{}", outcome.to_string().trim_end());
        return Ok(Report::default());
    }
    Ok(outcome.into())
}
