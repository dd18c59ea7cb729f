//! `tidings demo`: runs the stages of real feeds on ten years of a simulated web, offline.
//!
//! A virtual clock advances month by month: feeds are polled and pages fetched; once a year the corpus is updated. At the end
//! the demo runs a few queries and prints each command, so that a newcomer can repeat it.

use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Parser as _;
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _};
use serde::Serialize;
use tidings_model::clock;
use tidings_simweb::{Fault, SimWeb, Spec};

use super::Report;
use crate::console;
use tidings_pipeline::Pipeline;
use tidings_pipeline::display::grouped;
use tidings_pipeline::outcome::Outcome;
use tidings_pipeline::stage::{StageId, StageOutcome};

/// The first day of the simulated web.
const BEGINS: Date = Date::constant(2016, 1, 1);

/// The languages of its sites in order; every second one is English, because the queries at the end are English.
const LANGUAGES: [&str; 20] = [
    "en", "de", "en", "fr", "en", "es", "en", "ar", "en", "ru", "en", "pl", "en", "cs", "en", "el", "en", "zh", "en",
    "ja",
];

#[derive(Debug, clap::Args)]
#[command(
    after_help = "No network is needed: the simulated sites listen on loopback addresses. On a terminal, the demo ends with the \
    web interface, which runs until Ctrl-C."
)]
pub struct Args {
    /// Folder of the demo's home, which must not exist [default: a new temporary folder]
    dir: Option<PathBuf>,
    /// Number of years to simulate
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=10))]
    years: u8,
    /// Start the web interface at the end, also without a terminal
    #[arg(long, conflicts_with = "no_serve")]
    serve: bool,
    /// Do not start the web interface
    #[arg(long)]
    no_serve: bool,
    /// Port of the web interface; 0 picks a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
}

pub fn run(args: &Args) -> Result<Report> {
    let began = Instant::now();
    let home = home_for(args.dir.as_deref())?;
    let sites = LANGUAGES.len() + 2;
    let year = Duration::from_secs(31_557_600);
    let spec = Spec {
        sites,
        languages: LANGUAGES.map(str::to_owned).to_vec(),
        items_per_feed: 24,
        start: BEGINS.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp(),
        story: year * u32::from(args.years),
        publish_every: Duration::from_secs(86_400 * 4),
        agency_percent: 6,
        ..Spec::default()
    };
    // Two sites have faults, as on the real web.
    let spec = spec.with_fault(Fault::NotFound, 1).with_fault(Fault::RobotsDisallow, 1);
    let web = SimWeb::start(spec).context("cannot start the simulated web")?;
    console::print(&format!(
        "{sites} simulated sites on loopback addresses publish news in eleven languages, from {} to {}.\n\
         Tidings polls their feeds and fetches new articles every month, and updates the corpus every year:\n\n",
        BEGINS.year(),
        BEGINS.year() + i16::from(args.years),
    ));
    std::fs::write(home.join("feeds.txt"), feeds(&web)).context("cannot write the demo's feeds.txt")?;
    let pipeline = demo_pipeline(&home)?;
    let mut first_index = None;
    for number in 0..args.years {
        let (mut pages, mut documents, mut tokens) = (0, 0, 0);
        for month in 1..=12 {
            let day = BEGINS + i32::from(number).years() + month.months();
            advance_to(&web, day)?;
            run_stages(&pipeline, false, |outcome| {
                if let StageOutcome::Fetch(fetched) = outcome {
                    pages += fetched.fetched;
                }
            })?;
        }
        run_stages(&pipeline, true, |outcome| {
            if let StageOutcome::Annotate(annotated) = outcome {
                documents += annotated.documents;
                tokens += annotated.tokens;
            }
        })?;
        first_index.get_or_insert_with(|| began.elapsed());
        console::print(&format!(
            "{}  {:>6} pages  {:>6} documents  {:>9} tokens\n",
            BEGINS.year() + i16::from(number),
            grouped(pages),
            grouped(documents),
            grouped(tokens)
        ));
    }
    drop(web);
    let last = BEGINS.year() + i16::from(args.years) - 1;
    for words in tour(last) {
        step(&words, &home)?;
    }
    let seconds = began.elapsed().as_secs();
    console::print(&format!(
        "\n{} in {seconds} s; the first year was searchable after {} s. The home is {}\n\n{}",
        if args.years == 1 { "1 year".to_owned() } else { format!("{} years", args.years) },
        first_index.unwrap_or_default().as_secs().max(1),
        home.display(),
        what_next(&home.display().to_string()),
    ));
    let wanted = args.serve || (std::io::stdout().is_terminal() && !args.no_serve);
    if wanted {
        console::print("\nThe web interface runs until Ctrl-C:\n");
        let port = args.port.to_string();
        let mut words = vec!["serve", "--port", &port];
        // Without a terminal there is no browser to open.
        if std::io::stdout().is_terminal() {
            words.push("--open");
        }
        run_command(&words, &home)?;
    }
    Ok(DemoOutcome { done: true, home, seconds }.into())
}

