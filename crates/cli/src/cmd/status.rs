//! `tidings status`: how the home is, on one screen and for monitors.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};
use tidings_model::clock;

use super::Report;
use crate::args::Global;
use crate::console;
use tidings_pipeline::display::{bytes, count, grouped};
use tidings_pipeline::health::Health;
use tidings_pipeline::health::alerts::{self, Alert, Level, ago};
use tidings_pipeline::stage::StageId;

/// Languages that are shown each for itself.
const LANGUAGES: usize = 8;
/// Nobody plans further ahead.
const MANY_DAYS: f64 = 2000.0;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes, as monitors expect them: 0 all is well, 1 something needs a look, 2 data is being lost or will be \
    soon, 3 the home cannot be read.\n\n\
    Feeds: alive (answered), quiet (answered, but less than an entry a month), failing (did not answer of late), dead (gone for \
    good, or failing for a week). A feed below its own baseline brought so little in the last days that chance would do it \
    once in thousands of times, by its own past eight weeks and weekdays (docs/notes/status.md)."
)]
pub struct Args {
    /// For health checks of containers: exit with 1 where data is being lost or the home cannot be read, else with 0
    #[arg(long)]
    health: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    // Nothing is left to the usual codes here: what a monitor takes for a warning must be one.
    let code = match look(global) {
        Ok((text, json, worst)) => {
            console::print(&if global.json { format!("{json}\n") } else { text });
            match worst {
                None => 0,
                Some(Level::Warning) => 1,
                Some(Level::Critical) => 2,
            }
        }
        Err(error) => {
            log::error!("{error:#}");
            if global.json {
                console::print(&format!("{}\n", json!({ "done": false, "error": format!("{error:#}") })));
            }
            3
        }
    };
    std::process::exit(if args.health { i32::from(code > 1) } else { code });
}

fn look(global: &Global) -> Result<(String, Value, Option<Level>)> {
    let (home, config) = super::open_home(global)?;
    let health = Health::of(&home, &config, clock::now())?;
    let alerts = alerts::of(&health, config.store.min_free_mib);
    let worst = alerts.iter().map(|alert| alert.level).max();
    Ok((text(&home.root().display().to_string(), &health, &alerts), report(&health, &alerts, worst), worst))
}

/// The pages that an hour brought of late.
fn per_hour(health: &Health) -> f64 {
    health.harvest.pages as f64 / health.harvest.hours
}

fn report(health: &Health, alerts: &[Alert], worst: Option<Level>) -> Value {
    let days = health.days.iter().map(|day| {
        json!({
            "day": day.day,
            "pages": day.pages,
            "documents": day.all_documents(),
            "tokens": day.all_tokens(),
            "waits_for": day.waits_for,
        })
    });
    json!({
        "done": true,
        "state": worst.map_or(json!("ok"), |level| json!(level)),
        "now": health.now,
        "alerts": alerts,
        "feeds": health.feeds,
        "fallen": health.falls,
        "stages": health.stages,
        "harvest": health.harvest,
        "pages_per_hour": per_hour(health),
        "oldest_unfound": health.oldest_unfound,
        "yield": { "pages": health.yielded.pages, "documents": health.yielded.documents, "rate": health.yielded.rate() },
        "languages": health.indexes,
        "disk": health.disk,
        "days": days.collect::<Vec<_>>(),
    })
}

fn text(home: &str, health: &Health, alerts: &[Alert]) -> String {
    let mut out = String::new();
    let now = health.now;
    let mut row = |name: &str, value: String| {
        let _ = writeln!(out, "{name:<10} {value}");
    };
    row("home", format!("{home}, {}", now.strftime("%Y-%m-%d %H:%M UTC")));
    let feeds = &health.feeds;
    let kinds = [
        (feeds.alive, "alive"),
        (feeds.quiet, "quiet"),
        (feeds.failing, "failing"),
        (feeds.dead, "dead"),
        (feeds.unasked, "not asked yet"),
        (feeds.late, "late"),
    ];
    let kinds: Vec<String> = kinds
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{} {word}", grouped(*number)))
        .collect();
    row("feeds", if feeds.listed == 0 { "none yet".to_owned() } else { kinds.join(", ") });
    let done: Vec<String> = StageId::ALL
        .iter()
        .map(|stage| {
            let state = &health.stages[*stage];
            let failed = if state.trouble.is_some() { ", then failed" } else { "" };
            match state.last_success {
                Some(at) => format!("{stage} {}{failed}", ago(at, now)),
                None => format!("{stage} never{failed}"),
            }
        })
        .collect();
    row("stages", done[..2].join("; "));
    row("", done[2..].join("; "));
    let newest =
        health.harvest.newest_page.map_or("no page of late".to_owned(), |at| format!("newest page {}", ago(at, now)));
    let lag = match health.oldest_unfound {
        None => "all of them can be found".to_owned(),
        Some(oldest) => format!("the oldest that cannot be found yet came {}", ago(oldest, now)),
    };
    row("lag", format!("{newest}; {lag}"));
    let harvest = &health.harvest;
    let left = if harvest.left > 0 { format!(", {} wait in the plan", grouped(harvest.left)) } else { String::new() };
    row(
        "pages",
        format!(
            "{} in {:.0} hours ({:.1} an hour), {} failed{left}",
            grouped(harvest.pages),
            harvest.hours,
            per_hour(health),
            grouped(harvest.failed)
        ),
    );
    let yielded = &health.yielded;
    if yielded.pages > 0 {
        let share = 100.0 * yielded.documents as f64 / yielded.pages as f64;
        let rate = 100.0 * yielded.rate();
        row(
            "yield",
            format!("{share:.0} % of pages give a document; {rate:.1} % of their bytes are text (last 30 days)"),
        );
    }
    let tokens: u64 = health.indexes.values().map(|index| index.tokens).sum();
    if tokens > 0 {
        let mut languages: Vec<_> = health.indexes.iter().collect();
        languages.sort_by_key(|(_, index)| std::cmp::Reverse(index.tokens));
        let shown = languages.iter().take(LANGUAGES);
        let mut shares: Vec<String> =
            shown.map(|(code, index)| format!("{code} {:.0} %", 100.0 * index.tokens as f64 / tokens as f64)).collect();
        if languages.len() > LANGUAGES {
            shares.push(format!("{} more", languages.len() - LANGUAGES));
        }
        row("searchable", format!("{} in {}", count(tokens, "token"), shares.join(", ")));
    }
    let disk = &health.disk;
    if let Some(free) = disk.free {
        let growth = match (disk.growth_per_day, disk.days_left) {
            (Some(growth), Some(days)) if days < MANY_DAYS => {
                format!(", {} a day: {} left", bytes(growth), count(days as u64, "day"))
            }
            (Some(growth), _) => format!(", {} a day: years left", bytes(growth)),
            _ => String::new(),
        };
        row("disk", format!("{} free{growth}", bytes(free as f64)));
    }
    match alerts.is_empty() {
        true => row("alerts", "none".to_owned()),
        false => {
            for alert in alerts {
                let word = if alert.level == Level::Critical { "CRITICAL" } else { "warning" };
                row(word, alert.text.clone());
            }
        }
    }
    out
}
