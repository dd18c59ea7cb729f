//! Crawls of a small graph with real pages: orders of requests are compared, and what is forbidden is never asked for.

use tidings_bench_crawl::graph::{
    crawl::{CrawlResult, Plan, crawl},
    pages::Pages,
};
use tidings_crawl::policy::Rule;
use tidings_simweb::graph::{Graph, GraphSpec};

const PLAN: Plan = Plan { budget: 800, slots: 1, seeds: 4 };

fn crawls(rules: &[Option<Rule>]) -> Vec<CrawlResult> {
    let graph = Graph::new(GraphSpec { seed: 1, sites: 60, ..GraphSpec::default() });
    let mut pages = Pages::new(&graph, "de");
    rules.iter().map(|rule| crawl(&mut pages, *rule, PLAN, 1)).collect()
}

#[test]
fn sections_give_more_text_than_breadth_first_and_less_than_an_oracle() {
    let results = crawls(&[Some(Rule::Tidings), Some(Rule::BreadthFirst), None]);
    let tokens: Vec<u64> = results.iter().map(|result| result.score.tokens).collect();
    assert!(tokens[0] as f64 > 1.2 * tokens[1] as f64, "{tokens:?}");
    assert!(tokens[0] as f64 <= 1.05 * tokens[2] as f64, "{tokens:?}");
    for result in &results {
        let (score, last) = (&result.score, result.marks.last().expect("marks"));
        assert_eq!((score.disallowed, score.nofollow_only), (0, 0), "{}", result.rule);
        assert!(last.requests <= PLAN.budget + 1 && score.requests <= last.requests);
        assert!(result.marks.windows(2).all(|pair| pair[0].tokens <= pair[1].tokens));
    }
}

#[test]
fn a_crawl_is_reproducible() {
    let run = || {
        let result = crawls(&[Some(Rule::Tidings)]).remove(0);
        (result.score, result.waiting)
    };
    assert_eq!(run(), run());
}
