//! `tidings lang`: tells in which language texts are written, from files or standard input; and with
//! `--jsonl` labels any number of them as a filter.

mod filter;

use std::fmt::Write as _;
use std::io::Read as _;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tidings_lang::{Guess, Hints, identify_paragraphs, language_name, normalise};

use super::Report;
use tidings_pipeline::display::count;

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
    if args.jsonl {
        let threads = args.threads.map_or_else(tidings_pipeline::parallel::cores, usize::from);
        let faulty = filter::run(args.declared.as_deref(), args.tld.as_deref(), threads)?;
        if faulty > 0 {
            log::warn!("{} could not be read; each has a line that says why", count(faulty, "line"));
        }
        // The lines were the report.
        return Ok(Report { partly: faulty > 0, ..Report::default() });
    }
    let mut text = String::new();
    let mut values = Vec::new();
    let from_stdin = ["-".to_owned()];
    let files = if args.files.is_empty() { &from_stdin[..] } else { &args.files };
    for name in files {
        let bytes = read(name)?;
        let value = describe(name, &String::from_utf8_lossy(&bytes), args, files.len() > 1, &mut text);
        values.push(value);
    }
    Ok(Report { text, json: Value::Array(values), ..Report::default() })
}

fn read(name: &str) -> Result<Vec<u8>> {
    if name != "-" {
        return std::fs::read(name).with_context(|| format!("cannot read {name}"));
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    Ok(bytes)
}

/// Writes down the language of one text, and of its paragraphs if these are wanted.
fn describe(name: &str, content: &str, args: &Args, named: bool, text: &mut String) -> Value {
    let content = normalise(content);
    let paragraphs: Vec<&str> = content.lines().filter(|line| !line.is_empty()).collect();
    let hints = Hints { declared: args.declared.as_deref(), tld: args.tld.as_deref() };
    let guesses = identify_paragraphs(&paragraphs, hints);
    let head = if named { format!("{name}: ") } else { String::new() };
    let _ = writeln!(text, "{head}{}", in_words(&guesses.document));
    let mut value = as_json(&guesses.document);
    value["file"] = json!(name);
    if args.paragraphs {
        for (paragraph, guess) in paragraphs.iter().zip(&guesses.paragraphs) {
            let start: String = paragraph.chars().filter(|c| !c.is_control()).take(60).collect();
            let _ = writeln!(text, "  {:<4} {:.2}  {start}", guess.lang, guess.score);
        }
        value["paragraphs"] = guesses.paragraphs.iter().map(as_json).collect();
    }
    value
}

fn in_words(guess: &Guess) -> String {
    match guess.is_known() {
        true => format!("{} ({}), {:.2}", language_name(guess.lang).unwrap_or(guess.lang), guess.lang, guess.score),
        false => "unknown (und): the text does not tell".to_owned(),
    }
}

fn as_json(guess: &Guess) -> Value {
    json!({ "lang": guess.lang, "score": rounded(guess.score) })
}

/// Three digits are more than a score knows.
fn rounded(score: f32) -> f64 {
    (f64::from(score) * 1000.0).round() / 1000.0
}
