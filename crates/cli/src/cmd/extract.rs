//! `tidings extract`: prints the text of web pages, from files, from the web or from standard
//! input; and with `--jsonl` reads any number of them as a filter.

mod filter;
mod glob;
mod inputs;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::error::ErrorKind;
use serde_json::json;
use tidings_clean::justext::JustextOptions;
use tidings_clean::{Options, Unfit};
use tidings_model::{Document, Page, address};
use tidings_store::format::Format;

use super::{Report, web};
use crate::args::Global;
use crate::console;
use inputs::Input;
use tidings_pipeline::config::Preset;
use tidings_pipeline::display::{count, grouped, span};
use tidings_pipeline::extract_guarded;
use tidings_pipeline::parallel::{self, Bounds};

/// Whatever is larger is no web page.
const MAX_INPUT_BYTES: u64 = 64 << 20;

/// What pages under way may take together, by what their trees take: about ten times their size.
const MEMORY_BYTES: usize = 1 << 30;
const EXPANSION: usize = 10;

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
    fn options(&self) -> Options {
        let preset = match self.justext {
            Some(parameters) => tidings_clean::Preset::Justext(parameters),
            None => self.preset.into(),
        };
        Options { preset, links: self.links, comments: self.comments, ..Options::default() }
    }

    fn threads(&self) -> usize {
        self.threads.map_or_else(tidings_pipeline::parallel::cores, usize::from)
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
        let faulty = filter::run(args.options(), args.threads())?;
        if faulty > 0 {
            log::warn!("{} could not be read; each has a line that says why", count(faulty, "line"));
        }
        // The lines were the report.
        return Ok(Report { partly: faulty > 0, ..Report::default() });
    }
    let began = Instant::now();
    let inputs = inputs::find(&args.inputs)?;
    if args.url.is_some() && (inputs.len() > 1 || matches!(inputs[0], Input::Web(_))) {
        let message = "--url says where one file or standard input came from; there are other inputs\n";
        clap::Error::raw(ErrorKind::ArgumentConflict, message).exit();
    }
    let format = match global.json && args.output.is_none() {
        true => Format::Json,
        false => args.format.parse().map_err(|fault: String| anyhow!(fault))?,
    };
    let job = Job {
        options: args.options(),
        url: args.url.clone().unwrap_or_default(),
        format,
        is_alone: inputs.len() == 1,
        answers: ask(&inputs, args, global)?,
        outputs: args.output.as_ref().map(|folder| inputs::outputs(&inputs, folder, format.ending())),
    };
    let tally = job.run(&inputs, args.threads())?;
    Ok(tally.report(began, args.output.is_some()))
}

/// Asks for all pages that lie on the web.
fn ask(inputs: &[Input], args: &Args, global: &Global) -> Result<HashMap<String, Result<Page>>> {
    let web_address = |input: &Input| match input {
        Input::Web(url) => Some(url.clone()),
        _ => None,
    };
    let urls: Vec<String> = inputs.iter().filter_map(web_address).collect();
    if urls.is_empty() {
        return Ok(HashMap::new());
    }
    let answers = web::ask_for_pages(&urls, args.allow_private.as_deref(), global)?;
    let page = |url: &String, answer: web::Document| Page {
        url: url.clone(),
        final_url: answer.url,
        content_type: answer.content_type.unwrap_or_default(),
        body: answer.body,
        ..Page::default()
    };
    Ok(urls.iter().zip(answers).map(|(url, answer)| (url.clone(), answer.map(|answer| page(url, answer)))).collect())
}

/// What is to be done with each input.
struct Job {
    options: Options,
    url: String,
    format: Format,
    is_alone: bool,
    answers: HashMap<String, Result<Page>>,
    outputs: Option<Vec<PathBuf>>,
}

/// What became of an input.
enum Outcome {
    Text(String),
    Written,
    LeftOut(Unfit),
    Failed(anyhow::Error),
}

#[derive(Default)]
struct Tally {
    documents: u64,
    left_out: BTreeMap<&'static str, u64>,
    failed: u64,
}

