//! Prints a comparison of polling policies: `cargo run --release -p tidings-bench-schedule [-- POLLS_PER_DAY [SEEDS [PATTERN]]]`,
//! or of front pages of sites without feeds: `… -- front-pages [SEEDS [RESULTS.json]]`.

use tidings_bench_schedule::{
    DAY, EntryFrequency, Feed, Fixed, Pattern, Score, Tidings, WeightedMean, at_budget, replay, replay_in_runs, world,
};

mod front_page_table;

const FEEDS: usize = 150;

/// A row of the table: a name and the score of its policy.
type Row<'a> = (&'a str, &'a dyn Fn(&[Feed]) -> Score);

fn main() {
    let mut args = std::env::args().skip(1).peekable();
    if args.next_if(|first| first == "front-pages").is_some() {
        front_page_table::print(args.next().and_then(|text| text.parse().ok()).unwrap_or(5), args.next().as_deref());
        return;
    }
    let budget: f64 = args.next().and_then(|text| text.parse().ok()).unwrap_or(4.0);
    let seeds: u64 = args.next().and_then(|text| text.parse().ok()).unwrap_or(5);
    let policies: [Row<'_>; 11] = [
        ("fixed 15 min", &|feeds| replay(feeds, &mut Fixed(900.0))),
        ("fixed 1 h", &|feeds| replay(feeds, &mut Fixed(3600.0))),
        ("fixed 4 h", &|feeds| replay(feeds, &mut Fixed(4.0 * 3600.0))),
        ("fixed, same budget", &|feeds| replay(feeds, &mut Fixed(DAY / budget))),
        ("weighted mean (paper)", &|feeds| {
            at_budget(budget, |scale| replay(feeds, &mut WeightedMean::new(scale, feeds.len())))
        }),
        ("entry frequency (miniflux)", &|feeds| at_budget(budget, |scale| replay(feeds, &mut EntryFrequency(scale)))),
        ("**tidings**", &|feeds| replay(feeds, &mut Tidings::new(budget, feeds.len()))),
        ("tidings, run every 15 min", &|feeds| {
            replay_in_runs(feeds, &mut Tidings::in_runs(budget, feeds.len(), 900.0), 900.0)
        }),
        ("tidings, run every hour", &|feeds| {
            replay_in_runs(feeds, &mut Tidings::in_runs(budget, feeds.len(), 3600.0), 3600.0)
        }),
        ("tidings, run every 4 h", &|feeds| {
            replay_in_runs(feeds, &mut Tidings::in_runs(budget, feeds.len(), 4.0 * 3600.0), 4.0 * 3600.0)
        }),
        ("tidings, default budget (6)", &|feeds| replay(feeds, &mut Tidings::new(6.0, feeds.len()))),
    ];
    println!("{FEEDS} feeds, {seeds} seeds, {budget} polls per feed and day for policies with a budget\n");
    println!("| publishing | policy | mean delay h | p95 delay h | lost % | polls per feed and day | idle polls % |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let only: Option<String> = args.next();
    for (pattern, name) in Pattern::ALL {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let worlds: Vec<Vec<Feed>> = (1..=seeds).map(|seed| world(pattern, FEEDS, seed)).collect();
        for (policy, run) in policies {
            let scores: Vec<Score> = worlds.iter().map(|world| run(world)).collect();
            let mean = |field: fn(&Score) -> f64| scores.iter().map(field).sum::<f64>() / scores.len() as f64;
            println!(
                "| {name} | {policy} | {:.2} | {:.2} | {:.2} | {:.2} | {:.0} |",
                mean(|score| score.mean_h),
                mean(|score| score.p95_h),
                mean(|score| score.lost),
                mean(|score| score.polls_per_day),
                mean(|score| score.idle),
            );
        }
    }
}
