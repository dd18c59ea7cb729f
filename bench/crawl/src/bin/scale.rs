//! Time, memory and disk of a crawl with many waiting URLs: `cargo run --profile quick -p tidings-bench-crawl --bin scale
//! -- --urls N --domains N --folder DIR [--json FILE]`.
//!
//! One process fills the frontier with generated URLs, in the steps of the engine: links are offered, sifted, admitted by
//! the scheduler, journaled and checkpointed. It is killed (`SIGKILL`) while its journal has links that no checkpoint
//! has. Another one opens the same folder until the first URL is taken for a request. No network is used.

use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tidings_crawl::policy::{DomainHints, PageWorth};
use tidings_crawl::queue::WaitingUrl;
use tidings_crawl::saved::{self, Checkpoints};
use tidings_crawl::steward::{Admission, Discovered, Gate, Next, Settings, Steward};
use tidings_crawl::tables::PageCounts;
use tidings_crawl::{CrawlState, Done, Link, shape};
use tidings_model::LinkRegion;
use url::Url;

/// Links of a page, about: they come together and are committed together.
const LINKS: u64 = 5;
/// Pages between two commits.
const COMMIT: u64 = 100;
/// Links of the journal that are offered before the first request, as by the engine.
const BACKLOG_STEP: usize = 2000;
/// Links that are journaled after the last checkpoint.
const JOURNALED: u64 = 300_000;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What a process measures of itself.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Measured {
    seconds: f64,
    cpu_seconds: f64,
    peak_mib: f64,
    resident_mib: f64,
    waiting: u64,
    seen: u64,
    domains: u64,
    checkpoints: u64,
    /// Seconds until all links of the journal were offered again, while requests are sent.
    #[serde(default)]
    caught_up_s: f64,
    /// The mean and the longest checkpoint.
    checkpoint_s: f64,
    longest_checkpoint_s: f64,
}

/// The result of a run.
#[derive(Debug, Serialize)]
struct Report {
    urls: u64,
    domains: u64,
    fill: Measured,
    resume: Measured,
    /// Bytes of all URLs as text, for comparison.
    text_bytes_per_url: f64,
    frontier_bytes_per_url: f64,
    seen_bytes_per_url: f64,
    domain_bytes_per_domain: f64,
    all_bytes: u64,
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let value = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
    let number = |name: &str, default: u64| value(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (urls, domains) = (number("--urls", 1_000_000), number("--domains", 100_000));
    let folder = PathBuf::from(value("--folder").ok_or("--folder DIR is missing")?);
    match value("--part").map(String::as_str) {
        Some("fill") => fill(&folder, urls, domains),
        Some("resume") => resume(&folder),
        _ => {
            let report = measure(&folder, urls, domains)?;
            let json = serde_json::to_string_pretty(&report)?;
            println!("{json}");
            if let Some(path) = value("--json") {
                std::fs::write(path, json + "\n")?;
            }
            Ok(())
        }
    }
}

fn measure(folder: &Path, urls: u64, domains: u64) -> Result<Report> {
    let part = |name: &str| -> Result<Measured> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--part", name, "--urls", &urls.to_string(), "--domains", &domains.to_string(), "--folder"])
            .arg(folder)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        child.kill()?;
        child.wait()?;
        Ok(serde_json::from_str(&line)?)
    };
    let fill = part("fill")?;
    let [frontier, seen, tables] = ["frontier", "seen", "domains"].map(|name| size(&folder.join(name)));
    let all_bytes = size(folder);
    let resume = part("resume")?;
    let per_url = |bytes: u64| bytes as f64 / urls as f64;
    let text: u64 = (0..1000).map(|at| url(at * (urls / 1000).max(1), domains).url.len() as u64).sum();
    Ok(Report {
        urls,
        domains,
        text_bytes_per_url: text as f64 / 1000.0,
        frontier_bytes_per_url: per_url(frontier),
        seen_bytes_per_url: per_url(seen),
        domain_bytes_per_domain: tables as f64 / domains as f64,
        all_bytes,
        fill,
        resume,
    })
}

fn fill(folder: &Path, urls: u64, domains: u64) -> Result<()> {
    let began = Instant::now();
    let mut state = CrawlState::open(folder)?;
    let mut steward = saved::restore(&state, Settings::default())?;
    let mut checkpoints = Checkpoints::default();
    let (mut count, mut spent, mut longest) = (0, Duration::ZERO, Duration::ZERO);
    for at in 0..urls + JOURNALED {
        state.offer(Link::new(url(at, domains), ""));
        if at % (LINKS * COMMIT) == 0 {
            state.commit()?;
        }
        if state.needs_sift() {
            state.sift(|link| admit(&mut steward, link))?;
        }
        if at + 1 == urls || at < urls && state.needs_checkpoint() {
            let start = Instant::now();
            state.sift(|link| admit(&mut steward, link))?;
            checkpoints.write(&mut state, &mut steward, &PageCounts::default())?;
            count += 1;
            spent += start.elapsed();
            longest = longest.max(start.elapsed());
            eprintln!("{at} URLs, {:.0} s, {:.0} MiB", began.elapsed().as_secs_f64(), status_mib("VmRSS"));
        }
    }
    state.sift(|link| admit(&mut steward, link))?;
    // A few pages are finished too.
    for _ in 0..100 {
        if let Some(url) = next(&mut state, &mut steward)? {
            let status = "ok".to_owned();
            let worth = PageWorth::default();
            state.done(Done { url: url.url, status, worth, requested: true, refused: None, text: None });
        }
    }
    state.commit()?;
    report(Measured {
        checkpoints: count,
        checkpoint_s: spent.as_secs_f64() / count.max(1) as f64,
        longest_checkpoint_s: longest.as_secs_f64(),
        ..measured(began, &state, &steward)
    })?;
    // The other process kills this one.
    loop {
        std::thread::park();
    }
}