impl Job {
    fn run(&self, inputs: &[Input], threads: usize) -> Result<Tally> {
        let mut tally = Tally::default();
        let progress = console::progress("pages", inputs.len() as u64);
        let is_printed = self.outputs.is_none();
        if is_printed && !self.is_alone {
            console::print(&self.format.opening());
        }
        let mut places = 0..inputs.len();
        let source = || Ok(places.next().map(|place| (place, weight(&inputs[place]))));
        let bounds = Bounds { threads: threads.min(inputs.len()), weight: MEMORY_BYTES };
        let mut done = 0;
        parallel::ordered(
            bounds,
            source,
            |place| (place, self.treat(place, &inputs[place])),
            |(place, outcome)| {
                let name = || inputs[place].name();
                match outcome {
                    Outcome::Text(text) => {
                        tally.documents += 1;
                        console::print(&text);
                    }
                    Outcome::Written => tally.documents += 1,
                    Outcome::LeftOut(unfit) => {
                        *tally.left_out.entry(unfit.name()).or_default() += 1;
                        log::warn!("{}: {} ({})", name(), explain(unfit), unfit.name());
                    }
                    Outcome::Failed(error) => {
                        tally.failed += 1;
                        log::error!("{error:#}");
                    }
                }
                done += 1;
                progress.show(done, &count(tally.documents, "document"));
                Ok(())
            },
        )?;
        if is_printed && !self.is_alone {
            console::print(self.format.closing());
        }
        Ok(tally)
    }

    fn treat(&self, place: usize, input: &Input) -> Outcome {
        let document = match self.read(input) {
            Ok(Ok(document)) => document,
            Ok(Err(unfit)) => return Outcome::LeftOut(unfit),
            Err(error) => return Outcome::Failed(error),
        };
        let Some(outputs) = &self.outputs else {
            return Outcome::Text(match self.is_alone {
                true => self.format.write(&document),
                false => self.format.item(&input.name(), &document),
            });
        };
        match tidings_store::write_whole(&outputs[place], self.format.write(&document).as_bytes()) {
            Ok(()) => Outcome::Written,
            Err(error) => Outcome::Failed(error.into()),
        }
    }

    fn read(&self, input: &Input) -> Result<Result<Document, Unfit>> {
        let body = match input {
            Input::Web(url) => {
                return match &self.answers[url] {
                    Ok(page) => Ok(extract_guarded::read_page(page, &self.options)),
                    Err(error) => Err(anyhow!("{error:#}")),
                };
            }
            Input::File { path, .. } => File::open(path)
                .map_err(anyhow::Error::from)
                .and_then(bounded)
                .with_context(|| format!("cannot read {}", path.display()))?,
            Input::Standard => bounded(std::io::stdin().lock()).context("cannot read standard input")?,
        };
        let page = Page { url: self.url.clone(), final_url: self.url.clone(), body, ..Page::default() };
        Ok(extract_guarded::read_page(&page, &self.options))
    }
}

/// Everything that can be read, if it is not too much.
fn bounded(input: impl Read) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    input.take(MAX_INPUT_BYTES + 1).read_to_end(&mut body)?;
    if body.len() as u64 > MAX_INPUT_BYTES {
        bail!("it is larger than {} MiB, which no web page is", MAX_INPUT_BYTES >> 20);
    }
    Ok(body)
}

fn weight(input: &Input) -> usize {
    let bytes = match input {
        Input::File { path, .. } => path.metadata().map_or(0, |meta| meta.len().min(MAX_INPUT_BYTES)) as usize,
        _ => 1 << 20,
    };
    bytes * EXPANSION
}

/// A reason in words.
fn explain(unfit: Unfit) -> &'static str {
    match unfit {
        Unfit::NotHtml => "this is no web page",
        Unfit::NoText => "no text was found",
        Unfit::PaywallStub => "only the beginning is there, the rest must be paid for",
        Unfit::Refused(_) => "its text is not good enough",
        Unfit::Error => "reading it failed, which is a mistake in Tidings",
    }
}

impl Tally {
    fn report(&self, began: Instant, is_written: bool) -> Report {
        let left_out: u64 = self.left_out.values().sum();
        let pages = self.documents + left_out + self.failed;
        let mut text = format!("{} read: {}", count(pages, "page"), count(self.documents, "document"));
        if left_out > 0 {
            let reasons: Vec<String> =
                self.left_out.iter().map(|(name, number)| format!("{} {name}", grouped(*number))).collect();
            text.push_str(&format!(", {} left out ({})", grouped(left_out), reasons.join(", ")));
        }
        if self.failed > 0 {
            text.push_str(&format!(", {} failed", self.failed));
        }
        text.push_str(&format!(", {}", span(began.elapsed())));
        let json = json!({
            "done": self.documents > 0,
            "pages": pages,
            "documents": self.documents,
            "left_out": self.left_out,
            "failed": self.failed,
            "seconds": began.elapsed().as_secs_f64(),
        });
        if !is_written && pages > 1 {
            log::info!("{text}");
        }
        Report {
            // Where texts were printed, nothing may stand among them.
            text: if is_written { format!("{text}\n") } else { String::new() },
            json: if is_written { json } else { serde_json::Value::Null },
            failed: self.documents == 0,
            partly: self.documents < pages,
        }
    }
}
