//! `tidings lang`: tells in which language texts are written, from files or standard input; and with
//! `--jsonl` labels any number of them as a filter.

use std::io::{Read as _, stdin};

use anyhow::{Context as _, Result};
use tidings_pipeline::filter;
use tidings_pipeline::filter::lang::{FileLanguages, Identify};

use super::Report;
use super::stream::{Input, filter_report, threads};
use crate::console;

#[derive(Debug, clap::Args)]
#[command(after_help = "The filter reads and writes one JSON object a line, in the same order:\n  \
    in   {\"id\", \"text\"}, and if you know them \"declared\" (a language) and \"tld\"\n  \
    out  {\"id\", \"lang\", \"score\"} or {\"id\", \"error\"}\n\
    A language is und where the text does not tell.\n\n\
    Exit codes: 0 all was read, 3 some lines were not (each has an error), 2 wrong usage.")]
pub struct Args {
    /// Files of plain text; standard input if there is none
    #[arg(value_name = "FILE", conflicts_with = "jsonl")]
    files: Vec<String>,
    /// Label each paragraph too: paragraphs are lines
    #[arg(long, conflicts_with = "jsonl")]
    paragraphs: bool,
    /// The language that the texts are said to be in: weak evidence
    #[arg(long, value_name = "CODE")]
    declared: Option<String>,
    /// The top-level domain that the texts come from: weak evidence
    #[arg(long, value_name = "TLD")]
    tld: Option<String>,
    /// Read texts as JSON lines on standard input and write their languages as JSON lines
    #[arg(long)]
    jsonl: bool,
    /// Texts read at the same time, with --jsonl [default: one for each core]
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
