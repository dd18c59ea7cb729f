//! Checks of the contents of a home: settings, feeds, plan, pages, documents, index; and of the connection to feed
//! hosts.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;
use tidings_dedup::{BlockFile, FingerprintRun};
use tidings_fetch::reach::{Reach, reach};
use tidings_index::Snapshot;
use tidings_model::address;
use tidings_store::dedup_state::JudgedDays;
use tidings_store::docs::{self, Recipe};
use tidings_store::pages::PageReader;
use tidings_store::{Error, Home, feeds as list, fetched, in_full, plan as plans, plan_repair};

use super::{Findings, Subject};
use crate::config::{self, Config};
use crate::display::{count, grouped};
use crate::health::upgrade::Upgrade;
use crate::stage::dedup::memory_files;

/// Variables that are not settings: the folder of the home and test hooks.
const OTHERS: [&str; 3] = ["TIDINGS_HOME", "TIDINGS_CLOCK", "TIDINGS_CRASH_AT"];
/// Bytes of an index that are checked without `--thorough`.
const QUICK_BYTES: u64 = 64 << 20;
/// Hosts that are tried.
const TRIED: usize = 5;

/// Reads the settings; if that fails, the other checks use the defaults.
pub fn settings(home: &Home, found: &mut Findings) -> Config {
    match Config::load(&home.settings(), &|name| std::env::var(name).ok()) {
        Ok(config) => {
            found.fine("settings", "all keys and values are valid");
            config
        }
        Err(error) => {
            found.fault("settings", format!("{error:#}"), "correct tidings.toml; no command works until then");
            Config::default()
        }
    }
}

pub fn environment(_: &Subject<'_>, found: &mut Findings) -> Result<()> {
    let known: BTreeSet<String> = config::variables().into_iter().chain(OTHERS.map(str::to_owned)).collect();
    // Not `vars`, which panics if a value (such as the path of the home) or a name is not UTF-8.
    let all = std::env::vars_os().map(|(name, value)| [name, value].map(|text| text.to_string_lossy().into_owned()));
    for [name, value] in all.filter(|[name, _]| name.starts_with("TIDINGS_")) {
        match known.contains(&name) {
            true => found.fine("environment", format!("{name}={value}")),
            false => found.warn(
                "environment",
                format!("unknown environment variable {name}"),
                "check the spelling; `tidings config` lists the keys",
            ),
        }
    }
    Ok(())
}

pub fn contact(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    let asked = ["example.org"].into_iter();
    match crate::ingest::host_memory::asked_without_contact(&subject.config, asked) {
        Some(_) => found.warn(
            "contact",
            "no contact set",
            "set `contact` in the [fetch] table to a web page or an email address (required before fetching from the public web)",
        ),
        None => found.fine("contact", subject.config.fetch.name()),
    }
    Ok(())
}

pub fn feeds(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    let list = list::list(subject.home)?;
    match list.feeds.len() as u64 {
        0 => found.warn(
            "feeds",
            "the feed list is empty",
            "add feed URLs to feeds.txt, or find some with `tidings discover`",
        ),
        number => found.fine("feeds", count(number, "feed")),
    }
    if let Some((line, fault)) = list.faults.first() {
        let more = if list.faults.len() > 1 { format!(", and {} more", list.faults.len() - 1) } else { String::new() };
        found.warn("feeds", format!("line {line}: {fault}{more}"), "correct or remove these lines; they are skipped");
    }
    Ok(())
}

/// Reports which data a new program version rebuilds, and how long that takes.
pub fn upgrade(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    match Upgrade::of(subject.home, &subject.config) {
        Ok(upgrade) if upgrade.is_empty() => found.fine("upgrade", "nothing to rebuild"),
        Ok(upgrade) => found.warn(
            "upgrade",
            format!("stages have new versions; to rebuild: {upgrade}"),
            "run `tidings run`; `run.clean` and similar settings limit the time of each run",
        ),
        Err(error) => found.fault("upgrade", format!("{error:#}"), ""),
    }
    Ok(())
}

