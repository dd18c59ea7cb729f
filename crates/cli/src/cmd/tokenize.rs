//! `tidings tokenize`: splits text into sentences and tokens; with `--jsonl` as a filter.

use std::io::stdin;

use anyhow::Result;
use tidings_pipeline::filter;
use tidings_pipeline::filter::tokenize::{self, Layout, Tokenize};

use super::Report;
use super::stream::{Input, filter_report, threads};
use crate::console;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tidings tokenize --lang de <text.txt              a sentence per line, tokens separated by spaces\n  \
    tidings tokenize --lang de --vertical <text.txt   a token per line, an empty line after a sentence\n  \
    tidings tokenize --jsonl <texts.jsonl             JSON lines\n\n\
    A line break ends a sentence. Unknown languages are split by general rules. Spaces inside a token (10 000, Việt Nam) \
    are printed as no-break spaces.\n\n\
    With --jsonl: reads and writes one JSON object per line, in the same order:\n  \
    in   {\"id\", \"lang\", \"text\"}\n  \
    out  {\"id\", \"sentences\": [[token, …], …]} or {\"id\", \"error\"} for an invalid line\n\n\
    Exit codes: 0 all lines were read, 3 some were invalid (each is reported), 2 wrong usage.")]
pub struct Args {
    /// Language, such as de, deu or de-AT; with --jsonl of texts without one
    #[arg(short, long, value_name = "CODE", required_unless_present = "jsonl")]
    lang: Option<String>,
    /// Print a token per line, with an empty line after each sentence
    #[arg(long, conflicts_with = "jsonl")]
    vertical: bool,
    /// Read texts as JSON lines from standard input, and write their tokens as JSON lines
    #[arg(long)]
    jsonl: bool,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub fn run(args: &Args) -> Result<Report> {
    let threads = threads(args.threads);
    let lang = args.lang.as_deref().unwrap_or("und");
    if args.jsonl {
        let filter = Tokenize { lang: lang.to_owned() };
        return Ok(filter_report(filter::run(&filter, stdin(), threads, console::print_bytes)?, Input::JsonLines));
    }
    let layout = if args.vertical { Layout::Vertical } else { Layout::Sentences };
    let unreadable = tokenize::plain(stdin(), lang, layout, threads, console::print_bytes)?;
    Ok(filter_report(unreadable, Input::PlainText))
}
