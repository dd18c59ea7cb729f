//! Compares rules on the link graph of simweb, with the real cleaner:
//! `cargo run --release -p tidings-bench-crawl --bin graph -- --seed 4,5,6 --sites 300 [--language cs] [--json FILE]`.
//! Runs are added to those of FILE.

use std::time::Instant;

use serde::Serialize;
use serde_json::{Value, json};
use tidings_bench_crawl::graph::{
    crawl::{CrawlResult, Plan, crawl_with},
    pages::Pages,
};
use tidings_crawl::{policy::Rule, steward::Settings};
use tidings_simweb::graph::{Graph, GraphSpec};

/// The runs of one graph.
#[derive(Serialize)]
struct Report {
    seed: u64,
    sites: usize,
    language: &'static str,
    budget: u64,
    pages_cleaned: usize,
    milliseconds_a_page: f64,
    crawls: Vec<CrawlResult>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| arguments.iter().position(|known| known == name).and_then(|at| arguments.get(at + 1));
    let number = |name: &str, default: u64| value(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let sites = number("--sites", 600) as usize;
    let scarce = value("--language").is_some_and(|code| code == GraphSpec::default().scarce);
    // As many requests and slots a site as in the simulated web of 3,000 sites.
    let plan = Plan {
        budget: number("--budget", sites as u64 * 200 / 3),
        slots: (sites / 60).max(1),
        seeds: number("--seeds", if scarce { 12 } else { (sites as u64 / 75).max(4) }) as usize,
    };
    let seeds = value("--seed").map_or("1", String::as_str).split(',').filter_map(|seed| seed.parse().ok());
    let reports: Vec<Report> =
        seeds.map(|seed| compare(seed, sites, scarce, plan, value("--rule").map(String::as_str))).collect();
    if let Some(path) = value("--json") {
        let known = std::fs::read_to_string(path).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let mut runs = known.and_then(|file| file["runs"].as_array().cloned()).unwrap_or_default();
        runs.extend(reports.iter().map(|report| serde_json::to_value(report).expect("scores are JSON")));
        let text = serde_json::to_string_pretty(&json!({ "runs": runs })).expect("scores are JSON");
        std::fs::write(path, text + "\n").expect("the result can be written");
    }
}

/// The rows of a table: names and settings, `None` for the oracle.
fn rows(seed: u64) -> Vec<(String, Option<Settings>)> {
    let of = |rule: Rule| (rule.name().to_owned(), Some(Settings { rule, seed, ..Settings::default() }));
    let undamped = Settings { largest_share: 1.0, seed, ..Settings::default() };
    vec![
        of(Rule::BreadthFirst),
        of(Rule::Spiderling),
        of(Rule::Macocu),
        of(Rule::Tidings),
        ("tidings, largest_share 1".to_owned(), Some(undamped)),
        ("oracle".to_owned(), None),
    ]
}

fn compare(seed: u64, sites: usize, scarce: bool, plan: Plan, only: Option<&str>) -> Report {
    let spec = GraphSpec { seed, sites, ..GraphSpec::default() };
    let language = if scarce { spec.scarce } else { spec.target };
    let graph = Graph::new(spec);
    let mut pages = Pages::new(&graph, language);
    let start = Instant::now();
    let mut crawls = Vec::new();
    println!(
        "| rule | tokens/MB at 5 % | 10 % | 25 % | 50 % | 100 % | tokens | rich met | effective sites | largest | traps | requests | seconds |"
    );
    println!("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
    for (name, settings) in rows(seed).into_iter().filter(|(name, _)| only.is_none_or(|only| only == name)) {
        let started = Instant::now();
        let result = crawl_with(&mut pages, settings, &name, plan);
        print_row(&result, started.elapsed().as_secs_f64());
        crawls.push(result);
    }
    let report = Report {
        seed,
        sites,
        language,
        budget: plan.budget,
        pages_cleaned: pages.cleaned(),
        milliseconds_a_page: start.elapsed().as_secs_f64() * 1e3 / pages.cleaned().max(1) as f64,
        crawls,
    };
    println!("{} pages cleaned, {:.2} ms each", report.pages_cleaned, report.milliseconds_a_page);
    report
}

fn print_row(result: &CrawlResult, seconds: f64) {
    let marks: Vec<String> = result.marks.iter().map(|mark| format!("{:.0}", mark.tokens_per_mb())).collect();
    let score = &result.score;
    println!(
        "| {} | {} | {} | {:.2} | {:.0} | {:.1} % | {:.1} % | {}{} | {seconds:.0} |",
        result.rule,
        marks.join(" | "),
        score.tokens,
        score.rich_recall(),
        score.effective_sites,
        100.0 * score.largest_share,
        100.0 * score.trap_share(),
        result.marks.last().map_or(0, |mark| mark.requests),
        if result.ended { " (ended)" } else { "" },
    );
}