pub fn plan(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    let is_large = plans::size(subject.home).is_ok_and(|size| size > QUICK_BYTES);
    if is_large && !subject.options.thorough && !subject.options.repair {
        let megabytes = plans::size(subject.home)? / 1_000_000;
        found.fine("plan", format!("{megabytes} MB; --thorough reads it"));
        return Ok(());
    }
    let mut entries = 0;
    let Err(error) = plans::read(subject.home, |_| entries += 1) else {
        found.fine("plan", count(entries, "entry"));
        return Ok(());
    };
    let can_be_restored = matches!(error, Error::DamagedPlan { .. } | Error::NoPlan { .. } | Error::Row { .. });
    if !(subject.options.repair && can_be_restored) {
        found.fault("plan", in_full(&error), "");
        return Ok(());
    }
    let _lock = subject.home.lock()?;
    let run = format!("{}-doctor", tidings_store::stamp(tidings_model::clock::now()));
    let restored = plan_repair::restore(subject.home, &run)?;
    found.fine(
        "plan",
        format!(
            "repaired: {} from its sound parts, {} from history/, {} from stored pages; the next `tidings update` reads \
             all feeds again",
            count(restored.sound, "entry"),
            grouped(restored.copied),
            grouped(restored.stored),
        ),
    );
    Ok(())
}

/// Checks the fingerprints of pages that the plan no longer lists.
pub fn fetched_pages(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    let Err(error) = fetched::check(subject.home) else { return Ok(()) };
    if !subject.options.repair {
        found.fault("plan", in_full(&error), "");
        return Ok(());
    }
    let _lock = subject.home.lock()?;
    let restored = fetched::restore(subject.home)?;
    found.fine("plan", format!("repaired: state/fetched.u64 lists {}", count(restored, "stored page")));
    Ok(())
}

/// Checks the newest file of pages and the versions that made the derived days.
pub fn pages_and_documents(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    let days = docs::page_days(subject.home)?;
    let files: u64 = days.iter().map(|day| day.files.len() as u64).sum();
    if let Some(newest) = days.last().and_then(|day| day.files.last()) {
        let first = PageReader::open(newest)
            .and_then(|mut reader| reader.next_line()?.map(|line| line.page(newest)).transpose());
        match first {
            Ok(_) => found.fine("pages", format!("{} in {}", count(days.len() as u64, "day"), count(files, "file"))),
            Err(error) => {
                found.fault("pages", in_full(&error), "raw pages cannot be rebuilt: restore the file from a backup")
            }
        }
    }
    for faulty in tidings_store::faulty_pages(subject.home)? {
        let remedy = "raw pages cannot be rebuilt: restore the file from a backup, or accept the loss with `tidings clean \
                      --accept-loss`";
        found.fault("pages", faulty.to_string(), remedy);
    }
    let ours = crate::program();
    let (mut made, mut elsewhere) = (0, 0);
    for day in docs::document_days(subject.home)? {
        let Some(recipe) = Recipe::read(subject.home, &day)? else { continue };
        made += 1;
        elsewhere += u64::from(recipe.program != ours || recipe.extractor != tidings_clean::version());
    }
    match elsewhere {
        0 if made > 0 => found.fine("documents", format!("{}, all made by this version", count(made, "day"))),
        0 => {}
        _ => found.warn(
            "documents",
            format!("{} of {} were made by another version", grouped(elsewhere), count(made, "day")),
            "the next `tidings run` rebuilds them, which takes time; no data is lost",
        ),
    }
    Ok(())
}

