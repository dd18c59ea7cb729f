//! `tidings tokenize`: cuts text into sentences and tokens; and with `--jsonl` any number of texts as a filter.

use std::io::stdin;

use anyhow::Result;
use tidings_pipeline::filter;
use tidings_pipeline::filter::tokenize::{self, Layout, Tokenize};

use super::Report;
use super::stream::{Input, filter_report, threads};
use crate::console;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tidings tokenize --lang de <text.txt              a sentence a line, tokens parted by blanks\n  \
    tidings tokenize --lang de --vertical <text.txt   a token a line, an empty line after each sentence\n  \
    tidings tokenize --jsonl <texts.jsonl             as a filter\n\n\
    The end of a line ends a sentence. Languages of which nothing is known get the rules that hold for all; blanks \
    inside a token (10 000, Việt Nam) are printed as no-break spaces.\n\n\
    The filter reads and writes one JSON object a line, in the same order:\n  \
    in   {\"id\", \"lang\", \"text\"}\n  \
    out  {\"id\", \"sentences\": [[token, …], …]} or {\"id\", \"error\"} for a line that is no question\n\n\
    Exit codes: 0 all was read, 3 some lines were not (each is named), 2 wrong usage.")]
pub struct Args {
    /// The language of the text, such as de, deu or de-AT; with --jsonl that of texts that name none
    #[arg(short, long, value_name = "CODE", required_unless_present = "jsonl")]
    lang: Option<String>,
    /// Print a token a line, with an empty line after each sentence
    #[arg(long, conflicts_with = "jsonl")]
    vertical: bool,
    /// Read texts as JSON lines on standard input and write their tokens as JSON lines
    #[arg(long)]
    jsonl: bool,
    /// Texts read at the same time [default: one for each core]
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
