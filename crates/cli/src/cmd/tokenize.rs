//! `tidings tokenize`: cuts text into sentences and tokens; and with `--jsonl` any number of texts as a filter.

mod filter;

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use tidings_annotate::Segmenter;

use super::Report;
use crate::console;
use tidings_pipeline::display::count;
use tidings_pipeline::lines;

/// No text is longer in one line.
const MAX_LINE_BYTES: u64 = 64 << 20;

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
    let threads = args.threads.map_or_else(tidings_pipeline::parallel::cores, usize::from);
    let lang = args.lang.as_deref().unwrap_or("und");
    let faulty = if args.jsonl { filter::run(lang, threads)? } else { plain(lang, args.vertical, threads)? };
    if faulty > 0 {
        let why = if args.jsonl { "each has a line that says why" } else { "they are too long or not UTF-8" };
        log::warn!("{} could not be read; {why}", count(faulty, "line"));
    }
    // The lines were the report.
    Ok(Report { partly: faulty > 0, ..Report::default() })
}

/// Reads plain text from standard input to its end; gives the number of lines that could not be read.
fn plain(lang: &str, vertical: bool, threads: usize) -> Result<u64> {
    let faulty = AtomicU64::new(0);
    let segmenter = Segmenter::for_language(lang);
    let answer = |line: Option<&[u8]>, out: &mut Vec<u8>| match line.map(str::from_utf8) {
        Some(Ok(text)) => print(&segmenter, text, vertical, out),
        _ => {
            faulty.fetch_add(1, Ordering::Relaxed);
        }
    };
    lines::filter(std::io::stdin(), threads, MAX_LINE_BYTES, answer, console::print_bytes)?;
    Ok(faulty.into_inner())
}

fn print(segmenter: &Segmenter<'_>, text: &str, vertical: bool, out: &mut Vec<u8>) {
    for sentence in segmenter.segment(text) {
        for (place, word) in sentence.words(text).enumerate() {
            if place > 0 {
                out.push(if vertical { b'\n' } else { b' ' });
            }
            // What parts tokens must not be in one.
            for part in word.chars() {
                let part = if part.is_whitespace() { '\u{a0}' } else { part };
                out.extend_from_slice(part.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        out.extend_from_slice(if vertical { b"\n\n" } else { b"\n" });
    }
}
