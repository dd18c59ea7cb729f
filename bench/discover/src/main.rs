//! Recall, precision and cost of feed discovery on a simulated web that hides feeds; see README.md.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use serde_json::Value;
use tidings_simweb::{Hiding, RequestKind, SimWeb, Spec};

/// Measures recall, precision and requests per found feed.
#[derive(Parser)]
struct Args {
    /// Number of sites; they hide their feeds in nine ways in turn
    #[arg(long, default_value_t = 270)]
    sites: usize,
    /// Seed of the simulated web
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The result for one way of hiding.
#[derive(Default, Clone, Copy)]
struct Row {
    sites: u64,
    feeds: u64,
    found: u64,
    wrong: u64,
    requests: u64,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let program = std::env::current_exe()?.with_file_name("tidings");
    ensure!(program.is_file(), "{} is missing; build it with `cargo build -p tidings-cli`", program.display());
    for (title, flags) in [("probe sequence of Tidings", &[][..]), ("rule of the paper", &["--paper-rule"][..])] {
        println!("\n## {title}\n");
        measure(&args, &program, flags)?;
    }
    Ok(())
}

fn measure(args: &Args, program: &Path, flags: &[&str]) -> Result<()> {
    let spec =
        Spec { seed: args.seed, sites: args.sites, items_per_feed: 5, hiding: Hiding::ALL.to_vec(), ..Spec::default() };
    let web = SimWeb::start(spec)?;
    let folder = tempfile::tempdir()?;
    let home: PathBuf = folder.path().join("home");
    let starts: Vec<String> = web
        .sites()
        .map(|site| site.listed().next().context("sites publish").map(|article| article.url))
        .collect::<Result<_>>()?;
    run(program, &home, &["init"], &[home.to_string_lossy().into_owned()])?;
    let fixed =
        ["discover", "--json", "-q", "--delay", "0.02", "--allow-private", "--seed", "1", "--concurrency", "64"];
    let words: Vec<&str> = fixed.into_iter().chain(flags.iter().copied()).collect();
    let told: Value = serde_json::from_str(&run(program, &home, &words, &starts)?)?;

    let ways: HashMap<String, Hiding> =
        web.sites().map(|site| (host(&site.url("/")), site.hiding().unwrap_or(Hiding::Nowhere))).collect();
    let mut rows: BTreeMap<Hiding, Row> = BTreeMap::new();
    for site in web.sites() {
        let row = rows.entry(site.hiding().unwrap_or(Hiding::Nowhere)).or_default();
        row.sites += 1;
        row.feeds += u64::from(site.true_feed().is_some());
    }
    let truth: HashSet<String> = web.feeds().iter().map(|feed| feed.trim_end_matches('/').to_owned()).collect();
    for feed in told["feeds"].as_array().context("a list of feeds")? {
        let url = feed["feed"].as_str().unwrap_or_default();
        let row = rows.entry(ways[&host(url)]).or_default();
        let is_true = truth.contains(url.trim_end_matches('/'));
        row.found += u64::from(is_true);
        row.wrong += u64::from(!is_true);
    }
    for request in web.requests().iter().filter(|request| request.kind != RequestKind::Robots) {
        if let Some(site) = request.site() {
            rows.entry(web.site(site).hiding().unwrap_or(Hiding::Nowhere)).or_default().requests += 1;
        }
    }
    let manners = web.politeness();
    println!("| hidden | sites | feeds | found | recall | precision | requests | per site | per found feed |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut all = Row::default();
    for (way, row) in &rows {
        print(way.name(), *row);
        all.sites += row.sites;
        all.feeds += row.feeds;
        all.found += row.found;
        all.wrong += row.wrong;
        all.requests += row.requests;
    }
    print("all", all);
    println!(
        "\n{} rounds; most concurrent requests to a host: {}; forbidden: {}",
        told["rounds"], manners.max_in_flight, manners.disallowed
    );
    Ok(())
}

fn print(name: &str, row: Row) {
    let share = |part: u64, whole: u64| match whole {
        0 => "-".to_owned(),
        whole => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
    };
    let ratio =
        |part: u64, whole: u64| if whole == 0 { "-".to_owned() } else { format!("{:.1}", part as f64 / whole as f64) };
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} |",
        row.sites,
        row.feeds,
        row.found,
        share(row.found, row.feeds),
        share(row.found, row.found + row.wrong),
        row.requests,
        ratio(row.requests, row.sites),
        ratio(row.requests, row.found)
    );
}

fn run(program: &Path, home: &Path, words: &[&str], more: &[String]) -> Result<String> {
    let output = Command::new(program).args(words).args(more).env("TIDINGS_HOME", home).output()?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "{words:?} failed: {told}{}", String::from_utf8_lossy(&output.stderr));
    Ok(told)
}

fn host(url: &str) -> String {
    url.split('/').nth(2).unwrap_or_default().split(':').next().unwrap_or_default().to_owned()
}