/// The outcome of the demo; its text is printed while it runs.
#[derive(Serialize)]
struct DemoOutcome {
    done: bool,
    #[serde(serialize_with = "tidings_pipeline::outcome::serialize_path")]
    home: PathBuf,
    seconds: u64,
}

impl Outcome for DemoOutcome {}

impl std::fmt::Display for DemoOutcome {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

/// The demo's home, with settings for a web on this machine.
fn demo_pipeline(home: &Path) -> Result<Pipeline> {
    let pipeline = Pipeline::create(home)?;
    let mut config = pipeline.config().clone();
    config.fetch.allow_private.extend(["0.0.0.0/0", "::/0"].map(str::to_owned));
    (config.fetch.delay_s, config.fetch.feed_delay_s) = (0.0, 0.0);
    Ok(pipeline.with_config(config))
}

/// Runs either the derived stages or those before them, and shows only warnings.
fn run_stages(pipeline: &Pipeline, derived: bool, mut on_outcome: impl FnMut(StageOutcome)) -> Result<()> {
    let level = log::max_level();
    log::set_max_level(level.min(log::LevelFilter::Warn));
    let stages = StageId::ALL.iter().map(|id| id.stage()).filter(|stage| stage.is_derived() == derived);
    let ended = stages.map(|stage| pipeline.run(stage.as_ref())).try_for_each(|outcome| outcome.map(&mut on_outcome));
    log::set_max_level(level);
    ended
}

/// The folder of the home: the given one, which must not exist, or a temporary one.
fn home_for(dir: Option<&Path>) -> Result<PathBuf> {
    let Some(dir) = dir else {
        let made = tempfile::Builder::new().prefix("tidings-demo-").tempdir();
        // Kept for queries after the demo.
        return Ok(made.context("cannot create a temporary folder")?.keep());
    };
    ensure!(!dir.exists(), "{} already exists; give another folder, or delete this one first", dir.display());
    // Like every home, it is closed to other users.
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o750).create(dir);
    made.with_context(|| format!("cannot create the folder {}", dir.display()))?;
    Ok(dir.to_owned())
}

/// The feed list, with attributes.
fn feeds(web: &SimWeb) -> String {
    let genres = ["daily", "weekly", "blog"];
    let lines = web.sites().zip(web.feeds()).enumerate().map(|(number, (site, feed))| {
        format!("{feed}\tgenre={}\ttopic=news\tlang={}\n", genres[number / 2 % genres.len()], site.language())
    });
    lines.collect()
}

/// Advances the clock of the simulated web and that of this process.
fn advance_to(web: &SimWeb, day: Date) -> Result<()> {
    let then: Timestamp = day.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp();
    web.advance(Duration::try_from(then.duration_since(web.now())).unwrap_or_default());
    clock::set(then);
    Ok(())
}

fn run_command(words: &[&str], home: &Path) -> Result<Report> {
    let words = ["tidings"].iter().chain(words).map(OsStr::new);
    let command = words.chain([OsStr::new("--home"), home.as_os_str()]);
    crate::run(crate::args::Args::try_parse_from(command)?)
}

/// The queries at the end of the demo.
fn tour(last: i16) -> Vec<Vec<&'static str>> {
    let since: &'static str = if last > 2016 { "date>=2017" } else { "date>=2016" };
    vec![
        vec!["query", "drought", "--lang", "en", "--size", "5", "--filter", since],
        vec!["timeline", "drought", "--lang", "en", "--by", "year"],
        vec!["trends", "--lang", "en", "--by", "quarter", "--limit", "4"],
        vec!["colloc", "drought", "--lang", "en", "--limit", "5"],
        vec!["sketch", "council", "--lang", "en", "--size", "3"],
    ]
}

fn what_next(home: &str) -> String {
    format!(
        "Try:\n  \
         tidings serve --home {home}\n  \
         tidings new-words --home {home} --lang en --since 2021-01-01\n  \
         tidings query '[lc=\"debate\"] []{{1,3}} [lc=\"drought|eclipse\"]' --home {home} --lang en\n\n\
         With real feeds:\n  \
         tidings init news\n  \
         (set your contact in news/tidings.toml)\n  \
         tidings discover --home news --add https://www.example.org/\n  \
         tidings run --home news\n  \
         tidings serve --home news --open\n"
    )
}

/// Prints a command and runs it.
fn step(words: &[&str], home: &Path) -> Result<()> {
    let shown: Vec<String> = words.iter().map(|word| shell_quoted(word)).collect();
    console::print(&format!("\n$ tidings {} --home {}\n", shown.join(" "), home.display()));
    console::print(&run_command(words, home)?.text);
    Ok(())
}

/// An argument as it is typed in a shell.
fn shell_quoted(word: &str) -> String {
    match word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c)) {
        true => word.to_owned(),
        false => format!("'{word}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_commands_can_be_pasted_into_a_shell() {
        assert_eq!(shell_quoted("date>=2017"), "'date>=2017'");
        assert_eq!(shell_quoted("half-year"), "half-year");
    }
}
