//! `discover --trial`: candidates go the whole way in a scratch home, and those that give pages are
//! adopted.
//!
//! A feed that reads well may still lead to nothing: its articles are gone, forbidden, behind a wall,
//! in another language, or no prose. The trial asks for a few articles of each candidate and cleans
//! them, with the very commands that a corpus uses: what counts is documents. What the scratch home learns about hosts is shared with the home in both directions, so
//! that a host is treated politely by the two together.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use clap::Parser as _;
use serde_json::{Value, json};
use tidings_store::candidates::{self, Candidate, Fate};
use tidings_store::feeds::{self, Polled};
use tidings_store::yields::{self, Yield};
use tidings_store::{Home, hosts, plan, rfc3339, rules};

use super::{Args, adopt, filter, plain};
use crate::args::Global;
use crate::cmd::Report;
use crate::console::count;
use crate::session::Session;

/// A line of the gain table.
#[derive(Debug, Default, Clone, Copy)]
struct Gain {
    active_before: u64,
    extracted: u64,
    kept: u64,
    with_text: u64,
}

pub fn run(session: &mut Session, args: &Args, global: &Global) -> Result<Report> {
    let mut gains: BTreeMap<String, Gain> = active_before(session)?;
    let mut searched = 0;
    candidates::read_searched(&session.home, |row| searched += row.pages)?;
    let mut chosen = choose(session, args.limit, &mut gains)?;
    let tried = chosen.len() as u64;
    let sums = if chosen.is_empty() { HashMap::new() } else { try_out(session, args, global, &chosen)? };

    let now = rfc3339(tidings_model::clock::now());
    for row in &mut chosen {
        row.checked.clone_from(&now);
        let sum = sums.get(&row.feed).copied().unwrap_or_default();
        (row.fate, row.reason) = match (sum.documents, sum.pages) {
            (0, 0) => (Fate::Trial, "no page could be stored".to_owned()),
            (0, pages) => (Fate::Trial, format!("{} gave no document in a trial", count(pages, "page"))),
            (documents, _) => (Fate::Promoted, format!("{} in a trial", count(documents, "document"))),
        };
        if sum.documents > 0 {
            gains.entry(language(row)).or_default().with_text += 1;
        }
    }
    let promoted: Vec<Candidate> = chosen.iter().filter(|row| row.fate == Fate::Promoted).cloned().collect();
    candidates::replace(&session.home, chosen)?;
    let adopted = adopt(session, promoted)?;
    Ok(report(session, &gains, searched, tried, adopted))
}

fn language(row: &Candidate) -> String {
    if row.language.is_empty() { "?".to_owned() } else { row.language.clone() }
}

/// Feeds of the list that answered when they were last asked, by the language that the list gives.
fn active_before(session: &Session) -> Result<BTreeMap<String, Gain>> {
    let states = feeds::states(&session.home)?;
    let mut gains: BTreeMap<String, Gain> = BTreeMap::new();
    for feed in feeds::list(&session.home)?.feeds {
        let active = states.get(&feed.url).is_some_and(|state| {
            matches!(state.polled, Polled::Listed | Polled::Unchanged) && (state.entries > 0 || state.brought > 0)
        });
        if active {
            let label = feed.labels.iter().find(|label| label.0 == "lang").map(|label| label.1.clone());
            gains.entry(label.unwrap_or_else(|| "?".to_owned())).or_default().active_before += 1;
        }
    }
    Ok(gains)
}

/// The candidates to try: those known to be feeds, and of the others those that a list named or that
/// pass the filter.
fn choose(session: &Session, limit: usize, gains: &mut BTreeMap<String, Gain>) -> Result<Vec<Candidate>> {
    let filter = filter(session);
    let listed: HashSet<String> = super::listed(session)?;
    let mut chosen = Vec::new();
    candidates::read(&session.home, |row| {
        let gain = gains.entry(language(&row)).or_default();
        if row.evidence == "page" {
            return;
        }
        gain.extracted += 1;
        let fit = match row.fate {
            Fate::ProbedFeed => row.entries > 0,
            Fate::New => super::fits(&filter, &row),
            _ => false,
        };
        if fit && !listed.contains(&plain(&row.feed)) {
            gain.kept += 1;
            chosen.push(row);
        }
    })?;
    // What is known to be a feed comes first, then what was seen most.
    chosen.sort_by(|a, b| {
        let order = |row: &Candidate| (row.fate != Fate::ProbedFeed, std::cmp::Reverse(row.seen));
        order(a).cmp(&order(b)).then_with(|| a.feed.cmp(&b.feed))
    });
    chosen.truncate(limit);
    Ok(chosen)
}

