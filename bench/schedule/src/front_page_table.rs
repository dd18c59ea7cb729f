//! The comparison on front pages, as a table and as data.

use serde_json::{Value, json};
use tidings_bench_schedule::front_pages::{
    DAYS, FixedInterval, Multiplicative, PagePolicy, PageScore, TidingsPages, poll_front_pages,
};
use tidings_bench_schedule::{Feed, Pattern, world};

const PAGES: usize = 100;
const PATTERNS: [(Pattern, &str); 4] = [
    (Pattern::Steady, "steady"),
    (Pattern::WorkingHours, "working hours"),
    (Pattern::WorkingWeek, "working week"),
    (Pattern::Shifting, "rates shift"),
];

/// Prints the table; with a path, also writes the figures as JSON.
pub fn print(seeds: u64, path: Option<&str>) {
    println!("{PAGES} front pages, {DAYS} days from the first poll, {seeds} seeds\n");
    println!(
        "| publishing | policy | found % | median delay h | p95 h | polls per page and day | polls per article | \
         wrong entries % | fewer polls than the rule %, least | lowest found % | longest median h |"
    );
    println!("| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
    let mut results = Vec::new();
    for (pattern, name) in PATTERNS {
        let worlds: Vec<Vec<Feed>> = (1..=seeds).map(|seed| world(pattern, PAGES, seed)).collect();
        let run = |make: &dyn Fn(usize) -> Box<dyn PagePolicy>| {
            let scores = worlds.iter().enumerate();
            scores.map(|(seed, world)| poll_front_pages(world, &mut *make(seed), seed as u64)).collect::<Vec<_>>()
        };
        let rule = run(&|_| Box::new(Multiplicative::new(PAGES)));
        let budget = |share: f64, seed: usize| share * rule[seed].polls_per_day;
        let rows = [
            ("fixed 90 min", run(&|_| Box::new(FixedInterval(5400.0)))),
            ("x0.8/x1.5", rule.clone()),
            ("tidings, 10 % fewer polls", run(&|seed| Box::new(TidingsPages::new(budget(0.9, seed), PAGES)))),
            ("tidings, 20 % fewer polls", run(&|seed| Box::new(TidingsPages::new(budget(0.8, seed), PAGES)))),
            ("tidings, half of the polls", run(&|seed| Box::new(TidingsPages::new(budget(0.5, seed), PAGES)))),
            ("tidings, 6 polls (budget of feeds)", run(&|_| Box::new(TidingsPages::new(6.0, PAGES)))),
            ("tidings, default", run(&|_| Box::new(TidingsPages::of_default(PAGES)))),
        ];
        for (policy, scores) in rows {
            results.push(row(name, policy, &scores, &rule));
        }
    }
    if let Some(path) = path {
        let data = json!({
            "benchmark": format!("bench-schedule front-pages {seeds}"),
            "pages": PAGES, "days": DAYS, "seeds": seeds, "rows": results,
        });
        let text = serde_json::to_string_pretty(&data).expect("figures serialise") + "\n";
        std::fs::write(path, text).unwrap_or_else(|error| eprintln!("cannot write {path}: {error}"));
    }
}

/// A row: means of the seeds, and for the targets the worst seed.
fn row(pattern: &str, policy: &str, scores: &[PageScore], rule: &[PageScore]) -> Value {
    let mean = |field: fn(&PageScore) -> f64| scores.iter().map(field).sum::<f64>() / scores.len().max(1) as f64;
    let (found, median_h, p95_h) = (mean(|s| s.found), mean(|s| s.median_h), mean(|s| s.p95_h));
    let (a_day, an_article) = (mean(|s| s.polls_per_day), mean(|s| s.polls_per_article));
    let wrong = mean(|s| s.wrong);
    let fewer = scores.iter().zip(rule).map(|(score, rule)| 100.0 * (1.0 - score.polls as f64 / rule.polls as f64));
    let fewer = fewer.fold(f64::INFINITY, f64::min);
    let lowest = scores.iter().map(|score| score.found).fold(f64::INFINITY, f64::min);
    let longest = scores.iter().map(|score| score.median_h).fold(0.0, f64::max);
    println!(
        "| {pattern} | {policy} | {found:.1} | {median_h:.2} | {p95_h:.2} | {a_day:.2} | {an_article:.2} | {wrong:.2} \
         | {fewer:.1} | {lowest:.1} | {longest:.2} |"
    );
    let round = |number: f64| (number * 1000.0).round() / 1000.0;
    json!({
        "publishing": pattern, "policy": policy, "found_percent": round(found), "median_delay_h": round(median_h),
        "p95_delay_h": round(p95_h), "polls_per_page_and_day": round(a_day), "polls_per_article": round(an_article),
        "wrong_entries_percent": round(wrong), "least_fewer_polls_percent": round(fewer),
        "lowest_found_percent": round(lowest), "longest_median_delay_h": round(longest),
    })
}
