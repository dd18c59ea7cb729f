//! `tidings demo`: runs all stages on ten years of news of a fictional country, offline.
//!
//! The newspapers of the country are simulated sites on loopback ([`tidings_simweb`]). A virtual clock advances month by
//! month: feeds are polled and pages fetched; once a year the corpus is updated. Host names, times and texts are the same
//! on every machine, and so is the digest of the corpus. At the end the demo runs a few queries and prints each command,
//! so that a newcomer can repeat it.

use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Parser as _;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;
use tidings_model::clock;
use tidings_simweb::{BEGINS, Fault, OUTLETS, SimWeb, SitePart, Spec, TextSource};

use super::Report;
use crate::console;
use tidings_pipeline::Pipeline;
use tidings_pipeline::display::grouped;
use tidings_pipeline::outcome::Outcome;
use tidings_pipeline::stage::{StageId, StageOutcome};

/// More articles than any newspaper of the country publishes in a month.
const ITEMS_PER_FEED: usize = 60;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "No network is needed: the simulated newspapers listen on loopback addresses. The corpus is the same on every \
    machine; docs/TUTORIAL.md shows what is in it. On a terminal, the demo ends with the web interface, which runs until Ctrl-C."
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
    let last_year = BEGINS.year() + i16::from(args.years) - 1;
    let spec = Spec {
        sites: OUTLETS.len(),
        source: TextSource::Country,
        items_per_feed: ITEMS_PER_FEED,
        start: moment(BEGINS, 0)?,
        ..Spec::default()
    };
    let web = SimWeb::start(spec).context("cannot start the simulated newspapers")?;
    console::print(
        "The newspapers of Halmora, an island that does not exist, publish in English, German and Spanish.\n\
         Tidings polls their feeds and fetches new articles every month, and updates the corpus every year:\n\n",
    );
    let pipeline = demo_pipeline(&home, &web, last_year)?;
    let mut first_index = None;
    for year in BEGINS.year()..=last_year {
        let (mut pages, mut documents, mut tokens) = (0, 0, 0);
        for month in 1..=12 {
            let day = Date::new(year, month, 1)?.last_of_month();
            prepare_month(&web, &home, day)?;
            web.advance(Duration::try_from(moment(day, 0)?.duration_since(web.now())).unwrap_or_default());
            run_stages(&pipeline, day, false, |outcome| {
                if let StageOutcome::Fetch(fetched) = outcome {
                    pages += fetched.fetched;
                }
            })?;
        }
        let day = Date::new(year, 12, 31)?;
        run_stages(&pipeline, day, true, |outcome| {
            if let StageOutcome::Annotate(annotated) = outcome {
                documents += annotated.documents;
                tokens += annotated.tokens;
            }
        })?;
        console::print(&format!(
            "{year}  {:>6} pages  {:>6} documents  {:>9} tokens\n",
            grouped(pages),
            grouped(documents),
            grouped(tokens)
        ));
        if first_index.is_none() {
            step(&["query", "fax", "--lang", "en", "--limit", "3"], &home)?;
            console::print("\n");
            first_index = Some(began.elapsed());
        }
    }
    drop(web);
    // From here on this is a home like any other, read today.
    clock::follow_machine();
    for words in TOUR {
        step(words, &home)?;
    }
    let seconds = began.elapsed().as_secs();
    console::print(&format!(
        "\n{} in {seconds} s; the first year was searchable after {} s. The home is {}\n\n{}",
        if args.years == 1 { "1 year".to_owned() } else { format!("{} years", args.years) },
        first_index.unwrap_or_default().as_secs().max(1),
        home.display(),
        what_next(&shell_quoted(&home.display().to_string())),
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

/// The demo's home, with settings for newspapers on this machine. Its settings file says when the collection ended;
/// the addresses of the simulated sites are not written anywhere.
fn demo_pipeline(home: &Path, web: &SimWeb, last_year: i16) -> Result<Pipeline> {
    drop(Pipeline::create(home)?);
    let settings = home.join("tidings.toml");
    let text = std::fs::read_to_string(&settings).context("cannot read the demo's settings")?;
    let until = format!("until = \"{last_year}-12-31\"");
    std::fs::write(&settings, text.replace("#until = \"\"", &until)).context("cannot write the demo's settings")?;
    let pipeline = Pipeline::open(home)?;
    let mut config = pipeline.config().clone();
    ensure!(config.run.until.0.is_some(), "the template of settings has no run.until");
    config.fetch.hosts = web.hosts();
    config.fetch.allow_private.push("127.0.0.0/8".to_owned());
    (config.fetch.delay_s, config.fetch.feed_delay_s) = (0.0, 0.0);
    Ok(pipeline.with_config(config))
}

/// Lists the feeds of the newspapers that exist by now, and cuts off those whose servers are down.
fn prepare_month(web: &SimWeb, home: &Path, day: Date) -> Result<()> {
    for (site, outlet) in web.sites().zip(OUTLETS) {
        match outlet.silent.is_some_and(|(first, last)| (first..=last).contains(&day)) {
            true => web.set_fault(site.number(), Fault::Cut.on(SitePart::Everything)),
            false => web.heal(site.number()),
        }
    }
    let known = web.sites().zip(OUTLETS).filter(|(_, outlet)| outlet.since.is_none_or(|since| since <= day));
    let lines = known.map(|(site, outlet)| {
        format!("{}\tgenre={}\ttopic=news\tlang={}\n", site.feed(), outlet.genre, outlet.language)
    });
    std::fs::write(home.join("feeds.txt"), lines.collect::<String>()).context("cannot write the demo's feeds.txt")
}

/// A time of the evening of a day, when its newspapers have published everything.
fn moment(day: Date, minute: i8) -> Result<Timestamp> {
    Ok(day.at(22, minute, 0, 0).to_zoned(TimeZone::UTC)?.timestamp())
}

/// Runs either the derived stages or those before them on a day, and shows only warnings. The clock stands still during
/// each stage, so that all times in files are the same in every demo.
fn run_stages(pipeline: &Pipeline, day: Date, derived: bool, mut on_outcome: impl FnMut(StageOutcome)) -> Result<()> {
    let level = log::max_level();
    log::set_max_level(level.min(log::LevelFilter::Warn));
    let stages = StageId::ALL.iter().map(|id| id.stage()).zip((0..).step_by(5));
    let mut stages = stages.filter(|(stage, _)| stage.is_derived() == derived);
    let ended = stages.try_for_each(|(stage, minute)| {
        clock::stop_at(moment(day, minute)?);
        pipeline.run(stage.as_ref()).map(&mut on_outcome)
    });
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

fn run_command(words: &[&str], home: &Path) -> Result<Report> {
    let words = ["tidings"].iter().chain(words).map(OsStr::new);
    let command = words.chain([OsStr::new("--home"), home.as_os_str()]);
    crate::run(crate::args::Args::try_parse_from(command)?)
}

/// The queries at the end of the demo.
const TOUR: [&[&str]; 6] = [
    &["timeline", "drought", "--lang", "en", "--by", "year"],
    &["trends", "--lang", "en", "--limit", "5"],
    &["bursts", "--lang", "en", "--limit", "3"],
    &["new-words", "--lang", "en", "--limit", "5"],
    &["colloc", "drought", "--lang", "en", "--limit", "5"],
    &["sketch", "harbour", "--lang", "en", "--limit", "3"],
];

fn what_next(home: &str) -> String {
    format!(
        "Try:\n  \
         tidings serve --home {home} --open\n  \
         tidings trends --home {home} --lang de\n  \
         tidings query '[lemma=\"build\"] []{{0,3}} [lemma=\"bridge|house|ferry\"]' --home {home} --lang en\n  \
         tidings status --home {home}\n\n\
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
    let home_shown = shell_quoted(&home.display().to_string());
    console::print(&format!("\n$ tidings {} --home {home_shown}\n", shown.join(" ")));
    console::print(&run_command(words, home)?.text);
    Ok(())
}

/// An argument as it is typed in a POSIX shell.
fn shell_quoted(word: &str) -> String {
    match !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c)) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_commands_can_be_pasted_into_a_shell() {
        assert_eq!(shell_quoted("date>=2017"), "'date>=2017'");
        assert_eq!(shell_quoted("half-year"), "half-year");
        assert_eq!(shell_quoted("my demo"), "'my demo'");
        assert_eq!(shell_quoted("Ann's demo"), r"'Ann'\''s demo'");
        assert_eq!(shell_quoted(""), "''");
    }

    #[test]
    fn a_newspaper_is_listed_from_its_first_month_on() {
        let spec = Spec { sites: OUTLETS.len(), source: TextSource::Country, ..Spec::default() };
        let web = SimWeb::start(spec).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let listed = |day: Date| {
            prepare_month(&web, folder.path(), day).unwrap();
            std::fs::read_to_string(folder.path().join("feeds.txt")).unwrap()
        };
        assert!(!listed(Date::constant(2020, 12, 31)).contains("thecommons.example"));
        let feeds = listed(Date::constant(2021, 1, 31));
        assert!(feeds.contains("thecommons.example") && feeds.lines().count() == OUTLETS.len(), "{feeds}");
        assert!(!feeds.contains("127."), "{feeds}");
        let down = || web.sites().filter(|site| !site.faults().is_empty()).map(|site| site.name()).collect::<Vec<_>>();
        assert!(down().is_empty());
        listed(Date::constant(2019, 8, 31));
        assert_eq!(down(), ["Harbour Post"]);
    }
}