/// Runs update, fetch and clean in the scratch home; tells what came of each candidate.
fn try_out(session: &Session, args: &Args, global: &Global, chosen: &[Candidate]) -> Result<HashMap<String, Yield>> {
    let root = session.home.root().join("trial");
    if root.exists() {
        std::fs::remove_dir_all(&root).with_context(|| format!("cannot empty {}", root.display()))?;
    }
    let mut config = session.config.clone();
    // Probes may have asked these hosts a moment ago, with the longer of the two pauses.
    config.fetch.feed_delay_s = config.fetch.feed_delay_s.max(config.fetch.delay_s);
    config.discover.grow = false;
    config.fetch.warc = false;
    // A feed in another language than those that feeds are sought in is not what was sought.
    if config.clean.languages.is_empty() {
        config.clean.languages.clone_from(&config.discover.languages);
    }
    let list: String = chosen.iter().map(|row| format!("{}\n", row.feed)).collect();
    let settings = toml::to_string(&config).context("the settings cannot be written down")?;
    Home::create(&root, &settings, &list)?;
    let scratch = Home::at(&root)?;
    hosts::share(&session.home, &scratch)?;
    rules::share(&session.home, &scratch)?;

    let harvested = harvest(args, global, &scratch);
    // Whatever happened, the hosts were asked, and the home must know.
    hosts::share(&scratch, &session.home)?;
    rules::share(&scratch, &session.home)?;
    harvested?;

    step("clean", &[], global, &scratch)?;
    let mut sums: HashMap<String, Yield> = HashMap::new();
    yields::days(&scratch, |_, row| *sums.entry(row.feed).or_default() += row.sum)?;
    Ok(sums)
}

fn harvest(args: &Args, global: &Global, scratch: &Home) -> Result<()> {
    let seed = args.harvest.seed().to_string();
    step("update", &["--seed", &seed], global, scratch)?;
    plan::keep_first(
        scratch,
        &format!("{}-trial", tidings_store::stamp(tidings_model::clock::now())),
        args.pages_per_feed,
    )?;
    step("fetch", &["--seed", &seed], global, scratch)
}

fn step(verb: &str, flags: &[&str], global: &Global, scratch: &Home) -> Result<()> {
    let root = scratch.root().to_string_lossy().into_owned();
    let words = ["tidings", verb, "--home", &root].into_iter().chain(flags.iter().copied());
    let args = crate::args::Args::try_parse_from(words)?;
    let report = crate::run(args).with_context(|| format!("the trial's {verb} failed"))?;
    if report.failed {
        bail!("the trial's {verb} did not finish: {}", report.text.trim_end());
    }
    if !global.json {
        log::info!("trial: {}", report.text.trim_end());
    }
    Ok(())
}

fn report(session: &Session, gains: &BTreeMap<String, Gain>, searched: u64, tried: u64, adopted: u64) -> Report {
    let mut total = Gain::default();
    for gain in gains.values() {
        total.active_before += gain.active_before;
        total.extracted += gain.extracted;
        total.kept += gain.kept;
        total.with_text += gain.with_text;
    }
    let percent = |gain: &Gain| match gain.active_before {
        0 if gain.with_text == 0 => "0 %".to_owned(),
        0 => "new".to_owned(),
        before => format!("+{:.0} %", 100.0 * gain.with_text as f64 / before as f64),
    };
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{:<9} {:>13} {:>14} {:>15} {:>6} {:>10} {:>12} {:>8}",
        "language", "active before", "pages searched", "feeds extracted", "kept", "with text", "active after", "gain"
    );
    let mut rows: Vec<Value> = Vec::new();
    let languages: BTreeSet<&String> = gains.keys().collect();
    let all = "all".to_owned();
    for (name, gain) in languages.into_iter().map(|name| (name, gains[name])).chain(std::iter::once((&all, total))) {
        let after = gain.active_before + gain.with_text;
        let _ = writeln!(
            text,
            "{name:<9} {:>13} {:>14} {:>15} {:>6} {:>10} {after:>12} {:>8}",
            gain.active_before,
            // Whose language nobody knows before they are cleaned.
            if *name == all { searched.to_string() } else { String::new() },
            gain.extracted,
            gain.kept,
            gain.with_text,
            percent(&gain)
        );
        rows.push(json!({
            "language": name,
            "active_before": gain.active_before,
            "pages_searched": if name == "all" { Some(searched) } else { None },
            "feeds_extracted": gain.extracted,
            "kept": gain.kept,
            "with_text": gain.with_text,
            "active_after": after,
        }));
    }
    let _ = writeln!(
        text,
        "{} searched, {} tried, {} added to {}, {}",
        count(searched, "page"),
        count(tried, "candidate"),
        count(adopted, "feed"),
        session.home.feed_list().display(),
        crate::cmd::took(session),
    );
    let json = json!({
        "done": true,
        "pages_searched": searched,
        "tried": tried,
        "promoted": adopted,
        "gain": rows,
    });
    Report { text, json, ..Report::default() }
}