/// Opens every file of fingerprints, and verifies the checksums of all their blocks up to a byte limit.
pub fn fingerprints(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    let judged = JudgedDays::read(subject.home)?.map(|judged| judged.days).unwrap_or_default();
    let mut left = if subject.options.thorough { u64::MAX } else { QUICK_BYTES };
    let (mut files, mut checked) = (0, 0);
    for file in memory_files(&judged).iter().rev() {
        let path = file.path(subject.home);
        let is_checked = file.bytes <= left;
        let sound = match file.file.starts_with("seen/keys/") {
            true => FingerprintRun::open(&path).and_then(|run| if is_checked { run.verify() } else { Ok(()) }),
            false => BlockFile::open(&path).and_then(|blocks| if is_checked { blocks.verify() } else { Ok(()) }),
        };
        if is_checked {
            left -= file.bytes;
            checked += file.bytes;
        }
        files += 1;
        if let Err(error) = sound {
            let remedy = "delete the file; the next `tidings run` makes it again from the documents";
            found.fault("duplicates", in_full(&error), remedy);
        }
    }
    if files > 0 {
        let text = format!("{} of fingerprints, {} MB checked", count(files, "file"), checked / 1_000_000);
        found.fine("duplicates", text);
    }
    Ok(())
}

/// Opens every index and verifies the digests of its newest segments up to a byte limit.
pub fn index(subject: &Subject<'_>, found: &mut Findings) -> Result<()> {
    let mut left = if subject.options.thorough { u64::MAX } else { QUICK_BYTES };
    let (mut languages, mut checked, mut tokens) = (0, 0, 0);
    for code in subject.home.indexed()? {
        let remedy = format!("run `tidings compile --verify` to rebuild index/{code}");
        let snapshot = match Snapshot::open(&subject.home.index_of(&code)) {
            Ok(snapshot) => snapshot,
            Err(error) => {
                found.fault("index", in_full(&error), remedy);
                continue;
            }
        };
        languages += 1;
        tokens += snapshot.tokens();
        let sound = match subject.options.thorough {
            true => {
                checked += snapshot.bytes_on_disk();
                snapshot.verify()
            }
            false => snapshot.segments().iter().rev().try_for_each(|live| {
                let bytes = live.segment().bytes_on_disk();
                if bytes > left {
                    return Ok(());
                }
                left -= bytes;
                checked += bytes;
                live.segment().verify()
            }),
        };
        if let Err(error) = sound {
            found.fault("index", in_full(&error), remedy);
        }
    }
    if languages > 0 {
        let seen = format!(
            "{} in {}, {} MB checked",
            count(tokens, "token"),
            count(languages, "language"),
            checked / 1_000_000
        );
        found.fine("index", seen);
    }
    Ok(())
}

/// Connects to a few hosts of the feed list. No request is sent.
pub fn network(subject: &Subject<'_>, found: &mut Findings) {
    let guard = match subject.config.fetch.for_feeds(0) {
        Ok(settings) => settings.guard,
        Err(error) => return found.fault("network", format!("{error:#}"), "correct the settings"),
    };
    let listed = list::list(subject.home).map(|list| list.feeds).unwrap_or_default();
    let mut tried = BTreeSet::new();
    let mut reached = 0;
    for feed in listed {
        let Some(url) = address::normalise(&feed.url, None).and_then(|url| url::Url::parse(&url).ok()) else {
            continue;
        };
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { continue };
        if tried.len() == TRIED || !tried.insert(host.to_owned()) {
            continue;
        }
        match reach(host, port, &guard, Duration::from_secs(10)) {
            Reach::Connected(at) => {
                reached += 1;
                found.fine("network", format!("{host} is reachable at {at}"));
            }
            Reach::NoName(fault) => found.warn(
                "network",
                format!("cannot resolve {host}: {fault}"),
                "check the DNS settings (/etc/resolv.conf)",
            ),
            Reach::Private(at) => {
                found.warn(
                    "network",
                    format!("{host} resolves to {at}, which is not a public address"),
                    "add the network to fetch.allow_private if this is intended",
                );
            }
            Reach::NoAnswer(at, fault) => found.warn(
                "network",
                format!("{host} at {at}: {fault}"),
                "check firewall and proxy; Tidings connects directly",
            ),
        }
    }
    if !tried.is_empty() && reached == 0 {
        found.fault(
            "network",
            format!("none of {} is reachable", count(tried.len() as u64, "host")),
            "check the Internet connection of this machine",
        );
    }
}
