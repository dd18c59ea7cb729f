//! `tidings lang`: identifies the language of texts from files or standard input; with `--jsonl` as a filter.

use std::io::{Read as _, stdin};

use anyhow::{Context as _, Result};
use tidings_pipeline::filter;
use tidings_pipeline::filter::lang::{FileLanguages, Identify};

use super::Report;
use super::stream::{Input, filter_report, threads};
use crate::console;

#[derive(Debug, clap::Args)]
#[command(after_help = "With --jsonl: reads and writes one JSON object per line, in the same order:\n  \
    in   {\"id\", \"text\"}, and if known \"declared\" (a language) and \"tld\"\n  \
    out  {\"id\", \"lang\", \"score\"} or {\"id\", \"error\"}; for Chinese and Portuguese also \"variant\"\n  \
         (zh-Hans, zh-Hant, pt-BR, pt-PT) if the text tells\n\
    The language is und if it cannot be determined.\n\n\
    Exit codes: 0 all lines were read, 3 some were invalid (each has an error), 2 wrong usage.")]
pub struct Args {
    /// Plain text files [default: standard input]
    #[arg(value_name = "FILE", conflicts_with = "jsonl")]
    files: Vec<String>,
    /// Identify each paragraph too; a paragraph is a line
    #[arg(long, conflicts_with = "jsonl")]
    paragraphs: bool,
    /// Declared language of the texts, used as weak evidence
    #[arg(long, value_name = "CODE")]
    declared: Option<String>,
    /// Top-level domain of the texts' source, used as weak evidence
    #[arg(long, value_name = "TLD")]
    tld: Option<String>,
    /// Read texts as JSON lines from standard input, and write their languages as JSON lines
    #[arg(long)]
    jsonl: bool,
    /// Number of threads, with --jsonl [default: one per core]
    #[arg(long, value_name = "N", requires = "jsonl", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub fn run(args: &Args) -> Result<Report> {
    let identify = Identify { declared: args.declared.clone(), tld: args.tld.clone() };
    if args.jsonl {
        let unreadable = filter::run(&identify, stdin(), threads(args.threads), console::print_bytes)?;
        return Ok(filter_report(unreadable, Input::JsonLines));
    }
    let from_stdin = ["-".to_owned()];
    let names = if args.files.is_empty() { &from_stdin[..] } else { &args.files };
    let mut files = Vec::new();
    for name in names {
        let content = read(name)?;
        files.push(identify.file(name, &String::from_utf8_lossy(&content), args.paragraphs));
    }
    Ok(FileLanguages { files }.into())
}

fn read(name: &str) -> Result<Vec<u8>> {
    if name != "-" {
        return std::fs::read(name).with_context(|| format!("cannot read {name}"));
    }
    let mut bytes = Vec::new();
    stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    Ok(bytes)
}
