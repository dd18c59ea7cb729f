//! Compares rules in a simulated web: `cargo run --release -p tidings-bench-crawl -- [SEEDS [WORLD]]`.

use serde::Serialize;
use tidings_bench_crawl::{
    oracle::Oracle,
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

const WORLDS: [(&str, f64, usize, f64); 4] = [
    ("plain", 1.0, 40, 0.0),
    ("scarce language", 0.03, 12, 0.0),
    ("30 % of section names wrong", 1.0, 40, 0.3),
    ("60 % of section names wrong", 1.0, 40, 0.6),
];

fn main() {
    let mut args = std::env::args().skip(1);
    let seeds: u64 = args.next().and_then(|text| text.parse().ok()).unwrap_or(5);
    let only = args.next();
    let mut rows = Vec::new();
    for (name, language_share, start, wrong_labels) in WORLDS {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let worlds: Vec<World> = (1..=seeds)
            .map(|seed| World::new(Params { seeds: start, language_share, wrong_labels, seed, ..Params::default() }))
            .collect();
        let findable = worlds.iter().map(World::findable).sum::<f64>() / seeds as f64;
        println!("\n{name}: {:.0} MB findable\n", findable / 1e6);
        println!(
            "| rule | text MB | yield at 25 % | at the end | x spiderling at 25 % | text x at 25% | x spiderling | text x | of oracle | rich met | effective sites | largest | traps | requests |"
        );
        println!("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
        let mut all: Vec<(String, Vec<Score>)> = Vec::new();
        let oracle = worlds.iter().map(|world| Crawl::new(world, Scheduler::Oracle(Oracle::new(world)), 200_000).run());
        all.push(("oracle".to_owned(), oracle.collect()));
        for (rule, rule_name) in
            [Rule::Spiderling, Rule::BreadthFirst, Rule::Macocu, Rule::Tidings].map(|rule| (rule, rule.name()))
        {
            let scores = worlds.iter().map(|world| {
                let settings = Settings { rule, seed: world.params.seed, ..Settings::default() };
                Crawl::new(world, Scheduler::Steward(Box::new(Steward::new(settings))), 200_000).run()
            });
            all.push((rule_name.to_owned(), scores.collect()));
        }
        for (rule, scores) in &all {
            print_row(rule, scores, &all[1].1, &all[0].1);
        }
        rows.extend(all.into_iter().map(|(rule, seeds)| Row { world: name, rule, seeds }));
    }
    if let Some(path) = args.next() {
        let json = serde_json::to_string_pretty(&rows).expect("scores are JSON");
        std::fs::write(&path, json).expect("the result can be written");
    }
}

fn print_row(rule: &str, scores: &[Score], base: &[Score], oracle: &[Score]) {
    let mean = |of: &dyn Fn(&Score) -> f64, scores: &[Score]| scores.iter().map(of).sum::<f64>() / scores.len() as f64;
    let ratio = |of: &dyn Fn(&Score) -> f64, base: &[Score]| mean(of, scores) / mean(of, base);
    println!(
        "| {rule} | {:.1} | {:.2} % | {:.2} % | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.0} | {:.1} % | {:.1} % | {:.0} |",
        mean(&|score| score.text as f64 / 1e6, scores),
        100.0 * mean(&|score| score.yield_at(2), scores),
        100.0 * mean(&|score| score.yield_at(4), scores),
        ratio(&|score| score.yield_at(2), base),
        ratio(&|score| score.marks[2].0 as f64, base),
        ratio(&|score| score.yield_at(4), base),
        ratio(&|score| score.text as f64, base),
        ratio(&|score| score.text as f64, oracle),
        mean(&|score| score.rich_met, scores),
        mean(&|score| score.effective_sites, scores),
        100.0 * mean(&|score| score.largest, scores),
        100.0 * mean(&|score| score.trap_share(), scores),
        mean(&|score| score.requests as f64, scores),
    );
}
