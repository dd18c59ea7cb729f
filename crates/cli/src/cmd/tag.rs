//! `tidings tag`: lemmatizes and tags text; with `--jsonl` as a filter.

use std::io::stdin;

use anyhow::Result;
use tidings_pipeline::config::AnnotateConfig;
use tidings_pipeline::filter;
use tidings_pipeline::filter::tag::{self, Tag};
use tidings_pipeline::stage::annotate::{annotators, annotators_of_home};

use super::Report;
use super::stream::{Input, filter_report, threads};
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tidings tag --lang de <text.txt          CoNLL-U with Universal Dependencies tags\n  \
    tidings tag --jsonl <texts.jsonl         JSON lines\n  \
    tidings tag --home news --lang de        with the taggers of a home's settings\n\n\
    A line break ends a sentence. Contractions (French du) are multiword tokens. In languages without a model, the lemma is \
    the lowercase word, and there is no part of speech.\n\n\
    With --jsonl: reads and writes one JSON object per line, in the same order:\n  \
    in   {\"id\", \"lang\", \"text\"}; without lang the language is identified\n  \
    out  {\"id\", \"lang\", \"sentences\": [[{\"form\", \"lemma\", \"upos\", \"feats\", \"space\"}, …], …]} or {\"id\", \"error\"}\n\n\
    Exit codes: 0 all lines were read, 3 some were invalid (each is reported), 2 wrong usage.")]
pub struct Args {
    /// Language, such as de, deu or de-AT; with --jsonl of texts without one [default: identified]
    #[arg(short, long, value_name = "CODE")]
    lang: Option<String>,
    /// Read texts as JSON lines from standard input, and write their tokens as JSON lines
    #[arg(long)]
    jsonl: bool,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let annotators = match &global.home {
        Some(_) => {
            let (home, config) = super::open_home(global)?;
            annotators_of_home(&config.annotate, &home)?
        }
        None => annotators(&AnnotateConfig::default())?,
    };
    let tag = Tag { lang: args.lang.clone(), annotators: &annotators };
    let threads = threads(args.threads);
    Ok(match args.jsonl {
        true => filter_report(filter::run(&tag, stdin(), threads, console::print_bytes)?, Input::JsonLines),
        false => filter_report(tag::conllu(stdin(), &tag, threads, console::print_bytes)?, Input::PlainText),
    })
}
