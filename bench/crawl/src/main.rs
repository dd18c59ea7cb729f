//! Compares rules in a simulated web: `cargo run --release -p tidings-bench-crawl -- [SEEDS [WORLD|all [FILE.json]]]`;
//! `-- scale` measures the scheduler with many domains.

use serde::Serialize;
use tidings_bench_crawl::{
    oracle::Oracle,
    scale,
    score::Score,
    sim::{Crawl, Scheduler},
    world::{Params, World},
};
use tidings_crawl::{
    policy::Rule,
    steward::{Settings, Steward},
};

#[derive(Serialize)]
struct Row {
    world: &'static str,
    rule: String,
    seeds: Vec<Score>,
}

/// Requests of a crawl.
const BUDGET: u64 = 200_000;

const WORLDS: [(&str, f64, usize, f64); 4] = [
    ("plain", 1.0, 40, 0.0),
    ("scarce language", 0.03, 12, 0.0),
    ("30 % of section names wrong", 1.0, 40, 0.3),
    ("60 % of section names wrong", 1.0, 40, 0.6),
];

/// The rows of the table of a world: rules with their settings.
fn rows(world: &str) -> Vec<(String, Settings)> {
    let rule = |rule: Rule| (rule.name().to_owned(), Settings { rule, ..Settings::default() });
    let mut rows = vec![rule(Rule::Spiderling), rule(Rule::Tidings)];
    if world == "plain" || world == "scarce language" {
        rows.extend([rule(Rule::BreadthFirst), rule(Rule::Macocu)]);
    }
    if world == "scarce language" {
        for floor in [0.0005, 0.001, 0.005] {
            rows.push((format!("tidings, floor {floor}"), Settings { floor, ..Settings::default() }));
        }
    }
    rows
}

fn main() {
    let mut args = std::env::args().skip(1);
    if std::env::args().nth(1).is_some_and(|word| word == "scale") {
        for domains in [10_000, 100_000, 1_000_000] {
            let cost = scale::measure(domains, 100_000);
            println!(
                "{domains} domains: {:.1} µs a decision, {:.0} B a domain",
                cost.decision_us, cost.bytes_per_domain
            );
        }
        return;
    }
    let seeds: u64 = args.next().and_then(|text| text.parse().ok()).unwrap_or(5);
    let only = args.next().filter(|name| name != "all");
    let path = args.next();
    let mut results = Vec::new();
    for (world, language_share, start, wrong_labels) in WORLDS {
        if only.as_ref().is_some_and(|only| only != world) {
            continue;
        }
        let worlds: Vec<World> = (1..=seeds)
            .map(|seed| World::new(Params { seeds: start, language_share, wrong_labels, seed, ..Params::default() }))
            .collect();
        let findable = worlds.iter().map(World::findable).sum::<f64>() / seeds as f64;
        println!("\n{world}: {:.0} MB findable\n", findable / 1e6);
        println!(
            "| rule | text MB | yield at 25 % | at the end | x spiderling at 25 % | text x spiderling | of oracle | rich met | effective sites | largest | traps | requests |"
        );
        println!("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
        let oracle: Vec<Score> =
            worlds.iter().map(|world| Crawl::new(world, Scheduler::Oracle(Oracle::new(world)), BUDGET).run()).collect();
        let mut all: Vec<(String, Vec<Score>)> = Vec::new();
        for (name, settings) in rows(world) {
            let scores: Vec<Score> = worlds.iter().map(|world| crawl(world, &settings)).collect();
            let base = all.first().map_or(&scores, |(_, base)| base);
            print_row(&name, &scores, base, &oracle);
            all.push((name, scores));
        }
        print_row("oracle", &oracle, &all[0].1, &oracle);
        all.push(("oracle".to_owned(), oracle));
        results.extend(all.into_iter().map(|(rule, seeds)| Row { world, rule, seeds }));
    }
    if let Some(path) = path {
        let json = serde_json::to_string_pretty(&results).expect("scores are JSON");
        std::fs::write(&path, json + "\n").expect("the result can be written");
    }
}

fn crawl(world: &World, settings: &Settings) -> Score {
    let settings = Settings { seed: world.params.seed, ..settings.clone() };
    Crawl::new(world, Scheduler::Steward(Box::new(Steward::new(settings))), BUDGET).run()
}

fn print_row(rule: &str, scores: &[Score], base: &[Score], oracle: &[Score]) {
    let mean = |of: &dyn Fn(&Score) -> f64, scores: &[Score]| scores.iter().map(of).sum::<f64>() / scores.len() as f64;
    let ratio = |of: &dyn Fn(&Score) -> f64, base: &[Score]| mean(of, scores) / mean(of, base);
    println!(
        "| {rule} | {:.1} | {:.2} % | {:.2} % | {:.2} | {:.2} | {:.2} | {:.2} | {:.0} | {:.1} % | {:.1} % | {:.0} |",
        mean(&|score| score.text as f64 / 1e6, scores),
        100.0 * mean(&|score| score.yield_at(2), scores),
        100.0 * mean(&|score| score.yield_at(4), scores),
        ratio(&|score| score.yield_at(2), base),
        ratio(&|score| score.text as f64, base),
        ratio(&|score| score.text as f64, oracle),
        mean(&|score| score.rich_met, scores),
        mean(&|score| score.effective_sites, scores),
        100.0 * mean(&|score| score.largest, scores),
        100.0 * mean(&|score| score.trap_share(), scores),
        mean(&|score| score.requests as f64, scores),
    );
}
