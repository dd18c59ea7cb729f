//! `tidings tag`: gives the words of a text their lemmas, parts of speech and features; and with `--jsonl` those of any number of texts
//! as a filter.

mod conllu;
mod filter;

use std::io::Read as _;

use anyhow::{Context as _, Result};
use tidings_annotate::Annotators;
use tidings_lang::{Hints, identify};

use super::Report;
use crate::args::Global;
use tidings_pipeline::config::AnnotateConfig;
use tidings_pipeline::display::count;
use tidings_pipeline::stage::annotate::annotators;

/// No text is longer in one line.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// So much of a text tells its language.
const GLANCE_BYTES: u64 = 64 << 10;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tidings tag --lang de <text.txt          CoNLL-U: lemmas, parts of speech and features of Universal Dependencies\n  \
    tidings tag --jsonl <texts.jsonl         as a filter\n  \
    tidings tag --home news --lang de        with the tools and models of a home's settings\n\n\
    The end of a line ends a sentence. A word that stands for several (French du) is a multiword token. Languages without a \
    model get the word in lower case as its lemma, and no part of speech.\n\n\
    The filter reads and writes one JSON object a line, in the same order:\n  \
    in   {\"id\", \"lang\", \"text\"}; without lang the language is told from the text\n  \
    out  {\"id\", \"lang\", \"sentences\": [[{\"form\", \"lemma\", \"upos\", \"feats\", \"space\"}, …], …]} or {\"id\", \"error\"}\n\n\
    Exit codes: 0 all was read, 3 some lines were not (each is named), 2 wrong usage.")]
pub struct Args {
    /// The language of the text, such as de, deu or de-AT; with --jsonl that of texts that name none [default: told from the text]
    #[arg(short, long, value_name = "CODE")]
    lang: Option<String>,
    /// Read texts as JSON lines on standard input and write their words as JSON lines
    #[arg(long)]
    jsonl: bool,
    /// Texts read at the same time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let threads = args.threads.map_or_else(tidings_pipeline::parallel::cores, usize::from);
    let annotators = match &global.home {
        Some(_) => annotators(&super::open_home(global)?.1.annotate)?,
        None => annotators(&AnnotateConfig::default())?,
    };
    let faulty = match args.jsonl {
        true => filter::run(args.lang.as_deref(), &annotators, threads)?,
        false => plain(args.lang.as_deref(), &annotators, threads)?,
    };
    if faulty > 0 {
        let why = if args.jsonl { "each has a line that says why" } else { "they are too long or not UTF-8" };
        log::warn!("{} could not be read; {why}", count(faulty, "line"));
    }
    // The lines were the report.
    Ok(Report { partly: faulty > 0, ..Report::default() })
}

/// Reads plain text from standard input to its end; gives the number of lines that could not be read.
fn plain(lang: Option<&str>, annotators: &Annotators, threads: usize) -> Result<u64> {
    let stdin = std::io::stdin();
    match lang {
        Some(lang) => conllu::run(stdin, lang, annotators, threads),
        None => {
            let mut stdin = stdin;
            let mut glance = Vec::new();
            stdin.by_ref().take(GLANCE_BYTES).read_to_end(&mut glance).context("cannot read standard input")?;
            let lang = identify(&String::from_utf8_lossy(&glance), Hints::default()).lang;
            conllu::run(glance.as_slice().chain(stdin), lang, annotators, threads)
        }
    }
}
