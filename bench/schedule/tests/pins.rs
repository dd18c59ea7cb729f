//! Pinned scores: a change must not make them worse. `README.md` has the whole table.
//!
//! One small world per pattern is enough to detect a regression, in a second.

use tidings_bench_schedule::front_pages::{Multiplicative, TidingsPages, poll_front_pages};
use tidings_bench_schedule::{Fixed, Pattern, Score, Tidings, replay, replay_in_runs, world};

const POLLS: f64 = 4.0;

fn holds(pattern: Pattern, feeds: usize, mean_h: f64, lost: f64) -> Score {
    let score = replay(&world(pattern, feeds, 1), &mut Tidings::new(POLLS, feeds));
    assert!(score.polls_per_day <= 1.02 * POLLS, "{pattern:?} costs {:.2} polls", score.polls_per_day);
    assert!(score.mean_h <= mean_h, "{pattern:?}: {:.3} h, {:.3} %; pinned at {mean_h} h", score.mean_h, score.lost);
    assert!(score.lost <= lost, "{pattern:?}: {:.3} % lost, pinned at {lost}", score.lost);
    score
}

#[test]
fn working_hours_are_discovered_within_the_hour_without_loss() {
    holds(Pattern::WorkingHours, 150, 0.92, 0.01);
}

#[test]
fn shifting_rates_lose_next_to_nothing() {
    holds(Pattern::Shifting, 150, 0.90, 0.05);
}

#[test]
fn steady_feeds_are_discovered_twice_as_fast_as_with_a_fixed_interval() {
    let tidings = holds(Pattern::Steady, 50, 1.23, 0.01);
    let fixed = replay(&world(Pattern::Steady, 50, 1), &mut Fixed(6.0 * 3600.0));
    assert!(fixed.mean_h > 2.0 * tidings.mean_h, "{:.3} h", fixed.mean_h);
}

#[test]
fn batches_lose_little_more_than_is_unavoidable() {
    let fastest = replay(&world(Pattern::Batches, 50, 1), &mut Fixed(900.0));
    holds(Pattern::Batches, 50, 1.73, fastest.lost + 2.5);
}

#[test]
fn reviving_feeds_are_discovered() {
    holds(Pattern::Reviving, 50, 1.23, 0.60);
}

#[test]
fn runs_every_hour_keep_to_the_budget() {
    let feeds = world(Pattern::WorkingHours, 40, 1);
    let score = replay_in_runs(&feeds, &mut Tidings::in_runs(POLLS, feeds.len(), 3600.0), 3600.0);
    assert!((0.9 * POLLS..1.05 * POLLS).contains(&score.polls_per_day), "{}", score.polls_per_day);
    assert!(score.mean_h <= 1.05, "{}", score.mean_h);
}

#[test]
fn articles_of_front_pages_are_found_with_fewer_polls_than_by_multiplying_intervals() {
    let sites = world(Pattern::WorkingHours, 15, 1);
    let rule = poll_front_pages(&sites, &mut Multiplicative::new(sites.len()), 1);
    let mut tidings = TidingsPages::new(0.9 * rule.polls_per_day, sites.len());
    let tidings = poll_front_pages(&sites, &mut tidings, 1);
    assert!(tidings.polls as f64 <= 0.92 * rule.polls as f64, "{tidings:?}, {rule:?}");
    assert!(tidings.found >= 97.0 && tidings.median_h <= 2.0, "{tidings:?}");
    assert_eq!(tidings.wrong, 0.0);
}
