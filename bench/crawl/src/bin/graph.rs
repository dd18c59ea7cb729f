//! Compares rules on the link graph of simweb, with the real cleaner:
//! `cargo run --release -p tidings-bench-crawl --bin graph -- --seed 1 --sites 600 [--language cs] [--json FILE]`.

use std::time::Instant;

use serde::Serialize;
use tidings_bench_crawl::graph::{
    crawl::{CrawlResult, Plan, crawl},
    pages::Pages,
};
use tidings_crawl::policy::Rule;
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
    let (seed, sites) = (number("--seed", 1), number("--sites", 600) as usize);
    let spec = GraphSpec { seed, sites, ..GraphSpec::default() };
    let language = if value("--language").is_some_and(|code| code == spec.scarce) { spec.scarce } else { spec.target };
    // As many requests and slots a site as in the simulated web of 3,000 sites.
    let plan = Plan {
        budget: number("--budget", sites as u64 * 200 / 3),
        slots: (sites / 60).max(1),
        seeds: number("--seeds", if language == spec.scarce { 12 } else { (sites as u64 / 75).max(4) }) as usize,
    };
    let graph = Graph::new(spec);
    let mut pages = Pages::new(&graph, language);
    let start = Instant::now();
    let mut crawls = Vec::new();
    println!(
        "| rule | tokens/MB at 5 % | 10 % | 25 % | 50 % | 100 % | tokens | rich met | effective sites | largest | traps | requests | seconds |"
    );
    println!("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
    let only = value("--rule");
    let rules = [Some(Rule::BreadthFirst), Some(Rule::Spiderling), Some(Rule::Macocu), Some(Rule::Tidings), None];
    for rule in rules {
        let name = rule.map_or("oracle", Rule::name);
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let started = Instant::now();
        let result = crawl(&mut pages, rule, plan, seed);
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
    if let Some(path) = value("--json") {
        let json = serde_json::to_string_pretty(&report).expect("scores are JSON");
        std::fs::write(path, json + "\n").expect("the result can be written");
    }
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