fn resume(folder: &Path) -> Result<()> {
    let began = Instant::now();
    let step = |name: &str| eprintln!("{name}: {:.2} s, {:.0} MiB", began.elapsed().as_secs_f64(), status_mib("VmRSS"));
    let mut state = CrawlState::open(folder)?;
    step("files opened");
    let finished = state.finished()?;
    let mut steward = saved::restore(&state, Settings::default())?;
    step("scheduler restored");
    state.recover(&finished)?;
    state.offer_backlog(BACKLOG_STEP)?;
    state.sift(|link| admit(&mut steward, link))?;
    step("journal applied");
    steward.count_waiting(|domain, section| state.waiting_in(domain, section));
    next(&mut state, &mut steward)?.ok_or("nothing waits")?;
    step("first request");
    let first = measured(began, &state, &steward);
    state.catch_up(|link| admit(&mut steward, link))?;
    step("journal offered again");
    let all = measured(began, &state, &steward);
    report(Measured { caught_up_s: all.seconds, waiting: all.waiting, seen: all.seen, peak_mib: all.peak_mib, ..first })
}

/// Takes the URL that would be asked for next.
fn next(state: &mut CrawlState, steward: &mut Steward) -> Result<Option<WaitingUrl>> {
    let Next::Request(request) = steward.next(1, &mut |_| Gate::Open) else { return Ok(None) };
    let domain = steward.domain_name(request.domain).to_owned();
    let section = steward.section_name(request.domain, request.section);
    Ok(state.take(&domain, &section)?)
}

fn admit(steward: &mut Steward, link: &mut Link) -> bool {
    let url = &link.url;
    let hints = DomainHints { source_yield: url.source_yield, ..DomainHints::default() };
    let found = Discovered { domain: &url.domain, section: &url.section, source: None, hints };
    match steward.discovered(&found) {
        Admission::Admit(admitted) => {
            link.url.section = steward.section_name(admitted.domain, admitted.section);
            true
        }
        Admission::Refuse(_) => false,
    }
}

/// A generated URL: news with dates or a blog, with a title of four words and a number. Links come in groups of one site.
fn url(at: u64, domains: u64) -> WaitingUrl {
    const WORDS: u64 = 4096;
    let group = at / LINKS;
    // A prime factor visits all sites in turn, in an order without pattern.
    let site = group * 2_654_435_761 % domains;
    let mut random = fastrand::Rng::with_seed(at);
    let mut word = || {
        let number = random.u64(..WORDS);
        let syllables = ["ka", "ren", "to", "mi", "la", "ver", "sun", "do"];
        (0..4).map(|place| syllables[(number >> (3 * place)) as usize % 8]).collect::<String>()
    };
    let title = format!("{}-{}-{}-{}-{at}", word(), word(), word(), word());
    let host = format!("www.site-{site}.example");
    let url = match group / domains % 2 {
        0 => format!("https://{host}/news/{}/{:02}/{title}", 2010 + random.u64(..16), 1 + random.u64(..12)),
        _ => format!("https://{host}/blog/{title}"),
    };
    let parsed = Url::parse(&url).expect("a generated URL");
    WaitingUrl {
        domain: shape::domain(&parsed).to_owned(),
        section: shape::section(&parsed),
        url,
        region: LinkRegion::List,
        source_yield: 0.0,
        day: None,
        depth: 2,
    }
}

fn measured(began: Instant, state: &CrawlState, steward: &Steward) -> Measured {
    Measured {
        seconds: began.elapsed().as_secs_f64(),
        cpu_seconds: cpu_seconds(),
        peak_mib: status_mib("VmHWM"),
        resident_mib: status_mib("VmRSS"),
        waiting: state.waiting(),
        seen: state.seen(),
        domains: steward.domain_count() as u64,
        ..Measured::default()
    }
}

fn report(measured: Measured) -> Result<()> {
    println!("{}", serde_json::to_string(&measured)?);
    Ok(std::io::stdout().flush()?)
}

/// A size in the status of this process; 0 where the system does not tell.
fn status_mib(name: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or_default() / 1024.0
}

/// Processor time of this process; 0 where the system does not tell.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or_default();
    (ticks(11) + ticks(12)) / 100.0
}

/// Bytes of all files under a path.
fn size(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return path.metadata().map_or(0, |meta| meta.len()) };
    entries.flatten().map(|entry| size(&entry.path())).sum()
}
