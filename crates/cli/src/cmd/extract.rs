//! `tidings extract`: the text of web pages, from files, the web or standard input; with `--jsonl` as a filter.

use std::io::stdin;
use std::path::PathBuf;

use anyhow::Result;
use clap::error::ErrorKind;
use serde_json::Value;
use tidings_clean::justext::JustextOptions;
use tidings_formats::Format;
use tidings_model::address;
use tidings_pipeline::config::Preset;
use tidings_pipeline::extract::{self, Input, Options};
use tidings_pipeline::filter::{self, extract::Extract};
use tidings_pipeline::usage_error::UsageError;

use super::Report;
use super::stream::{self, filter_report, threads};
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tidings extract page.html                         the text of a saved page\n  \
    tidings extract https://gazette.example/article   the text of an article on the web\n  \
    tidings extract --format md --links page.html     Markdown with headings, lists, tables, links\n  \
    tidings extract pages/ -o texts/                  a text file per page\n  \
    tidings extract 'pages/**/*.html' --format csv >corpus.csv\n  \
    tidings extract pages/ --format tei -o tei/       TEI P5 with metadata\n  \
    curl -s https://gazette.example/ | tidings extract - --url https://gazette.example/\n\n\
    With --jsonl: reads and writes one JSON object per line, in the same order:\n  \
    in   {\"id\", \"url\", \"html\"}, and \"lang\" if it is known\n  \
    out  {\"id\", \"url\", \"text\", \"title\", \"author\", \"authors\", \"date\", \"language\", \"description\", \
    \"sitename\", \"categories\", \"tags\", …}, with \"text\": \"\" and a \"reason\" for a page without text, \
    or {\"id\", \"error\"} for an invalid line\n\n\
    Exit codes: 0 all pages have text, 3 some have none (each is reported), 1 none has text, 2 wrong usage.")]
pub struct Args {
    /// Files, folders, patterns such as '*.html', URLs, or `-` for standard input
    #[arg(value_name = "FILE|FOLDER|GLOB|URL|-", required_unless_present = "jsonl", conflicts_with = "jsonl")]
    inputs: Vec<String>,
    /// Output format: txt, md, json, xml, tei, csv or html
    #[arg(short, long, value_name = "FORMAT", default_value = "txt", value_parser = ["txt", "md", "json", "xml", "tei", "csv", "html"],
          hide_possible_values = true, conflicts_with = "jsonl")]
    format: String,
    /// How strictly to separate text from boilerplate
    #[arg(long, value_name = "PRESET", default_value = "balanced", value_parser = preset_parser())]
    preset: Preset,
    /// jusText parameters: production, public, or either with values, such as public,length_high=140
    #[arg(long, value_name = "PARAMETERS")]
    justext: Option<JustextOptions>,
    /// Keep links, in formats that have them
    #[arg(long)]
    links: bool,
    /// Add readers' comments after the text; in JSON a field of their own, with authors and dates
    #[arg(long)]
    comments: bool,
    /// URL of the file or standard input: the base of its links, and evidence for its date
    #[arg(long, value_name = "URL", conflicts_with = "jsonl", value_parser = parse_url)]
    url: Option<String>,
    /// Folder for one output file per page
    #[arg(short, long, value_name = "DIR", conflicts_with = "jsonl")]
    output: Option<PathBuf>,
    /// Read pages as JSON lines from standard input, and write their texts as JSON lines
    #[arg(long)]
    jsonl: bool,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Allow requests to non-public IP addresses: all, or only these networks
    #[arg(long, value_name = "NETWORK", num_args = 0.., value_delimiter = ',', require_equals = true,
          default_missing_values = ["0.0.0.0/0", "::/0"])]
    allow_private: Option<Vec<String>>,
}

fn parse_url(text: &str) -> Result<String, String> {
    match address::normalise(text, None) {
        Some(_) => Ok(text.to_owned()),
        None => Err("expected a URL such as https://gazette.example/article".to_owned()),
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
        let message = "--url gives the URL of a single file or of standard input; there are other inputs\n";
        clap::Error::raw(ErrorKind::ArgumentConflict, message).exit();
    }
    let is_printed = args.output.is_none();
    let options = Options {
        extractor: args.extractor(),
        url: args.url.clone().unwrap_or_default(),
        format: match global.json && is_printed {
            true => Format::Json,
            false => args.format.parse().map_err(UsageError)?,
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
    // Standard output holds the texts and nothing else.
    Ok(if is_printed { Report { text: String::new(), json: Value::Null, ..report } } else { report })
}
