//! `tidings extract`: prints the text of web pages, from files, from the web or from standard
//! input; and with `--jsonl` reads any number of them as a filter.

use std::io::stdin;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::error::ErrorKind;
use serde_json::Value;
use tidings_clean::justext::JustextOptions;
use tidings_formats::Format;
use tidings_model::address;
use tidings_pipeline::config::Preset;
use tidings_pipeline::extract::{self, Input, Options};
use tidings_pipeline::filter::{self, extract::Extract};

use super::Report;
use super::stream::{self, filter_report, threads};
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tidings extract page.html                         the text of a saved page\n  \
    tidings extract https://gazette.example/article   the text of an article on the web\n  \
    tidings extract --format md --links page.html     with headings, lists, tables and links\n  \
    tidings extract pages/ -o texts/                  a text file for each page of a folder\n  \
    tidings extract 'pages/**/*.html' --format csv >corpus.csv\n  \
    tidings extract pages/ --format tei -o tei/       TEI P5 with metadata\n  \
    curl -s https://gazette.example/ | tidings extract - --url https://gazette.example/\n\n\
    The filter reads and writes one JSON object a line, in the same order:\n  \
    in   {\"id\", \"url\", \"html\"}, and \"lang\" where it is known better than from the page\n  \
    out  {\"id\", \"url\", \"text\", \"title\", \"author\", \"authors\", \"date\", \"language\", \"description\", \
    \"sitename\", \"categories\", \"tags\", …}, with \"text\": \"\" and a \"reason\" for a page without text, \
    or {\"id\", \"error\"} for a line that is no question\n\n\
    Exit codes: 0 every page gave a text, 3 some did not (each is named), 1 none did, 2 wrong usage.")]
pub struct Args {
    /// Files, folders, patterns such as '*.html', web addresses, or `-` for standard input
    #[arg(value_name = "FILE|FOLDER|GLOB|URL|-", required_unless_present = "jsonl", conflicts_with = "jsonl")]
    inputs: Vec<String>,
    /// How to write: txt, md, json, xml, tei, csv or html
    #[arg(short, long, value_name = "FORMAT", default_value = "txt", value_parser = ["txt", "md", "json", "xml", "tei", "csv", "html"],
          hide_possible_values = true, conflicts_with = "jsonl")]
    format: String,
    /// How strictly to tell text from the rest
    #[arg(long, value_name = "PRESET", default_value = "balanced", value_parser = preset_parser())]
    preset: Preset,
    /// The parameters of the justext preset: `production`, `public` (the Python package's), and single
    /// values behind either, such as `public,length_high=140`
    #[arg(long, value_name = "PARAMETERS")]
    justext: Option<JustextOptions>,
    /// Keep links (in formats that have them)
    #[arg(long)]
    links: bool,
    /// Give readers' comments too, behind the text
    #[arg(long)]
    comments: bool,
    /// Where the file or standard input came from: the base of links, and evidence for dates
    #[arg(long, value_name = "URL", conflicts_with = "jsonl", value_parser = parse_url)]
    url: Option<String>,
    /// Write a file for each page into this folder, named after the page
    #[arg(short, long, value_name = "DIR", conflicts_with = "jsonl")]
    output: Option<PathBuf>,
    /// Read pages as JSON lines on standard input and write their texts as JSON lines
    #[arg(long)]
    jsonl: bool,
    /// Pages read at the same time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Ask non-public addresses too: all of them, or the given networks
    #[arg(long, value_name = "NETWORK", num_args = 0.., value_delimiter = ',', require_equals = true,
          default_missing_values = ["0.0.0.0/0", "::/0"])]
    allow_private: Option<Vec<String>>,
}

fn parse_url(text: &str) -> Result<String, String> {
    match address::normalise(text, None) {
        Some(_) => Ok(text.to_owned()),
        None => Err("give a web address such as https://gazette.example/article".to_owned()),
    }
}

impl Args {
    fn extractor(&self) -> tidings_clean::Options {
        let preset = match self.justext {
            Some(parameters) => tidings_clean::Preset::Justext(parameters),
            None => self.preset.into(),
        };
        tidings_clean::Options { preset, links: self.links, comments: self.comments, ..Default::default() }
    }
}

/// The names of presets.
fn preset_parser() -> impl clap::builder::TypedValueParser<Value = Preset> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    let names = Preset::ALL.map(|preset| clap::builder::PossibleValue::new(preset.name()).help(preset.about()));
    PossibleValuesParser::new(names).map(|name| Preset::named(&name).expect("only names of presets are possible"))
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    if args.jsonl {
        let filter = Extract { options: args.extractor() };
        let unreadable = filter::run(&filter, stdin(), threads(args.threads), console::print_bytes)?;
        return Ok(filter_report(unreadable, stream::Input::JsonLines));
    }
    let inputs = Input::find(&args.inputs)?;
    if args.url.is_some() && (inputs.len() > 1 || matches!(inputs[0], Input::Web(_))) {
        let message = "--url says where one file or standard input came from; there are other inputs\n";
        clap::Error::raw(ErrorKind::ArgumentConflict, message).exit();
    }
    let is_printed = args.output.is_none();
    let options = Options {
        extractor: args.extractor(),
        url: args.url.clone().unwrap_or_default(),
        format: match global.json && is_printed {
            true => Format::Json,
            false => args.format.parse().map_err(|fault: String| anyhow!(fault))?,
        },
        output: args.output.clone(),
        threads: threads(args.threads),
    };
    let http = || super::http_get(global, args.allow_private.as_deref());
    let outcome = extract::run(&inputs, &options, http, &console::reporter(), &mut console::print)?;
    if is_printed && outcome.pages > 1 {
        log::info!("{}", outcome.to_string().trim_end());
    }
    let report = Report::from(outcome);
    // Where texts were printed, nothing may stand among them.
    Ok(if is_printed { Report { text: String::new(), json: Value::Null, ..report } } else { report })
}
