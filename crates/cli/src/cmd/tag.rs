//! `tidings tag`: gives the words of a text their lemmas, parts of speech and features; and with `--jsonl` those of any number of texts
//! as a filter.

use std::io::stdin;

use anyhow::Result;
use tidings_pipeline::config::AnnotateConfig;
use tidings_pipeline::filter;
use tidings_pipeline::filter::tag::{self, Tag};
use tidings_pipeline::stage::annotate::annotators;

use super::Report;
use super::stream::{Input, filter_report, threads};
use crate::args::Global;
use crate::console;

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
    let config = match &global.home {
        Some(_) => super::open_home(global)?.1.annotate,
        None => AnnotateConfig::default(),
    };
    let tag = Tag { lang: args.lang.clone(), annotators: &annotators(&config)? };
    let threads = threads(args.threads);
    Ok(match args.jsonl {
        true => filter_report(filter::run(&tag, stdin(), threads, console::print_bytes)?, Input::JsonLines),
        false => filter_report(tag::conllu(stdin(), &tag, threads, console::print_bytes)?, Input::PlainText),
    })
}
