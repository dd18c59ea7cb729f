//! Pinned scores of the rules in a small simulated web.

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

const BUDGET: u64 = 12_000;

fn worlds(language_share: f64, seeds: usize) -> Vec<World> {
    (1..=3).map(|seed| World::new(Params { domains: 180, seeds, language_share, seed, ..Params::default() })).collect()
}

fn crawl(worlds: &[World], rule: Option<Rule>) -> Vec<Score> {
    let run = |world: &World| {
        let scheduler = match rule {
            Some(rule) => {
                let settings = Settings { rule, seed: world.params.seed, ..Settings::default() };
                Scheduler::Steward(Box::new(Steward::new(settings)))
            }
            None => Scheduler::Oracle(Oracle::new(world)),
        };
        Crawl::with_slots(world, scheduler, BUDGET, 3).run()
    };
    worlds.iter().map(run).collect()
}

fn mean(scores: &[Score], of: impl Fn(&Score) -> f64) -> f64 {
    scores.iter().map(of).sum::<f64>() / scores.len() as f64
}

#[test]
fn tidings_finds_more_text_than_the_rules_of_others() {
    let worlds = worlds(1.0, 8);
    let tidings = crawl(&worlds, Some(Rule::Tidings));
    let text = |scores: &[Score]| mean(scores, |score| score.text as f64);
    let early = |scores: &[Score]| mean(scores, |score| score.yield_at(2));
    let spiderling = crawl(&worlds, Some(Rule::Spiderling));
    let breadth_first = crawl(&worlds, Some(Rule::BreadthFirst));
    let oracle = crawl(&worlds, None);
    assert!(text(&tidings) > 1.1 * text(&spiderling), "{} against {}", text(&tidings), text(&spiderling));
    assert!(early(&tidings) > 1.1 * early(&spiderling), "{} against {}", early(&tidings), early(&spiderling));
    assert!(text(&tidings) > 1.3 * text(&breadth_first), "{} against {}", text(&tidings), text(&breadth_first));
    assert!(text(&tidings) > 0.5 * text(&oracle), "{} against {}", text(&tidings), text(&oracle));
    assert!(mean(&tidings, Score::trap_share) < 0.1, "{}", mean(&tidings, Score::trap_share));
    assert!(mean(&tidings, |score| score.rich_met) > 0.6);
}

#[test]
fn the_same_seed_gives_the_same_crawl() {
    let world = &worlds(1.0, 8)[..1];
    let (first, second) = (crawl(world, Some(Rule::Tidings)), crawl(world, Some(Rule::Tidings)));
    assert_eq!((first[0].text, first[0].bytes), (second[0].text, second[0].bytes));
}
